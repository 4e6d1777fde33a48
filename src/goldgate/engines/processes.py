"""Several processes on this machine, each with its own copy of the work."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Self, TypeVar

from goldgate.errors import InternalError

S = TypeVar("S")
R = TypeVar("R")

AHEAD = 3  # shards given out a worker: enough to keep it busy, few enough to keep memory flat


class Processes:
    """An engine of so many worker processes, which begin to start at once."""

    def __init__(self, workers: int, preload: str) -> None:
        self.workers = workers
        if "forkserver" in multiprocessing.get_all_start_methods():
            context: Any = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([preload])
        else:
            context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(workers, context, _ignore_interrupts)
        for _ in range(workers):
            self._pool.submit(_start)

    def map(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """Work on the shards in parallel; results, and the first error, come in the shards' order."""
        packed = pickle.dumps(work)
        waiting: deque[Future[R]] = deque()
        try:
            for shard in shards:
                waiting.append(self._pool.submit(_apply, packed, shard))
                if len(waiting) >= self.workers * AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise InternalError(
                "internal.worker_died",
                "a worker process ended before its work was done",
                advice="the machine may be out of memory; try fewer --workers",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


_packed: bytes | None = None
_work: Any = None


def _ignore_interrupts() -> None:
    """Ctrl-C goes to every process of a terminal; only the first one is to speak of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _start() -> None:
    """Nothing: the first task makes the process start."""


def _apply(packed: bytes, shard: Any) -> Any:
    """The work on a shard; it is unpacked once and kept, with the files that it opened."""
    global _packed, _work
    if packed != _packed:
        _packed, _work = packed, pickle.loads(packed)
    return _work(shard)
