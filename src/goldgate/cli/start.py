"""Starting a command: whatever happens, it ends in an exit status and not in a traceback."""

from __future__ import annotations

import os
import sys

import click

from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR

DEBUG = "GOLDGATE_DEBUG"  # set: the traceback of a fault of our own is shown
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def start(command: click.Command, name: str) -> int:
    """Run a command with this process's arguments; the result is its exit status."""
    try:
        status = command.main(prog_name=name, standalone_mode=False)
        return status if isinstance(status, int) else EXIT_PASSED
    except click.ClickException as problem:  # a mistake in the options
        problem.show()
        return problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except OSError:  # nobody reads what is printed, or it cannot be printed
        abandon_stdout()
        return EXIT_SYSTEM_ERROR
    except Exception as problem:  # 1, Python's own status for it, would read as a failed gate
        if os.environ.get(DEBUG):
            raise
        click.echo(f"SYSTEM_ERROR\n  message   {type(problem).__name__}, a fault of goldgate", err=True)
        return EXIT_SYSTEM_ERROR


def abandon_stdout() -> None:
    """Let what is still to be printed go nowhere: Python would try once more at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
