"""An index of a file of records: where each line is, which unit is looked at first, and by what units can be found.

It is made from the records alone, line by line. Of a unit it keeps where its line begins, how much went wrong, and a
bit for each value that many units have; of the values that few have, their units.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from goldgate.core.suite import Suite
from goldgate.core.unit_page import UnitSummary
from goldgate.errors import Place
from goldgate.files.text_file import cannot_read
from goldgate.readers.records import STORED_RECORDS, bounded_lines
from goldgate.results.units import ODD, not_as_written
from goldgate.viewer.bits import all_bits, bits_of

GATE = "gate"  # the facet of units that explain a gate
MOST_VALUES = 2_000  # of one facet; a unit that has yet another is found by searching
FEW = 256  # a value that not one in so many units has is kept as a list of them
_TOO_HEAVY = 1 << 63  # for an array of them
_EVERY_BYTES = 1 << 22  # between two reports of how far it is

Order = Literal["weight", "file"]
Progress = Callable[[int, int], None]  # bytes done, bytes in all
Explained = Callable[[Mapping[str, Any]], tuple[str, ...]]  # the gates that a record's unit costs something


class Having(NamedTuple):
    """The units that have a value: a bit for each place in both orders, or a list of their numbers."""

    units: int
    bits: tuple[bytes, bytes] | None  # in the order of weight, in that of the file
    numbers: array[int] | None


@dataclass(frozen=True, slots=True)
class Index:
    """Units by their number, which is their place in the file."""

    offsets: array[int]  # where each line begins, and where the last one ends
    by_weight: array[int]  # numbers of units, the most that went wrong first, then as in the file
    rank: array[int]  # the place of each unit in `by_weight`
    wrong: int  # units in which anything went wrong: as many are first in `by_weight`
    facets: dict[str, dict[str, Having]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)  # by facet: how often a value was one too many to be kept

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def having(self, facet: str, value: str, order: Order) -> int:
        """The set of the places of units that have a value."""
        found = self.facets.get(facet, {}).get(value)
        if found is None:
            return 0
        if found.bits is not None:
            return int.from_bytes(found.bits[order == "file"], "little")
        return bits_of(self._places(found, order), len(self))

    def selected(self, chosen: Mapping[str, str], order: Order) -> int:
        """The places of units that have all these values."""
        found = all_bits(len(self))
        for facet, value in chosen.items():
            found &= self.having(facet, value, order)
        return found

    def counts(self, facet: str, selected: int, order: Order) -> dict[str, int]:
        """For each value of a facet how many of the selected places have it."""
        data = selected.to_bytes(len(self) // 8 + 1, "little")
        return {
            value: (selected & int.from_bytes(found.bits[order == "file"], "little")).bit_count()
            if found.bits is not None
            else sum(data[place >> 3] >> (place & 7) & 1 for place in self._places(found, order))
            for value, found in self.facets.get(facet, {}).items()
        }

    def number(self, place: int, order: Order) -> int:
        """The unit at a place of an order."""
        return self.by_weight[place] if order == "weight" else place

    def place(self, number: int, order: Order) -> int:
        """The place of a unit in an order."""
        return self.rank[number] if order == "weight" else number

    def _places(self, found: Having, order: Order) -> Iterator[int]:
        numbers = found.numbers if found.numbers is not None else array("I")
        return map(self.rank.__getitem__, numbers) if order == "weight" else iter(numbers)


def build_index(
    suite: Suite, file: Path, explained: Explained = lambda record: (), progress: Progress | None = None
) -> Index:
    """Read all records once. `explained` says which gates a unit explains: these are the facet `gate`."""
    offsets, weights = array("Q", [0]), array("q")
    listed = _Listed()
    position = said = 0
    try:
        size = file.stat().st_size
        with open(file, "rb", buffering=1 << 20) as stream:
            for number, line in enumerate(bounded_lines(stream, "records", str(file), STORED_RECORDS)):
                position += len(line)
                offsets.append(position)
                weights.append(_note(suite, line, explained, number, file, listed))
                if progress is not None and position - said >= _EVERY_BYTES:
                    said = position
                    progress(position, size)
    except OSError as problem:
        raise cannot_read(str(file), "records", problem) from None
    order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)  # of equal ones the first stays first
    by_weight = array("I", order)
    rank = array("I", bytes(4 * len(order)))
    for place, number in enumerate(order):
        rank[number] = place
    facets = {
        facet: {value: _having(numbers, rank) for value, numbers in values.items()}
        for facet, values in listed.facets.items()
    }
    return Index(offsets, by_weight, rank, sum(weight > 0 for weight in weights), facets, listed.left_out)


class _Listed:
    """The numbers of units by facet and value, while they are found."""

    def __init__(self) -> None:
        self.facets: dict[str, dict[str, array[int]]] = {}
        self.left_out: dict[str, int] = {}

    def add(self, facet: str, values: tuple[str, ...], number: int) -> None:
        known = self.facets.setdefault(facet, {})
        for value in values:
            numbers = known.get(value)
            if numbers is None:
                if len(known) >= MOST_VALUES:
                    self.left_out[facet] = self.left_out.get(facet, 0) + 1
                    continue
                numbers = known[value] = array("I")
            if not numbers or numbers[-1] != number:
                numbers.append(number)


def _note(suite: Suite, line: bytes, explained: Explained, number: int, file: Path, listed: _Listed) -> int:
    """The weight of a unit; its values are listed."""
    try:
        record = orjson.loads(line)
        summary = suite.summary(record)
        _require_names(summary)
        gates = explained(record)
        if gates:
            listed.add(GATE, gates, number)
        for facet, values in summary.facets.items():
            listed.add(facet, values, number)
        return summary.weight
    except ODD:
        raise not_as_written(Place(str(file), number + 1)) from None


def _require_names(summary: UnitSummary) -> None:
    """A TypeError or ValueError where a suite took something else from a record that somebody has changed."""
    "".join([summary.id, summary.word, *chain.from_iterable(summary.facets.values())])
    if type(summary.weight) is not int or not 0 <= summary.weight < _TOO_HEAVY:
        raise ValueError("no weight")


def _having(numbers: array[int], rank: array[int]) -> Having:
    size = len(rank)
    if len(numbers) * FEW < size:
        return Having(len(numbers), None, numbers)
    length = size // 8 + 1
    orders = (map(rank.__getitem__, numbers), iter(numbers))
    by_weight, by_file = (bits_of(places, size).to_bytes(length, "little") for places in orders)
    return Having(len(numbers), (by_weight, by_file), None)
