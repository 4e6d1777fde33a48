"""Requests to what URLs name, through fsspec: time limits, retries, versions, and errors in goldgate's words.

A store says which version of a file it has: its size, and its ETag or the time of its last change. Web servers and S3
say it with every range, and an answer from another version is an error.

Credentials are found by fsspec's libraries in the environment of this process; none is taken from anywhere else,
and none is kept. What is printed of a library's message has no query of a URL in it, and no value of an
environment variable that is named like a secret.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from goldgate.errors import ConfigError, GoldgateError, InputError, Place, missing_extra
from goldgate.files.address import HIDDEN, WEB_SCHEMES, check_url, hide_secrets, public_url, scheme_of
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
    """The file system of a URL; an error says which extra is not installed, or why the URL cannot be opened."""
    scheme, public = scheme_of(check_url(url)), public_url(url)
    try:
        from fsspec import get_filesystem_class

        kind = get_filesystem_class(scheme)
        # Not `url_to_fs`, which takes every :: for a chain: names of objects and addresses have them too.
        url = scheme + url[len(scheme) :]
        filesystem, path = kind(**kind._get_kwargs_from_urls(url), **_options(scheme)), kind._strip_protocol(url)
    except ImportError:
        raise missing_extra(EXTRAS[scheme], public) from None
    except Exception as problem:  # some ask a server already, some want settings that no URL holds
        raise ConfigError(
            "url.unusable",
            f"this {scheme}:// URL cannot be opened",
            place=Place(public),
            found=library_message(problem),
            advice="copy the file to this machine, and name its path",
        ) from None
    return Connection(filesystem, path, scheme)


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
    tries, pause = TRIES if place.is_web else 1, PAUSE_SECONDS
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


# What stores note of an object, under their own words. Any that changes means another object.
_MARKS = ("ETag etag generation VersionId LastModified Last-Modified updated Content-MD5 Digest blob_id").split()


class FileVersion(NamedTuple):
    """Which version of a file a store has: its size (-1 if unknown), and its ETag, date or other marks."""

    size: int
    marks: tuple[tuple[str, str], ...]


def current_version(place: Connection) -> FileVersion:
    """The version that the store has now; the library's exception if it cannot be asked."""
    return version_of(fetch_info(place))


def fetch_info(place: Connection) -> dict[str, Any]:
    """The properties of a file or folder, under the names of the store's library, asked for now."""
    place.filesystem.invalidate_cache()
    info: dict[str, Any] = call_method(place, "info", transfer_seconds(0), place.path)
    return info


def version_of(info: Mapping[str, Any]) -> FileVersion:
    """The version that a store reports; a size of -1 is unknown."""
    marks = tuple((mark, str(info[mark])) for mark in _MARKS if info.get(mark) is not None)
    size = info.get("size")
    return FileVersion(-1 if size is None else int(size), marks)


_CHUNK = 1 << 20
_OK, _PART = 200, 206


class WrongPartError(Exception):
    """The server gave all of a file for a part of it, or another part."""


class OtherVersionError(Exception):
    """The server answered with another version of the file than the one that was opened."""


class NoFileError(Exception):
    """The server answered with a status that comes with no file: 204, 304."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the server answered {status}")


def read_complete(place: Connection, marks: Mapping[str, str], size: int) -> bytes:
    """The whole file of `size` bytes, or one byte more of a larger one; an error if it changed since it was opened."""
    return run_coroutine(place, _read(place, marks, None, size), transfer_seconds(size))


def read_parts(
    place: Connection, marks: Mapping[str, str], spans: Sequence[tuple[int, int]], at_once: int
) -> list[bytes]:
    """The bytes from each begin to each end, or one byte more where more came; WrongPartError for others.

    OtherVersionError where an answer does not have the marks that the file had when it was opened.
    """
    read = _read_object if place.is_s3 else _read

    async def all_parts() -> list[bytes]:
        places = asyncio.Semaphore(at_once)

        async def part(begin: int, end: int) -> bytes:
            async with places:
                return await read(place, marks, (begin, end), end - begin)

        tasks = [asyncio.ensure_future(part(*span)) for span in spans]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:  # after an error the others are useless
                task.cancel()

    return run_coroutine(place, all_parts(), transfer_seconds(sum(end - begin for begin, end in spans)))


class WebStream:
    """The bytes of a file in order, up to a limit and one byte more, which tells that there are more."""

    def __init__(self, place: Connection, marks: Mapping[str, str], most: float) -> None:
        self._place = place
        self._left = most + 1
        self._began, self._bytes = time.monotonic(), 0
        self._reply: Any = run_coroutine(place, _ask(place, marks, None), transfer_seconds(0))

    def close(self) -> None:
        self._place.filesystem.loop.call_soon_threadsafe(self._reply.close)

    def read(self, length: int) -> bytes:
        """At most `length` bytes; none at the end."""
        length = int(min(length, self._left))
        if not length:
            return b""
        seconds = transfer_seconds(self._bytes) - (time.monotonic() - self._began)
        data: bytes = run_coroutine(self._place, self._reply.content.read(length), max(0.0, seconds))
        self._bytes += len(data)
        self._left -= len(data)
        return data


async def _read(place: Connection, marks: Mapping[str, str], span: tuple[int, int] | None, most: int) -> bytes:
    async with await _ask(place, marks, span) as reply:
        return await _at_most(reply.content.iter_chunked(_CHUNK), most)


async def _read_object(place: Connection, marks: Mapping[str, str], span: tuple[int, int], most: int) -> bytes:
    """A part of an object in S3. s3fs tries a request again, but not one whose answer breaks off."""
    bucket, key, _ = place.filesystem.split_path(place.path)
    parameters = {"Range": f"bytes={span[0]}-{span[1] - 1}"} if span[0] < span[1] else {}
    if marks.get("ETag"):
        parameters["IfMatch"] = marks["ETag"]
    for number in range(TRIES):
        reply = await place.filesystem._call_s3("get_object", Bucket=bucket, Key=key, **parameters)
        body = reply["Body"]
        try:
            _require_version(marks, {"ETag": reply.get("ETag") or ""})
            return await _at_most(body.iter_chunks(_CHUNK), most)
        except Exception as problem:
            if number + 1 == TRIES or failure_kind(problem) is not Failure.UNREACHABLE:
                raise
        finally:
            body.close()
    raise AssertionError("unreachable")


async def _at_most(chunks: AsyncIterator[bytes], most: int) -> bytes:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > most:
            break
    return bytes(data[: most + 1])


def _require_version(marks: Mapping[str, str], headers: Mapping[str, str]) -> None:
    """OtherVersionError for an answer of another file; servers that ignore If-Match are found out here."""
    other_date = headers.get("Last-Modified", marks.get("Last-Modified")) != marks.get("Last-Modified")
    if ("ETag" in marks and headers.get("ETag") != marks["ETag"]) or ("Last-Modified" in marks and other_date):
        raise OtherVersionError


async def _ask(place: Connection, marks: Mapping[str, str], span: tuple[int, int] | None) -> Any:
    """The server's answer, of which nothing is read yet."""
    settings = dict(place.filesystem.kwargs)
    # Bytes as they are stored, and only of this very file where the server can tell.
    headers = {**settings.pop("headers", {}), "Accept-Encoding": "identity"}
    if not (etag := marks.get("ETag", "W/")).startswith("W/"):
        headers["If-Match"] = etag
    if span is not None:
        headers["Range"] = f"bytes={span[0]}-{span[1] - 1}"
    session = await place.filesystem.set_session()
    reply = await session.get(place.filesystem.encode_url(place.path), headers=headers, **settings)
    try:
        reply.raise_for_status()
        if reply.status not in (_OK, _PART):
            raise NoFileError(reply.status)
        if span is not None and not reply.headers.get("Content-Range", "").startswith(f"bytes {span[0]}-"):
            raise WrongPartError
        _require_version(marks, reply.headers)
    except BaseException:
        reply.close()
        raise
    return reply
