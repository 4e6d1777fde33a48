"""The units of a stored result, one after the other: where each record stands, and the unit in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from goldgate.core.suite import Suite
from goldgate.core.unit_page import Given, UnitPage, UnitSummary
from goldgate.errors import InputError, Place
from goldgate.files.text_file import cannot_read
from goldgate.readers.stored_result import StoredResult

# What comes of a record that somebody has changed: a key that is not there, a list that is a number.
_ODD = (KeyError, IndexError, TypeError, ValueError, AttributeError)


class StoredUnit(NamedTuple):
    """A line of the file of records, where it begins and how many bytes it has, and its unit in a list."""

    line: int
    offset: int
    length: int
    summary: UnitSummary


def read_units(result: StoredResult) -> Iterator[StoredUnit]:
    """Every unit in the order of the file; a record that goldgate did not write so is an InputError with its line."""
    try:
        with open(result.records, "rb") as stream:
            offset = 0
            for number, line in enumerate(stream, 1):
                yield StoredUnit(number, offset, len(line), _summary(result, line, number))
                offset += len(line)
    except OSError as problem:
        raise cannot_read(str(result.records), "records", problem) from None


def unit_page(suite: Suite, record: Mapping[str, Any], given: Given) -> UnitPage:
    """A unit to look at; an InputError where goldgate did not write its record so."""
    try:
        return suite.unit_page(record, given.of(record))
    except _ODD:
        raise _not_as_written(Place()) from None


def _summary(result: StoredResult, line: bytes, number: int) -> UnitSummary:
    try:
        return result.suite.summary(orjson.loads(line))
    except _ODD:
        raise _not_as_written(Place(str(result.records), number)) from None


def _not_as_written(place: Place) -> InputError:
    return InputError(
        "records.malformed",
        "this record is not as goldgate wrote it",
        place=place,
        expected="a line that this version of goldgate wrote with --out",
        advice="make the result again with --out",
    )
