"""Starting a command: whatever happens, it ends in an exit status and not in a traceback."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import StringIO

import click

from goldgate.core.rare_collections import rare_collections
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR

DEBUG = "GOLDGATE_DEBUG"  # set: the traceback of a fault of our own is shown
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """Somebody asked this process to end: an exception, so that files and worker processes are cleared away first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def start(command: click.Command, name: str) -> int:
    """Run a command with this process's arguments; the result is its exit status."""
    _open_standard_files()
    command.context_settings.setdefault("help_option_names", ["-h", "--help"])
    try:
        _hear_ctrl_c()
        with ended_by_signals(), rare_collections():
            try:
                status = command.main(prog_name=name, standalone_mode=False)
            finally:  # what is left ends with the process: two more searches for circles took 30 ms each
                gc.freeze()
        return status if isinstance(status, int) else EXIT_PASSED
    except click.ClickException as problem:  # a mistake in the options
        message = StringIO()
        problem.show(message)
        tell(message.getvalue().rstrip("\n"))
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        tell("interrupted")
        return EXIT_INTERRUPTED
    except Terminated as ended:
        tell(f"ended by {signal.Signals(ended.number).name}")
        return 128 + ended.number
    except BrokenPipeError:  # nobody reads what is printed
        abandon_stdout()
        return EXIT_SYSTEM_ERROR
    except Exception as problem:  # 1, Python's own status for it, would read as a failed gate
        from goldgate.cli.faults import as_error
        from goldgate.report.text import render_error

        if isinstance(problem, OSError):
            abandon_stdout()
        tell(render_error(as_error(problem).as_json()).rstrip("\n"))
        return EXIT_SYSTEM_ERROR


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise Terminated inside, unless somebody else sees to them or they are ignored (`nohup`)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _terminate)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def abandon_stdout() -> None:
    """Let what is still to be printed go nowhere: Python would try once more at its end, and complain."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(number: int, _: object) -> None:
    raise Terminated(number)


def _hear_ctrl_c() -> None:
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


def tell(text: str) -> None:
    """Print a line to stderr, safe for a terminal; nothing where it is gone, as after a hang-up."""
    from goldgate.report.escape import for_terminal

    with suppress(OSError):
        click.echo(for_terminal(text), err=True)
