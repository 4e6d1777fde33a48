"""The process of a command: signals, standard files, unexpected errors and the exit status.

Nothing ends in a traceback: an exception becomes an error with advice (a full disk, no memory, a bug in goldgate).
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import TypeVar

import click

from goldgate.core.process import block_signals, infrequent_gc
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR, GoldgateError, InternalError, MachineError, Place

DEBUG_VARIABLE = "GOLDGATE_DEBUG"  # set: the traceback of a fault of our own is shown
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """Raised on SIGTERM or SIGHUP, so that files and worker processes are cleaned up first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def start(command: click.Command, name: str) -> int:
    """Run a command with this process's arguments; the result is its exit status."""
    _open_standard_files()
    command.context_settings.setdefault("help_option_names", ["-h", "--help"])
    try:
        _restore_ctrl_c()
        with raise_on_signals(), infrequent_gc():
            try:
                status = command.main(prog_name=name, standalone_mode=False)
            finally:  # what is left ends with the process: two more searches for circles took 30 ms each
                gc.freeze()
        return status if isinstance(status, int) else EXIT_PASSED
    except click.ClickException as problem:  # a mistake in the options
        message = StringIO()
        problem.show(message)
        print_stderr(message.getvalue().rstrip("\n"))
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        print_stderr("interrupted")
        return EXIT_INTERRUPTED
    except Terminated as ended:
        print_stderr(f"ended by {signal.Signals(ended.number).name}")
        return 128 + ended.number
    except BrokenPipeError:  # the reader of the pipe has gone
        discard_stdout()
        return EXIT_SYSTEM_ERROR
    except Exception as problem:  # 1, Python's own status for it, would read as a failed gate
        from goldgate.report.text import render_error

        if isinstance(problem, OSError):
            discard_stdout()
        print_stderr(render_error(unexpected_error(problem)).rstrip("\n"))
        return EXIT_SYSTEM_ERROR


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise Terminated on SIGTERM and SIGHUP while a block runs, unless already handled or ignored (`nohup`)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _END_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def discard_stdout() -> None:
    """Let what is still to be printed go nowhere: Python would try once more at its end, and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(number: int, _: object) -> None:
    raise Terminated(number)


def _restore_ctrl_c() -> None:
    """From here on, Ctrl-C is an exception again: the scripts let it end the process while they import modules."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _open_standard_files() -> None:
    """Where a standard file is closed, the next file opened would get its number, and whatever is printed with it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one


def print_stderr(text: str) -> None:
    """Print a line to stderr, safe for a terminal; nothing where it is gone, as after a hang-up."""
    from goldgate.report.escape import escape_for_terminal

    with suppress(OSError):
        click.echo(escape_for_terminal(text), err=True)


_MAX_MESSAGE = 300

_DISK_FULL = ("machine.disk_full", "a disk is full", "make room; TMPDIR and --out may name other disks")
_FILES = ("machine.open_files", "too many files are open", "raise the limit (ulimit -n), or give fewer files")
_MEMORY = ("machine.memory", "the machine ran out of memory", "try fewer --workers")
_NO_WORKING_DIRECTORY = (
    "machine.no_working_directory",
    "the working directory was deleted",
    "change to a folder that exists, or name every file by its full path",
)
_NO_TEMPORARY = (
    "machine.no_temporary_folder",
    "there is no folder for temporary files that can be written to",
    "name one with TMPDIR",
)
_MACHINE_ERRORS = {
    errno.ENOSPC: _DISK_FULL,
    errno.EDQUOT: _DISK_FULL,
    errno.EFBIG: ("machine.file_size", "a file became larger than is allowed", "raise the limit (ulimit -f)"),
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOMEM: _MEMORY,
    errno.EIO: ("machine.device", "a device failed to read or write", "check the disk for errors"),
    errno.EAGAIN: ("machine.processes", "no more processes or threads can be started", "try fewer --workers"),
    errno.EROFS: ("machine.read_only", "a file system is read-only", "choose another folder for the results"),
}


def unexpected_error(problem: Exception) -> GoldgateError:
    """The error to show for an unexpected exception."""
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(problem)
    if isinstance(problem, MemoryError):
        return _machine_error(_MEMORY, None)
    if isinstance(problem, OSError) and problem.errno in _MACHINE_ERRORS:
        return _machine_error(_MACHINE_ERRORS[problem.errno], problem.filename)
    if isinstance(problem, FileNotFoundError) and not _has_working_directory():
        return _machine_error(_NO_WORKING_DIRECTORY, None)
    if isinstance(problem, FileNotFoundError) and not _has_temporary_folder():
        return _machine_error(_NO_TEMPORARY, None)
    return _internal_error(problem)


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


def _machine_error(what: tuple[str, str, str], file: object) -> MachineError:
    code, message, advice = what
    return MachineError(code, message, place=Place(str(file) if file is not None else None), advice=advice)


def _internal_error(problem: Exception) -> InternalError:
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
        f"{name}: {text[:_MAX_MESSAGE]}" if text else name,
        place=place,
        advice=f"this is a bug in goldgate: please report it, with the traceback that {DEBUG_VARIABLE}=1 shows",
    )


T = TypeVar("T")


def result_or_error(work: Callable[[], T]) -> T | GoldgateError:
    """What the work gives, or the error it ended in; a fault of our own becomes an InternalError."""
    try:
        with block_signals():  # its C code ends the process if a signal raises an exception while it is imported
            import orjson  # noqa: F401
        return work()
    except GoldgateError as error:
        return error
    except (click.exceptions.Exit, click.ClickException):
        raise
    except KeyboardInterrupt:
        raise _interrupted_exit() from None
    except Exception as problem:
        if isinstance(problem.__cause__, KeyboardInterrupt):  # Python wraps one that comes while it makes a class
            raise _interrupted_exit() from None
        if isinstance(problem.__cause__, Terminated):
            raise problem.__cause__ from None
        return unexpected_error(problem)


def _interrupted_exit() -> click.exceptions.Exit:
    """Said here, because click would put an empty line before it."""
    print_stderr("interrupted")
    return click.exceptions.Exit(EXIT_INTERRUPTED)
