"""The counts of each unit, written to the line of its record and read from there, one line at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from goldgate.core.suite import Pairing
from goldgate.core.sums import Counts
from goldgate.core.tally import TableKey, UnitCounts
from goldgate.errors import InputError, Place
from goldgate.files.reading import pipe_opener, read_failure
from goldgate.readers.records import STORED_RECORDS, bounded_lines

if TYPE_CHECKING:
    from goldgate.readers.stored_result import StoredResult

UNITS, PARTS, TIMES, GROUP = "units", "parts", "times", "group"


def record_line(record: Mapping[str, Any], unit: UnitCounts, group: str | None = None, times: int = 1) -> bytes:
    """The line of a record with what its unit counted."""
    return orjson.dumps({**record, **_counts_as_written(unit, group, times)}, option=orjson.OPT_APPEND_NEWLINE)


def whole_record(record: Mapping[str, Any], unit: UnitCounts, group: str | None = None) -> dict[str, Any]:
    """A record with what its unit counted, in lists, as it is when it has been read."""
    return {**record, **orjson.loads(orjson.dumps(_counts_as_written(unit, group)))}


def _counts_as_written(unit: UnitCounts, group: str | None = None, times: int = 1) -> dict[str, Any]:
    """What a unit counted: a list for each table, and for the parts of one.

    `units` is {"matching": [3, 4, 5, 6]}; `parts` has the names below a table, [["matching", "Attack"], [1, 1, 1, 2]];
    `times` says how many units these are, where they are not one, and `group` what they are part of.
    """
    written: dict[str, Any] = {UNITS: {key[0]: counts for key, counts in unit.items() if len(key) == 1}}
    # Sorted: which part was counted first may depend on the order of a set.
    parts = sorted([part for part in unit.items() if len(part[0]) > 1], key=itemgetter(0))
    if parts:
        written[PARTS] = parts
    if times != 1:
        written[TIMES] = times
    if group is not None:
        written[GROUP] = group
    return written


class CountIndex:
    """A number for each table and vector of counts that occurs, so that equal ones are kept and compared once.

    `widths` says how many counts a table has in this version; a table that it does not name is taken as it is.
    """

    def __init__(self, widths: Mapping[str, int] | None = None) -> None:
        self.tables: list[int] = []  # by the number of counts: the number of their table
        self.counts: list[Counts] = []
        self.keys: list[TableKey] = []  # by the number of a table
        self._widths = widths or {}
        self._by_key: dict[TableKey, int] = {}
        self._by_counts: dict[tuple[int, Counts], int] = {}
        self.by_piece = _Pieces(self)  # what was met before is not decoded again

    def __len__(self) -> int:
        return len(self.counts)

    def number(self, key: TableKey, counts: Counts) -> int:
        """The number of these counts in this table; ValueError if this version has more or fewer of them."""
        table = self._by_key.get(key)
        if table is None:
            table = self._by_key[key] = len(self.keys)
            self.keys.append(key)
        number = self._by_counts.get((table, counts))
        if number is None:
            width = self._widths.get(key[0], len(counts))
            if len(counts) != width:
                raise ValueError(f"{len(counts)} counts of {key[0]}, and not {width}")
            number = self._by_counts[table, counts] = len(self.counts)
            self.tables.append(table)
            self.counts.append(counts)
        return number

    def table_number(self, key: TableKey) -> int:
        """The number of a table; -1 while no unit counted in it."""
        return self._by_key.get(key, -1)

    def numbers(self, unit: UnitCounts) -> list[int]:
        """Those of all counts of a unit."""
        return [self.number(key, counts) for key, counts in unit.items()]

    def unit(self, numbers: Iterable[int]) -> UnitCounts:
        """The counts behind numbers."""
        return {self.keys[self.tables[number]]: self.counts[number] for number in numbers}


class _Pieces(dict[bytes, int]):
    """The number of the counts in each piece of a line, as it stands between two separators."""

    def __init__(self, index: CountIndex) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, piece: bytes) -> int:
        number = self[piece] = self._index.number(*_decode_piece(piece))
        return number


def _decode_piece(piece: bytes) -> tuple[TableKey, Counts]:
    """The table and counts between two separators of a line."""
    if piece.startswith(b'"'):
        names, counts = orjson.loads(b"[[" + piece + b"]]")
        return _checked_key(names), checked_counts(counts)
    [(name, counts)] = orjson.loads(b'{"' + piece + b"]}").items()
    return (name,), checked_counts(counts)


class UnitRow(NamedTuple):
    """One unit of a table. Without an identity it is a run that belongs to no query."""

    identity: Any  # str, or None; of a baseline, a digest
    numbers: list[int]  # numbers of its counts in the index
    group: str | None = None  # that it is part of
    times: int = 1  # how many units like it


@dataclass(slots=True)
class UnitTable:
    """Units of a run in the order of their records: ids, groups, how many units each stands for, and their counts.

    Counts are numbers of an index, which several tables can share. A long run is a sequence of such tables.
    """

    index: CountIndex
    ids: list[Any] = field(default_factory=list)  # str, None for a run that belongs to no query; digests in a baseline
    numbers: list[list[int]] = field(default_factory=list)  # for each unit, the numbers of its counts in the index
    groups: dict[int, str] = field(default_factory=dict)  # by place, of the units that are part of one
    times: dict[int, int] = field(default_factory=dict)  # by place, of the records that stand for several units
    first_line: int = 1  # of its records, in the file

    def __len__(self) -> int:
        return len(self.ids)

    def append(self, unit: UnitRow) -> None:
        if unit.group is not None:
            self.groups[len(self)] = unit.group
        if unit.times != 1:
            self.times[len(self)] = unit.times
        self.ids.append(unit.identity)
        self.numbers.append(unit.numbers)

    def row(self, place: int) -> UnitRow:
        return UnitRow(self.ids[place], self.numbers[place], self.groups.get(place), self.times.get(place, 1))

    def units(self) -> Iterator[UnitCounts]:
        """The counts of each unit."""
        return map(self.index.unit, self.numbers)


# Between two tables of `units`, and of `parts`. A piece that is cut inside a name is not JSON: its quotation marks are
# odd, as those of a name have a backslash.
_UNITS_MARK, _PARTS_MARK = b',"units":{"', b']},"parts":[[['
_BETWEEN_UNITS, _BETWEEN_PARTS = b'],"', b"]],[["
_ID_MARK = b'{"id":"'
_ID = "id"
_TABLE_SIZE = 2_048  # units of a table, so that memory does not grow with the run
_DECODE_ERRORS = (ValueError, KeyError, TypeError, AttributeError)  # JSON and UTF-8 that is none are ValueErrors


def read_unit_tables(result: StoredResult, index: CountIndex) -> Iterator[UnitTable]:
    """The units of a result, a table for every few thousand records."""
    table, number, pairing = UnitTable(index), 0, result.suite.pairing
    by_id = pairing.field == _ID
    ids, numbers = table.ids, table.numbers
    try:
        with open(result.records, "rb", buffering=1 << 20, opener=pipe_opener) as stream:
            for line in bounded_lines(stream, "records", result.records_name, STORED_RECORDS):
                number += 1
                unit = fast_parse_unit(line, index.by_piece) if by_id else None
                if unit is None:
                    table.append(parse_unit(line, index, pairing))
                else:
                    ids.append(unit[0])
                    numbers.append(unit[1])
                if len(ids) == _TABLE_SIZE:
                    yield table
                    table = UnitTable(index, first_line=number + 1)
                    ids, numbers = table.ids, table.numbers
    except _DECODE_ERRORS as problem:
        raise malformed_record_error(result, number, problem) from None
    except OSError as problem:
        raise read_failure(result.records_name, "records", problem) from None
    yield table


def parse_unit(line: bytes, index: CountIndex, pairing: Pairing) -> UnitRow:
    """The unit of a record, which is decoded whole."""
    record: dict[str, Any] = orjson.loads(line)
    identity, group, times = record[pairing.field], record.get(GROUP), record.get(TIMES, 1)
    if type(times) is not int or times < 1:
        raise ValueError(f"{times!r} {TIMES}")
    unit: UnitCounts = {(name,): checked_counts(counts) for name, counts in record[UNITS].items()}
    for names, counts in record.get(PARTS, ()):
        unit[_checked_key(names)] = checked_counts(counts)
    identity, group = (None if name is None else str(name) for name in (identity, group))
    return UnitRow(identity, index.numbers(unit), group, times)


def fast_parse_unit(line: bytes, by_piece: Mapping[bytes, int]) -> tuple[str, list[int]] | None:
    """The identity and numbers of a record as goldgate writes it, or None: `id` comes first, and what was counted last.

    A quotation mark inside a string has a backslash before it, so `,"units":{` cannot be part of one; and behind the
    last one come only lists and the name of a group. The rest of a record, most of it, is never decoded, and equal
    counts are decoded once: decoding all of them takes three times as long.
    """
    mark, end = line.rfind(_UNITS_MARK), line.find(b'"', 7)
    if mark < 0 or line[:7] != _ID_MARK:
        return None
    units, has_parts, parts = line[mark + 11 :].partition(_PARTS_MARK)
    if has_parts and parts[-5:] == b"]]]}\n":
        pieces = units.split(_BETWEEN_UNITS) + parts[:-5].split(_BETWEEN_PARTS)
    elif not has_parts and units[-4:] == b"]}}\n":
        pieces = units[:-4].split(_BETWEEN_UNITS)
    else:
        return None  # it has a group, or stands for several
    try:
        identity = line[7:end].decode()
        return None if "\\" in identity else (identity, [*map(by_piece.__getitem__, pieces)])
    except _DECODE_ERRORS:
        return None  # a separator stands in a name; or it is malformed, which `parse_unit` says


def _checked_key(names: list[str]) -> TableKey:
    if not names or not all(type(name) is str for name in names):
        raise TypeError(f"{names!r}")
    return tuple(names)


def scale(counts: UnitCounts, times: int) -> UnitCounts:
    """The counts of `times` units like this one."""
    return counts if times == 1 else {key: tuple([n * times for n in numbers]) for key, numbers in counts.items()}


def checked_counts(counts: list[int]) -> Counts:
    """Numbers of things; ValueError for anything else."""
    for count in counts:
        if type(count) is not int or count < 0:
            raise ValueError(f"a count of {count!r}")
    return tuple(counts)


def parts_add_up(counted: Mapping[TableKey, Counts]) -> bool:
    """Whether the parts of each table, and the parts of those, are together what the whole counted.

    Nothing stands in no part, and nothing in two; and no part has other counts than the report's sums.
    """
    sums: dict[TableKey, list[int]] = {}
    for key, counts in counted.items():
        if len(key) > 1:
            totals = sums.setdefault(key[:-1], [0] * len(counts))
            if len(totals) != len(counts):
                return False
            for place, count in enumerate(counts):
                totals[place] += count
    return all(tuple(summed) == counted.get(whole) for whole, summed in sums.items())


def add_tables(mine: UnitCounts, theirs: Mapping[TableKey, Counts]) -> None:
    """Add counts to counts, table by table; ValueError where one has more of them."""
    for key, counts in theirs.items():
        had = mine.get(key)
        mine[key] = counts if had is None else tuple([a + b for a, b in zip(had, counts, strict=True)])


def malformed_record_error(result: StoredResult, line: int | None, problem: Exception | str) -> InputError:
    """The error for a record that does not say what its unit counted, or something else than this version counts."""
    if isinstance(problem, orjson.JSONDecodeError):
        actual = f"not JSON: {problem.msg}"
    elif isinstance(problem, KeyError):
        actual = f"no {problem.args[0]}"
    elif isinstance(problem, UnicodeDecodeError):
        actual = "not UTF-8 text"
    else:
        actual = str(problem) if type(problem) in (str, ValueError) else "something else"
    return InputError(
        "records.malformed",
        "this record does not say what its unit counted",
        place=Place(result.records_name, line),
        expected=f"a record with {result.suite.pairing.field} and {UNITS}, as this version of goldgate writes it",
        found=actual,
        advice="score it again with this version, with --out",
    )


def duplicate_id_error(identity: str | None, result: StoredResult) -> InputError:
    """The error for two records of one unit."""
    return InputError(
        "records.duplicate_id",
        "two records have the same id",
        place=Place(result.records_name),
        expected="a record for each id",
        found=f"{identity} twice",
        advice="score it again with --out",
    )


def part_sums_error(identity: str | None, line: int, result: StoredResult) -> InputError:
    """The error for a record whose parts are not those of what it counted."""
    return InputError(
        "records.other_parts",
        "the parts of this record are not together what it counted",
        place=Place(result.records_name, line),
        found=identity,
        advice="score it again with --out",
    )
