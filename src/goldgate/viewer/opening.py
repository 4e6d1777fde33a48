"""The inputs of a result, opened in the background: samples can be looked at before, without their texts."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from goldgate.core.unit_page import Given, NothingGiven
from goldgate.errors import GoldgateError
from goldgate.readers.stored_result import StoredResult
from goldgate.results.given import OpenedGiven, open_given

OPENING = "the inputs are still being opened: source texts come when the page is loaded again"
_NOT_OPENED = "the inputs cannot be opened"


class OpeningInputs:
    """Begins at once. `given` and `notes` are what is there by now."""

    def __init__(self, result: StoredResult, root: str | None = None) -> None:
        self._result = result
        self._root = root
        self._stack = ExitStack()
        self._opened = OpenedGiven(NothingGiven(), [OPENING])
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._open, daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    @property
    def given(self) -> Given:
        return self._opened.given

    @property
    def notes(self) -> list[str]:
        """What is not shown, and why."""
        return self._opened.notes

    def wait(self, seconds: float | None = None) -> None:
        """Until all is open, or so long."""
        self._done.wait(seconds)

    def close(self) -> None:
        """Close what is open; what is still being opened goes with the process."""
        if self.is_done:
            self._stack.close()

    def _open(self) -> None:
        try:
            self._opened = self._stack.enter_context(open_given(self._result, root=self._root))
        except GoldgateError as error:
            self._opened = OpenedGiven(NothingGiven(), [f"{_NOT_OPENED}: {error.message}"])
        except Exception as problem:  # a page must not wait for ever
            self._opened = OpenedGiven(NothingGiven(), [f"{_NOT_OPENED}: {type(problem).__name__}"])
        finally:
            self._done.set()
