"""Writing a file: whole, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import IO

from goldgate.errors import ConfigError, Place
from goldgate.files.folder_lock import NO_LOCKS, is_at
from goldgate.files.url import is_url

WAIT_SECONDS = 10.0  # for another process that is writing the same file, which takes milliseconds
UNFINISHED = ".unfinished"  # the end of the name until a file is complete
_EVERY_SECONDS = 0.05
_OF_THE_SYSTEM = ("/dev/", "/proc/")


@contextmanager
def whole_file(path: str | Path, advice: str, *, make_folder: bool = True) -> Iterator[IO[bytes]]:
    """A file to write into. It takes the place of an older one when it is complete, and leaves nothing otherwise.

    A failure is an error with its place and this advice. Two processes that write the same file take turns. A device
    or a pipe is written to as it is.
    """
    name = os.fspath(path)
    try:
        folder = os.path.dirname(name)
        if folder and make_folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") if _is_special(name) else _replacing(name) as stream:
            yield stream
    except OSError as problem:
        raise unwritable(name, problem, advice) from None


def write_whole(path: str, content: bytes, option: str, *, make_folder: bool = True) -> None:
    """Write a file that was named by an option, in one go."""
    write_parts(path, (content,), option, make_folder=make_folder)


def write_parts(path: str, parts: Iterable[bytes], option: str, *, make_folder: bool = True) -> None:
    """The same of a content that comes in parts."""
    if is_url(path):
        from goldgate.files.remote.write import write_object  # only where it is needed

        write_object(path, b"".join(parts), option)
        return
    advice = f"choose a file for {option} that can be written to"
    with whole_file(path, advice, make_folder=make_folder) as stream:
        stream.writelines(parts)


def unwritable(
    path: str | Path, problem: OSError, advice: str, message: str = "a result cannot be written"
) -> ConfigError:
    """The error for a result that the system did not take, with its own reason."""
    reason = problem.strerror or type(problem).__name__
    return ConfigError("out.unwritable", message, place=Place(os.fspath(path)), found=reason, advice=advice)


def _is_special(path: str) -> bool:
    """Whether something is there that must not be replaced by a file: /dev/null, /dev/stdout, a named pipe."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return not (S_ISREG(status.st_mode) or S_ISDIR(status.st_mode)) or os.path.abspath(path).startswith(_OF_THE_SYSTEM)


@contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    unfinished = f"{path}{UNFINISHED}"
    descriptor = _open_alone(unfinished)
    try:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.truncate(0)  # a killed process may have left it
            yield stream
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
        with suppress(OSError):  # a link, through which nothing must be written
            if os.path.islink(unfinished):
                os.unlink(unfinished)
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
