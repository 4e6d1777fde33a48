"""Remote files and folders: files read by ranges, folders listed.

Of a file come the same bytes as when it was opened, or an error. Bytes in order are read in large pieces, of which a
process keeps few; scattered ones in concurrent requests. A file whose server does not answer to ranges is copied to
the temporary folder, with a warning.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.address import WEB_SCHEMES, has_query, join_url, public_url, scheme_of
from goldgate.files.connection import (
    LISTING_SECONDS,
    Connection,
    Failure,
    FileVersion,
    WebStream,
    WrongPartError,
    call_method,
    connect,
    current_version,
    failure_kind,
    fetch_info,
    library_errors_as,
    read_complete,
    read_error,
    read_parts,
    retry,
    run_coroutine,
    transfer_seconds,
    version_of,
)
from goldgate.files.reading import RandomAccess, copy_to_temporary

T = TypeVar("T")

PIECE = 8 << 20  # bytes of one request for what is read in order
MAX_PIECES = 8  # by a process, of all its files together
NEAR = 64 << 10  # bytes between two places that are cheaper read along than asked for apart
CONCURRENT_REQUESTS = 32  # requests for places that lie apart


class RemoteFile(RandomAccess):
    """A file by its URL. Sent to another process it is opened there, with the credentials of that process."""

    __slots__ = ("_checked", "_connected", "_lock", "_next", "identity", "url")

    def __init__(self, url: str, kind: str, identity: FileVersion, connected: Connection | None = None) -> None:
        super().__init__(public_url(url), kind)
        self.url = url
        self.identity = identity
        self._connected = connected
        self._lock = threading.Lock()
        self._next: dict[int, int] = {}  # by thread: where its last reading ended
        self._checked = time.monotonic()  # when its version was known last

    def __reduce__(self) -> tuple[object, ...]:
        if has_query(self.url):
            raise ConfigError(
                "url.signed",
                "a signed URL is not sent to other machines: anyone who has it can read the file",
                place=Place(self.name),
                advice="name the file by a URL that needs credentials (s3://…), which every machine has itself",
            )
        return self.reduce_locally()

    def reduce_locally(self) -> tuple[type[RemoteFile], tuple[Any, ...]]:
        """How pickle makes it again in another process of this machine, where a signed URL may go."""
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
        spans = _merge_ranges(offsets, lengths)
        parts, begins = self._fetch(spans), [begin for begin, _ in spans]
        records = []
        for offset, length in zip(offsets, lengths, strict=True):
            part = bisect_right(begins, offset) - 1
            begin = offset - begins[part]
            records.append(parts[part][begin : begin + length])
        return records

    def require_unchanged(self, within: float = 0.0) -> None:
        if within and time.monotonic() - self._checked < within:
            return
        self._retry(self._require_same)
        self._checked = time.monotonic()

    def close(self) -> None:
        _piece_cache.forget(self._key)

    @property
    def _key(self) -> tuple[str, FileVersion]:
        return self.url, self.identity

    def _connection(self) -> Connection:
        if self._connected is None:
            self._connected = connect(self.url)
        return self._connected

    def _require_same(self) -> None:
        try:
            now = current_version(self._connection())
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
        place, marks = self._connection(), dict(self.identity.marks)

        def read() -> list[bytes]:
            if place.is_web and spans == [(0, self.identity.size)]:  # which also servers without ranges give
                return [read_complete(place, marks, self.identity.size)]
            if place.is_web or place.is_s3:
                return read_parts(place, marks, spans, CONCURRENT_REQUESTS)
            at_once = {"batch_size": CONCURRENT_REQUESTS} if getattr(place.filesystem, "async_impl", False) else {}
            begins, ends = [begin for begin, _ in spans], [end for _, end in spans]
            seconds, paths = transfer_seconds(sum(ends) - sum(begins)), [place.path] * len(spans)
            parts: list[bytes] = call_method(
                place, "cat_ranges", seconds, paths, begins, ends, on_error="raise", **at_once
            )
            return parts

        return [self._full_part(data, end - begin) for data, (begin, end) in zip(self._retry(read), spans, strict=True)]

    def _full_part(self, data: bytes, length: int) -> bytes:
        if len(data) < length:
            raise self.changed("it is shorter than it was")
        if len(data) > length:
            self.require_unchanged()
            raise _no_ranges_error(self.name, self.kind)
        return bytes(data)

    def _retry(self, work: Callable[[], T]) -> T:
        with library_errors_as(self._error):
            return retry(self._connection(), work)

    def _error(self, problem: Exception) -> InputError:
        if isinstance(problem, WrongPartError):
            return _no_ranges_error(self.name, self.kind)
        reason = failure_kind(problem)
        if reason in (Failure.CHANGED, Failure.MISSING):
            return self.changed("it was written again" if reason is Failure.CHANGED else "it was removed")
        return read_error(problem, self.name, self.kind)


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


def _merge_ranges(offsets: Sequence[int], lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The ranges to read, from each begin to each end: near places together, up to the size of a piece."""
    spans: list[tuple[int, int]] = []
    for at, length in sorted(zip(offsets, lengths, strict=True)):
        begin, end = spans[-1] if spans else (at, at)
        if spans and at <= end + NEAR and at + length - begin <= PIECE:
            spans[-1] = begin, max(end, at + length)
        else:
            spans.append((at, at + length))
    return spans


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


MAX_ENTRIES = 1_000_000  # of one folder


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """A file or a folder of a listing, with the methods of `os.DirEntry`."""

    name: str
    path: str  # its URL
    size: int
    _kind: str
    _place: Connection
    _marks: Mapping[str, str]
    _is_folder: bool

    def is_symlink(self) -> bool:
        return False

    def is_dir(self) -> bool:
        return self._is_folder

    def is_file(self) -> bool:
        return not self._is_folder

    def read(self) -> bytes:
        """All of it, at once; an InputError if it has not as many bytes as the listing says."""
        place = self._place

        def read_all() -> bytes:
            if place.is_s3:
                return read_parts(place, self._marks, [(0, self.size)], 1)[0]
            content: bytes = call_method(place, "cat_file", transfer_seconds(self.size), place.path)
            return content

        data = _read(place, self.path, self._kind, read_all)
        if len(data) != self.size:
            raise InputError(
                f"{self._kind}.changed",
                "the file changed while it was being read",
                place=Place(public_url(self.path)),
                found=f"it had {self.size:,} bytes and now has {len(data):,}",
                expected="files that stay as they are until the end",
                advice="is the agent still at work? run the command again when it is done",
            )
        return data


def scan_remote(url: str, kind: str) -> list[RemoteEntry]:
    """What lies in a folder, sorted by name; an InputError if it cannot be listed, a ConfigError on a web server."""
    if scheme_of(url) in WEB_SCHEMES or has_query(url):
        raise ConfigError(
            f"{kind}.not_listed",
            "a folder on a web server cannot be listed",
            place=Place(public_url(url)),
            expected="a folder, or a URL of a store, such as s3://bucket/runs",
            advice="copy the folder to this machine first",
        )
    place = connect(url)
    folder = place.path.rstrip("/")

    def list_folder() -> list[dict[str, Any]]:
        if place.is_s3:
            return run_coroutine(place, _list_s3(place), LISTING_SECONDS)
        place.filesystem.invalidate_cache()
        infos: list[dict[str, Any]] = call_method(place, "ls", LISTING_SECONDS, place.path, detail=True)
        return infos

    entries = []
    for info in _read(place, url, kind, list_folder):
        path = str(info["name"]).rstrip("/")
        name = path.rpartition("/")[2]
        if path.strip("/") == folder.strip("/") or not name:
            continue  # some stores have an object with the name of the folder
        size, inner, marks = info.get("size") or 0, place._replace(path=path), dict(version_of(info).marks)
        is_folder = info.get("type") == "directory"
        entries.append(RemoteEntry(name, join_url(url, name), size, kind, inner, marks, is_folder))
    return sorted(entries, key=lambda entry: entry.name)


class EndlessListingError(Exception):
    """A listing that begins again, or does not end."""


async def _list_s3(place: Connection) -> list[dict[str, Any]]:
    """What lies in a folder of S3, a page after the other; s3fs itself would follow a listing without end."""
    files = place.filesystem
    bucket, key, _ = files.split_path(place.path)
    parameters = {"Bucket": bucket, "Prefix": f"{key.rstrip('/')}/" if key else "", "Delimiter": "/", **files.req_kw}
    entries: list[dict[str, Any]] = []
    tokens: set[str] = set()
    while True:
        page = await files._call_s3("list_objects_v2", **parameters)
        for folder in page.get("CommonPrefixes", ()):
            entries.append({"name": f"{bucket}/{folder['Prefix']}", "type": "directory"})
        for file in page.get("Contents", ()):
            entries.append({**file, "name": f"{bucket}/{file['Key']}", "size": file["Size"], "type": "file"})
        token = page.get("NextContinuationToken")
        if not page.get("IsTruncated") or token is None:
            break
        if token in tokens:
            raise EndlessListingError("the store gives the same page of its listing again and again")
        if len(entries) > MAX_ENTRIES:
            raise EndlessListingError(f"the folder has more than {MAX_ENTRIES:,} files and folders")
        tokens.add(token)
        parameters["ContinuationToken"] = token
    if not entries:
        raise FileNotFoundError(place.path)
    return entries


def _read(place: Connection, url: str, kind: str, work: Callable[[], T]) -> T:
    with library_errors_as(lambda problem: read_error(problem, public_url(url), kind)):
        return retry(place, work)
