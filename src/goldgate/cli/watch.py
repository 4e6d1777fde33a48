"""Telling a person how far generation is: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from shutil import get_terminal_size

from goldgate.generation.counts import Counts
from goldgate.report.escape import for_terminal

ON_TERMINAL, ELSEWHERE = 0.25, 10.0  # seconds between two lines


class WatchLine:
    """Call it with the counts, as often as you like."""

    def __init__(self, *, quiet: bool, currency: str = "") -> None:
        self._quiet = quiet or sys.stderr is None
        self._terminal = not self._quiet and sys.stderr.isatty()
        self._began = time.monotonic()
        self._next = 0.0 if self._terminal else self._began + ELSEWHERE
        self._width = 0
        self._currency = currency

    @property
    def every(self) -> float:
        return ON_TERMINAL if self._terminal else 1.0

    def __call__(self, counts: Counts) -> None:
        now = time.monotonic()
        finished = counts.done >= counts.total
        if self._quiet or (now < self._next and not finished):
            return
        self._next = now + (ON_TERMINAL if self._terminal else ELSEWHERE)
        text = for_terminal(progress_text(counts, now - self._began, self._currency))
        if self._terminal:
            text = text[: max(20, get_terminal_size().columns - 1)]  # a line that wraps cannot be written over
            _write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            _write(text + "\n")

    def clear(self) -> None:
        """End the line that changes, so that what is printed next stands below it."""
        if self._width:
            _write("\n")
            self._width = 0

    def say(self, text: str) -> None:
        """A line of its own."""
        if not self._quiet:
            self.clear()
            _write(for_terminal(text) + "\n")


def _write(text: str) -> None:
    with suppress(OSError):  # nobody reads it any more (`| head`, a terminal that was closed): the run goes on
        sys.stderr.write(text)
        sys.stderr.flush()


def progress_text(counts: Counts, seconds: float, currency: str = "") -> str:
    """`120/2,000 (6 %), 58.1/s, 0:32 left, 80,120 + 9,871 tokens, 0.31 USD, 4 retries, 0 failed`."""
    now_done = counts.answered + counts.failed
    rate = now_done / seconds if seconds > 0 else 0.0
    percent = 100 * counts.done // counts.total if counts.total else 100
    parts = [f"{counts.done:,}/{counts.total:,} ({percent} %)", f"{rate:.1f}/s"]
    left = counts.total - counts.done
    if left:
        parts.append(f"{_duration(left / rate)} left" if rate else "time left unknown")
    parts.append(f"{counts.input_tokens:,} + {counts.output_tokens:,} tokens")
    if counts.cost is not None:
        parts.append(f"{counts.cost:.4f} {currency}".rstrip())
    parts.append("1 retry" if counts.retries == 1 else f"{counts.retries:,} retries")
    parts.append(f"{counts.failed:,} failed")
    if counts.waits_for is not None:
        parts.append(f"waiting for {counts.waits_for}")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
