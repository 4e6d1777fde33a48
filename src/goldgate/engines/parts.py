"""Records of many shards joined into one file, in the order of the shards.

The process that scores a shard writes its records with a writer it was sent; only their location comes back. The
parts are direct (this process), in nameless files (this machine), or in a folder beside the target that other
machines see; records of a machine that does not see it come back with the result.
"""

from __future__ import annotations

import io
import os
from collections import deque
from contextlib import suppress
from functools import cache
from typing import IO, Any, NamedTuple, Protocol

from goldgate.errors import GoldgateError, MachineError
from goldgate.files.writing import UNFINISHED_SUFFIX, temporary_folder_error, write_failure

BLOCK = 1 << 20
# The end of a name that a part has for an instant, where nameless files cannot be made.
PART = ".part" + UNFINISHED_SUFFIX
_ADVICE = "the results need a folder that can be written to, with room for them"


class RecordWriter(Protocol):
    """Writes the records of one shard. It can be sent to another process."""

    def write(self, records: bytes) -> Any:
        """Write records and return their location, for `append_part` in the process that joins them."""


class RecordParts(Protocol):
    """The parts of one file of records. The engine that made them closes their files when it ends."""

    def new_writer(self) -> RecordWriter:
        """A writer for the records of the next shard."""

    def append_part(self, location: Any) -> None:
        """Append the next part to the file, from the location that its writer returned."""


class SpooledParts:
    """Parts of work in other processes of this machine: each is in a nameless file beside the one that they become.

    There are as many files as shards are under way; a part that was appended makes room for another. A process that is
    killed leaves nothing behind.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._target = stream_path(stream)
        self._free: list[Spool] = []
        self._in_use: deque[Spool] = deque()

    def new_writer(self) -> Spool:
        spool = self._free.pop() if self._free else Spool(_nameless(self._target), self._target)
        self._in_use.append(spool)
        return spool

    def append_part(self, length: int) -> None:
        spool = self._in_use.popleft()
        copy_bytes(spool.file, length, self._stream)
        self._free.append(spool)

    def close(self) -> None:
        """Close the files, when no thread can send one any more: a closed file's number is soon another file's."""
        for spool in (*self._free, *self._in_use):
            spool.file.close()


class Spool:
    """A file for the records of one shard. It is written from its beginning."""

    def __init__(self, file: io.FileIO, target: str | None) -> None:
        self.file = file
        self._target = target  # the file that it becomes part of, for messages

    def write(self, records: bytes) -> int:
        offset, rest = 0, memoryview(records)
        try:
            with self.file:
                while offset < len(records):
                    offset += os.pwrite(self.file.fileno(), rest[offset:], offset)
        except OSError as problem:
            raise cannot_write(self._target, problem) from None
        return len(records)


def copy_bytes(part: io.FileIO, length: int, stream: IO[bytes], offset: int = 0) -> None:
    """Append `length` bytes of a file to a stream: in the kernel if possible, otherwise in blocks."""
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


def stream_path(stream: IO[bytes]) -> str | None:
    """The name of a file that can be written beside; None for what is in memory, or has none."""
    name = getattr(stream, "name", None)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else None


def _nameless(target: str | None) -> io.FileIO:
    """An open file without a name: it is gone when the last process has closed it."""
    try:
        if target is None:
            import tempfile

            with tempfile.TemporaryFile(prefix="goldgate-") as made:
                return io.FileIO(os.dup(made.fileno()), "r+")
        with suppress(OSError, AttributeError):  # a system, or a file system, without nameless files
            folder = os.path.dirname(target) or "."
            return io.FileIO(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600), "r+")
        name = target.removesuffix(UNFINISHED_SUFFIX) + PART
        with suppress(FileNotFoundError):  # a killed process may have left it
            os.unlink(name)
        file = io.FileIO(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "r+")
        os.unlink(name)
        return file
    except OSError as problem:
        raise cannot_write(target, problem) from None


def cannot_write(target: str | None, problem: OSError) -> GoldgateError:
    if target is not None:
        return write_failure(target, problem, _ADVICE)
    return temporary_folder_error(problem, "the records cannot be written to the temporary folder")


FOLDER = ".parts" + UNFINISHED_SUFFIX
_TOKEN = "token"  # a file of the folder: a process that reads the same in it sees the same folder


class PartLocation(NamedTuple):
    """Where the records of a shard are."""

    name: str
    offset: int
    length: int


class SharedParts:
    """Parts in a folder that other machines see too. A part is removed once all of it was appended."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._target = stream_path(stream)
        self._token = os.urandom(16).hex()
        self._folder: str | None = None
        self._open: io.FileIO | None = None
        self._name = ""
        if self._target is not None:
            self._folder = os.path.abspath(self._target).removesuffix(UNFINISHED_SUFFIX) + FOLDER
            _make(self._folder, self._token, self._target)

    def new_writer(self) -> SharedWriter:
        return SharedWriter(self._folder, self._token, self._target)

    def append_part(self, location: PartLocation | bytes) -> None:
        if isinstance(location, bytes):
            self._stream.write(location)
            return
        assert self._folder is not None
        try:
            if self._open is None or location.name != self._name:
                self._drop()
                self._open, self._name = io.FileIO(os.path.join(self._folder, location.name)), location.name
            copy_bytes(self._open, location.length, self._stream, location.offset)
        except (OSError, EOFError) as problem:
            raise MachineError(
                "ray.part_lost",
                "records that a node has written are not there",
                found=getattr(problem, "strerror", None) or str(problem),
                expected="a file system for --out that all nodes share, and that keeps what was closed",
                advice="run the command again",
            ) from None

    def _drop(self) -> None:
        """Remove the part that was appended last."""
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


class SharedWriter:
    """Writes the records of a shard into the shared folder; where that is not visible, returns them as they are."""

    def __init__(self, folder: str | None, token: str, target: str | None) -> None:
        self._folder = folder
        self._token = token
        self._target = target  # the file that it becomes part of, for messages

    def write(self, records: bytes) -> PartLocation | bytes:
        if self._folder is None or not _is_seen(self._folder, self._token):
            return records
        try:
            return part_file.append(self._folder, records)
        except OSError as problem:
            raise cannot_write(self._target, problem) from None


class PartFile:
    """The file that the records of this process are written to, until `finish`."""

    def __init__(self) -> None:
        self._file: io.BufferedWriter | None = None
        self._size = 0

    def append(self, folder: str, records: bytes) -> PartLocation:
        if self._file is None:
            self._file, self._size = open(os.path.join(folder, os.urandom(16).hex()), "xb"), 0  # noqa: SIM115
        self._file.write(records)
        offset, self._size = self._size, self._size + len(records)
        return PartLocation(os.path.basename(self._file.name), offset, len(records))

    def finish(self) -> None:
        """A file system that several machines share has all of it only when it was closed."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


part_file = PartFile()  # of this process


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
    """Whether this machine can read the folder of the process that joins the parts."""
    try:
        with open(os.path.join(folder, _TOKEN)) as stream:
            return stream.read() == token
    except OSError:
        return False
