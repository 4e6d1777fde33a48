"""The way of records into one file: whoever scores a shard puts its records in a place, and the parts are joined.

What comes back from a shard says where its records are; the bytes themselves do not travel. Places are given out in
the order of the shards and taken in that order, so the file is the same whoever made its parts.
"""

from __future__ import annotations

import io
import os
from collections import deque
from contextlib import suppress
from typing import IO, Any, Protocol

from goldgate.errors import GoldgateError, MachineError
from goldgate.files.atomic_write import UNFINISHED, unwritable

BLOCK = 1 << 20
PART = ".part" + UNFINISHED  # the end of a name that a part has for an instant, where nameless files cannot be made
_ADVICE = "the results need a folder that can be written to, with room for them"


class Place(Protocol):
    """Takes the records of one shard. It can be sent to another process."""

    def put(self, records: bytes) -> Any:
        """Write them; the result says where they are. It can be sent back."""


class Parts(Protocol):
    """The parts of one file of records. What the places hold is given back by the engine that made them, at its end."""

    def place(self) -> Place:
        """Where the records of the next shard go."""

    def take(self, where: Any) -> None:
        """Add the next part to the file: `where` is what `put` gave."""


class InHand:
    """Parts of work in this process: the records are handed over as they are."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def place(self) -> InHand:
        return self

    def put(self, records: bytes) -> bytes:
        return records

    def take(self, where: bytes) -> None:
        self._stream.write(where)


class Spooled:
    """Parts of work in other processes of this machine: each is in a nameless file beside the one that they become.

    There are as many files as shards are under way; a part that was taken makes room for another. A process that is
    killed leaves nothing behind.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._target = path_of(stream)
        self._free: list[Spool] = []
        self._given: deque[Spool] = deque()

    def place(self) -> Spool:
        spool = self._free.pop() if self._free else Spool(_nameless(self._target), self._target)
        self._given.append(spool)
        return spool

    def take(self, where: int) -> None:
        spool = self._given.popleft()
        append(spool.file, where, self._stream)
        self._free.append(spool)

    def close(self) -> None:
        """Only when no thread can send a place any more: the number of a closed file soon is another file's."""
        for spool in (*self._free, *self._given):
            spool.file.close()


class Spool:
    """A file for the records of one shard. It is written from its beginning."""

    def __init__(self, file: io.FileIO, target: str | None) -> None:
        self.file = file
        self._target = target  # the file that it becomes part of, for messages

    def put(self, records: bytes) -> int:
        offset, rest = 0, memoryview(records)
        try:
            with self.file:
                while offset < len(records):
                    offset += os.pwrite(self.file.fileno(), rest[offset:], offset)
        except OSError as problem:
            raise cannot_write(self._target, problem) from None
        return len(records)


def append(part: io.FileIO, length: int, stream: IO[bytes], offset: int = 0) -> None:
    """Add so many bytes of a file to a stream: inside the system where that goes, otherwise in blocks."""
    done = 0
    if type(getattr(stream, "raw", None)) is io.FileIO and isinstance(stream, io.BufferedWriter):
        stream.flush()
        with suppress(OSError):  # not for these files, or no room: writing as usual does it, or says why not
            while done < length:
                copied = os.copy_file_range(part.fileno(), stream.fileno(), length - done, offset + done)
                if not copied:
                    break
                done += copied
    while done < length:
        block = os.pread(part.fileno(), min(BLOCK, length - done), offset + done)
        if not block:
            raise EOFError("a part of the records is shorter than it was said to be")
        stream.write(block)
        done += len(block)


def path_of(stream: IO[bytes]) -> str | None:
    """The name of a file that can be written beside; None for what is in memory, or has none."""
    name = getattr(stream, "name", None)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else None


def _nameless(target: str | None) -> io.FileIO:
    """An open file that is gone when nobody has it open."""
    try:
        if target is None:
            import tempfile

            with tempfile.TemporaryFile(prefix="goldgate-") as made:
                return io.FileIO(os.dup(made.fileno()), "r+")
        with suppress(OSError, AttributeError):  # a system, or a file system, without nameless files
            folder = os.path.dirname(target) or "."
            return io.FileIO(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600), "r+")
        name = target.removesuffix(UNFINISHED) + PART
        with suppress(FileNotFoundError):  # a killed process may have left it
            os.unlink(name)
        file = io.FileIO(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "r+")
        os.unlink(name)
        return file
    except OSError as problem:
        raise cannot_write(target, problem) from None


def cannot_write(target: str | None, problem: OSError) -> GoldgateError:
    if target is not None:
        return unwritable(target, problem, _ADVICE)
    return MachineError(
        "machine.temporary_folder",
        "the records cannot be written to the temporary folder",
        found=problem.strerror or type(problem).__name__,
        advice="name a folder with room for them in the environment variable TMPDIR",
    )
