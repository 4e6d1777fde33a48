"""Units of several runs joined by identity: how often each combination of counts occurred, in every table and part.

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
from itertools import combinations, zip_longest
from typing import Any

from goldgate.core.sums import Counts, RatioForm
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
_CACHE_BYTES = 30_000_000  # bytes of counts that are packed already

Joint = tuple[int, ...]  # the number of each run's counts in the list of all; NOTHING where it has none


class PartProducts:
    """The sums for each two parts that met. `width` is the number of counts of a part, those of all runs in a row.

    The counts of one part lie in one integer, far apart; those of the other in a second one, close together. Their
    product has all products of two counts side by side: 64 multiplications in one, and as many additions.
    """

    def __init__(self, width: int) -> None:
        self.is_complete = True  # False: too many parts met in one unit, or counts are too large
        self._width = width
        self._sums: dict[tuple[TableKey, TableKey], int] = {}
        self._packed: dict[Joint, tuple[TableKey, int, int]] = {}
        self._most = _CACHE_BYTES // (width * width * _BITS // 8 + 500)

    def meet(self, parts: Sequence[Joint], part_of: Callable[[Joint], tuple[TableKey, Counts]]) -> None:
        """Parts of one unit; `part_of` says which part a joint is of, and the counts of all runs."""
        if len(parts) > MAX_PAIRED_PARTS:
            self.is_complete = False
        if not self.is_complete:
            return
        sums = self._sums
        for one, other in combinations([self._known(joint, part_of) for joint in parts], 2):
            first, second = (one, other) if one[0] < other[0] else (other, one)
            names = first[0], second[0]
            sums[names] = sums.get(names, 0) + first[1] * second[2]

    def matrices(self) -> Iterator[tuple[tuple[TableKey, TableKey], list[list[int]]]]:
        """For each two parts that met, the part that sorts first being first: rows are its counts."""
        places = range(self._width)
        for names, packed in sorted(self._sums.items()):
            shifts = [[(row * self._width + column) * _BITS for column in places] for row in places]
            yield names, [[packed >> shift & _MASK for shift in row] for row in shifts]

    def _known(self, joint: Joint, part_of: Callable[[Joint], tuple[TableKey, Counts]]) -> tuple[TableKey, int, int]:
        known = self._packed.get(joint)
        if known is None:
            if len(self._packed) >= self._most:
                self._packed = {}
            key, counts = part_of(joint)
            if max(counts, default=0) >= _COUNT_LIMIT:
                self.is_complete = False
            known = self._packed[joint] = key, _pack_counts(counts, _BITS * self._width), _pack_counts(counts, _BITS)
        return known


def _pack_counts(counts: Counts, bits: int) -> int:
    return sum(count << place * bits for place, count in enumerate(counts))


class JointTable:
    """The multiset of one table or part."""

    def __init__(self, values: Sequence[Counts]) -> None:
        self._values = values
        self.joints: dict[Joint, int] = {}
        self.pairs = cache(self._pairs)  # when all are known

    def counts(self, joint: Joint) -> list[Counts | None]:
        """What each run counted."""
        return [None if number == NO_ENTRY else self._values[number] for number in joint]

    def rates(self, joint: Joint, form: RatioForm) -> Runs:
        """a and b of a rate in each run."""
        return tuple([(0, 0) if counts is None else form.of(counts) for counts in self.counts(joint)])

    def _pairs(self, form: RatioForm) -> Mapping[Runs, int]:
        """a and b of a rate in each run, and how often that occurred; units that have none of it are left out."""
        known, found = {NO_ENTRY: (0, 0)}, dict[Runs, int]()
        for joint, times in self.joints.items():
            for number in joint:
                if number not in known:
                    known[number] = form.of(self._values[number])
            runs = tuple([known[number] for number in joint])
            found[runs] = found.get(runs, 0) + times
        found.pop(((0, 0),) * len(next(iter(found), ())), None)
        return found


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
    meetings: PartProducts | None = None  # of parts that are averaged
    unasked: dict[TableKey, Joint] = field(default_factory=dict)  # of work that nobody asked for, part of the tables

    def pairs(self, key: TableKey, form: RatioForm) -> Mapping[Runs, int]:
        """Those of a table; none where it has no unit."""
        table = self.tables.get(key)
        return {} if table is None else table.pairs(form)

    def asked_pairs(self, key: TableKey, form: RatioForm) -> Mapping[Runs, int]:
        """Those of a table without the work that nobody asked for."""
        pairs, joint = dict(self.pairs(key, form)), self.unasked.get(key)
        if joint is not None:
            one = self.tables[key].rates(joint, form)
            if pairs.get(one):
                pairs[one] -= 1
        return pairs


def join_results(
    results: Sequence[StoredResult], widths: Mapping[str, int], watched: str, averaged: str | None = None
) -> JointUnits:
    """The units of these results, joined by identity, in the tables with so many columns.

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
        self._parts: set[int] = set()  # the tables of those that are averaged, among the first so many
        self._tables_seen = 0
        if averaged is not None:
            self.joined.meetings = PartProducts(widths[averaged] * len(runs))

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
            known = own[run] = own[run] or {}
            self._add_counts(known, self._scaled(unit), run, line)
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
        table_of, joints = self.index.tables.__getitem__, list[Joint]()
        layouts = [[tuple(map(table_of, numbers)) for numbers in run] for run in runs]
        watched, averaged, changed = self._watched_table(), self._averaged_tables(), self.joined.changed
        self.joined.units += len(ids)
        for identity, unit, tables in zip(ids, zip(*runs, strict=True), zip(*layouts, strict=True), strict=True):
            order = tables[0]
            present = {*order}
            if tables.count(order) == len(tables) and len(present) == len(order):
                own = [*zip(*unit, strict=True)]
            else:
                own = self._merged(unit)
                order = tuple([table_of(max(joint)) for joint in own])
                present = {*order}
            joints += own
            if watched in present:
                joint = own[order.index(watched)]
                if joint.count(joint[0]) != len(joint) and identity is not None:
                    changed[joint].append(identity)
            if averaged and len(parts := present & averaged) > 1:
                assert self.joined.meetings is not None  # only what is averaged meets
                self.joined.meetings.meet([own[order.index(table)] for table in parts], self._in_a_row)
        self._joints.update(joints)

    def _count_sums(self, identity: str | None, runs: list[UnitCounts], group: str | None = None) -> None:
        """A unit given by its counts; or, with a group, a part of one."""
        numbers = [self.index.numbers(counts) for counts in runs]
        if group is None:
            self._count([identity], [[own] for own in numbers])
            return
        known = self._groups.setdefault(group, [{} for _ in runs])
        for run, (mine, theirs) in enumerate(zip(known, runs, strict=True)):
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
