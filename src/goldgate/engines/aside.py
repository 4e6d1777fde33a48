"""Work that is done beside the main thread, and never keeps the process from ending.

The standard library's futures wait under locks of Python's own. An exception from a signal (Ctrl-C, SIGTERM) can leave
such a lock taken, and then the thread waits for it for ever, and the end of the process for the thread. The queue here
is one piece of C; the threads are daemons, and hear no signals.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from goldgate.core.uninterrupted import uninterrupted

T = TypeVar("T")


class Promise(Generic[T]):
    """A result that will be there later; asked for once."""

    def __init__(self) -> None:
        self._outcome: SimpleQueue[tuple[T, None] | tuple[None, Exception]] = SimpleQueue()

    def keep(self, work: Callable[[], T]) -> None:
        """Do the work; its result, or the error that it ended in, is what `result` gives."""
        try:
            self._outcome.put((work(), None))
        except Exception as problem:
            self._outcome.put((None, problem))

    def result(self) -> T:
        """Wait for it."""
        value, problem = self._outcome.get()
        if problem is not None:
            raise problem
        return value  # type: ignore[return-value]  # there is no problem, so there is a value


def start_aside(work: Callable[[], None]) -> Thread:
    """Begin the work in a thread."""
    with uninterrupted():  # a thread has the mask of whoever started it: signals are for the main thread
        thread = Thread(target=work, daemon=True)
        thread.start()
    return thread
