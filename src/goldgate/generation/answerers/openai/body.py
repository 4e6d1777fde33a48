"""The body of a reply: never more than a fixed number of bytes, compressed or not, and whatever of it came.

aiohttp would decompress before anybody can count (1 MB of gzip can be 1 GB), so it is told not to.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

MAX_BODY = 16 * 1024 * 1024  # of one reply, decompressed: 10,000 tokens with 20 logprobs each have about as much
LARGE = 256 * 1024  # a body above this waits for the other large ones, so that memory is bounded for all together
LARGE_AT_ONCE = 4
ACCEPTED = "gzip, deflate"  # what can be decompressed piece by piece without another library

_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_RAW_DEFLATE = -zlib.MAX_WBITS
_PART = 64 * 1024  # decompressed at a time
_MOST_MEMBERS = 100  # of gzip, one after the other: each takes time and may hold nothing


@dataclass(frozen=True, slots=True)
class Body:
    """What came. After a `problem` it may be cut off, or whole all the same: the length was wrong, the end missing."""

    content: bytes = b""
    problem: Exception | None = None
    too_large: bool = False


async def read_body(pieces: AsyncIterator[bytes], encoding: str, large: asyncio.Semaphore) -> Body:
    """Read to the end, to the limit, or to where it breaks off. `large` is shared by all replies of a session."""
    content = bytearray()
    received = 0
    holding = False
    unpack = _Unpacker(encoding)
    try:
        async for piece in pieces:
            received += len(piece)
            for part in unpack.feed(piece):
                content += part
                if max(len(content), received) > MAX_BODY:
                    return Body(too_large=True)
            if len(content) > LARGE and not holding:
                await large.acquire()
                holding = True
    except Exception as problem:  # of the connection, the framing or the compression: what came is looked at
        return Body(bytes(content), problem)
    finally:
        if holding:
            large.release()
    return Body(bytes(content))


def readable(encoding: str) -> bool:
    """Whether a body in this encoding can be read at all."""
    return _named(encoding) in ("", "identity", "gzip", "x-gzip", "deflate")


class _Unpacker:
    """Decompresses into parts of bounded size. What only claims to be compressed comes as it is."""

    def __init__(self, encoding: str) -> None:
        self._deflate = _named(encoding) == "deflate"
        self._plain = _named(encoding) in ("", "identity")
        self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._first = True
        self._members = 1

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._first and piece and not self._plain:
            self._first = False
            self._plain = piece.lstrip(b" \t\r\n")[:1] in (b"{", b"[")  # neither gzip nor zlib begins so
            if self._deflate and piece[0] & 0x0F != 8:  # without zlib's header, as some servers send it
                self._stream = zlib.decompressobj(_RAW_DEFLATE)
        if self._plain:
            yield piece
            return
        more = False  # zlib has taken all of the piece, and holds back what did not fit into the last part
        while piece or more:
            if self._stream.eof:  # another gzip member may follow
                self._members += 1
                if self._members > _MOST_MEMBERS:
                    raise zlib.error("too many members")
                self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
            part = self._stream.decompress(piece, _PART)
            yield part
            more = len(part) == _PART and not self._stream.eof
            piece = self._stream.unconsumed_tail or self._stream.unused_data


def _named(encoding: str) -> str:
    return encoding.strip().lower()
