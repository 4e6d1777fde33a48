"""What the units of a stored run counted: summed over all records, and packed into one file.

The packed file is the same for any order of records. After a line with the version it holds, compressed: the names
of the tables with their numbers of counts, the number of units, their ids of eight bytes, and the tables and counts
of each unit. All numbers are variable-length integers.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import orjson

from goldgate.core.measure import RatioMeasure, table_forms
from goldgate.core.metric import Metrics
from goldgate.core.suite import Suite
from goldgate.core.sums import Counts
from goldgate.core.tally import TableKey, Tally, UnitCounts
from goldgate.readers.stored_result import StoredResult
from goldgate.readers.unit_records import (
    CountIndex,
    UnitTable,
    add_tables,
    malformed_record_error,
    parts_add_up,
    read_unit_tables,
)

ID_BYTES = 8
NO_IDENTITY = b"\0" * ID_BYTES  # the id of runs that belong to no query


def unit_id(identity: str | None) -> bytes:
    """Eight bytes for an identity: among a million units, two are alike with a chance of 1 to 36 million."""
    return NO_IDENTITY if identity is None else blake2b(identity.encode(), digest_size=ID_BYTES).digest()


UNITS_HEADER = b"goldgate units 1\n"  # raised when the bytes mean something else
_MAX_COMPRESSION = 1100  # zlib makes at most 1,032 bytes of one
_MAX_BITS = 1024


class UnitsFile(NamedTuple):
    """The file's bytes; size and digest are those of the content, which do not depend on how it is compressed."""

    data: bytes
    units: int
    size: int
    sha256: str


class UnitPacker:
    """Packs units as they come: about 300 bytes of memory for each."""

    def __init__(self) -> None:
        self._units: dict[bytes, bytes] = {}
        self._widths: dict[TableKey, int] = {}
        self._numbers: dict[TableKey, int] = {}

    def ids(self) -> Collection[bytes]:
        return self._units.keys()

    def add(self, identity: bytes, tables: Mapping[TableKey, Counts]) -> None:
        """What a unit counted, added to what is known of it. Counts that are all zero are left out."""
        previous = self._units.get(identity)
        if previous is not None:
            summed = self._tables(previous)
            add_tables(summed, tables)
            tables = summed
        for key, counts in tables.items():
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                self._widths[key] = len(counts)
        self._units[identity] = _encode_tables(tables, self._numbers)

    def pack(self) -> UnitsFile:
        keys = sorted(self._widths)
        numbers = {key: number for number, key in enumerate(keys)}
        names = orjson.dumps([[list(key), self._widths[key]] for key in keys])
        ordered = sorted(self._units)
        content = [_encode_integer(len(names)), names, _encode_integer(len(ordered)), *ordered]
        content += [_encode_tables(self._tables(self._units[identity]), numbers) for identity in ordered]
        whole = b"".join(content)
        return UnitsFile(UNITS_HEADER + zlib.compress(whole, 9), len(ordered), len(whole), sha256(whole).hexdigest())

    def _tables(self, unit: bytes) -> UnitCounts:
        return _Reader(unit).tables([*self._widths.items()])


def unpack_units(
    data: bytes, size: int, digest: str, index: CountIndex | None = None, selected: Collection[TableKey] | None = None
) -> UnitTable:
    """What was packed, of the tables that are wanted; a ValueError if it is not what was."""
    if not data.startswith(UNITS_HEADER):
        raise ValueError("not packed units of this version")
    if not 0 < size <= len(data) * _MAX_COMPRESSION:
        raise ValueError("not the size of what was packed")
    try:
        content = zlib.decompressobj().decompress(data[len(UNITS_HEADER) :], size + 1)
    except zlib.error:
        raise ValueError("not packed units") from None
    if len(content) != size or sha256(content).hexdigest() != digest:
        raise ValueError("not the content that was packed")
    read = _Reader(content)
    try:
        names = orjson.loads(read.take(read.integer()))
        keys: list[tuple[TableKey, int]] = [(tuple(key), int(width)) for key, width in names]
        ids = [read.take(ID_BYTES) for _ in range(read.integer())]
        units = [read.tables(keys, selected) for _ in ids]
    except (IndexError, TypeError, ValueError):
        raise ValueError("not packed units") from None
    if len({*ids}) != len(ids) or read.at != size:
        raise ValueError("not packed units: a duplicate id, or more data")
    index = CountIndex() if index is None else index
    return UnitTable(index, [*ids], [*map(index.numbers, units)])


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def tables(self, keys: list[tuple[TableKey, int]], selected: Collection[TableKey] | None = None) -> UnitCounts:
        """The counts of the next unit."""
        counts_by_table: UnitCounts = {}
        for _ in range(self.integer()):
            key, width = keys[self.integer()]
            counts = self.counts(width)
            if selected is None or key in selected:
                counts_by_table[key] = counts
        return counts_by_table

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
        """The next number: seven bits per byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > _MAX_BITS:
                raise IndexError("no count is as large")


def _encode_tables(tables: Mapping[TableKey, Counts], numbers: Mapping[TableKey, int]) -> bytes:
    present = sorted([(numbers[key], counts) for key, counts in tables.items() if any(counts)])
    parts = [_encode_integer(len(present))]
    for number, counts in present:
        parts.append(_encode_integer(number))
        parts.append(
            bytes(counts) if max(counts) < 128 and min(counts) >= 0 else b"".join(map(_encode_integer, counts))
        )
    return b"".join(parts)


def _encode_integer(value: int) -> bytes:
    if value < 0:
        raise ValueError("counts are not negative")
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def ratio_measures(suite: Suite, settings: Any) -> list[RatioMeasure[Any]]:
    """The suite's measures whose counts stand in the records."""
    return [measure for measure in suite.measures(settings) if isinstance(measure, RatioMeasure)]


class RecordSums(NamedTuple):
    """What all records of a result count together, how many there are, and the first whose parts do not add up."""

    tally: Tally
    records: int
    contradiction: tuple[int, str | None] | None  # its line and its identity


def sum_records(
    result: StoredResult, measures: list[RatioMeasure[Any]], *, ignore_other_tables: bool = False, parts: bool = False
) -> RecordSums:
    """The sum over all records, table by table; without parts of tables, unless these are wanted or an estimate is made
    of them.

    A table that none of the measures counts in is an InputError, unless such tables are ignored.
    """
    widths = {measure.table: len(measure.columns) for measure in measures}
    estimated = {measure.table for measure in measures if measure.estimates}
    index, tally, records, contradiction = CountIndex(widths), Tally(table_forms(measures)), 0, None
    for table in read_unit_tables(result, index):
        records += len(table) + sum(times - 1 for times in table.times.values())
        for place, unit in enumerate(table.units()):
            line = table.first_line + place
            if contradiction is None and not parts_add_up(unit):
                contradiction = line, table.ids[place]
            whole: UnitCounts = {}
            for key, counts in unit.items():
                if key[0] in widths and (parts or len(key) == 1 or key[0] in estimated):
                    whole[key] = counts
                elif len(key) == 1 and not ignore_other_tables:
                    raise malformed_record_error(result, line, f"{len(counts)} counts of {key[0]}")
            tally.add(whole, table.groups.get(place), table.times.get(place, 1))
    return RecordSums(tally, records, contradiction)


def metrics_from_sums(tally: Tally, measures: list[RatioMeasure[Any]]) -> dict[str, Metrics]:
    """The metrics that are sums over the records, by section."""
    sections: dict[str, Metrics] = {}
    for measure in measures:
        names = measure.forms.keys() | measure.estimates.keys()
        metrics = {name: metric for name, metric in measure.metrics(tally).items() if name in names}
        sections.setdefault(measure.section, {}).update(metrics)
    return sections
