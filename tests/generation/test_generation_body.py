"""A compressed body comes out whole, wherever zlib pauses and however the pieces are cut."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator

from goldgate.generation.transport import MAX_LARGE_BODIES, read_body
from tests.cases import cases

PART = 64 * 1024  # what is decompressed at a time
WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS, "raw deflate": -zlib.MAX_WBITS}


def read(packed: bytes, encoding: str, step: int) -> bytes:
    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(packed), step):
            yield packed[at : at + step]

    async def whole() -> bytes:
        body = await read_body(pieces(), encoding, asyncio.Semaphore(MAX_LARGE_BODIES))
        assert body.problem is None
        return body.content

    return asyncio.run(whole())


@cases("kind", WINDOWS)
@cases("step", [1, 7, 10_000])
@cases("flush", [zlib.Z_FINISH, zlib.Z_SYNC_FLUSH])
def test_nothing_is_left_inside_zlib(kind: str, step: int, flush: int) -> None:
    """With Z_SYNC_FLUSH the stream has no end, as some servers send it: zlib does not say that more is to come."""
    for size in (0, 1, PART - 1, PART, PART + 1, PART + 257, 2 * PART, 3 * PART + 100):
        content = b"a" * size  # one match of 258 bytes after the other: any of them may lie across two parts
        packer = zlib.compressobj(9, zlib.DEFLATED, WINDOWS[kind])
        packed = packer.compress(content) + packer.flush(flush)
        assert read(packed, kind.split()[-1], step) == content
