"""Parts of a file of records that are made on other machines.

Whoever scores writes them into a folder beside the file that they become, if it sees that folder; otherwise they
travel with the result. A task has one file: it is complete, and with the file system, when the task's results are.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from functools import cache
from typing import IO, NamedTuple

from goldgate.engines.parts import append, cannot_write, path_of
from goldgate.errors import MachineError
from goldgate.files.atomic_write import UNFINISHED

FOLDER = ".parts" + UNFINISHED
_TOKEN = "token"  # a file of the folder: whoever reads the same in it sees the same folder


class Where(NamedTuple):
    """Where the records of a shard are."""

    name: str
    offset: int
    length: int


class SharedParts:
    """The parts, for the process that joins them. A part is removed when all of it was taken."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._target = path_of(stream)
        self._token = _random_name()
        self._folder: str | None = None
        self._open: io.FileIO | None = None
        self._name = ""
        if self._target is not None:
            self._folder = os.path.abspath(self._target).removesuffix(UNFINISHED) + FOLDER
            _make(self._folder, self._token, self._target)

    def place(self) -> SharedPlace:
        return SharedPlace(self._folder, self._token, self._target)

    def take(self, where: Where | bytes) -> None:
        if isinstance(where, bytes):
            self._stream.write(where)
            return
        try:
            self._turn_to(where.name)
            assert self._open is not None
            append(self._open, where.length, self._stream, where.offset)
        except (OSError, EOFError) as problem:
            raise MachineError(
                "ray.part_lost",
                "records that a node has written are not there",
                found=getattr(problem, "strerror", None) or str(problem),
                expected="a file system for --out that all nodes share, and that keeps what was closed",
                advice="run the command again",
            ) from None

    def _turn_to(self, name: str) -> None:
        if name != self._name:
            self._drop()
            assert self._folder is not None
            self._open, self._name = io.FileIO(os.path.join(self._folder, name)), name

    def _drop(self) -> None:
        """Remove the part that was taken last."""
        if self._open is not None:
            self._open.close()
            with suppress(OSError):
                os.unlink(self._open.name)
            self._open = None

    def close(self) -> None:
        self._drop()
        if self._folder is not None:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)


class SharedPlace:
    """Takes the records of a shard, wherever that was scored."""

    def __init__(self, folder: str | None, token: str, target: str | None) -> None:
        self._folder = folder
        self._token = token
        self._target = target  # the file that it becomes part of, for messages

    def put(self, records: bytes) -> Where | bytes:
        if self._folder is None or not _is_seen(self._folder, self._token):
            return records
        try:
            return part_file.append(self._folder, records)
        except OSError as problem:
            raise cannot_write(self._target, problem) from None


class PartFile:
    """The file that takes the records of this process until it is finished."""

    def __init__(self) -> None:
        self._file: io.BufferedWriter | None = None
        self._size = 0

    def append(self, folder: str, records: bytes) -> Where:
        if self._file is None:
            self._file, self._size = open(os.path.join(folder, _random_name()), "xb"), 0  # noqa: SIM115
        self._file.write(records)
        offset, self._size = self._size, self._size + len(records)
        return Where(os.path.basename(self._file.name), offset, len(records))

    def finish(self) -> None:
        """A file system that several machines share has all of it only when it was closed."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


part_file = PartFile()  # of this process


def _random_name() -> str:
    return os.urandom(16).hex()


def _make(folder: str, token: str, target: str) -> None:
    import shutil

    try:
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
        os.mkdir(folder)
        with open(os.path.join(folder, _TOKEN), "x") as stream:
            stream.write(token)
    except OSError as problem:
        raise cannot_write(target, problem) from None


@cache
def _is_seen(folder: str, token: str) -> bool:
    """Whether this machine sees the folder of the process that joins the parts."""
    try:
        with open(os.path.join(folder, _TOKEN)) as stream:
            return stream.read() == token
    except OSError:
        return False
