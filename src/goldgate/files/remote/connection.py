"""Connections to what URLs name, through fsspec: time limits, retries, and errors in goldgate's words.

Credentials are found by fsspec's libraries in the environment of this process; none is taken from anywhere else,
and none is kept. What is printed of a library's message has no query of a URL in it, and no value of an
environment variable that is named like a secret.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from goldgate.errors import ConfigError, GoldgateError, InputError, Place, missing_extra
from goldgate.files.address import HIDDEN, WEB_SCHEMES, check_url, hide_secrets, normalize_url, public_url, scheme_of
from goldgate.files.reading import missing_file_message

_MAX_MESSAGE = 200  # characters of a library's text
_MAX_CAUSES = 6  # causes of causes
_SECRET_NAME = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL", re.IGNORECASE)
_MIN_SECRET = 8  # characters of a secret: shorter ones are words
_NOT_THERE, _NOT_ALLOWED, _NOT_CURRENT, _BUSY = {404, 410}, {401, 403, 407}, 412, {408, 425, 429}
_NOT_REACHED = re.compile(r"Timeout|Connect|Disconnect|Payload|IncompleteRead|HTTPClientError|DNS|SlowDown")
_NO_CREDENTIALS = re.compile(r"Credential|Unauthorized|GatedRepo|TokenRetrieval|RefreshError")


class Failure(Enum):
    """Why a file could not be read or written."""

    MISSING = "missing"
    DENIED = "denied"
    CHANGED = "changed"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"


def failure_kind(problem: BaseException) -> Failure:
    """The kind of failure that a library's exception means, by its causes."""
    causes = list(_causes(problem))
    for cause in causes:
        status = _status(cause)
        if status is not None and status >= 400:
            return _by_status(status)
    for cause in reversed(causes):
        name = type(cause).__name__
        if isinstance(cause, PermissionError) or _NO_CREDENTIALS.search(name):
            return Failure.DENIED
        if name in ("FileExpired", "OtherVersionError"):
            return Failure.CHANGED
        if isinstance(cause, (TimeoutError, ConnectionError)) or _NOT_REACHED.search(name):
            return Failure.UNREACHABLE
    # fsspec reports every failure of a web server as a missing file.
    is_web_failure = isinstance(causes[-1], ValueError) or type(causes[-1]).__module__.startswith("aiohttp")
    return Failure.MISSING if isinstance(problem, FileNotFoundError) and not is_web_failure else Failure.UNREADABLE


def read_error(problem: BaseException, name: str, kind: str) -> InputError:
    """The error for an input that could not be read."""
    reason = failure_kind(problem)
    message = {
        Failure.MISSING: missing_file_message(kind),
        Failure.DENIED: f"access to the {kind} file denied",
        Failure.CHANGED: "the file changed while it was being read",
        Failure.UNREACHABLE: f"the {kind} file cannot be reached",
        Failure.UNREADABLE: f"the {kind} file cannot be read",
    }[reason]
    return InputError(
        f"{kind}.{reason.value}", message, place=Place(name), found=library_message(problem), advice=_ADVICE[reason]
    )


def write_error(problem: BaseException, name: str, option: str = "--out") -> ConfigError:
    """The error for a result that could not be written."""
    reason = failure_kind(problem)
    advice = _ADVICE[reason]
    if reason is Failure.MISSING:
        advice = f"make the bucket first, or choose another place for {option}"
    return ConfigError(
        "out.unwritable", "a result cannot be written", place=Place(name), found=library_message(problem), advice=advice
    )


_ADVICE = {
    Failure.MISSING: "check the name, the bucket and the region",
    Failure.DENIED: "set the credentials in the environment of every process that reads it: docs/remote.md names them",
    Failure.CHANGED: "is another process still writing it? run the command again when it is done",
    Failure.UNREACHABLE: "try again; docs/remote.md says how long is waited for and what can be set",
    Failure.UNREADABLE: None,
}


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = problem
    for _ in range(_MAX_CAUSES):
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
    else:
        status = getattr(answer, "status_code", None)
    return status if isinstance(status, int) else None


def _by_status(status: int) -> Failure:
    if status in _NOT_THERE:
        return Failure.MISSING
    if status in _NOT_ALLOWED:
        return Failure.DENIED
    if status == _NOT_CURRENT:
        return Failure.CHANGED
    return Failure.UNREACHABLE if status >= 500 or status in _BUSY else Failure.UNREADABLE


def library_message(problem: BaseException) -> str:
    """A library's words, shortened and without secrets."""
    causes = list(_causes(problem))
    status = next((status for cause in causes if (status := _status(cause)) is not None), None)
    if status is not None and status >= 400:
        return f"the server answered {status}"
    cause = causes[-1] if isinstance(problem, FileNotFoundError) and len(causes) > 1 else problem
    if isinstance(cause, FileNotFoundError):
        return "no such file"
    if _is_not_http(cause):
        return "an answer that is not HTTP"
    text = hide_secrets((str(cause).splitlines() or [""])[0])
    for variable, value in os.environ.items():
        if len(value) >= _MIN_SECRET and _SECRET_NAME.search(variable):
            text = text.replace(value, HIDDEN)
    name, ours = type(cause).__name__, type(cause).__module__.startswith("goldgate")
    return text if ours else f"{name}: {text[:_MAX_MESSAGE]}" if text else name


T = TypeVar("T")

CONNECT_SECONDS = 20.0
READ_SECONDS = 60.0  # without receiving a byte
PATIENCE_SECONDS = 120.0  # for an answer of any length; longer ones may take as long as SLOWEST allows
SLOWEST = 16_000  # bytes a second
LISTING_SECONDS = 600.0
TRIES = 3  # where the library has no retries of its own
PAUSE_SECONDS = 0.5  # before the second try; twice as long before the next

# The smallest extra for a kind of URL; `remote` has all of them.
EXTRAS = {"http": "remote-https", "https": "remote-https", "s3": "remote-s3", "gs": "remote-gs", "hf": "remote-hf"}
_RETRIED_BY_LIBRARY = ("s3", "gs", "hf")


class Connection(NamedTuple):
    """A file system, and the path in it."""

    filesystem: Any
    path: str
    scheme: str

    @property
    def is_web(self) -> bool:
        return self.scheme in WEB_SCHEMES

    @property
    def is_s3(self) -> bool:
        return self.scheme == "s3"


def connect(url: str) -> Connection:
    """The file system of a URL; an error says which extra is not installed, or that no library reads this kind."""
    check_url(url)
    scheme, public = scheme_of(normalize_url(url)), public_url(url)
    extra = EXTRAS.get(scheme, "remote")
    try:
        from fsspec import get_filesystem_class
    except ImportError:
        raise missing_extra(extra, public) from None
    kind: Any = None
    try:
        kind = get_filesystem_class(scheme)
        # Not `url_to_fs`, which takes every :: for a chain: names of objects and addresses have them too.
        url = scheme + url[len(scheme_of(url)) :]
        filesystem, path = kind(**kind._get_kwargs_from_urls(url), **_options(scheme)), kind._strip_protocol(url)
    except ImportError as problem:
        raise (
            missing_extra(extra, public) if scheme in EXTRAS else _no_library_error(scheme, public, problem)
        ) from None
    except Exception as problem:  # some ask a server already, some want settings that no URL holds
        raise (
            _unknown_scheme_error(scheme, public) if kind is None else _unusable_url_error(scheme, public, problem)
        ) from None
    return Connection(filesystem, path, scheme)


def _no_library_error(scheme: str, public: str, problem: ImportError) -> ConfigError:
    return ConfigError(
        "url.no_library",
        f"the library that reads {scheme}:// URLs is not installed",
        place=Place(public),
        found=library_message(problem),
        advice="install it; no extra of goldgate includes it",
    )


def _unknown_scheme_error(scheme: str, public: str) -> ConfigError:
    return ConfigError(
        "url.unknown_kind",
        f"{scheme}:// URLs are not supported",
        place=Place(public),
        expected=", ".join(f"{each}://" for each in EXTRAS),
    )


def _unusable_url_error(scheme: str, public: str, problem: Exception) -> ConfigError:
    return ConfigError(
        "url.unusable",
        f"this {scheme}:// URL cannot be opened",
        place=Place(public),
        found=library_message(problem),
        advice="copy the file to this machine, and name its path",
    )


def run_coroutine(place: Connection, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run a coroutine in fsspec's own thread, where the connections are; TimeoutError after `seconds`."""
    from fsspec.asyn import sync

    async def limited() -> T:
        return await asyncio.wait_for(work, seconds)

    result: T = sync(place.filesystem.loop, limited)
    return result


def transfer_seconds(length: int) -> float:
    """The time limit for `length` bytes: a limit on waiting for the next byte does not end a trickle."""
    return PATIENCE_SECONDS + length / SLOWEST


def call_method(place: Connection, method: str, seconds: float, *arguments: Any, **options: Any) -> Any:
    """Call a method of the file system by its name; TimeoutError after `seconds`, where it can be ended."""
    if getattr(place.filesystem, "async_impl", False):
        return run_coroutine(place, getattr(place.filesystem, f"_{method}")(*arguments, **options), seconds)
    return getattr(place.filesystem, method)(*arguments, **options)


def retry(place: Connection, work: Callable[[], T]) -> T:
    """The result of `work`, tried again a bounded number of times while the server is not reached."""
    tries, pause = 1 if place.scheme in _RETRIED_BY_LIBRARY else TRIES, PAUSE_SECONDS
    while True:
        tries -= 1
        try:
            return work()
        except GoldgateError:
            raise
        except Exception as problem:
            if not tries or failure_kind(problem) is not Failure.UNREACHABLE:
                raise
        time.sleep(pause)
        pause *= 2


@contextmanager
def library_errors_as(make_error: Callable[[Exception], GoldgateError]) -> Iterator[None]:
    """Replace a library's exception in the block by the error that is made of it; errors of goldgate's own pass."""
    try:
        yield
    except GoldgateError:
        raise
    except Exception as problem:
        raise make_error(problem) from None


def _options(scheme: str) -> dict[str, Any]:
    """Limits on waiting: no library below has useful ones."""
    if scheme in WEB_SCHEMES:
        from aiohttp import ClientTimeout

        timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS)
        return {"client_kwargs": {"timeout": timeout, "trust_env": True}}
    if scheme == "s3":  # s3fs tries five times itself; botocore below it need not do so too
        waits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
        return {"config_kwargs": {**waits, "retries": {"max_attempts": 0}}}
    return {}
