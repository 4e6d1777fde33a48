"""The process of a command: signals, unexpected errors, the exit status, and what is printed.

Nothing ends in a traceback: an exception becomes an error with advice (a full disk, no memory, a bug in goldgate).

Output fits the width of the terminal and is coloured; in pipes and files it is plain and 80 columns wide. In GitHub
Actions (GITHUB_ACTIONS, GITHUB_STEP_SUMMARY), annotations go to the log and the report to the step's summary.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

import click

from goldgate.core.process import block_signals, handle_signals, infrequent_gc
from goldgate.errors import (
    EXIT_PASSED,
    EXIT_SYSTEM_ERROR,
    ConfigError,
    GoldgateError,
    InternalError,
    MachineError,
    Place,
    system_reason,
)
from goldgate.report import RENDERERS

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorReport, SuiteReport
    from goldgate.runs.contracts import ComparisonReport

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


def raise_on_signals() -> AbstractContextManager[None]:
    """Raise Terminated on SIGTERM and SIGHUP while a block runs, unless already handled or ignored (`nohup`)."""
    return handle_signals(_terminate, [n for n in _END_SIGNALS if signal.getsignal(n) is signal.SIG_DFL])


def discard_stdout() -> None:
    """Let what is still to be printed go nowhere: Python would try once more at its end, and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(number: int) -> None:
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
    if isinstance(problem, FileNotFoundError):
        import tempfile

        for find_folder, error in ((os.getcwd, _NO_WORKING_DIRECTORY), (tempfile.gettempdir, _NO_TEMPORARY)):
            try:
                find_folder()
            except OSError:
                return _machine_error(error, None)
    return _internal_error(problem)


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
    """The result of `work`, or the error it ended in; a bug in goldgate becomes an InternalError."""
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


def exit_status(work: Callable[[], int]) -> int:
    """The exit status that `work` returns, or that of the error it ended in, which is printed to stderr."""
    outcome = result_or_error(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        return outcome.exit_status
    return outcome


def _interrupted_exit() -> click.exceptions.Exit:
    """Print `interrupted`, without the empty line that click would put before it; the exit to raise."""
    print_stderr("interrupted")
    return click.exceptions.Exit(EXIT_INTERRUPTED)


DEFAULT_WIDTH = 80  # of a terminal that does not say


def print_output(text: str | bytes, status: int) -> int:
    """Print text, JSON or HTML to stdout so that no terminal and no CI runner obeys anything in it.

    The result is the status, also where the reader is gone before the end (`| head`).
    """
    if sys.stdout is None:  # closed by the caller
        return _stdout_failed("standard output is closed")
    from goldgate.report.escape import escape_for_terminal, escape_json

    if isinstance(text, str):  # a terminal that lacks a character gets its escape, not a crash
        encoding = sys.stdout.encoding or "utf-8"
        text = escape_for_terminal(text).encode(encoding, "backslashreplace").decode(encoding)
    elif not text.startswith(b"<"):  # HTML is escaped where it is made
        text = escape_json(text.decode()).encode()
    try:
        click.echo(text, nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
    except OSError as problem:
        discard_stdout()
        return _stdout_failed(system_reason(problem))
    return status


def _stdout_failed(reason: str) -> int:
    advice = "--quiet prints nothing, and --out writes files"
    error = ConfigError("stdout.unwritable", "the report cannot be printed", found=reason, advice=advice)
    show_error(error)
    return error.exit_status


def show_error(error: GoldgateError, status: str = "ERROR") -> None:
    """Print an error to stderr, with its file as it was given."""
    from goldgate.report.text import render_error

    print_stderr(render_error(error, terminal_width(sys.stderr), status).rstrip("\n"))


def check_brief(brief: bool, format: str, *, quiet: bool = False) -> None:
    """Refuse `--brief` where there is nothing that it could shorten."""
    if brief and (quiet or format != "text"):
        raise click.UsageError("--brief shortens the printed text: leave out --quiet and --format")


def terminal_width(stream: TextIO | None = None) -> int:
    """How wide the terminal is; 80 in a pipe or a file, so that the same report is the same bytes."""
    stream = sys.stdout if stream is None else stream
    if not _is_terminal(stream):
        return DEFAULT_WIDTH
    from shutil import get_terminal_size

    return get_terminal_size((DEFAULT_WIDTH, 24)).columns


def use_colour() -> bool:
    """Whether standard output is a terminal whose user did not ask for plain text (no-color.org)."""
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_MAX_CAUSE = 300  # characters of what keeps a gate from passing, in a line


def show_failed_gates(report: SuiteReport) -> None:
    """Print to stderr a line for each gate that failed or is open, or that none are set; `--quiet` prints only this."""
    from goldgate.core.finding import limit_length
    from goldgate.core.report_page import gate_lines
    from goldgate.report.escape import visible
    from goldgate.report.verdicts import verdict_words

    if report["status"] == "NO_GATES":
        print_stderr("NO_GATES  no gates set; scores only")
    for gate in gate_lines(report):
        if gate.verdict != "PASS":
            causes = "".join(f"; {limit_length(words, _MAX_CAUSE)}" for words in gate.cause_words)
            print_stderr(visible(f"{verdict_words(gate)}  {gate.metric}: {gate.reason}{causes}"))


def closing_lines(report: SuiteReport | ComparisonReport, places: Sequence[str]) -> str:
    """The last lines of a printed report: the verdict once more if it has one, and where the files are.

    `places` are lines that are safe to show.
    """
    from goldgate.report.escape import visible
    from goldgate.report.text import verdict_lines, word_parts

    if "kind" in report:
        lines = [line for place in places for line in word_parts(place, terminal_width())]
        return "".join(f"{line}\n" for line in ["", *lines]) if places else ""
    gates = [gate for gate in report["gates"] if gate["severity"] == "error"]
    failed = [gate["metric"] for gate in gates if gate["verdict"] == "FAIL"]
    undecided = [gate["metric"] for gate in gates if gate["verdict"] == "INCONCLUSIVE"]
    if not gates:
        words = "scores only"
    elif failed:
        count = "the gate" if len(gates) == 1 else f"{len(failed)} of {len(gates)} gates"
        words = f"{count} failed: {', '.join(failed)}"
    elif report["status"] == "INCONCLUSIVE":
        count = "the gate" if len(gates) == 1 else f"{len(undecided)} of {len(gates)} gates"
        words = f"{count} could not be decided: {', '.join(undecided)}"
    elif undecided:
        words = f"no gate failed; undecided, which the protocol lets pass: {', '.join(undecided)}"
    else:
        words = "the gate passed" if len(gates) == 1 else f"all {len(gates)} gates passed"
    warned = [g["metric"] for g in report["gates"] if g["severity"] == "warn" and g["verdict"] == "FAIL"]
    if warned:
        words += f"; warnings: {', '.join(warned)}"
    return (
        "\n"
        + "\n".join(verdict_lines(report["status"], [visible(words), *places], terminal_width(), use_colour()))
        + "\n"
    )


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


MIN_UNITS = 2_000  # units; fewer are done before a line could be read
EVERY_SECONDS = 0.1


class ProgressLine:
    """A line on stderr with the number done and the total, divided by `scale`; silent in pipes or if `quiet`."""

    def __init__(self, unit: str, *, quiet: bool, scale: int = 1) -> None:
        self._unit, self._scale = unit, scale
        self._silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self._next = 0.0
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        done, total = done // self._scale, total // self._scale
        if self._silent or total <= MIN_UNITS or now < self._next:
            return
        self._next = now + EVERY_SECONDS
        self._write(f"{done:,} of {total:,} {self._unit}s ({100 * done // total} %)")

    def clear(self) -> None:
        """Leave the line empty for whatever is printed next."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)


GITHUB_VARIABLES = _ACTIONS, _SUMMARY = "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"


def report_to_github(report: SuiteReport | ErrorReport, *, printed: bool) -> bool:
    """Write the report to the step's summary, and annotations to the log unless they are `printed` anyway.

    True if annotations were written. They go to stderr: standard output holds the report in its own format.
    """
    in_actions = os.environ.get(_ACTIONS) == "true"
    if in_actions and not printed:
        click.echo(RENDERERS["github"](report).encode(), nl=False, err=True)
    path = os.environ.get(_SUMMARY)
    if path:
        _write_summary(path, report)
    return in_actions and not printed


def _write_summary(path: str, report: SuiteReport | ErrorReport) -> None:
    """Append the report to the step's summary. A failure is printed and changes no verdict."""
    from goldgate.report.verdicts import step_summary

    try:
        with open(path, "ab") as summary:
            text = step_summary(RENDERERS["markdown"](report), summary.tell())
            summary.write(text.encode())
    except (OSError, ValueError) as problem:
        print_stderr(f"the summary of this step was not written ({_SUMMARY}): {system_reason(problem)}")
