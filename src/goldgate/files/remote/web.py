"""Bytes from a web server: the part that was asked for and no other, and never more than that, whatever it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from goldgate.files.remote.connect import Connected

_CHUNK = 1 << 20
_OK, _PART = 200, 206


class WrongPartError(Exception):
    """The server gave all of a file for a part of it, or another part."""


class NoFileError(Exception):
    """The server answered with a status that comes with no file: 204, 304."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the answer {status} of the server")


def read_whole(place: Connected, headers: Mapping[str, str], size: int) -> bytes:
    """A file of so many bytes, or one byte more of one that is larger."""
    data: bytes = _run(place, _read(place, headers, None, size))
    return data


def read_parts(
    place: Connected, headers: Mapping[str, str], spans: Sequence[tuple[int, int]], at_once: int
) -> list[bytes]:
    """The bytes from each begin to each end, or one byte more where more came; WrongPartError for others."""

    async def all_parts() -> list[bytes]:
        places = asyncio.Semaphore(at_once)

        async def part(begin: int, end: int) -> bytes:
            async with places:
                return await _read(place, headers, (begin, end), end - begin)

        tasks = [asyncio.ensure_future(part(*span)) for span in spans]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:  # after an error nobody wants the others
                task.cancel()

    found: list[bytes] = _run(place, all_parts())
    return found


class WebStream:
    """All bytes of a file, in order."""

    def __init__(self, place: Connected, headers: Mapping[str, str]) -> None:
        self._place = place
        self._reply: Any = _run(place, _ask(place, headers, None))

    def __enter__(self) -> WebStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, _: TracebackType | None
    ) -> None:
        self._place.filesystem.loop.call_soon_threadsafe(self._reply.close)

    def read(self, length: int) -> bytes:
        """At most so many; none at the end."""
        data: bytes = _run(self._place, self._reply.content.read(length))
        return data


async def _read(place: Connected, headers: Mapping[str, str], span: tuple[int, int] | None, most: int) -> bytes:
    async with await _ask(place, headers, span) as reply:
        data = bytearray()
        async for chunk in reply.content.iter_chunked(_CHUNK):
            data += chunk
            if len(data) > most:
                break
        return bytes(data[: most + 1])


async def _ask(place: Connected, headers: Mapping[str, str], span: tuple[int, int] | None) -> Any:
    """The server's answer, of which nothing is read yet."""
    settings = dict(place.filesystem.kwargs)
    asked = {**settings.pop("headers", {}), **headers}
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
    except BaseException:
        reply.close()
        raise
    return reply


def _run(place: Connected, work: Any) -> Any:
    """Do it in fsspec's own thread, where the connections are."""
    from fsspec.asyn import sync

    async def done() -> Any:
        return await work

    return sync(place.filesystem.loop, done)
