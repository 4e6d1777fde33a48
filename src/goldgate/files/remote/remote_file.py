"""A file elsewhere, read by ranges: the same bytes as when it was opened, or an error.

Which file it is, its store says: its size, and its ETag or the time of its last change. It is asked again at the end,
and web servers and S3 say it with every range: an answer from another version is an error.
What is read in order is read in large pieces, of which a process keeps few; what is read here and there is asked for
as it is, several places at a time.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.random_access import RandomAccess
from goldgate.files.remote.connect import Connected, call, connect, seconds_for, trying
from goldgate.files.remote.failure import Why, is_error, read_error, why
from goldgate.files.remote.web import WrongPartError, read_parts, read_whole
from goldgate.files.url import has_query, shown_url

PIECE = 8 << 20  # bytes of one request for what is read in order
PIECES_HELD = 8  # by a process, of all its files together
NEAR = 64 << 10  # bytes between two places that are cheaper read along than asked for apart
AT_ONCE = 32  # requests for places that lie apart

# What stores note of an object, under their own words. Any that changes means another object.
_MARKS = (
    "ETag etag generation VersionId version_id LastModified Last-Modified last_modified updated mtime created "
    "Content-MD5 Digest blob_id"
).split()


class Identity(NamedTuple):
    """What a store says of an object."""

    size: int
    marks: tuple[tuple[str, str], ...]


class RemoteFile(RandomAccess):
    """A file by its URL. Sent to another process it is opened there, with the credentials of that process."""

    __slots__ = ("_asked", "_connected", "_lock", "_next", "identity", "url")

    def __init__(self, url: str, kind: str, identity: Identity, connected: Connected | None = None) -> None:
        super().__init__(shown_url(url), kind)
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
                "a signed URL is not sent to other machines: whoever has it can read the file",
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
        with self._lock:  # whoever reads the same waits, and finds it
            data = _held.find(self._key, offset, length)
            if data is None:
                in_order = self._next.get(thread, 0) == offset
                end = min(offset + max(length, PIECE if in_order else 0), self.identity.size)
                whole = self._fetch(offset, end)
                if len(whole) <= PIECE:
                    _held.keep(self._key, offset, whole)
                data = whole[:length]
            self._next[thread] = offset + len(data)
        return data

    def read_each(self, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        if self.identity.size <= PIECE:
            return super().read_each(offsets, lengths)
        spans = list(_spans(offsets, lengths))
        found = self._fetch_each(spans)
        begins = [begin for begin, _ in spans]
        result = []
        for offset, length in zip(offsets, lengths, strict=True):
            at = _last_at_most(begins, offset)
            begin = offset - begins[at]
            result.append(found[at][begin : begin + length])
        return result

    def require_unchanged(self, within: float = 0.0) -> None:
        if within and time.monotonic() - self._asked < within:
            return
        self._try(self._require_same)
        self._asked = time.monotonic()

    def close(self) -> None:
        _held.forget(self._key)

    @property
    def _key(self) -> tuple[str, Identity]:
        return self.url, self.identity

    def _place(self) -> Connected:
        if self._connected is None:
            self._connected = connect(self.url)
        return self._connected

    def _require_same(self) -> None:
        try:
            now = identify(self._place())
        except FileNotFoundError as problem:
            if why(problem) is not Why.MISSING:
                raise
            raise self.changed("it was removed") from None
        if now.size != self.identity.size:
            raise self.changed(f"it had {self.identity.size:,} bytes and now has {now.size:,}")
        if now.marks != self.identity.marks:
            raise self.changed("it was written again")

    def _fetch(self, begin: int, end: int) -> bytes:
        place, marks = self._place(), dict(self.identity.marks)

        def read() -> bytes:
            if not place.is_web and not place.is_s3:
                found: bytes = call(place, "cat_file", seconds_for(end - begin), place.path, start=begin, end=end)
                return found
            if place.is_web and (begin, end) == (0, self.identity.size):  # which also servers without ranges give
                return read_whole(place, marks, end)
            return read_parts(place, marks, [(begin, end)], 1)[0]

        return self._whole(self._try(read), end - begin)

    def _fetch_each(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        place = self._place()
        begins, ends = [begin for begin, _ in spans], [end for _, end in spans]

        def read() -> list[bytes]:
            if place.is_web or place.is_s3:
                return read_parts(place, dict(self.identity.marks), spans, AT_ONCE)
            at_once = {"batch_size": AT_ONCE} if getattr(place.filesystem, "async_impl", False) else {}
            seconds, paths = seconds_for(sum(ends) - sum(begins)), [place.path] * len(spans)
            found: list[bytes] = call(place, "cat_ranges", seconds, paths, begins, ends, on_error="raise", **at_once)
            return found

        return [self._whole(data, end - begin) for data, (begin, end) in zip(self._try(read), spans, strict=True)]

    def _whole(self, data: bytes, length: int) -> bytes:
        if len(data) < length:
            raise self.changed("it is shorter than it was")
        if len(data) > length:
            self.require_unchanged()
            raise _no_ranges(self.name, self.kind)
        return bytes(data)

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return trying(self._place(), work)
        except Exception as problem:
            if is_error(problem):
                raise
            if isinstance(problem, WrongPartError):
                raise _no_ranges(self.name, self.kind) from None
            if why(problem) is Why.CHANGED:
                raise self.changed("it was written again") from None
            if why(problem) is Why.MISSING:
                raise self.changed("it was removed") from None
            raise read_error(problem, self.name, self.kind) from None


def identify(place: Connected) -> Identity:
    """What the store says of it now; the library's exception if it cannot be asked."""
    return identity_of(ask_info(place))


def ask_info(place: Connected) -> dict[str, Any]:
    """What the store says of a file or folder now, in the words of its library."""
    place.filesystem.invalidate_cache()
    info: dict[str, Any] = call(place, "info", seconds_for(0), place.path)
    return info


def identity_of(info: Mapping[str, Any]) -> Identity:
    """Of what a store says; a size of -1 is one that it does not say."""
    marks = tuple((mark, str(info[mark])) for mark in _MARKS if info.get(mark) is not None)
    size = info.get("size")
    return Identity(-1 if size is None else int(size), marks)


class _Held:
    """The pieces that this process keeps, the one that was used last at the end."""

    def __init__(self) -> None:
        self._pieces: OrderedDict[tuple[object, int], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, file: object, offset: int, length: int) -> bytes | None:
        """As much as there is from there on, at most so many bytes; None if there is nothing."""
        with self._lock:
            for key, data in self._pieces.items():
                if key[0] == file and key[1] <= offset < key[1] + len(data):
                    self._pieces.move_to_end(key)
                    return data[offset - key[1] : offset - key[1] + length]
        return None

    def keep(self, file: object, begin: int, data: bytes) -> None:
        with self._lock:
            self._pieces[file, begin] = data
            while len(self._pieces) > PIECES_HELD:
                self._pieces.popitem(last=False)

    def forget(self, file: object) -> None:
        with self._lock:
            for key in [key for key in self._pieces if key[0] == file]:
                del self._pieces[key]


_held = _Held()


def _spans(offsets: Sequence[int], lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
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


def _last_at_most(begins: Sequence[int], offset: int) -> int:
    from bisect import bisect_right

    return bisect_right(begins, offset) - 1


def _no_ranges(name: str, kind: str) -> InputError:
    return InputError(
        f"{kind}.no_ranges",
        "the server gave another part of the file than it was asked for",
        place=Place(name),
        expected="a server that answers to ranges of bytes",
        advice="copy the file to this machine first, or to a store such as S3",
    )
