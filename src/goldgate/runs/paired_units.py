"""Join the units of several runs by id, and count how often each combination of counts occurs in each table and part.

Everything in a comparison is a function of these multisets, so order and sharding cannot matter. Files in the same
order are joined as they are read, and only the multisets and the ids of changed units are kept; units in another
order wait for their partners.
"""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, combinations, zip_longest
from operator import add
from typing import Any

from goldgate.core.sums import Counts, RatioForm, RatioSums, pair_sums
from goldgate.core.tally import MAX_PAIRED_PARTS, TableKey, UnitCounts
from goldgate.readers.stored_result import StoredResult
from goldgate.readers.unit_records import (
    CountIndex,
    UnitRow,
    UnitTable,
    add_tables,
    duplicate_id_error,
    malformed_record_error,
    read_unit_tables,
    scale,
)
from goldgate.stats.multiple_testing import Runs

NO_ENTRY = -1  # in place of a number: a run has no such table

_BITS = 96  # of a sum: products of counts below 2³², of as many units
_COUNT_LIMIT = 1 << 32
_MASK = (1 << _BITS) - 1
_MAX_PACKED = 50_000  # parts whose counts stay packed, at about 500 bytes each

Joint = tuple[int, ...]  # the number of each run's counts in the list of all; NOTHING where it has none


class PartProducts:
    """Sums over units of products of counts, for each two parts of a unit: covariances of their rates need them.

    The counts of all runs are in one row.

    The counts of a part lie in one integer, far apart, so that one multiplication by a count of the other part gives
    all products with it side by side.
    """

    def __init__(self) -> None:
        self.is_complete = True  # False: a unit has too many parts, or counts are too large
        self._sums: dict[tuple[TableKey, TableKey], list[int]] = {}  # a row for each count of the first part
        self._packed: dict[Joint, tuple[TableKey, Counts, int]] = {}

    def add_unit(self, parts: Sequence[Joint], part_of: Callable[[Joint], tuple[TableKey, Counts]]) -> None:
        """Add the parts of one unit; `part_of` gives the table and the counts of all runs of a joint."""
        if len(parts) > MAX_PAIRED_PARTS:
            self.is_complete = False
        if not self.is_complete:
            return
        sums, packed = self._sums, self._packed
        packed_parts = [packed.get(joint) or self._pack(joint, part_of) for joint in parts]
        for (one, counts, _), (other, _, row) in combinations(sorted(packed_parts), 2):
            products = [count * row for count in counts]
            rows = sums.get((one, other))
            sums[one, other] = products if rows is None else [*map(add, rows, products)]

    def matrices(self) -> Iterator[tuple[tuple[TableKey, TableKey], list[list[int]]]]:
        """The matrix of products for each two parts, which are sorted: rows are counts of the first."""
        for names, rows in sorted(self._sums.items()):
            shifts = range(0, len(rows) * _BITS, _BITS)
            yield names, [[row >> shift & _MASK for shift in shifts] for row in rows]

    def _pack(self, joint: Joint, part_of: Callable[[Joint], tuple[TableKey, Counts]]) -> tuple[TableKey, Counts, int]:
        if len(self._packed) >= _MAX_PACKED:
            self._packed.clear()
        key, counts = part_of(joint)
        if max(counts, default=0) >= _COUNT_LIMIT:
            self.is_complete = False
        packed = self._packed[joint] = key, counts, sum(count << n * _BITS for n, count in enumerate(counts))
        return packed


class JointTable:
    """How often each combination of the runs' counts occurs in one table or part."""

    def __init__(self, values: Sequence[Counts]) -> None:
        self._values = values
        self.joints: dict[Joint, int] = {}
        self.pairs, self.run_sums = cache(self._pairs), cache(self._run_sums)  # when all are known

    def counts(self, joint: Joint) -> list[Counts | None]:
        """The counts of each run."""
        return [None if number == NO_ENTRY else self._values[number] for number in joint]

    def rates(self, joint: Joint, form: RatioForm) -> Runs:
        """a and b of a rate in each run."""
        return tuple([(0, 0) if counts is None else form.of(counts) for counts in self.counts(joint)])

    def _pairs(self, form: RatioForm) -> Mapping[Runs, int]:
        """a and b of a rate in each run, and how often that occurred; units that have none of it are left out."""
        numbers = [*{*chain.from_iterable(self.joints)} - {NO_ENTRY}]
        rates = dict(zip(numbers, form.of_all([self._values[number] for number in numbers]), strict=True))
        rates[NO_ENTRY] = 0, 0
        runs = zip(*[map(rates.__getitem__, run) for run in zip(*self.joints, strict=True)], strict=True)
        pairs: dict[Runs, int] = {}
        for pair, times in zip(runs, self.joints.values(), strict=True):
            pairs[pair] = pairs.get(pair, 0) + times
        pairs.pop(((0, 0),) * len(next(iter(pairs), ())), None)
        return pairs

    def _run_sums(self, form: RatioForm, run: int) -> RatioSums:
        """The sums of a rate over the units of one run."""
        counts: dict[tuple[int, int], int] = {}
        for pair, times in self.pairs(form).items():
            counts[pair[run]] = counts.get(pair[run], 0) + times
        return pair_sums(counts)


@dataclass
class JointUnits:
    """The tables of all units that every run has, how many those are, and what only some runs have."""

    tables: dict[TableKey, JointTable] = field(default_factory=dict)
    units: int = 0
    is_grouped: bool = False
    changed: dict[Joint, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )  # ids by their counts in one table, where they differ
    lacking: dict[int, list[Any]] = field(default_factory=dict)  # run → ids that others have and it has not
    part_products: PartProducts | None = None  # of parts that are averaged
    unasked: dict[TableKey, Joint] = field(default_factory=dict)  # counts of runs without a query, part of the tables

    def pairs(self, key: TableKey, form: RatioForm) -> Mapping[Runs, int]:
        """Numerator and denominator of a rate in each run, and how often they occur; none for a table without units."""
        table = self.tables.get(key)
        return {} if table is None else table.pairs(form)

    def run_sums(self, key: TableKey, form: RatioForm, run: int) -> RatioSums:
        """The sums of a rate over the units of one run."""
        table = self.tables.get(key)
        return RatioSums() if table is None else table.run_sums(form, run)

    def asked_pairs(self, key: TableKey, form: RatioForm) -> Mapping[Runs, int]:
        """The counts of a table without runs that belong to no query."""
        pairs, joint = dict(self.pairs(key, form)), self.unasked.get(key)
        if joint is not None:
            one = self.tables[key].rates(joint, form)
            if pairs.get(one):
                pairs[one] -= 1
        return pairs


def join_results(
    results: Sequence[StoredResult], widths: Mapping[str, int], watched: str, averaged: str | None = None
) -> JointUnits:
    """The units of these results, joined by identity; `widths` are the numbers of columns of the tables.

    `watched` is the table whose changes are listed, `averaged` the one whose parts are. Where a system may have several
    records of one identity, all of them are added up first. Records that count something else are an InputError.
    """
    join = UnitJoin(results, widths, watched, averaged, several=results[0].suite.pairing.several)
    collects = gc.isenabled()
    gc.disable()  # nothing here refers to itself, and looking for what does takes an eighth of the time
    try:
        for tables in zip_longest(*[read_unit_tables(result, join.index) for result in results]):
            join.add_tables(tables)
    finally:
        if collects:
            gc.enable()
    return join.finish()


class UnitJoin:
    """Joins the units of runs by identity, and counts those that all runs have.

    `runs` are the results, for errors; None is a run that is being scored. Units of a group are added up before they
    count, and so are several records of one identity, where `runs` may have them.
    """

    def __init__(
        self,
        runs: Sequence[StoredResult | None],
        widths: Mapping[str, int],
        watched: str | None = None,
        averaged: str | None = None,
        *,
        several: bool = False,
    ) -> None:
        self.index = CountIndex(widths)
        self.joined = JointUnits()
        self._runs = runs
        self._widths = widths
        self._watched: TableKey | None = None if watched is None else (watched,)
        self._averaged = averaged
        self._several = several
        self._waiting: dict[Any, list[UnitRow | None]] = {}
        self._sums: dict[Any, list[UnitCounts | None]] = {}  # by identity, where several records are added up
        self._groups: dict[str, list[UnitCounts]] = {}
        self._joints: Counter[Joint] = Counter()  # of all tables: each number is of one
        self._parts: set[int] = set()  # the tables of those that are averaged, by their first numbers
        self._tables_seen = 0
        if averaged is not None:
            self.joined.part_products = PartProducts()

    def add_tables(self, tables: Sequence[UnitTable | None]) -> None:
        """A table of each run, or None; where their units are the same ones in the same order, nothing has to wait."""
        present = [table for table in tables if table is not None]
        in_step = len(present) == len(tables) and all(table.ids == present[0].ids for table in present)
        is_plain = not any(table.groups or table.times for table in present)
        if in_step and is_plain and not self._several and not self._waiting:
            self._count(present[0].ids, [table.numbers for table in present])
            return
        for place in range(max(map(len, present))):
            for run, table in enumerate(tables):
                if table is not None and place < len(table):
                    unit = table.row(place)
                    self.add(run, unit.identity, unit, table.first_line + place)

    def add(self, run: int, identity: Any, unit: UnitRow, line: int | None = None) -> bool:
        """Add a unit of one run; it counts as soon as all have it. True where it did."""
        if self._several or identity is None:
            own = self._sums.setdefault(identity, [None] * len(self._runs))
            run_counts = own[run] = own[run] or {}
            self._add_counts(run_counts, self._scaled(unit), run, line)
            return False
        slots = self._waiting.setdefault(identity, [None] * len(self._runs))
        if slots[run] is not None:
            result = self._runs[run]
            assert result is not None  # the ids of what is being scored were checked
            raise duplicate_id_error(unit.identity, result)
        slots[run] = unit
        units = [slot for slot in slots if slot is not None]
        if len(units) < len(slots):
            return False
        del self._waiting[identity]
        group = next((slot.group for slot in units if slot.group is not None), None)
        if group is None and all(slot.times == 1 for slot in units):
            self._count([unit.identity], [[slot.numbers] for slot in units])
        else:
            self._count_sums(unit.identity, [*map(self._scaled, units)], group)
        return True

    def finish(self) -> JointUnits:
        """All that was counted, every group as one unit."""
        joined, index = self.joined, self.index
        for identity, slots in self._waiting.items():
            self._note_lacking(identity, slots)
        nothing_asked = self._sums.pop(None, None)
        for identity, sums in self._sums.items():
            if None in sums:
                self._note_lacking(identity, sums)
            else:
                self._count_sums(identity, [own or {} for own in sums])
        joined.is_grouped = bool(self._groups)
        for counts in self._groups.values():
            self._count_sums(None, counts)
        if nothing_asked is not None:
            unit = [index.numbers(own or {}) for own in nothing_asked]
            joined.unasked = {self._key(joint): joint for joint in self._merged(unit)}
            self._count([None], [[numbers] for numbers in unit])
        for joint, times in self._joints.items():
            key = self._key(joint)
            if key[0] in self._widths:
                table = joined.tables.get(key)
                if table is None:
                    table = joined.tables[key] = JointTable(index.counts)
                table.joints[joint] = times
        return joined

    def _count(self, ids: Sequence[str | None], runs: Sequence[Sequence[Sequence[int]]]) -> None:
        """Count units that all runs have: for each run the numbers of every unit."""
        table_of, rows = self.index.tables.__getitem__, [list[int]() for _ in runs]
        layouts = [[[*map(table_of, numbers)] for numbers in run] for run in runs]
        watched, averaged, changed = self._watched_table(), self._averaged_tables(), self.joined.changed
        self.joined.units += len(ids)
        unit: Sequence[Sequence[int]]
        for identity, unit, tables in zip(ids, zip(*runs, strict=True), zip(*layouts, strict=True), strict=True):
            order = tables[0]
            present = {*order}
            if tables.count(order) != len(tables) or len(present) != len(order):
                merged = self._merged(unit)
                unit, order = [*zip(*merged, strict=True)], [table_of(max(joint)) for joint in merged]
                present = {*order}
            for row, numbers in zip(rows, unit, strict=True):
                row += numbers
            if watched in present and identity is not None:
                place = order.index(watched)
                joint = tuple([numbers[place] for numbers in unit])
                if joint.count(joint[0]) != len(joint):
                    changed[joint].append(identity)
            if averaged and len(parts := present & averaged) > 1:
                assert self.joined.part_products is not None  # made where parts are averaged
                own = [*zip(*unit, strict=True)]
                self.joined.part_products.add_unit([own[order.index(table)] for table in parts], self._in_a_row)
        self._joints.update(zip(*rows, strict=True))

    def _count_sums(self, identity: str | None, runs: list[UnitCounts], group: str | None = None) -> None:
        """A unit given by its counts; or, with a group, a part of one."""
        numbers = [self.index.numbers(counts) for counts in runs]
        if group is None:
            self._count([identity], [[own] for own in numbers])
            return
        group_counts = self._groups.setdefault(group, [{} for _ in runs])
        for run, (mine, theirs) in enumerate(zip(group_counts, runs, strict=True)):
            self._add_counts(mine, theirs, run)
        for joint in self._merged(numbers):
            if self._key(joint) == self._watched and joint.count(joint[0]) != len(joint) and identity is not None:
                self.joined.changed[joint].append(identity)

    def _merged(self, unit: Sequence[Sequence[int]]) -> list[Joint]:
        """The numbers of every run, table by table."""
        table_of = self.index.tables.__getitem__
        by_table = [dict(zip(map(table_of, numbers), numbers, strict=True)) for numbers in unit]
        tables = sorted({table for numbers in by_table for table in numbers})
        return [tuple([numbers.get(table, NO_ENTRY) for numbers in by_table]) for table in tables]

    def _watched_table(self) -> int:
        """The number of the table whose changes are listed; -1 while there is none."""
        return -1 if self._watched is None else self.index.table_number(self._watched)

    def _averaged_tables(self) -> set[int]:
        """The numbers of the parts that are averaged."""
        keys = self.index.keys
        if self._averaged is not None:
            for table in range(self._tables_seen, len(keys)):
                if len(keys[table]) == 2 and keys[table][0] == self._averaged:
                    self._parts.add(table)
            self._tables_seen = len(keys)
        return self._parts

    def _note_lacking(self, identity: Any, slots: Sequence[object]) -> None:
        for run, slot in enumerate(slots):
            if slot is None:
                self.joined.lacking.setdefault(run, []).append(identity)

    def _scaled(self, unit: UnitRow) -> UnitCounts:
        return scale(self.index.unit(unit.numbers), unit.times)

    def _add_counts(self, mine: UnitCounts, theirs: UnitCounts, run: int, line: int | None = None) -> None:
        try:
            add_tables(mine, theirs)
        except ValueError:
            result = self._runs[run]
            assert result is not None  # what is being scored counts alike in every unit
            why = "other counts than in another record of the same"
            raise malformed_record_error(result, line, why) from None

    def _key(self, joint: Joint) -> TableKey:
        return self.index.keys[self.index.tables[max(joint)]]

    def _in_a_row(self, joint: Joint) -> tuple[TableKey, Counts]:
        """The part of a joint, and the counts of all runs one after the other."""
        key, counts = self._key(joint), self.index.counts
        nothing = (0,) * self._widths[key[0]]
        values = [nothing if number == NO_ENTRY else counts[number] for number in joint]
        return key, tuple([count for counts in values for count in counts])
