"""A file that is opened once, so that what is hashed, indexed and scored are the same bytes.

Whoever writes to the file meanwhile, or puts another in its place, is noticed by its stamp: the system's own notes of
which file it is, how large, and when it was last changed.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from goldgate.errors import InputError, MachineError, Place
from goldgate.files.pipe import opener
from goldgate.files.text_file import cannot_read

BLOCK = 1 << 20
LARGEST_READ = 1 << 30  # the system gives at most 2 GiB at a time
TICK_NS = 20_000_000  # two changes within one tick of the system's clock look alike; 10 ms is the longest in use


class Stamp(NamedTuple):
    """What the system notes of a file. `changed` cannot be set back, `modified` can."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class Opened:
    """An open file, its stamp when it was opened, and the name and kind for messages. It can be sent to a worker."""

    __slots__ = ("file", "kind", "name", "path", "stamp")

    def __init__(self, name: str, kind: str, file: io.FileIO, stamp: Stamp | None) -> None:
        self.name = name  # as the user gave it
        self.path = name  # under which it was opened: on another machine than the user's, a whole one
        self.kind = kind
        self.file = file
        self.stamp = stamp  # None: a copy that only we have

    def read(self, offset: int, length: int) -> bytes:
        """The bytes there, all of them: fewer mean that the file changed."""
        data = self.read_some(offset, min(length, LARGEST_READ))
        if len(data) == length:
            return data
        parts = [data]
        while length - len(data) > 0 and parts[-1]:
            offset, length = offset + len(data), length - len(data)
            data = self.read_some(offset, min(length, LARGEST_READ))
            parts.append(data)
        if len(data) != length:
            raise self.changed("it is shorter than it was")
        return b"".join(parts)

    def read_some(self, offset: int, length: int) -> bytes:
        """At most so many bytes; none at the end of the file."""
        try:
            return os.pread(self.file.fileno(), length, offset)
        except OSError as problem:
            raise cannot_read(self.name, self.kind, problem) from None

    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def stream(self, offset: int = 0) -> io.BufferedReader:
        """The bytes from there on, to be read in order. Several streams of one file do not disturb each other."""
        return io.BufferedReader(_From(self, offset), BLOCK)

    def sha256(self) -> str:
        digest, offset = hashlib.sha256(), 0
        while block := self.read_some(offset, BLOCK):
            digest.update(block)
            offset += len(block)
        return digest.hexdigest()

    def require_unchanged(self) -> None:
        """An error if the file was written to, or is no longer the one under its name."""
        if self.stamp is None:
            return
        now = stamp_of(os.fstat(self.file.fileno()))
        if now != self.stamp:
            raise self.changed(_difference(self.stamp, now))
        try:
            there = stamp_of(os.stat(self.path))
        except OSError:
            raise self.changed("it was removed") from None
        if there != self.stamp:
            raise self.changed("another file was put in its place")

    def changed(self, found: str) -> InputError:
        return InputError(
            f"{self.kind}.changed",
            "the file changed while it was being read",
            place=Place(self.name),
            found=found,
            expected="a file that stays as it is until the end",
            advice="is another process still writing it? run the command again when it is done",
        )

    def close(self) -> None:
        self.file.close()


class _File(io.FileIO):
    """Where it was left open after an error, it is closed without a warning."""

    def __del__(self) -> None:
        self.close()


class _From(io.RawIOBase):
    def __init__(self, opened: Opened, offset: int) -> None:
        self._opened = opened
        self._offset = offset

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed leaves the buffer open
        data = self._opened.read_some(self._offset, len(buffer))
        buffer[: len(data)] = data
        self._offset += len(data)
        return len(data)


def open_once(path: str | Path, kind: str) -> Opened:
    """Open a file; OSError if that fails. Its stamp is such that every later change is one that can be seen."""
    file = _File(path, "rb", opener=opener)
    try:
        stamp = stamp_of(os.fstat(file.fileno()))
        recent = TICK_NS - (time.time_ns() - max(stamp.modified, stamp.changed))
        if 0 < recent <= TICK_NS:
            time.sleep(recent / 1e9)
            stamp = stamp_of(os.fstat(file.fileno()))
        return Opened(str(path), kind, file, stamp)
    except BaseException:
        file.close()
        raise


def copy_aside(name: str, kind: str, read: Callable[[int], bytes]) -> Opened:
    """What `read` gives, in a temporary file that has no name and so is gone when nobody has it open."""
    try:
        with tempfile.TemporaryFile(prefix="goldgate-") as nameless:
            copy = _File(os.dup(nameless.fileno()), "r+b")
    except OSError as problem:
        raise _no_room(name, kind, problem) from None
    while block := memoryview(read(BLOCK)):
        while block:  # the system may take a part only, and give the reason next time
            try:
                block = block[copy.write(block) :]
            except OSError as problem:
                raise _no_room(name, kind, problem) from None
    return Opened(name, kind, copy, None)


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _difference(before: Stamp, now: Stamp) -> str:
    if before.size != now.size:
        return f"it had {before.size:,} bytes and now has {now.size:,}"
    return "it was written to, or its time or rights were set"


def _no_room(name: str, kind: str, problem: OSError) -> MachineError:
    return MachineError(
        "machine.temporary_folder",
        f"the {kind} file cannot be unpacked or copied to the temporary folder",
        place=Place(name),
        found=problem.strerror or type(problem).__name__,
        advice="name a folder with room for it in the environment variable TMPDIR",
    )
