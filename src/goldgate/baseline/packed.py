"""The counts of units, packed: a few dozen bytes a unit, in the order of their ids, the same for any order of records.

A line with the version, then, compressed: the names of the tables with their numbers of counts, the number of units,
their ids of eight bytes, and for each unit its tables and counts. All numbers are variable-length integers.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

import orjson

from goldgate.baseline.units import ID_BYTES, UnitTables
from goldgate.core.tally import Key

HEAD = b"goldgate units 1\n"  # raised when the bytes mean something else


class Packed(NamedTuple):
    """The file's bytes; size and digest are those of the content, which do not depend on how it is compressed."""

    data: bytes
    size: int
    sha256: str


def pack(units: Mapping[bytes, UnitTables]) -> Packed:
    """Counts that are all zero are left out: nothing counted and nothing to count are the same."""
    widths: dict[Key, int] = {key: len(counts) for tables in units.values() for key, counts in tables.items()}
    keys = sorted(widths)
    index = {key: number for number, key in enumerate(keys)}
    names = orjson.dumps([[list(key), widths[key]] for key in keys])
    content = bytearray(_integer(len(names)) + names + _integer(len(units)))
    ordered = sorted(units)
    content += b"".join(ordered)
    for identity in ordered:
        present = sorted((index[key], counts) for key, counts in units[identity].items() if any(counts))
        content += _integer(len(present))
        for number, counts in present:
            content += _integer(number) + b"".join(map(_integer, counts))
    whole = bytes(content)
    return Packed(HEAD + zlib.compress(whole, 9), len(whole), sha256(whole).hexdigest())


def unpack(data: bytes, size: int, digest: str, wanted: Collection[Key] | None = None) -> dict[bytes, UnitTables]:
    """What was packed, of the tables that are wanted; a ValueError if it is not what was."""
    if not data.startswith(HEAD):
        raise ValueError("not packed units of this version")
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(data[len(HEAD) :], size + 1)
    except zlib.error:
        raise ValueError("not packed units") from None
    if len(content) != size or sha256(content).hexdigest() != digest:
        raise ValueError("not the content that was packed")
    read = _Reader(content)
    names = orjson.loads(read.take(read.integer()))
    keys: list[tuple[Key, int]] = [(tuple(key), width) for key, width in names]
    ids = [read.take(ID_BYTES) for _ in range(read.integer())]
    return {identity: dict(_tables(read, keys, wanted)) for identity in ids}


def _tables(
    read: _Reader, keys: list[tuple[Key, int]], wanted: Collection[Key] | None
) -> Iterator[tuple[Key, tuple[int, ...]]]:
    for _ in range(read.integer()):
        key, width = keys[read.integer()]
        counts = tuple([read.integer() for _ in range(width)])
        if wanted is None or key in wanted:
            yield key, counts


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.content[self.at - size : self.at]

    def integer(self) -> int:
        """Seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7


def _integer(value: int) -> bytes:
    if value < 0:
        raise ValueError("counts are not negative")
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
