"""Writing files: a file is complete or not there at all, one run at a time writes to a folder, and text is UTF-8.

The lock of a folder is a file with the number of the process in it, locked by the system for as long as that
process lives. It is removed at the end; one that a killed process left behind is not locked and does no harm.

Half of a surrogate pair cannot be stored as UTF-8. Python has such halves in the names of files that are not
UTF-8: they are written with a backslash. JSON has them where a model was cut short: they become U+FFFD.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import IO, Any

from goldgate.errors import ConfigError, MachineError, Place, system_reason

LOCK_FILE = ".goldgate.lock"
_MAX_OWNER_LENGTH = 200  # characters of what the file says
_MAX_LOCK_BYTES = 1_000  # bytes that one of our own may have
_LOCK_CONTENT = re.compile(rb"(?:[0-9]+ on [^\n]*\n?)?")  # or empty, where the disk was full or the process killed
_TRIES = 100  # each failed one means that another run has just begun or ended
NO_LOCK_ERRORS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}  # of a file system without locks


class FolderLock:
    """Held from the beginning until `release`; a folder that another process holds is a ConfigError.

    A lock of another name is for a part of the folder.
    """

    def __init__(self, folder: Path, name: str = LOCK_FILE) -> None:
        self.path = folder / name
        self.held = True  # False on a file system without locks
        self._descriptor = -1
        for _ in range(_TRIES):
            if self._acquire(folder):
                return
        raise folder_in_use_error(folder, "other processes, one after the other")

    def release(self) -> None:
        """Remove the file, then unlock it: a process that waits for it sees that it is gone, and makes a new one."""
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
            self.held = lock_file(descriptor)
            if self.held and not is_same_file(descriptor, self.path):  # its owner has just removed it
                return False
            if not _LOCK_CONTENT.fullmatch(os.pread(descriptor, _MAX_LOCK_BYTES, 0)):
                raise _foreign_lock_error(self.path)
            if self.held:
                self._descriptor = os.dup(descriptor)
                with suppress(OSError):  # on a full disk the owner stays unknown
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, f"{os.getpid()} on {platform.node()}\n".encode(errors="replace"), 0)
            else:
                with suppress(OSError):  # it means nothing where it cannot be locked
                    self.path.unlink()
            return True
        except BlockingIOError:
            owner = os.pread(descriptor, _MAX_OWNER_LENGTH, 0).decode(errors="replace").strip()
            raise folder_in_use_error(folder, f"process {owner}" if owner else "another process") from None
        finally:
            os.close(descriptor)


def _foreign_lock_error(path: Path) -> ConfigError:
    return ConfigError(
        "out.not_ours",
        "this file has the name of goldgate's lock file, but goldgate did not write it",
        place=Place(str(path)),
        expected="no such file, or the number of a process and the name of its machine in it",
        advice="move it, or choose another folder for --out",
    )


def lock_file(descriptor: int) -> bool:
    """Lock an open file; False on a file system without locks. BlockingIOError if another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in NO_LOCK_ERRORS:
            raise
        return False
    return True


def is_same_file(descriptor: int, path: str | Path) -> bool:
    """Whether the open file is the one under that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def folder_in_use_error(folder: Path, found: str) -> ConfigError:
    return ConfigError(
        "out.in_use",
        "another run is writing to this folder",
        place=Place(str(folder)),
        found=found,
        advice="wait for it to end, or choose another folder for --out",
    )


WAIT_SECONDS = 10.0  # for another process that is writing the same file, which takes milliseconds
UNFINISHED_SUFFIX = ".unfinished"  # the end of the name until a file is complete
_POLL_SECONDS = 0.05
_SYSTEM_FOLDERS = ("/dev/", "/proc/")


@contextmanager
def atomic_file(
    path: str | Path, advice: str, *, make_folder: bool = True, durable: bool = False
) -> Iterator[IO[bytes]]:
    """A file to write into. It takes the place of an older one when it is complete, and leaves nothing otherwise.

    A failure is an error with its place and this advice. Two processes that write the same file take turns. A device
    or a pipe is written to as it is. What is durable is on the disk at the end, and outlives a loss of power.
    """
    name = os.fspath(path)
    with write_errors(name, advice):
        folder = os.path.dirname(name)
        if folder and make_folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") if _is_special(name) else _replacement(name, durable) as stream:
            yield stream


def write_file(path: str, content: bytes, option: str) -> None:
    """Write a file that was named by an option, in one go."""
    write_parts(path, (content,), option)


def write_parts(path: str, parts: Iterable[bytes], option: str) -> None:
    """Write a file that was named by an option, from parts of its content."""
    with atomic_file(path, f"choose a file for {option} that can be written to") as stream:
        stream.writelines(parts)


def write_failure(
    path: str | Path, problem: OSError, advice: str, message: str = "a result cannot be written"
) -> ConfigError:
    """The error for a result that the system did not take, with its own reason."""
    place = Place(os.fspath(path))
    return ConfigError("out.unwritable", message, place=place, found=system_reason(problem), advice=advice)


@contextmanager
def write_errors(path: str | Path, advice: str, message: str = "a result cannot be written") -> Iterator[None]:
    """Raise an OSError of the block as the error for a result that cannot be written."""
    try:
        yield
    except OSError as problem:
        raise write_failure(path, problem, advice, message) from None


def temporary_folder_error(problem: OSError, message: str, place: Place | None = None) -> MachineError:
    """The error for the temporary folder, where a file (at `place`) or several cannot be written."""
    return MachineError(
        "machine.temporary_folder",
        message,
        place=place,
        found=system_reason(problem),
        advice=f"name a folder with room for {'it' if place else 'them'} in the environment variable TMPDIR",
    )


def _is_special(path: str) -> bool:
    """Whether something is there that must not be replaced by a file: /dev/null, /dev/stdout, a named pipe."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return not (S_ISREG(status.st_mode) or S_ISDIR(status.st_mode)) or os.path.abspath(path).startswith(_SYSTEM_FOLDERS)


@contextmanager
def _replacement(path: str, durable: bool) -> Iterator[IO[bytes]]:
    unfinished = f"{path}{UNFINISHED_SUFFIX}"
    descriptor = _open_exclusive(unfinished)
    try:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.truncate(0)  # a killed process may have left it
            yield stream
        if durable:
            flush_to_disk(descriptor)
        os.replace(unfinished, path)
        if durable:
            _sync_folder(os.path.dirname(path) or ".")
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    finally:
        os.close(descriptor)


def flush_to_disk(descriptor: int) -> None:
    """Flush an open file to disk, where the file system can."""
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.EROFS):
            raise


def _sync_folder(folder: str) -> None:
    """Flush the name of a file that was just replaced."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush_to_disk(descriptor)
    finally:
        os.close(descriptor)


def _open_exclusive(unfinished: str) -> int:
    """The open file, which no other process is writing."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        with suppress(OSError):  # a link, through which nothing must be written
            if os.path.islink(unfinished):
                os.unlink(unfinished)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            lock_file(descriptor)
            if is_same_file(descriptor, unfinished):  # another process may have renamed it in between
                return os.dup(descriptor)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
        if time.monotonic() > until:
            raise OSError(errno.EBUSY, "another process is writing it")
        time.sleep(_POLL_SECONDS)


def is_utf8(text: str) -> bool:
    """Whether the text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escape_surrogates(text: str) -> str:
    """A name or a message, its odd bytes written with a backslash."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def escape_name(name: str) -> str:
    """A name, its odd bytes and backslashes written with a backslash, so that two names never become one."""
    return escape_surrogates(name.replace("\\", "\\\\"))


def replace_surrogates(text: str) -> str:
    """What a model wrote, with U+FFFD for half of a surrogate pair; two halves that belong together are joined."""
    if is_utf8(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def map_texts(value: Any, rule: Callable[[str], str] = escape_surrogates) -> Any:
    """Every text in a plain value, its keys included, by a rule."""
    if isinstance(value, str):
        return rule(value)
    if isinstance(value, dict):
        return {rule(key): map_texts(item, rule) for key, item in value.items()}
    return [map_texts(item, rule) for item in value] if isinstance(value, list | tuple) else value
