"""The counts of each unit, written to the line of its record and read from there, one line at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from goldgate.core.suite import Pairing
from goldgate.core.sums import Counts
from goldgate.core.tally import TableKey, UnitCounts
from goldgate.errors import InputError, Place
from goldgate.files.reading import pipe_opener, read_failure
from goldgate.readers.records import STORED_RECORDS, bounded_lines
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
    parts = sorted([part for part in unit.items() if len(part[0]) > 1])
    if parts:
        written[PARTS] = parts
    if times != 1:
        written[TIMES] = times
    if group is not None:
        written[GROUP] = group
    return written


_ID_MARK, _UNITS_MARK, _PARTS_MARK = b'{"id":"', b',"units":{', b',"parts":['
_ID = "id"
_NO_PARTS = b"[]"
_DECODE_ERRORS = (ValueError, KeyError, TypeError, AttributeError)  # JSON and UTF-8 that is none are ValueErrors


class RecordedUnit(NamedTuple):
    """A line: what was asked for, the group that it is part of, as JSON its counts, and how many units it stands for.

    Without an identity it is work that nobody asked for.
    """

    line: int
    identity: str | None
    group: str | None
    units: bytes
    parts: bytes
    times: int = 1


def read_units(result: StoredResult) -> Iterator[RecordedUnit]:
    """The units of a result, in the order of its records."""
    number, pairing = 0, result.suite.pairing
    by_id = pairing.field == _ID
    try:
        with open(result.records, "rb", buffering=1 << 20, opener=pipe_opener) as stream:
            for line in bounded_lines(stream, "records", result.records_name, STORED_RECORDS):
                number += 1
                quick = fast_read_line(line, number) if by_id else None
                yield quick if quick is not None else read_line(line, number, pairing)
    except _DECODE_ERRORS as problem:
        raise malformed_record_error(result, number, problem) from None
    except OSError as problem:
        raise read_failure(result.records_name, "records", problem) from None


def read_line(line: bytes, number: int, pairing: Pairing) -> RecordedUnit:
    """The rule: a whole record, decoded."""
    record: dict[str, Any] = orjson.loads(line)
    identity, group, times = record[pairing.field], record.get(GROUP), record.get(TIMES, 1)
    if type(times) is not int or times < 1:
        raise ValueError(f"{times!r} {TIMES}")
    units, parts = orjson.dumps(record[UNITS]), orjson.dumps(record.get(PARTS, []))
    return RecordedUnit(
        number, None if identity is None else str(identity), None if group is None else str(group), units, parts, times
    )


def fast_read_line(line: bytes, number: int) -> RecordedUnit | None:
    """The same of a record as goldgate writes it, or None: `id` comes first, and what was counted last.

    A quotation mark inside a string has a backslash before it, so `,"units":{` cannot be part of one; and behind the
    last one come only lists and the name of a group. The rest of a record, most of it, is never decoded.
    """
    at = line.rfind(_UNITS_MARK)
    end = line.find(b'"', 7)
    if at < 0 or end < 0 or not line.startswith(_ID_MARK):
        return None
    identity = line[7:end]
    if b"\\" in identity:
        return None
    parts = line.find(_PARTS_MARK, at)
    if parts >= 0 and line.endswith(b"]]]}\n"):
        return RecordedUnit(number, identity.decode(), None, line[at + 9 : parts], line[parts + 9 : -2])
    if line.endswith(b"]}}\n") and parts < 0:
        return RecordedUnit(number, identity.decode(), None, line[at + 9 : -2], _NO_PARTS)
    return None  # it has a group, or stands for several


def unit_tables(unit: RecordedUnit, result: StoredResult) -> UnitCounts:
    """What one unit of this line counted, by table and by part of one."""
    try:
        found: UnitCounts = {(name,): checked_counts(counts) for name, counts in orjson.loads(unit.units).items()}
        for key, counts in orjson.loads(unit.parts):
            if not all(type(name) is str for name in key):
                raise TypeError(f"{key!r}")
            found[tuple(key)] = checked_counts(counts)
        return found
    except _DECODE_ERRORS as problem:
        raise malformed_record_error(result, unit.line, problem) from None


def scaled_unit_tables(unit: RecordedUnit, result: StoredResult) -> UnitCounts:
    """What all units of this line counted together."""
    return scale(unit_tables(unit, result), unit.times)


def scale(counts: UnitCounts, times: int) -> UnitCounts:
    """The counts of so many units like this one."""
    return counts if times == 1 else {key: tuple([n * times for n in found]) for key, found in counts.items()}


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
            known = sums.setdefault(key[:-1], [0] * len(counts))
            if len(known) != len(counts):
                return False
            for place, count in enumerate(counts):
                known[place] += count
    return all(tuple(summed) == counted.get(whole) for whole, summed in sums.items())


def add_tables(mine: UnitCounts, theirs: Mapping[TableKey, Counts]) -> None:
    """Add counts to counts, table by table; ValueError where one has more of them."""
    for key, counts in theirs.items():
        had = mine.get(key)
        mine[key] = counts if had is None else tuple([a + b for a, b in zip(had, counts, strict=True)])


def add_checked(
    mine: UnitCounts, theirs: Mapping[TableKey, Counts], result: StoredResult, line: int | None = None
) -> None:
    """The same of records; those that do not add up do not count what this version counts."""
    try:
        add_tables(mine, theirs)
    except ValueError:
        raise malformed_record_error(result, line, "other counts than in another record of the same") from None


def malformed_record_error(result: StoredResult, line: int | None, problem: Exception | str) -> InputError:
    """The error for a record that does not say what its unit counted, or something else than this version counts."""
    if isinstance(problem, orjson.JSONDecodeError):
        found = f"not JSON: {problem.msg}"
    elif isinstance(problem, KeyError):
        found = f"no {problem.args[0]}"
    elif isinstance(problem, UnicodeDecodeError):
        found = "not UTF-8 text"
    else:
        found = str(problem) if type(problem) in (str, ValueError) else "something else"
    return InputError(
        "records.malformed",
        "this record does not say what its unit counted",
        place=Place(result.records_name, line),
        expected=f"a record with {result.suite.pairing.field} and {UNITS}, as this version of goldgate writes it",
        found=found,
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


def part_sums_error(unit: RecordedUnit, result: StoredResult) -> InputError:
    """The error for a record whose parts are not those of what it counted."""
    return InputError(
        "records.other_parts",
        "the parts of this record are not together what it counted",
        place=Place(result.records_name, unit.line),
        found=unit.identity,
        advice="score it again with --out",
    )
