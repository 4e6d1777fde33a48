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


class ChildProcess:
    """A process that runs `main(alive, connection, argument)` of a module, and the socket to it.

    It ends when the pipe `alive` does.
    """

    def __init__(self, module: str, argument: str, alive: int, **options: Any) -> None:
        self.connection, theirs = socket.socketpair()
        arguments = [str(alive), str(theirs.fileno()), argument, *_library_folders()]
        try:
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, *_flags(), start_worker.__file__, module, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(alive, theirs.fileno()),
                    process_group=0,  # what is typed at the terminal is for the first process
                    **options,
                )
        except BaseException:
            self.connection.close()
            raise

    def describe_end(self) -> str | None:
        """How the process ended: `ended with status 3`; None where it has not."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)
        status = self.process.returncode
        if status is None:
            return None
        return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def _flags() -> list[str]:
    """`-P`: nothing is imported from the working directory. And the flags of this process."""
    flags = (("isolated", "-I"), ("ignore_environment", "-E"), ("no_user_site", "-s"))
    return ["-P", *(flag for name, flag in flags if getattr(sys.flags, name))]


def _library_folders() -> list[str]:
    """Where this process imports from, but for the working directory; a worker looks there last."""
    return [path for path in sys.path if os.path.isabs(path) and not start_worker.is_here(path)]


S = TypeVar("S")
R = TypeVar("R")

AHEAD = 3  # shards given out a worker: enough to keep it busy, few enough to keep memory flat
JOIN_SECONDS = 5.0  # for a thread whose worker is gone: it has nothing more to wait for


class ProcessEngine:
    """An engine of worker processes, which begin to start at once."""

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
        """End the workers. What they write is not needed any more, so one may be in the middle of a shard."""
        with block_signals():
            for started in self._started:
                started.process.kill()
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


class _Worker(ChildProcess):
    """A worker process, and a thread that gives it one shard after the other."""

    def __init__(self, preload: str, alive: int, tasks: SimpleQueue[_Task | None]) -> None:
        self._work: tuple[bytes, list[int]] | None = None
        super().__init__(worker.__name__, preload, alive)
        try:
            self._thread = start_background_thread(partial(self._serve, tasks))
        except BaseException:  # no more threads: the process is not left to itself
            self.process.kill()
            self.process.wait()
            self.connection.close()
            raise

    def _serve(self, tasks: SimpleQueue[_Task | None]) -> None:
        while (task := tasks.get()) is not None:
            task.promise.keep(partial(self._ask, task.packed, task.shard))

    def _ask(self, packed: tuple[bytes, list[int]], shard: Any) -> Any:
        try:
            if self._work is not packed:
                worker.send(self.connection, worker.WORK, *packed)
                self._work = packed
            worker.send(self.connection, worker.SHARD, *worker.pack_message(shard))
            kind, data, _ = worker.receive(self.connection)
        except (EOFError, OSError):
            end = self.describe_end()
            raise InternalError(
                "internal.worker_died",
                "a worker process ended before its work was done",
                found=end and f"it {end}",
                advice="the machine may be out of memory; try fewer --workers",
            ) from None
        if kind == worker.RESULT:
            return pickle.loads(data)
        raise worker.unpack_error(data)

    def close(self) -> None:
        self.process.wait()
        self._thread.join(JOIN_SECONDS)
        self.connection.close()
