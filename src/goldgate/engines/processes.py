"""Several worker processes on this machine, each with its own copy of the work.

They are plain processes of this Python, each at the other end of a socket. Open files in the work are sent along,
so a worker reads what was opened once. No worker outlives the process that started it: a pipe that only the first
process holds open ends them.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import IO, Any, NamedTuple, Self, TypeVar

from goldgate.core.process import Promise, block_signals, start_background_thread
from goldgate.engines import start_worker, worker
from goldgate.engines.parts import SpooledParts
from goldgate.errors import InternalError, MachineError


def start_child(module: str, argument: str, alive: int, connection: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start `main(alive, connection, argument)` of a module, which ends when the pipe `alive` does."""
    told = [str(alive), str(connection), argument, *_library_folders()]
    return subprocess.Popen(
        [sys.executable, *_flags(), start_worker.__file__, module, *told],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(alive, connection),
        process_group=0,  # what is typed at the terminal is for the first process
        **options,
    )


def _flags() -> list[str]:
    """`-P`: nothing is imported from the working directory. And what this process was told itself."""
    told = (("isolated", "-I"), ("ignore_environment", "-E"), ("no_user_site", "-s"))
    return ["-P", *(flag for name, flag in told if getattr(sys.flags, name))]


def _library_folders() -> list[str]:
    """Where this process imports from, but for the working directory; a worker looks there last."""
    return [path for path in sys.path if os.path.isabs(path) and not start_worker.is_here(path)]


S = TypeVar("S")
R = TypeVar("R")

AHEAD = 3  # shards given out a worker: enough to keep it busy, few enough to keep memory flat
JOIN_SECONDS = 5.0  # for a thread whose worker is gone: it has nothing more to wait for


class ProcessEngine:
    """An engine of so many worker processes, which begin to start at once."""

    def __init__(self, workers: int, preload: str) -> None:
        self._started: list[_Worker] = []
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._parts: list[SpooledParts] = []
        self._alive, self._alive_here = os.pipe()  # nothing is ever written: its end is the message
        try:
            with block_signals():  # none is started halfway; and workers hear no signals that are for this process
                for _ in range(workers):
                    self._started.append(_Worker(preload, self._alive, self._tasks))
        except (OSError, RuntimeError) as problem:  # no more processes, no more threads
            self.__exit__()
            raise MachineError(
                "machine.processes",
                "a worker process cannot be started",
                found=getattr(problem, "strerror", None) or str(problem),
                advice="try fewer --workers",
            ) from None
        except BaseException:
            self.__exit__()
            raise

    @property
    def workers(self) -> int:
        return len(self._started)

    def map(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """Work on the shards in parallel; results, and the first error, come in the shards' order."""
        packed = worker.pack_message(work)
        waiting: deque[Promise[R]] = deque()
        for shard in shards:
            task = _Task(packed, shard, Promise())
            self._tasks.put(task)
            waiting.append(task.promise)
            if len(waiting) >= len(self._started) * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def parts(self, stream: IO[bytes]) -> SpooledParts:
        self._parts.append(SpooledParts(stream))
        return self._parts[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the workers: nobody waits for what they write, so nothing is lost if one is in the middle of a shard."""
        with block_signals():
            for started in self._started:
                started.kill()
                self._tasks.put(None)
            for started in self._started:
                started.close()
            self._started.clear()
            for parts in self._parts:
                parts.close()
            for end in (self._alive, self._alive_here):
                with suppress(OSError):
                    os.close(end)
            self._alive = self._alive_here = -1


class _Task(NamedTuple):
    """A shard, the work on it, and where the result goes."""

    packed: tuple[bytes, list[int]]
    shard: Any
    promise: Promise[Any]


class _Worker:
    """One process, the socket to it, and a thread that gives it one shard after the other."""

    def __init__(self, preload: str, alive: int, tasks: SimpleQueue[_Task | None]) -> None:
        self._work: tuple[bytes, list[int]] | None = None
        self._connection, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = start_child("goldgate.engines.worker", preload, alive, theirs.fileno())
        except BaseException:
            self._connection.close()
            raise
        try:
            self._thread = start_background_thread(partial(self._serve, tasks))
        except BaseException:  # no more threads: the process is not left to itself
            self.kill()
            self._process.wait()
            self._connection.close()
            raise

    def _serve(self, tasks: SimpleQueue[_Task | None]) -> None:
        while (task := tasks.get()) is not None:
            task.promise.keep(partial(self._ask, task.packed, task.shard))

    def _ask(self, packed: tuple[bytes, list[int]], shard: Any) -> Any:
        try:
            if self._work is not packed:
                worker.send(self._connection, worker.WORK, *packed)
                self._work = packed
            worker.send(self._connection, worker.SHARD, *worker.pack_message(shard))
            kind, data, _ = worker.receive(self._connection)
        except (EOFError, OSError):
            raise self._died() from None
        if kind == worker.RESULT:
            return pickle.loads(data)
        problem, text = pickle.loads(data)
        problem.__cause__ = worker.WorkerTraceback(text)
        raise problem

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.wait()
        self._thread.join(JOIN_SECONDS)
        self._connection.close()

    def _died(self) -> InternalError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        status = self._process.returncode
        found = None if status is None else f"its exit status is {status}"
        if status is not None and status < 0:
            found = f"it was ended by {signal.Signals(-status).name}"
        return InternalError(
            "internal.worker_died",
            "a worker process ended before its work was done",
            found=found,
            advice="the machine may be out of memory; try fewer --workers",
        )
