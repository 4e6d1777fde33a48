"""A file that is opened once, so that what is hashed, indexed and scored are the same bytes.

Whoever writes to the file meanwhile, or puts another in its place, is noticed by its stamp: the system's own notes of
which file it is, how large, and when it was last changed.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from goldgate.errors import MachineError, Place
from goldgate.files.pipe import opener
from goldgate.files.random_access import BLOCK, RandomAccess
from goldgate.files.text_file import cannot_read
from goldgate.files.url import is_url

_OTHER_FORM = "it is packed, or not in goldgate's own form"
TICK_NS = 20_000_000  # two changes within one tick of the system's clock look alike; 10 ms is the longest in use


class Stamp(NamedTuple):
    """What the system notes of a file. `changed` cannot be set back, `modified` can."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class Opened(RandomAccess):
    """An open file, and its stamp when it was opened."""

    __slots__ = ("file", "path", "stamp")

    def __init__(self, name: str, kind: str, file: io.FileIO, stamp: Stamp | None) -> None:
        super().__init__(name, kind)
        self.path = name  # under which it was opened: on another machine than the user's, a whole one
        self.file = file
        self.stamp = stamp  # None: a copy that only we have

    def read_some(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self.file.fileno(), length, offset)
        except OSError as problem:
            raise cannot_read(self.name, self.kind, problem) from None

    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def require_unchanged(self, within: float = 0.0) -> None:
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

    def close(self) -> None:
        self.file.close()


class _File(io.FileIO):
    """Where it was left open after an error, it is closed without a warning."""

    def __del__(self) -> None:
        self.close()


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


def copy_aside(name: str, kind: str, read: Callable[[int], bytes], why: str = _OTHER_FORM) -> Opened:
    """What `read` gives, in a temporary file that has no name and so is gone when nobody has it open.

    Of what lies elsewhere it is said, with the reason, that a copy is made.
    """
    import tempfile  # for this alone: it takes longer to import than a small file to read

    if is_url(name):
        import logging

        logging.getLogger("goldgate").warning("%s: copied to the temporary folder for this run, because %s", name, why)
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
