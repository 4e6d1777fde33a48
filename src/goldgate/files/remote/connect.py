"""A URL as a file system of fsspec and a path in it. Credentials are found by its libraries, in this process's own
environment; none is taken from anywhere else, and none is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

from goldgate.core.missing_extra import missing_extra
from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.files.remote.failure import Why, is_error, library_words, why
from goldgate.files.url import check_url, scheme_of, shown_url

T = TypeVar("T")

CONNECT_SECONDS = 20.0
READ_SECONDS = 60.0  # without a single byte
PATIENCE_SECONDS = 120.0  # for any answer, and beyond it for as many bytes as a slow server gives
SLOWEST = 16_000  # bytes a second
LISTING_SECONDS = 600.0
TRIES = 3  # where the library has no retries of its own
PAUSE_SECONDS = 0.5  # before the second try; twice as long before the next

# The smallest extra for a kind of URL; `remote` has all of them.
EXTRAS = {
    "http": "remote-https",
    "https": "remote-https",
    "s3": "remote-s3",
    "s3a": "remote-s3",
    "gs": "remote-gs",
    "gcs": "remote-gs",
    "hf": "remote-hf",
}
_ON_THE_WEB = ("http", "https")
_S3 = ("s3", "s3a")
_RETRIED_BELOW = ("s3", "s3a", "gs", "gcs", "hf")


class Connected(NamedTuple):
    """A file system, and the path in it."""

    filesystem: Any
    path: str
    scheme: str

    @property
    def is_web(self) -> bool:
        return self.scheme in _ON_THE_WEB

    @property
    def is_s3(self) -> bool:
        return self.scheme in _S3


def connect(url: str) -> Connected:
    """The file system of a URL; an error says which extra is not installed, or that nobody knows this kind."""
    check_url(url)
    scheme, shown = scheme_of(url), shown_url(url)
    extra = EXTRAS.get(scheme, "remote")
    try:
        from fsspec import get_filesystem_class
    except ImportError:
        raise missing_extra(extra, shown) from None
    kind: Any = None
    try:
        kind = get_filesystem_class(scheme)
        # Not `url_to_fs`, which takes every :: for a chain: names of objects and addresses have them too.
        url = scheme + url[len(scheme) :]
        filesystem, path = kind(**kind._get_kwargs_from_urls(url), **_options(scheme)), kind._strip_protocol(url)
    except ImportError as problem:
        raise (missing_extra(extra, shown) if scheme in EXTRAS else _no_library(scheme, shown, problem)) from None
    except Exception as problem:  # some ask a server already, some want settings that no URL holds
        raise (_unknown_kind(scheme, shown) if kind is None else _unusable(scheme, shown, problem)) from None
    return Connected(filesystem, path, scheme)


def _no_library(scheme: str, shown: str, problem: ImportError) -> ConfigError:
    return ConfigError(
        "url.no_library",
        f"the library that reads {scheme}:// URLs is not installed",
        place=Place(shown),
        found=library_words(problem),
        advice="install it beside goldgate; no extra brings it",
    )


def _unknown_kind(scheme: str, shown: str) -> ConfigError:
    return ConfigError(
        "url.unknown_kind",
        f"nothing here reads {scheme}:// URLs",
        place=Place(shown),
        expected=", ".join(f"{known}://" for known in EXTRAS if known not in ("s3a", "gcs")),
    )


def _unusable(scheme: str, shown: str, problem: Exception) -> ConfigError:
    return ConfigError(
        "url.unusable",
        f"this {scheme}:// URL cannot be opened",
        place=Place(shown),
        found=library_words(problem),
        advice="copy the file to this machine, and name its path",
    )


def wait_for(place: Connected, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run a coroutine in fsspec's own thread, where the connections are; TimeoutError after so many seconds."""
    from fsspec.asyn import sync

    async def limited() -> T:
        return await asyncio.wait_for(work, seconds)

    result: T = sync(place.filesystem.loop, limited)
    return result


def seconds_for(length: int) -> float:
    """How long so many bytes may take. Limits on waiting for the next byte do not end a trickle."""
    return PATIENCE_SECONDS + length / SLOWEST


def call(place: Connected, method: str, seconds: float, *arguments: Any, **options: Any) -> Any:
    """Call a method of the file system by its name; TimeoutError after so many seconds, where it can be ended."""
    if getattr(place.filesystem, "async_impl", False):
        return wait_for(place, getattr(place.filesystem, f"_{method}")(*arguments, **options), seconds)
    return getattr(place.filesystem, method)(*arguments, **options)


def trying(connected: Connected, work: Callable[[], T]) -> T:
    """Do it, a bounded number of times where the server was not reached. The exception is the last one's."""
    tries = 1 if connected.scheme in _RETRIED_BELOW else TRIES
    for number in range(tries):
        try:
            return work()
        except GoldgateError:
            raise
        except Exception as problem:
            if number + 1 == tries or why(problem) is not Why.UNREACHABLE:
                raise
            time.sleep(PAUSE_SECONDS * 2**number)
    raise AssertionError("unreachable")


def tried(connected: Connected, work: Callable[[], T], told: Callable[[Exception], GoldgateError]) -> T:
    """The same, and what went wrong is told in our words."""
    try:
        return trying(connected, work)
    except Exception as problem:
        if is_error(problem):
            raise
        raise told(problem) from None


def _options(scheme: str) -> dict[str, Any]:
    """Limits on waiting: no library below has useful ones."""
    if scheme in _ON_THE_WEB:
        from aiohttp import ClientTimeout

        timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS)
        return {"client_kwargs": {"timeout": timeout, "trust_env": True}}
    if scheme in _S3:  # s3fs tries five times itself; botocore below it need not do so too
        waits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
        return {"config_kwargs": {**waits, "retries": {"max_attempts": 0}}}
    return {}
