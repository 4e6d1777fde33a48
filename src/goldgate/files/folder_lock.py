"""A lock on a folder: one run at a time writes there, and a second one is told who it is.

The lock is a file with the number of the process in it, locked by the system for as long as that process lives. It is
removed at the end; one that a killed process left behind is locked by nobody, and harms nobody.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import re
from contextlib import suppress
from pathlib import Path

from goldgate.errors import ConfigError, Place

NAME = ".goldgate.lock"
_SHOWN = 200  # characters of what the file says
_LONGEST = 1_000  # bytes that one of our own may have
_OURS = re.compile(rb"(?:[0-9]+ on [^\n]*\n?)?")  # or empty, where the disk was full or the process killed
_TRIES = 100  # each failed one means that another run has just begun or ended
NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})  # a file system that knows none


class FolderLock:
    """Held from the beginning until `release`; a folder that another process holds is a ConfigError."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.held = True  # False on a file system without locks
        self._descriptor = -1
        for _ in range(_TRIES):
            if self._acquire(folder):
                return
        raise folder_in_use(folder, "other processes, one after the other")

    def release(self) -> None:
        """Remove the file, then let go: whoever waits for it sees that it is gone, and makes a new one."""
        if self._descriptor >= 0:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = -1

    __del__ = release

    def _acquire(self, folder: Path) -> bool:
        """Whether this process has the lock now; OSError if the file cannot be made."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:  # another run has just ended and took its empty folder with it
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not is_at(descriptor, self.path):  # its owner has just removed it
                os.close(descriptor)
                return False
        except OSError as problem:
            who = os.pread(descriptor, _SHOWN, 0).decode(errors="replace").strip()
            os.close(descriptor)
            if isinstance(problem, BlockingIOError):
                raise folder_in_use(folder, f"process {who}" if who else "another process") from None
            if problem.errno not in NO_LOCKS:
                raise
            if not _OURS.fullmatch(who.encode()):
                raise _not_ours(self.path) from None
            self.held = False
            with suppress(OSError):  # it says nothing where nobody can lock it
                self.path.unlink()
            return True
        if not _OURS.fullmatch(os.pread(descriptor, _LONGEST, 0)):
            os.close(descriptor)
            raise _not_ours(self.path)
        with suppress(OSError):  # on a full disk nobody learns who it is
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} on {platform.node()}\n".encode(errors="replace"), 0)
        self._descriptor = descriptor
        return True


def _not_ours(path: Path) -> ConfigError:
    return ConfigError(
        "out.not_ours",
        "this file has the name of goldgate's lock file, but goldgate did not write it",
        place=Place(str(path)),
        expected="no such file, or the number of a process and the name of its machine in it",
        advice="move it, or choose another folder for --out",
    )


def is_at(descriptor: int, path: str | Path) -> bool:
    """Whether the open file is the one under that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def folder_in_use(folder: Path, found: str) -> ConfigError:
    return ConfigError(
        "out.in_use",
        "another run is writing to this folder",
        place=Place(str(folder)),
        found=found,
        advice="wait for it to end, or choose another folder for --out",
    )
