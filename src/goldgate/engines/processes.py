"""Several processes on this machine, each with its own copy of the work."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from goldgate.errors import InternalError

S = TypeVar("S")
R = TypeVar("R")

AHEAD = 3  # shards given out a worker: enough to keep it busy, few enough to keep memory flat


class Processes:
    """An engine of so many worker processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """Work on the shards in parallel; results, and the first error, come in the shards' order."""
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        pool = ProcessPoolExecutor(self.workers, context, _remember, (work,))
        waiting: deque[Future[R]] = deque()
        try:
            for shard in shards:
                waiting.append(pool.submit(_apply, shard))
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
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_work: Any = None


def _remember(work: Any) -> None:
    global _work
    _work = work


def _apply(shard: Any) -> Any:
    return _work(shard)
