"""A worker process: gets work and shards over a socket, gives results back, and ends with its parent process."""

from __future__ import annotations

import copyreg
import importlib
import os
import pickle
import signal
import socket
import struct
import threading
import traceback
from collections.abc import Callable, Sequence
from io import BytesIO, FileIO
from typing import Any

from goldgate.core.process import ENDING_SIGNALS, infrequent_gc
from goldgate.files.remote.remote_file import RemoteFile

WORK, SHARD = b"w", b"s"  # what a message to a worker holds
RESULT, ERROR = b"r", b"e"  # what a message from one holds
_HEAD = struct.Struct(">cQI")  # kind, bytes that follow, open files that follow
_FILES_AT_ONCE = 200  # the system takes 253 in one message


class WorkerTraceback(Exception):  # noqa: N818  # it is no error, but the story of one
    """The traceback of an error in a worker process, as text: shown as its cause."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Packer(pickle.Pickler):
    """Sets open files aside: a number stands for each. A file elsewhere goes by its URL, even by a signed one."""

    dispatch_table = copyreg.dispatch_table | {RemoteFile: RemoteFile.reduced}

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
    """What `pack` was given, with the open files that came along."""
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
