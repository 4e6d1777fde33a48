"""Writing one file: whole, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import suppress
from stat import S_ISDIR, S_ISREG

from goldgate.errors import ConfigError, Place
from goldgate.files.folder_lock import NO_LOCKS, is_at

WAIT_SECONDS = 10.0  # for another process that is writing the same file, which takes milliseconds
_EVERY_SECONDS = 0.05
_OF_THE_SYSTEM = ("/dev/", "/proc/")


def write_whole(path: str, content: bytes, option: str, *, make_folder: bool = True) -> None:
    """Write under another name and rename; a failure is an error with its place, and leaves nothing behind.

    Two processes that write the same file take turns. A device or a pipe is written to as it is.
    """
    try:
        folder = os.path.dirname(path)
        if folder and make_folder:
            os.makedirs(folder, exist_ok=True)
        if _is_special(path):
            with open(path, "wb") as stream:
                stream.write(content)
        else:
            _replace(path, content)
    except OSError as problem:
        raise ConfigError(
            "out.unwritable",
            "a result cannot be written",
            place=Place(path),
            found=problem.strerror or type(problem).__name__,
            advice=f"choose a file for {option} that can be written to",
        ) from None


def _is_special(path: str) -> bool:
    """Whether something is there that must not be replaced by a file: /dev/null, /dev/stdout, a named pipe."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return not (S_ISREG(status.st_mode) or S_ISDIR(status.st_mode)) or os.path.abspath(path).startswith(_OF_THE_SYSTEM)


def _replace(path: str, content: bytes) -> None:
    unfinished = f"{path}.unfinished"
    descriptor = _open_alone(unfinished)
    try:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.truncate(0)  # a killed process may have left it
            stream.write(content)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    finally:
        os.close(descriptor)


def _open_alone(unfinished: str) -> int:
    """The open file, which no other process is writing."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        if _is_ours(descriptor, unfinished):
            return descriptor
        os.close(descriptor)
        if time.monotonic() > until:
            raise OSError(errno.EBUSY, "another process is writing it")
        time.sleep(_EVERY_SECONDS)


def _is_ours(descriptor: int, path: str) -> bool:
    """Whether it is locked for us, and still there: another process may have renamed it in between."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as problem:
        if problem.errno not in NO_LOCKS:
            os.close(descriptor)
            raise
    return is_at(descriptor, path)
