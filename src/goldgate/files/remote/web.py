"""Bytes from a web server or S3: the part that was asked for, of the very file that was opened, and never more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from goldgate.files.remote.connect import TRIES, Connected, seconds_for, wait_for
from goldgate.files.remote.failure import Why, why

_CHUNK = 1 << 20
_OK, _PART = 200, 206


class WrongPartError(Exception):
    """The server gave all of a file for a part of it, or another part."""


class OtherVersionError(Exception):
    """The server answered with another version of the file than the one that was opened."""


class NoFileError(Exception):
    """The server answered with a status that comes with no file: 204, 304."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the answer {status} of the server")


def read_whole(place: Connected, marks: Mapping[str, str], size: int) -> bytes:
    """A file of so many bytes, or one byte more of one that is larger. Its server marks it as when it was opened."""
    return wait_for(place, _read(place, marks, None, size), seconds_for(size))


def read_parts(
    place: Connected, marks: Mapping[str, str], spans: Sequence[tuple[int, int]], at_once: int
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
            for task in tasks:  # after an error nobody wants the others
                task.cancel()

    return wait_for(place, all_parts(), seconds_for(sum(end - begin for begin, end in spans)))


class WebStream:
    """All bytes of a file, in order."""

    def __init__(self, place: Connected, marks: Mapping[str, str]) -> None:
        self._place = place
        self._began, self._bytes = time.monotonic(), 0
        self._reply: Any = wait_for(place, _ask(place, marks, None), seconds_for(0))

    def __enter__(self) -> WebStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, _: TracebackType | None
    ) -> None:
        self._place.filesystem.loop.call_soon_threadsafe(self._reply.close)

    def read(self, length: int) -> bytes:
        """At most so many; none at the end."""
        left = seconds_for(self._bytes) - (time.monotonic() - self._began)
        data: bytes = wait_for(self._place, self._reply.content.read(length), max(0.0, left))
        self._bytes += len(data)
        return data


async def _read(place: Connected, marks: Mapping[str, str], span: tuple[int, int] | None, most: int) -> bytes:
    async with await _ask(place, marks, span) as reply:
        return await _at_most(reply.content.iter_chunked(_CHUNK), most)


async def _read_object(place: Connected, marks: Mapping[str, str], span: tuple[int, int], most: int) -> bytes:
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
            if number + 1 == TRIES or why(problem) is not Why.UNREACHABLE:
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


async def _ask(place: Connected, marks: Mapping[str, str], span: tuple[int, int] | None) -> Any:
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
