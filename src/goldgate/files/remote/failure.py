"""What went wrong with something elsewhere, as an error: not there, not allowed, not reached, or not to be read.

The libraries below raise what they like; what is shown of their texts has no query of a URL in it, and no value of an
environment variable that is named like a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.url import HIDDEN, without_secrets

_SHOWN = 200  # characters of a library's text
_CHAIN = 6  # causes of causes
_SECRET_NAME = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8  # characters of a secret: shorter ones are words
_NOT_THERE, _NOT_ALLOWED, _NOT_CURRENT, _BUSY = {404, 410}, {401, 403, 407}, 412, {408, 425, 429}
_NOT_REACHED = re.compile(r"Timeout|Connect|Disconnect|Payload|IncompleteRead|HTTPClientError|DNS|SlowDown")
_NO_CREDENTIALS = re.compile(r"Credential|Unauthorized|GatedRepo|TokenRetrieval|RefreshError")


class Why(Enum):
    """Why something could not be done."""

    MISSING = "missing"
    DENIED = "denied"
    CHANGED = "changed"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"


def why(problem: BaseException) -> Why:
    """What a library's exception comes to, by what caused it."""
    causes = list(_causes(problem))
    for cause in causes:
        status = _status(cause)
        if status is not None and status >= 400:
            return _by_status(status)
    for cause in reversed(causes):
        name = type(cause).__name__
        if isinstance(cause, PermissionError) or _NO_CREDENTIALS.search(name):
            return Why.DENIED
        if name in ("FileExpired", "OtherVersionError"):
            return Why.CHANGED
        if isinstance(cause, (TimeoutError, ConnectionError)) or _NOT_REACHED.search(name):
            return Why.UNREACHABLE
    # fsspec takes everything that a web server does for a missing file.
    strange = isinstance(causes[-1], ValueError) or type(causes[-1]).__module__.startswith("aiohttp")
    return Why.MISSING if isinstance(problem, FileNotFoundError) and not strange else Why.UNREADABLE


def read_error(problem: BaseException, name: str, kind: str) -> InputError:
    """The error for an input that could not be read."""
    reason = why(problem)
    message = {
        Why.MISSING: f"the {kind} file does not exist",
        Why.DENIED: f"the {kind} file must not be read with these credentials, or without any",
        Why.CHANGED: "the file changed while it was being read",
        Why.UNREACHABLE: f"the {kind} file cannot be reached",
        Why.UNREADABLE: f"the {kind} file cannot be read",
    }[reason]
    return InputError(
        f"{kind}.{reason.value}", message, place=Place(name), found=library_words(problem), advice=_ADVICE[reason]
    )


def write_error(problem: BaseException, name: str, option: str = "--out") -> ConfigError:
    """The error for a result that could not be written."""
    reason = why(problem)
    advice = _ADVICE[reason]
    if reason is Why.MISSING:
        advice = f"make the bucket first, or choose another place for {option}"
    return ConfigError(
        "out.unwritable", "a result cannot be written", place=Place(name), found=library_words(problem), advice=advice
    )


def is_error(problem: Exception) -> bool:
    """Whether it is one of ours already."""
    return isinstance(problem, GoldgateError)


_ADVICE = {
    Why.MISSING: "check the name, the bucket and the region",
    Why.DENIED: "set the credentials in the environment of every process that reads it: docs/remote.md names them",
    Why.CHANGED: "is another process still writing it? run the command again when it is done",
    Why.UNREACHABLE: "try again; docs/remote.md says how long is waited for and what can be set",
    Why.UNREADABLE: None,
}


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = problem
    for _ in range(_CHAIN):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _is_not_http(cause: BaseException | None) -> bool:
    """Whether aiohttp could not read what a server answered."""
    return type(cause).__module__.startswith("aiohttp.http")


def _status(cause: BaseException) -> int | None:
    """The status that a server answered with, where the exception has one."""
    if _is_not_http(cause.__cause__):
        return None  # no server said so: aiohttp has a status of 400 for it
    # aiohttp has a `code` of 400 where a connection was cut; that of gcsfs is the server's.
    name = "code" if type(cause).__module__.startswith("gcsfs") else "status"
    if isinstance(status := getattr(cause, name, None), int):
        return status
    answer: Any = getattr(cause, "response", None)
    if isinstance(answer, dict):
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    status = getattr(answer, "status_code", None)
    return status if isinstance(status, int) else None


def _by_status(status: int) -> Why:
    if status in _NOT_THERE:
        return Why.MISSING
    if status in _NOT_ALLOWED:
        return Why.DENIED
    if status == _NOT_CURRENT:
        return Why.CHANGED
    return Why.UNREACHABLE if status >= 500 or status in _BUSY else Why.UNREADABLE


def library_words(problem: BaseException) -> str:
    """A library's words, shortened and without secrets."""
    causes = list(_causes(problem))
    status = next((status for cause in causes if (status := _status(cause)) is not None), None)
    if status is not None and status >= 400:
        return f"the answer {status} of the server"
    cause = causes[-1] if isinstance(problem, FileNotFoundError) and len(causes) > 1 else problem
    if isinstance(cause, FileNotFoundError):
        return "nothing under this name"
    if _is_not_http(cause):
        return "an answer that is not one of a web server"
    text = without_secrets((str(cause).splitlines() or [""])[0])
    for variable, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(variable):
            text = text.replace(value, HIDDEN)
    name, ours = type(cause).__name__, type(cause).__module__.startswith("goldgate")
    return text if ours else f"{name}: {text[:_SHOWN]}" if text else name
