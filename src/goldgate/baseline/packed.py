"""The counts of units, packed: a few dozen bytes a unit, in the order of their ids, the same for any order of records.

A line with the version, then, compressed: the names of the tables with their numbers of counts, the number of units,
their ids of eight bytes, and for each unit its tables and counts. All numbers are variable-length integers.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import NamedTuple

import orjson

from goldgate.baseline.units import ID_BYTES
from goldgate.core.counted_unit import Key
from goldgate.core.sums import Counts
from goldgate.readers.recorded_units import UnitTables, add_tables

HEAD = b"goldgate units 1\n"  # raised when the bytes mean something else
_MOST_PACKED = 1100  # zlib makes at most 1,032 bytes of one
_MOST_BITS = 1024


class Packed(NamedTuple):
    """The file's bytes; size and digest are those of the content, which do not depend on how it is compressed."""

    data: bytes
    units: int
    size: int
    sha256: str


class Packer:
    """Packs units as they come: about 300 bytes of memory for each."""

    def __init__(self) -> None:
        self._units: dict[bytes, bytes] = {}
        self._widths: dict[Key, int] = {}
        self._numbers: dict[Key, int] = {}

    def ids(self) -> Collection[bytes]:
        return self._units.keys()

    def add(self, identity: bytes, tables: Mapping[Key, Counts]) -> None:
        """What a unit counted, added to what is known of it. Counts that are all zero are left out."""
        known = self._units.get(identity)
        if known is not None:
            summed = self._tables(known)
            add_tables(summed, tables)
            tables = summed
        for key, counts in tables.items():
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                self._widths[key] = len(counts)
        self._units[identity] = _encoded(tables, self._numbers)

    def pack(self) -> Packed:
        keys = sorted(self._widths)
        numbers = {key: number for number, key in enumerate(keys)}
        names = orjson.dumps([[list(key), self._widths[key]] for key in keys])
        ordered = sorted(self._units)
        content = [_integer(len(names)), names, _integer(len(ordered)), *ordered]
        content += [_encoded(self._tables(self._units[identity]), numbers) for identity in ordered]
        whole = b"".join(content)
        return Packed(HEAD + zlib.compress(whole, 9), len(ordered), len(whole), sha256(whole).hexdigest())

    def _tables(self, unit: bytes) -> UnitTables:
        return _Reader(unit).tables([*self._widths.items()])


def unpack(data: bytes, size: int, digest: str, wanted: Collection[Key] | None = None) -> dict[bytes, UnitTables]:
    """What was packed, of the tables that are wanted; a ValueError if it is not what was."""
    if not data.startswith(HEAD):
        raise ValueError("not packed units of this version")
    if not 0 < size <= len(data) * _MOST_PACKED:
        raise ValueError("not the size of what was packed")
    try:
        content = zlib.decompressobj().decompress(data[len(HEAD) :], size + 1)
    except zlib.error:
        raise ValueError("not packed units") from None
    if len(content) != size or sha256(content).hexdigest() != digest:
        raise ValueError("not the content that was packed")
    read = _Reader(content)
    try:
        names = orjson.loads(read.take(read.integer()))
        keys: list[tuple[Key, int]] = [(tuple(key), int(width)) for key, width in names]
        ids = [read.take(ID_BYTES) for _ in range(read.integer())]
        found = {identity: read.tables(keys, wanted) for identity in ids}
    except (IndexError, TypeError, ValueError):
        raise ValueError("not packed units") from None
    if len(found) != len(ids) or read.at != size:
        raise ValueError("not packed units: an id stands twice, or something follows")
    return found


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def tables(self, keys: list[tuple[Key, int]], wanted: Collection[Key] | None = None) -> UnitTables:
        """One unit."""
        found: UnitTables = {}
        for _ in range(self.integer()):
            key, width = keys[self.integer()]
            counts = self.counts(width)
            if wanted is None or key in wanted:
                found[key] = counts
        return found

    def counts(self, width: int) -> Counts:
        plain = self.content[self.at : self.at + width]
        if plain.isascii() and len(plain) == width:  # all below 128: a byte each
            self.at += width
            return tuple(plain)
        return tuple([self.integer() for _ in range(width)])

    def take(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.content):
            raise IndexError("the content ends before")
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
            if shift > _MOST_BITS:
                raise IndexError("no count is as large")


def _encoded(tables: Mapping[Key, Counts], numbers: Mapping[Key, int]) -> bytes:
    present = sorted([(numbers[key], counts) for key, counts in tables.items() if any(counts)])
    found = [_integer(len(present))]
    for number, counts in present:
        found.append(_integer(number))
        found.append(bytes(counts) if max(counts) < 128 and min(counts) >= 0 else b"".join(map(_integer, counts)))
    return b"".join(found)


def _integer(value: int) -> bytes:
    if value < 0:
        raise ValueError("counts are not negative")
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
