"""The counts of units as numbers: every table with every vector of counts that occurred has one, decoded once.

A record's counts are cut where one table ends and the next begins. Most pieces have been seen before, so that a line
becomes a list of numbers without being decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from goldgate.core.counted_unit import Key
from goldgate.core.sums import Counts
from goldgate.readers.recorded_units import RecordedUnit, counts_of, malformed
from goldgate.readers.stored_result import StoredResult

NOTHING = -1  # in place of a number: a run has no such table
LEFT_OUT = 0  # the number of whatever is not compared

# Between two tables of `units`, and of `parts`. Where a name has it, it is not as it is here: quotation marks in names
# have a backslash. And a piece that was cut in a name was never seen before.
_BETWEEN_UNITS, _BETWEEN_PARTS = b'],"', b"]],[["
_MOST_KEPT = 50_000  # pieces that are remembered without being compared, and orders of tables: 10 MB


class Layout(NamedTuple):
    """The tables of a line, in their order: which is watched, which are averaged, and whether none occurs twice."""

    tables: tuple[int, ...]
    watched: int | None
    averaged: tuple[int, ...]
    is_plain: bool


class Entries:
    """Numbers for tables and for their counts. `columns` says what is compared, and how many counts it has."""

    def __init__(self, columns: Mapping[str, int], watched: str, averaged: str | None) -> None:
        self.columns = columns
        self.keys: list[Key] = [()]  # by the number of a table
        self.tables: list[int] = [LEFT_OUT]  # the table of each entry
        self.values: list[Counts] = [()]  # and its counts
        self._watched: Key = (watched,)
        self.averaged = averaged
        self._by_key: dict[Key, int] = {}
        self._by_counts: dict[tuple[int, Counts], int] = {}
        self._by_piece: dict[bytes, int] = {}
        self._left_out = 0
        self._layouts: dict[tuple[int, ...], Layout] = {}

    def read(self, unit: RecordedUnit, result: StoredResult) -> list[int]:
        """The numbers of a line."""
        pieces = unit.units[2:-2].split(_BETWEEN_UNITS)
        pieces += unit.parts[3:-3].split(_BETWEEN_PARTS) if len(unit.parts) > 2 else ()
        try:
            return [*map(self._by_piece.__getitem__, pieces)]
        except KeyError:
            return self._decode(unit, result)

    def number(self, key: Key, counts: Counts, result: StoredResult, line: int | None = None) -> int:
        """Of counts in a table that is compared."""
        table = self._by_key.get(key)
        if table is None:
            table = self._by_key[key] = len(self.keys)
            self.keys.append(key)
        number = self._by_counts.get((table, counts))
        if number is None:
            if len(counts) != self.columns[key[0]]:
                raise malformed(result, line, f"{len(counts)} counts of {key[0]}, and not {self.columns[key[0]]}")
            number = self._by_counts[table, counts] = len(self.values)
            self.tables.append(table)
            self.values.append(counts)
        return number

    def layout(self, numbers: Sequence[int]) -> Layout:
        """The tables of these entries; the same object for the same tables."""
        tables = (*map(self.tables.__getitem__, numbers),)
        known = self._layouts.get(tables)
        if known is None:
            if len(self._layouts) >= _MOST_KEPT:
                self._layouts = {}
            known = self._layouts[tables] = self._laid_out(tables)
        return known

    def _laid_out(self, tables: tuple[int, ...]) -> Layout:
        keys = [self.keys[table] for table in tables]
        compared = [table for table in tables if table != LEFT_OUT]
        return Layout(
            tables,
            next((place for place, key in enumerate(keys) if key == self._watched), None),
            tuple(place for place, key in enumerate(keys) if len(key) == 2 and key[0] == self.averaged),
            len({*compared}) == len(compared),
        )

    def _decode(self, unit: RecordedUnit, result: StoredResult) -> list[int]:
        numbers = []
        for key, counts in counts_of(unit, result).items():
            number = self.number(key, counts, result, unit.line) if key[0] in self.columns else LEFT_OUT
            if number == LEFT_OUT:
                self._left_out += 1
                if self._left_out > _MOST_KEPT:
                    self._left_out = 0
                    self._by_piece = {piece: known for piece, known in self._by_piece.items() if known != LEFT_OUT}
            self._by_piece[_piece(key, counts)] = number
            numbers.append(number)
        return numbers


def _piece(key: Key, counts: Counts) -> bytes:
    """What lies between two cuts of a line that goldgate wrote."""
    if len(key) == 1:
        return orjson.dumps({key[0]: counts})[2:-2]
    return orjson.dumps([key, counts])[2:-2]
