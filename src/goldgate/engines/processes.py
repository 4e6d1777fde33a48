"""Several worker processes on this machine, each with its own copy of the work, and the messages between them.

They are plain processes of this Python, each at the other end of a socket. Open files in the work are sent along,
so a worker reads what was opened once. No worker outlives the process that started it: a pipe that only the first
process holds open ends them.
"""

from __future__ import annotations

import copyreg
import importlib
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO, FileIO
from queue import SimpleQueue
from typing import IO, Any, NamedTuple, Self, TypeVar

from goldgate.core.process import ENDING_SIGNALS, Promise, block_signals, infrequent_gc, start_background_thread
from goldgate.engines import start_worker
from goldgate.engines.parts import SpooledParts
from goldgate.errors import InternalError, MachineError
from goldgate.files.remote import RemoteFile

S = TypeVar("S")
R = TypeVar("R")


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
        packed = pack_message(work)
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
        super().__init__(__name__, preload, alive)
        try:
            self._thread = start_background_thread(partial(self._serve, tasks))
        except BaseException:  # no more threads: the process is not left to itself
            self.process.kill()
            self.process.wait()
            self.connection.close()
            raise

    def _serve(self, tasks: SimpleQueue[_Task | None]) -> None:
        while (task := tasks.get()) is not None:
            task.promise.run(partial(self._ask, task.packed, task.shard))

    def _ask(self, packed: tuple[bytes, list[int]], shard: Any) -> Any:
        try:
            if self._work is not packed:
                send(self.connection, WORK, *packed)
                self._work = packed
            send(self.connection, SHARD, *pack_message(shard))
            kind, data, _ = receive(self.connection)
        except (EOFError, OSError):
            end = self.describe_end()
            raise InternalError(
                "internal.worker_died",
                "a worker process ended before its work was done",
                found=end and f"it {end}",
                advice="the machine may be out of memory; try fewer --workers",
            ) from None
        if kind == RESULT:
            return pickle.loads(data)
        raise unpack_error(data)

    def close(self) -> None:
        self.process.wait()
        self._thread.join(JOIN_SECONDS)
        self.connection.close()


WORK, SHARD = b"w", b"s"  # what a message to a worker holds
RESULT, ERROR = b"r", b"e"  # what a message from one holds
_HEAD = struct.Struct(">cQI")  # kind, bytes that follow, open files that follow
_FILES_AT_ONCE = 200  # the system takes 253 in one message


class WorkerTraceback(Exception):  # noqa: N818  # the traceback of an error, as its cause
    """The traceback of an error in a worker process, as text: shown as its cause."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Packer(pickle.Pickler):
    """Sets open files aside: a number stands for each. A file elsewhere goes by its URL, even by a signed one."""

    dispatch_table = copyreg.dispatch_table | {RemoteFile: RemoteFile.reduce_locally}

    def __init__(self, stream: BytesIO) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.files: list[int] = []

    def persistent_id(self, part: Any) -> int | None:
        if not isinstance(part, FileIO):
            return None
        self.files.append(part.fileno())
        return len(self.files) - 1


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, files: Sequence[int]) -> None:
        super().__init__(BytesIO(data))
        self._files = [FileIO(descriptor) for descriptor in files]

    def persistent_load(self, number: Any) -> FileIO:
        file: FileIO = self._files[number]
        return file


def pack_message(value: Any) -> tuple[bytes, list[int]]:
    """The value as bytes, and the descriptors of the open files in it: the receiver has the very same files."""
    stream = BytesIO()
    packer = _Packer(stream)
    packer.dump(value)
    return stream.getvalue(), packer.files


def unpack_message(data: bytes, files: Sequence[int] = ()) -> Any:
    """The value of a packed message, with the open files that came along."""
    return _Unpacker(data, files).load()


def send(connection: socket.socket, kind: bytes, data: bytes, files: Sequence[int] = ()) -> None:
    """Send one message; OSError if the connection is closed."""
    connection.sendall(_HEAD.pack(kind, len(data), len(files)))
    for begin in range(0, len(files), _FILES_AT_ONCE):
        socket.send_fds(connection, [b"f"], list(files[begin : begin + _FILES_AT_ONCE]))
    connection.sendall(data)


def receive(connection: socket.socket) -> tuple[bytes, bytes, list[int]]:
    """The next message: its kind, its bytes, its open files; EOFError or OSError if the connection is closed."""
    kind, length, number = _HEAD.unpack(_receive_bytes(connection, _HEAD.size))
    files: list[int] = []
    while len(files) < number:
        marks, some, _, _ = socket.recv_fds(connection, 1, _FILES_AT_ONCE)
        if not marks or not some:
            raise EOFError
        files += some
    return kind, bytes(_receive_bytes(connection, length)), files


def _receive_bytes(connection: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view, got = memoryview(data), 0
    while got < length:
        more = connection.recv_into(view[got:])
        if not more:
            raise EOFError
        got += more
    return data


def serve_shards(connection: socket.socket, preload: str) -> None:
    """Apply the work to one shard after the other, until the connection is closed.

    What goes wrong before there is a shard is the answer to the first one.
    """
    work: Any = None
    early: Exception | None = _imported(preload)
    while True:
        try:
            kind, data, files = receive(connection)
        except (EOFError, OSError):
            return
        try:
            if kind == WORK:
                work = unpack_message(data, files)
                continue
            if early is not None:
                raise early
            answer = (RESULT, pickle.dumps(work(unpack_message(data, files)), pickle.HIGHEST_PROTOCOL))
        except Exception as problem:
            if kind == WORK:
                early = early or problem
                continue
            answer = (ERROR, packed_error(problem))
        try:
            send(connection, *answer)
        except OSError:
            return


def _imported(preload: str) -> Exception | None:
    """Import the module that holds the work; the result is why that failed."""
    try:
        with infrequent_gc():
            importlib.import_module(preload)
    except Exception as problem:
        return problem
    return None


def packed_error(problem: Exception) -> bytes:
    """An error with its traceback; one that cannot travel is named by its type and text."""
    text = "".join(traceback.format_exception(problem))
    try:
        packed = pickle.dumps((problem, text))
        pickle.loads(packed)
        return packed
    except Exception:
        return pickle.dumps((RuntimeError(f"{type(problem).__name__}: {problem}"), text))


def unpack_error(data: bytes) -> Exception:
    """The error of a worker, with its traceback as the cause."""
    problem, text = pickle.loads(data)
    assert isinstance(problem, Exception)
    problem.__cause__ = WorkerTraceback(text)
    return problem


def follow_parent(alive: int, at_end: Callable[[], None] = lambda: None) -> None:
    """Ignore signals, and end this process when the pipe is closed: then the process that started it is gone."""

    def wait() -> None:
        os.read(alive, 1)
        at_end()
        os._exit(0)

    for number in ENDING_SIGNALS:  # the first process receives them too, and reports them
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=wait, daemon=True).start()


def main(alive: int, connection: int, preload: str) -> None:
    """Serve until the other end of the connection is closed, or that of the pipe `alive`."""
    follow_parent(alive)
    with socket.socket(fileno=connection) as opened:
        serve_shards(opened, preload)
