"""One line on the terminal that says how far a run has come."""

from __future__ import annotations

import sys
import time

WORTH_SHOWING = 2_000  # units; fewer are done before a line could be read
EVERY_SECONDS = 0.1


class ProgressLine:
    """Call it with units done and units in all. Silent where stderr is no terminal, or `quiet`."""

    def __init__(self, unit: str, *, quiet: bool) -> None:
        self._unit = unit
        self._silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self._next = 0.0
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._silent or total <= WORTH_SHOWING or now < self._next:
            return
        self._next = now + EVERY_SECONDS
        self._write(f"{done:,} of {total:,} {self._unit}s ({100 * done // total} %)")

    def clear(self) -> None:
        """Leave the line empty for whatever is printed next."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)
