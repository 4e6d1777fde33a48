"""Files that are read at any offset, and opened once: what is hashed, indexed and scored are the same bytes.

A file that another process writes to or replaces meanwhile is detected by its stamp: which file it is, its size,
and when it was last changed. What cannot be read at any offset is copied to the temporary folder.
"""

from __future__ import annotations

import hashlib
import io
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from goldgate.errors import InputError, MachineError, Place
from goldgate.files.address import is_url
from goldgate.files.reading import pipe_opener, read_failure

BLOCK = 1 << 20
MAX_READ = 1 << 30  # the system gives at most 2 GiB at a time


class RandomAccess(ABC):
    """Bytes that stay as they are, with the name and kind for messages. It can be sent to a worker."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name  # as the user gave it
        self.kind = kind

    @abstractmethod
    def read_some(self, offset: int, length: int) -> bytes:
        """At most `length` bytes; none at the end of the file."""

    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def require_unchanged(self, within: float = 0.0) -> None:
        """An error if the file was written to, or is no longer the one under its name.

        Where asking costs a request, an answer counts for the seconds `within`.
        """

    @abstractmethod
    def close(self) -> None: ...

    def read(self, offset: int, length: int) -> bytes:
        """The bytes there, all of them: fewer mean that the file changed."""
        data = self.read_some(offset, min(length, MAX_READ))
        if len(data) == length:
            return data
        parts = [data]
        while length - len(data) > 0 and parts[-1]:
            offset, length = offset + len(data), length - len(data)
            data = self.read_some(offset, min(length, MAX_READ))
            parts.append(data)
        if len(data) != length:
            raise self.changed("it is shorter than it was")
        return b"".join(parts)

    def read_each(self, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        """The bytes at several places, which need not lie side by side."""
        return [self.read(offset, length) for offset, length in zip(offsets, lengths, strict=True)]

    def stream(self, offset: int = 0) -> io.BufferedReader:
        """The bytes from there on, to be read in order. Several streams of one file do not disturb each other."""
        return io.BufferedReader(_OffsetStream(self, offset), BLOCK)

    def sha256(self) -> str:
        digest, offset = hashlib.sha256(), 0
        while block := self.read_some(offset, BLOCK):
            digest.update(block)
            offset += len(block)
        return digest.hexdigest()

    def changed(self, found: str) -> InputError:
        return InputError(
            f"{self.kind}.changed",
            "the file changed while it was being read",
            place=Place(self.name),
            found=found,
            expected="a file that stays as it is until the end",
            advice="is another process still writing it? run the command again when it is done",
        )


class _OffsetStream(io.RawIOBase):
    def __init__(self, file: RandomAccess, offset: int) -> None:
        self._file = file
        self._offset = offset

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed leaves the buffer open
        data = self._file.read_some(self._offset, len(buffer))
        buffer[: len(data)] = data
        self._offset += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self._file.size()}[whence]
        self._offset = begin + offset
        return self._offset

    def tell(self) -> int:
        return self._offset


_COPY_REASON = "it is packed, or not in goldgate's own form"
TICK_NS = 20_000_000  # two changes within one tick of the system's clock look alike; 10 ms is the longest in use


class FileStamp(NamedTuple):
    """What the system notes of a file. `changed` cannot be set back, `modified` can."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class LocalFile(RandomAccess):
    """An open file, and its stamp when it was opened."""

    __slots__ = ("file", "path", "stamp")

    def __init__(self, name: str, kind: str, file: io.FileIO, stamp: FileStamp | None) -> None:
        super().__init__(name, kind)
        self.path = name  # under which it was opened: on another machine than the user's, a whole one
        self.file = file
        self.stamp = stamp  # None: a copy that only we have

    def read_some(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self.file.fileno(), length, offset)
        except OSError as problem:
            raise read_failure(self.name, self.kind, problem) from None

    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def require_unchanged(self, within: float = 0.0) -> None:
        if self.stamp is None:
            return
        now = stamp_of(os.fstat(self.file.fileno()))
        if now != self.stamp:
            raise self.changed(_describe_change(self.stamp, now))
        try:
            there = stamp_of(os.stat(self.path))
        except OSError:
            raise self.changed("it was removed") from None
        if there != self.stamp:
            raise self.changed("another file was put in its place")

    def close(self) -> None:
        self.file.close()


class _QuietFile(io.FileIO):
    """Where it was left open after an error, it is closed without a warning."""

    def __del__(self) -> None:
        self.close()


def open_local(path: str | Path, kind: str) -> LocalFile:
    """Open a file; OSError if that fails. Its stamp is such that every later change is one that can be seen."""
    file = _QuietFile(path, "rb", opener=pipe_opener)
    try:
        stamp = stamp_of(os.fstat(file.fileno()))
        recent = TICK_NS - (time.time_ns() - max(stamp.modified, stamp.changed))
        if 0 < recent <= TICK_NS:
            time.sleep(recent / 1e9)
            stamp = stamp_of(os.fstat(file.fileno()))
        return LocalFile(str(path), kind, file, stamp)
    except BaseException:
        file.close()
        raise


def copy_to_temporary(name: str, kind: str, read: Callable[[int], bytes], why: str = _COPY_REASON) -> LocalFile:
    """What `read` gives, in a temporary file that has no name and so is gone when no process has it open.

    Of what lies elsewhere it is said, with the reason, that a copy is made.
    """
    import tempfile  # for this alone: it takes longer to import than a small file to read

    if is_url(name):
        import logging

        logging.getLogger("goldgate").warning("%s: copied to the temporary folder for this run, because %s", name, why)
    try:
        with tempfile.TemporaryFile(prefix="goldgate-") as nameless:
            copy = _QuietFile(os.dup(nameless.fileno()), "r+b")
    except OSError as problem:
        raise _no_room_error(name, kind, problem) from None
    while block := memoryview(read(BLOCK)):
        while block:  # the system may take a part only, and give the reason next time
            try:
                block = block[copy.write(block) :]
            except OSError as problem:
                raise _no_room_error(name, kind, problem) from None
    return LocalFile(name, kind, copy, None)


def stamp_of(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _describe_change(before: FileStamp, now: FileStamp) -> str:
    if before.size != now.size:
        return f"it had {before.size:,} bytes and now has {now.size:,}"
    return "it was written to, or its time or rights were set"


def _no_room_error(name: str, kind: str, problem: OSError) -> MachineError:
    return MachineError(
        "machine.temporary_folder",
        f"the {kind} file cannot be unpacked or copied to the temporary folder",
        place=Place(name),
        found=problem.strerror or type(problem).__name__,
        advice="name a folder with room for it in the environment variable TMPDIR",
    )
