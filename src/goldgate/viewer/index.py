"""An index of a file of records, and what can be asked of it: values, words, an order, a page; and their addresses.

Sets of units are integers with a bit for each (bitsets): a filter is `&`, and any page of a million is found at once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote

import orjson

from goldgate.core.bitset import bitset
from goldgate.core.suite import Suite
from goldgate.core.unit_page import InputLookup, UnitSummary
from goldgate.errors import InputError, Place
from goldgate.files.reading import read_failure
from goldgate.readers.records import STORED_RECORDS, bounded_lines
from goldgate.report.escape import escape_character
from goldgate.report.html.units import GATE_FACET

Value = TypeVar("Value")
_CHUNK = 4_096  # bytes that are counted at once


def full_bitset(size: int) -> int:
    """Every place below `size`."""
    return (1 << size) - 1


def nth_places(bits: int, first: int, count: int) -> list[int]:
    """The places of a set in their order, `count` of them, without the `first` ones."""
    places: list[int] = []
    data = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    skipped = 0
    for start in range(0, len(data), _CHUNK):
        chunk = int.from_bytes(data[start : start + _CHUNK], "little")
        here = chunk.bit_count()
        if skipped + here > first:
            for place in _places(chunk, start * 8):
                skipped += 1
                if skipped > first:
                    places.append(place)
                if len(places) == count:
                    return places
        else:
            skipped += here
    return places


def count_below(bits: int, place: int) -> int:
    """How many places of a set come before this one."""
    return (bits & ((1 << place) - 1)).bit_count()


def _places(chunk: int, base: int) -> Iterator[int]:
    for at, byte in enumerate(chunk.to_bytes((chunk.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            yield base + at * 8 + low.bit_length() - 1
            byte ^= low


# What a changed record raises: a key that is not there, a list that is a number.
RECORD_ERRORS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def describe_record(
    describe: Callable[[Any, Mapping[str, Any]], Value], record: Mapping[str, object], inputs: InputLookup
) -> Value:
    """What a function makes of a record and its inputs; an InputError where goldgate did not write the record so."""
    try:
        return describe(record, inputs.for_unit(record))
    except RECORD_ERRORS:
        raise malformed_record(Place()) from None


def malformed_record(place: Place) -> InputError:
    """The error for a record that cannot be looked at."""
    return InputError(
        "records.malformed",
        "this line is not a record of this suite",
        place=place,
        expected="a record as this version of goldgate writes it",
        advice="score it again with this version, with --out",
    )


MAX_VALUES = 2_000  # of one facet; a unit that has yet another is found by searching
FEW_UNITS = 256  # a value that fewer than one in 256 units has is stored as a list of units
_TOO_HEAVY = 1 << 63  # for an array of them
_PROGRESS_BYTES = 1 << 22  # between two reports of how far it is

Order = Literal["weight", "file"]
Progress = Callable[[int, int], None]  # bytes done, bytes in all
GateExplainer = Callable[[Mapping[str, object]], tuple[str, ...]]  # the gates that a record's unit costs something


class ValueUnits(NamedTuple):
    """The units that have a value: a bit for each place in both orders, or a list of their numbers."""

    units: int
    bits: tuple[bytes, bytes] | None  # in the order of weight, in that of the file
    numbers: array[int] | None


@dataclass(frozen=True, slots=True)
class UnitIndex:
    """What a list of units needs of their records. A unit has a number: its place in the file."""

    offsets: array[int]  # where each line begins, and where the last one ends
    by_weight: array[int]  # numbers of units, the most that went wrong first, then as in the file
    rank: array[int]  # the place of each unit in `by_weight`
    wrong: int  # units in which anything went wrong: as many are first in `by_weight`
    facets: dict[str, dict[str, ValueUnits]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)  # by facet: how often a value was one too many to be kept

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def having(self, facet: str, value: str, order: Order) -> int:
        """The set of the places of units that have a value."""
        units = self.facets.get(facet, {}).get(value)
        if units is None:
            return 0
        if units.bits is not None:
            return int.from_bytes(units.bits[order == "file"], "little")
        return bitset(self._places(units, order), len(self))

    def selected(self, chosen: Mapping[str, str], order: Order) -> int:
        """The places of units that have all these values."""
        places = full_bitset(len(self))
        for facet, value in chosen.items():
            places &= self.having(facet, value, order)
        return places

    def counts(self, facet: str, selected: int, order: Order) -> dict[str, int]:
        """For each value of a facet how many of the selected places have it."""
        data = selected.to_bytes(len(self) // 8 + 1, "little")
        return {
            value: (selected & int.from_bytes(units.bits[order == "file"], "little")).bit_count()
            if units.bits is not None
            else sum(data[place >> 3] >> (place & 7) & 1 for place in self._places(units, order))
            for value, units in self.facets.get(facet, {}).items()
        }

    def number(self, place: int, order: Order) -> int:
        """The unit at a place of an order."""
        return self.by_weight[place] if order == "weight" else place

    def place(self, number: int, order: Order) -> int:
        """The place of a unit in an order."""
        return self.rank[number] if order == "weight" else number

    def _places(self, matches: ValueUnits, order: Order) -> Iterator[int]:
        numbers = matches.numbers if matches.numbers is not None else array("I")
        return map(self.rank.__getitem__, numbers) if order == "weight" else iter(numbers)


def build_index(
    suite: Suite, file: Path, explained: GateExplainer = lambda record: (), progress: Progress | None = None
) -> UnitIndex:
    """Read all records once. `explained` says which gates a unit explains: these are the facet `gate`."""
    offsets, weights = array("Q", [0]), array("q")
    value_numbers = _ValueNumbers()
    position = reported = 0
    try:
        size = file.stat().st_size
        with open(file, "rb", buffering=1 << 20) as stream:
            for number, line in enumerate(bounded_lines(stream, "records", str(file), STORED_RECORDS)):
                position += len(line)
                offsets.append(position)
                weights.append(_add_unit(suite, line, explained, number, file, value_numbers))
                if progress is not None and position - reported >= _PROGRESS_BYTES:
                    reported = position
                    progress(position, size)
    except OSError as problem:
        raise read_failure(str(file), "records", problem) from None
    order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)  # of equal ones the first stays first
    by_weight = array("I", order)
    rank = array("I", bytes(4 * len(order)))
    for place, number in enumerate(order):
        rank[number] = place
    facets = {
        facet: {value: _value_units(numbers, rank) for value, numbers in values.items()}
        for facet, values in value_numbers.facets.items()
    }
    return UnitIndex(offsets, by_weight, rank, sum(weight > 0 for weight in weights), facets, value_numbers.left_out)


class _ValueNumbers:
    """The numbers of units by facet and value, while they are found."""

    def __init__(self) -> None:
        self.facets: dict[str, dict[str, array[int]]] = {}
        self.left_out: dict[str, int] = {}

    def add(self, facet: str, values: tuple[str, ...], number: int) -> None:
        numbers_by_value = self.facets.setdefault(facet, {})
        for value in values:
            numbers = numbers_by_value.get(value)
            if numbers is None:
                if len(numbers_by_value) >= MAX_VALUES:
                    self.left_out[facet] = self.left_out.get(facet, 0) + 1
                    continue
                numbers = numbers_by_value[value] = array("I")
            if not numbers or numbers[-1] != number:
                numbers.append(number)


def _add_unit(
    suite: Suite, line: bytes, explained: GateExplainer, number: int, file: Path, value_numbers: _ValueNumbers
) -> int:
    """The weight of a unit; its values are listed."""
    try:
        record = orjson.loads(line)
        summary = suite.summary(record)
        _require_names(summary)
        gates = explained(record)
        if gates:
            value_numbers.add(GATE_FACET, gates, number)
        for facet, values in summary.facets.items():
            value_numbers.add(facet, values, number)
        return summary.weight
    except RECORD_ERRORS:
        raise malformed_record(Place(str(file), number + 1)) from None


def _require_names(summary: UnitSummary) -> None:
    """Raise a TypeError or ValueError where a changed record gave a suite something else than text and a weight."""
    "".join([summary.id, summary.word, *chain.from_iterable(summary.facets.values())])
    if type(summary.weight) is not int or not 0 <= summary.weight < _TOO_HEAVY:
        raise ValueError("no weight")


def _value_units(numbers: array[int], rank: array[int]) -> ValueUnits:
    size = len(rank)
    if len(numbers) * FEW_UNITS < size:
        return ValueUnits(len(numbers), None, numbers)
    length = size // 8 + 1
    orders = (map(rank.__getitem__, numbers), iter(numbers))
    by_weight, by_file = (bitset(places, size).to_bytes(length, "little") for places in orders)
    return ValueUnits(len(numbers), (by_weight, by_file), None)


MAX_SEARCH_WORDS = 8
_BLOCK = 1 << 20  # bytes that are read at once


def search_records(
    index: UnitIndex, words: tuple[bytes, ...], read_at: Callable[[int, int], bytes]
) -> dict[Order, int]:
    """The places of units whose records have all words, in each order. `read_at` takes an offset and a length."""
    offsets, done = index.offsets, 0
    rarest, *others = sorted(words, key=len, reverse=True)  # the longest is, more or less
    numbers = array("I")
    while done < len(index):
        begin = offsets[done]
        last = max(bisect_right(offsets, begin + _BLOCK) - 1, done + 1)
        data = read_at(begin, offsets[last] - begin).lower()
        at = data.find(rarest)
        while at >= 0:
            number = bisect_right(offsets, begin + at, done, last + 1) - 1
            start, end = offsets[number] - begin, offsets[number + 1] - begin
            if all(data.find(word, start, end) >= 0 for word in others):
                numbers.append(number)
            at = data.find(rarest, end)
        done = last
    by_weight = bitset(map(index.rank.__getitem__, numbers), len(index))
    return {"weight": by_weight, "file": bitset(iter(numbers), len(index))}


def search_words(text: str) -> tuple[bytes, ...]:
    """Words as they stand in a record's line: with its escapes, small."""
    words = dict.fromkeys(text.encode("utf-8", "replace").decode().split()[:MAX_SEARCH_WORDS])
    return tuple(orjson.dumps(word)[1:-1].lower() for word in words)


FACET, TEXT, ORDER, PAGE = "in.", "text", "order", "page"  # names in the query of an address
PAGE_SIZE = 50
MAX_TEXT_LENGTH = 500  # characters of a value that stands in an address
NUMBER_PREFIX = "~"


@dataclass(frozen=True, slots=True)
class UnitQuery:
    """Which units a list has, their order, and a page of it: by default all. `value_key` writes the values."""

    values: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    order: Order = "weight"
    page: int = 1

    def query(self) -> str:
        """The query string of a URL, with its question mark; empty for a list of all units."""
        pairs = [(f"{FACET}{facet}", value) for facet, value in self.values.items()]
        pairs += [(TEXT, self.text)] if self.text else []
        pairs += [(ORDER, self.order)] if self.order != "weight" else []
        pairs += [(PAGE, str(self.page))] if self.page > 1 else []
        text = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in pairs)
        return f"?{text}" if text else ""

    def at(self, page: int) -> UnitQuery:
        """The same query on another page."""
        return replace(self, page=page)

    @property
    def visible_text(self) -> str:
        """The text for a form, with what cannot be seen written out; `parse_query` reads it back."""
        return "".join(each if each.isprintable() else escape_character(each) for each in self.text)

    @property
    def is_everything(self) -> bool:
        return not self.values and not self.text


def value_key(value: str, number: int) -> str:
    """A value in an address or a form: itself where it comes back as it was, otherwise its number behind a ~."""
    is_plain = (
        0 < len(value) <= MAX_TEXT_LENGTH
        and value.isprintable()
        and value == value.strip()
        and value[0] != NUMBER_PREFIX
    )
    return value if is_plain else f"{NUMBER_PREFIX}{number}"


def page_count(items: int) -> int:
    """The number of pages for a list of `items`, at least one."""
    return max(-(-items // PAGE_SIZE), 1)
