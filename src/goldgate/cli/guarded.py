"""Work whose failure is an error to show, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from goldgate.cli.faults import as_error
from goldgate.cli.start import EXIT_INTERRUPTED, Terminated, tell
from goldgate.core.uninterrupted import uninterrupted
from goldgate.errors import GoldgateError

T = TypeVar("T")


def guarded(work: Callable[[], T]) -> T | GoldgateError:
    """What the work gives, or the error it ended in; a fault of our own becomes an InternalError."""
    try:
        with uninterrupted():  # its C code ends the process if a signal raises an exception while it is imported
            import orjson  # noqa: F401
        return work()
    except GoldgateError as error:
        return error
    except KeyboardInterrupt:
        raise _interrupted() from None
    except Exception as problem:
        if isinstance(problem.__cause__, KeyboardInterrupt):  # Python wraps one that comes while it makes a class
            raise _interrupted() from None
        if isinstance(problem.__cause__, Terminated):
            raise problem.__cause__ from None
        return as_error(problem)


def _interrupted() -> click.exceptions.Exit:
    """Said here, because click would put an empty line before it."""
    tell("interrupted")
    return click.exceptions.Exit(EXIT_INTERRUPTED)
