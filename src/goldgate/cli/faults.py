"""What else can go wrong, as an error: the machine lacks something, or it is a fault of our own."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from goldgate.cli.start import DEBUG
from goldgate.errors import GoldgateError, InternalError, MachineError, Place

_SHOWN_CHARACTERS = 300

_ROOM = ("machine.disk_full", "a disk is full", "make room; TMPDIR and --out may name other disks")
_FILES = ("machine.open_files", "too many files are open", "raise the limit (ulimit -n), or give fewer files")
_MEMORY = ("machine.memory", "the machine ran out of memory", "try fewer --workers")
_NOWHERE = (
    "machine.no_working_directory",
    "the working directory was deleted",
    "change to a folder that exists, or name every file by its full path",
)
_NO_TEMPORARY = (
    "machine.no_temporary_folder",
    "there is no folder for temporary files that can be written to",
    "name one with TMPDIR",
)
_LACKS = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: ("machine.file_size", "a file became larger than is allowed", "raise the limit (ulimit -f)"),
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOMEM: _MEMORY,
    errno.EIO: ("machine.device", "a device failed to read or write", "look at the disk"),
    errno.EAGAIN: ("machine.processes", "no more processes or threads can be started", "try fewer --workers"),
    errno.EROFS: ("machine.read_only", "a file system is read-only", "choose another folder for the results"),
}


def as_error(problem: Exception) -> GoldgateError:
    """The error to show for an exception that nobody expected."""
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exception(problem)
    if isinstance(problem, MemoryError):
        return _machine(_MEMORY, None)
    if isinstance(problem, OSError) and problem.errno in _LACKS:
        return _machine(_LACKS[problem.errno], problem.filename)
    if isinstance(problem, FileNotFoundError) and not _has_working_directory():
        return _machine(_NOWHERE, None)
    if isinstance(problem, FileNotFoundError) and not _has_temporary_folder():
        return _machine(_NO_TEMPORARY, None)
    return _internal(problem)


def _has_working_directory() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _has_temporary_folder() -> bool:
    import tempfile

    try:
        return bool(tempfile.gettempdir())
    except OSError:
        return False


def _machine(what: tuple[str, str, str], file: object) -> MachineError:
    code, message, advice = what
    return MachineError(code, message, place=Place(str(file) if file is not None else None), advice=advice)


def _internal(problem: Exception) -> InternalError:
    """A fault of our own, with its type and the last line of goldgate that it passed through."""
    import traceback

    frames = traceback.extract_tb(problem.__traceback__)
    package = Path(__file__).parents[1]
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(package)]
    place = Place()
    if ours:
        file = Path(ours[-1].filename).relative_to(package.parent).as_posix()
        place = Place(file, ours[-1].lineno, ours[-1].name)
    # An OSError's own text has a path in it, which does not belong into a report.
    text = (problem.strerror or "") if isinstance(problem, OSError) else str(problem)
    name = type(problem).__name__
    return InternalError(
        "internal.error",
        f"{name}: {text[:_SHOWN_CHARACTERS]}" if text else name,
        place=place,
        advice=f"this is a fault of goldgate: please report it with the traceback, which {DEBUG}=1 shows",
    )
