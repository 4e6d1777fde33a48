"""The running process: signals blocked during a block, garbage collection made rarer, work in background threads.

The standard library's futures wait under locks of Python's own. An exception from a signal (Ctrl-C, SIGTERM) can
leave such a lock taken, and then the thread and the end of the process wait for ever. The queue used here is one
piece of C, and the threads are daemons that receive no signals.

Counting makes many small objects that are freed at once and refer to nothing of their kind; collecting garbage
every 700 of them took a tenth of the time.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import Generic, TypeVar

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a request to end, a closed terminal


@contextmanager
def block_signals() -> Iterator[None]:
    """Block SIGINT, SIGTERM and SIGHUP while a block runs; one that arrives takes effect right afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def handle_signals(handler: Callable[[int], None], numbers: Iterable[int] = ENDING_SIGNALS) -> Iterator[None]:
    """Call a function with these signals while a block runs; only the main thread can set that.

    A signal that is ignored stays so: `nohup` ignores the hang-up.
    """
    is_main = current_thread() is main_thread()
    handled = [number for number in numbers if is_main and signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: handler(number)) for number in handled}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


GC_THRESHOLD = 100_000  # new ones before the next search: 10 to 20 MB


@contextmanager
def infrequent_gc() -> Iterator[None]:
    """Let the garbage collector wait for more objects while a block runs."""
    before = gc.get_threshold()
    if 0 < before[0] < GC_THRESHOLD:  # 0: it is turned off
        gc.set_threshold(GC_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


T = TypeVar("T")


class Promise(Generic[T]):
    """The result of work that another thread may do, for one that waits for it."""

    def __init__(self) -> None:
        self._outcome: SimpleQueue[tuple[T, None] | tuple[None, Exception]] = SimpleQueue()

    def run(self, work: Callable[[], T]) -> None:
        """Do the work in this thread; its value, or the error that it ended in, becomes the result."""
        try:
            self._outcome.put((work(), None))
        except Exception as problem:
            self._outcome.put((None, problem))

    def result(self) -> T:
        """Wait for the result."""
        value, problem = self._outcome.get()
        if problem is not None:
            raise problem
        return value  # type: ignore[return-value]  # there is no problem, so there is a value


def start_background_thread(work: Callable[[], None]) -> Thread:
    """Begin the work in a thread."""
    with block_signals():  # a thread inherits this mask: signals are for the main thread
        thread = Thread(target=work, daemon=True)
        thread.start()
    return thread
