"""A remote file, read by ranges: the same bytes as when it was opened, or an error.

Its store says which version it is: its size, and its ETag or the time of its last change. The store is asked
again at the end; web servers and S3 say it with every range, and an answer from another version is an error.
Bytes in order are read in large pieces, of which a process keeps few; scattered ones in concurrent requests.
A file whose server does not answer to ranges is copied to the temporary folder, with a warning.
"""

from __future__ import annotations

import asyncio
import threading
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from math import inf
from typing import Any, NamedTuple, TypeVar

from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.address import has_query, public_url
from goldgate.files.reading import RandomAccess, copy_to_temporary
from goldgate.files.remote.connection import (
    TRIES,
    Connection,
    Failure,
    call_method,
    connect,
    failure_kind,
    library_errors_as,
    read_error,
    retry,
    run_coroutine,
    transfer_seconds,
)

T = TypeVar("T")

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


def _headers(marks: Mapping[str, str]) -> dict[str, str]:
    """Bytes as they are stored, and only of this very file where the server can tell."""
    etag = marks.get("ETag", "W/")
    return {"Accept-Encoding": "identity"} | ({} if etag.startswith("W/") else {"If-Match": etag})


async def _ask(place: Connection, marks: Mapping[str, str], span: tuple[int, int] | None) -> Any:
    """The server's answer, of which nothing is read yet."""
    settings = dict(place.filesystem.kwargs)
    asked = {**settings.pop("headers", {}), **_headers(marks)}
    if span is not None:
        asked["Range"] = f"bytes={span[0]}-{span[1] - 1}"
    session = await place.filesystem.set_session()
    reply = await session.get(place.filesystem.encode_url(place.path), headers=asked, **settings)
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


PIECE = 8 << 20  # bytes of one request for what is read in order
MAX_PIECES = 8  # by a process, of all its files together
NEAR = 64 << 10  # bytes between two places that are cheaper read along than asked for apart
CONCURRENT_REQUESTS = 32  # requests for places that lie apart

# What stores note of an object, under their own words. Any that changes means another object.
_MARKS = (
    "ETag etag generation VersionId version_id LastModified Last-Modified last_modified updated mtime created "
    "Content-MD5 Digest blob_id"
).split()


class FileVersion(NamedTuple):
    """What a store says of an object."""

    size: int
    marks: tuple[tuple[str, str], ...]


class RemoteFile(RandomAccess):
    """A file by its URL. Sent to another process it is opened there, with the credentials of that process."""

    __slots__ = ("_asked", "_connected", "_lock", "_next", "identity", "url")

    def __init__(self, url: str, kind: str, identity: FileVersion, connected: Connection | None = None) -> None:
        super().__init__(public_url(url), kind)
        self.url = url
        self.identity = identity
        self._connected = connected
        self._lock = threading.Lock()
        self._next: dict[int, int] = {}  # by thread: where its last reading ended
        self._asked = time.monotonic()

    def __reduce__(self) -> tuple[object, ...]:
        if has_query(self.url):
            raise ConfigError(
                "url.signed",
                "a signed URL is not sent to other machines: anyone who has it can read the file",
                place=Place(self.name),
                advice="name the file by a URL that needs credentials (s3://…), which every machine has itself",
            )
        return self.reduced()

    def reduced(self) -> tuple[type[RemoteFile], tuple[Any, ...]]:
        """How it travels to a process of this machine."""
        return RemoteFile, (self.url, self.kind, self.identity)

    def size(self) -> int:
        return self.identity.size

    def read_some(self, offset: int, length: int) -> bytes:
        length = min(length, self.identity.size - offset)
        if length <= 0:
            return b""
        thread = threading.get_ident()
        with self._lock:  # another thread that reads the same waits, and finds it
            data = _piece_cache.find(self._key, offset, length)
            if data is None:
                in_order = self._next.get(thread, 0) == offset
                end = min(offset + max(length, PIECE if in_order else 0), self.identity.size)
                [whole] = self._fetch([(offset, end)])
                if len(whole) <= PIECE:
                    _piece_cache.keep(self._key, offset, whole)
                data = whole[:length]
            self._next[thread] = offset + len(data)
        return data

    def read_each(self, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        if self.identity.size <= PIECE:
            return super().read_each(offsets, lengths)
        spans = list(_merge_ranges(offsets, lengths))
        parts, begins = self._fetch(spans), [begin for begin, _ in spans]
        records = []
        for offset, length in zip(offsets, lengths, strict=True):
            part = bisect_right(begins, offset) - 1
            begin = offset - begins[part]
            records.append(parts[part][begin : begin + length])
        return records

    def require_unchanged(self, within: float = 0.0) -> None:
        if within and time.monotonic() - self._asked < within:
            return
        self._try(self._require_same)
        self._asked = time.monotonic()

    def close(self) -> None:
        _piece_cache.forget(self._key)

    @property
    def _key(self) -> tuple[str, FileVersion]:
        return self.url, self.identity

    def _place(self) -> Connection:
        if self._connected is None:
            self._connected = connect(self.url)
        return self._connected

    def _require_same(self) -> None:
        try:
            now = current_version(self._place())
        except FileNotFoundError as problem:
            if failure_kind(problem) is not Failure.MISSING:
                raise
            raise self.changed("it was removed") from None
        if now.size != self.identity.size:
            raise self.changed(f"it had {self.identity.size:,} bytes and now has {now.size:,}")
        if now.marks != self.identity.marks:
            raise self.changed("it was written again")

    def _fetch(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes from each begin to each end."""
        place, marks = self._place(), dict(self.identity.marks)
        begins, ends = [begin for begin, _ in spans], [end for _, end in spans]

        def read() -> list[bytes]:
            if place.is_web and spans == [(0, self.identity.size)]:  # which also servers without ranges give
                return [read_complete(place, marks, self.identity.size)]
            if place.is_web or place.is_s3:
                return read_parts(place, marks, spans, CONCURRENT_REQUESTS)
            at_once = {"batch_size": CONCURRENT_REQUESTS} if getattr(place.filesystem, "async_impl", False) else {}
            seconds, paths = transfer_seconds(sum(ends) - sum(begins)), [place.path] * len(spans)
            parts: list[bytes] = call_method(
                place, "cat_ranges", seconds, paths, begins, ends, on_error="raise", **at_once
            )
            return parts

        return [self._whole(data, end - begin) for data, (begin, end) in zip(self._try(read), spans, strict=True)]

    def _whole(self, data: bytes, length: int) -> bytes:
        if len(data) < length:
            raise self.changed("it is shorter than it was")
        if len(data) > length:
            self.require_unchanged()
            raise _no_ranges_error(self.name, self.kind)
        return bytes(data)

    def _try(self, work: Callable[[], T]) -> T:
        with library_errors_as(self._error):
            return retry(self._place(), work)

    def _error(self, problem: Exception) -> InputError:
        if isinstance(problem, WrongPartError):
            return _no_ranges_error(self.name, self.kind)
        reason = failure_kind(problem)
        if reason in (Failure.CHANGED, Failure.MISSING):
            return self.changed("it was written again" if reason is Failure.CHANGED else "it was removed")
        return read_error(problem, self.name, self.kind)


def current_version(place: Connection) -> FileVersion:
    """What the store says of it now; the library's exception if it cannot be asked."""
    return version_of(fetch_info(place))


def fetch_info(place: Connection) -> dict[str, Any]:
    """What the store says of a file or folder now, in the words of its library."""
    place.filesystem.invalidate_cache()
    info: dict[str, Any] = call_method(place, "info", transfer_seconds(0), place.path)
    return info


def version_of(info: Mapping[str, Any]) -> FileVersion:
    """The version that a store reports; a size of -1 is unknown."""
    marks = tuple((mark, str(info[mark])) for mark in _MARKS if info.get(mark) is not None)
    size = info.get("size")
    return FileVersion(-1 if size is None else int(size), marks)


class _PieceCache:
    """The pieces that this process keeps, the one that was used last at the end."""

    def __init__(self) -> None:
        self._pieces: OrderedDict[tuple[object, int], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, file: object, offset: int, length: int) -> bytes | None:
        """The cached bytes from `offset`, at most `length`; None if there are none."""
        with self._lock:
            for key, data in self._pieces.items():
                if key[0] == file and key[1] <= offset < key[1] + len(data):
                    self._pieces.move_to_end(key)
                    return data[offset - key[1] : offset - key[1] + length]
        return None

    def keep(self, file: object, begin: int, data: bytes) -> None:
        with self._lock:
            self._pieces[file, begin] = data
            while len(self._pieces) > MAX_PIECES:
                self._pieces.popitem(last=False)

    def forget(self, file: object) -> None:
        with self._lock:
            for key in [key for key in self._pieces if key[0] == file]:
                del self._pieces[key]


_piece_cache = _PieceCache()


def _merge_ranges(offsets: Sequence[int], lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where to read so that every place is in one of them: near ones together, but not too much."""
    begin = end = -1
    for at, length in sorted(zip(offsets, lengths, strict=True)):
        if begin >= 0 and at <= end + NEAR and at + length - begin <= PIECE:
            end = max(end, at + length)
            continue
        if begin >= 0:
            yield begin, end
        begin, end = at, at + length
    if begin >= 0:
        yield begin, end


def _no_ranges_error(name: str, kind: str) -> InputError:
    return InputError(
        f"{kind}.no_ranges",
        "the server gave another part of the file than it was asked for",
        place=Place(name),
        expected="a server that answers to ranges of bytes",
        advice="copy the file to this machine first, or to a store such as S3",
    )


_NO_RANGES = "its server does not give parts of a file"
_NO_MARKS = "its server does not mark versions of a file (ETag, Last-Modified)"


def open_remote(url: str, kind: str, most: int | None = None) -> RandomAccess:
    """The file; an InputError if it is not there, must not be read, or cannot be reached.

    Where it has to be copied, one with more than `most` bytes is cut off after that.
    """
    place, name = connect(url), public_url(url)
    with library_errors_as(lambda problem: read_error(problem, name, kind)):
        info = retry(place, lambda: fetch_info(place))
        if info.get("type") == "directory":
            raise InputError(
                f"{kind}.is_a_directory",
                f"this is a directory, not a {kind} file",
                place=Place(name),
                expected="a file",
                advice="name the file in it",
            )
        identity = version_of(info)
        if place.is_web and not retry(place, lambda: _supports_ranges(place, info, identity)):
            return _copy_file(place, name, kind, most)
        return RemoteFile(url, kind, identity, place)


def _supports_ranges(place: Connection, info: dict[str, Any], identity: FileVersion) -> bool:
    """Whether a server gives parts of this file; for one that is read in one piece it need not."""
    if identity.size < 0 or not identity.marks:  # answers of several versions would look alike
        return False
    marks = dict(identity.marks)
    # Other answers than a file are empty too, which is an error; and some servers say so of every file.
    if identity.size == 0 and read_complete(place, marks, 0):
        return False
    if identity.size <= PIECE:
        return True
    if not info.get("partial", True):
        return False
    try:
        return len(read_parts(place, marks, [(1, 2)], 1)[0]) == 1
    except WrongPartError:
        return False


def _copy_file(place: Connection, name: str, kind: str, most: int | None) -> RandomAccess:
    """All of the file, in the temporary folder; one that changes meanwhile is an error.

    Of one with more than `most` bytes there is one byte more than that.
    """
    before = current_version(place)
    limit = min((size for size in (before.size, most) if size is not None and size >= 0), default=inf)
    with closing(WebStream(place, dict(before.marks), limit)) as stream:
        copy = copy_to_temporary(name, kind, stream.read, _NO_RANGES if before.marks else _NO_MARKS)
    if most is not None and copy.size() > most:
        return copy
    if before.size >= 0 and copy.size() != before.size:
        came = f"{copy.size():,} bytes arrived of {before.size:,}" if copy.size() < before.size else "more bytes came"
        raise copy.changed(came)
    if current_version(place) != before:
        raise copy.changed("it was written again")
    return copy
