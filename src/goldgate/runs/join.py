"""Units of several runs joined by identity: how often each combination of counts occurred, in every table and part.

Everything in a comparison is a function of these multisets, so order and sharding cannot matter. Files in the same
order are joined as they are read, and only the multisets and the ids of changed units are kept; units in another
order wait for their partners.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, zip_longest
from typing import NamedTuple

import orjson

from goldgate.core.sums import Counts, RatioForm
from goldgate.core.tally import MAX_PAIRED_PARTS, TableKey, UnitCounts
from goldgate.readers.stored_result import StoredResult
from goldgate.readers.unit_records import (
    RecordedUnit,
    add_checked,
    duplicate_id_error,
    malformed_record_error,
    read_units,
    scaled_unit_tables,
    unit_tables,
)
from goldgate.stats.multiple_testing import Runs

NO_ENTRY = -1  # in place of a number: a run has no such table
NOT_COMPARED = 0  # the number of whatever is not compared

# Between two tables of `units`, and of `parts`. Where a name has it, it is not as it is here: quotation marks in names
# have a backslash. And a piece that was cut in a name was never seen before.
_BETWEEN_UNITS, _BETWEEN_PARTS = b'],"', b"]],[["
_MAX_CACHED = 50_000  # pieces that are remembered without being compared, and orders of tables: 10 MB


class TableOrder(NamedTuple):
    """The tables of a line, in their order: which is watched, which are averaged, and whether none occurs twice."""

    tables: tuple[int, ...]
    watched: int | None
    averaged: tuple[int, ...]
    is_plain: bool


class CountEntries:
    """Numbers for tables and for their counts. `columns` says what is compared, and how many counts it has."""

    def __init__(self, columns: Mapping[str, int], watched: str, averaged: str | None) -> None:
        self.columns = columns
        self.keys: list[TableKey] = [()]  # by the number of a table
        self.tables: list[int] = [NOT_COMPARED]  # the table of each entry
        self.values: list[Counts] = [()]  # and its counts
        self._watched: TableKey = (watched,)
        self.averaged = averaged
        self._by_key: dict[TableKey, int] = {}
        self._by_counts: dict[tuple[int, Counts], int] = {}
        self._by_piece: dict[bytes, int] = {}
        self._left_out = 0
        self._layouts: dict[tuple[int, ...], TableOrder] = {}

    def read(self, unit: RecordedUnit, result: StoredResult) -> list[int]:
        """The numbers of a line."""
        pieces = unit.units[2:-2].split(_BETWEEN_UNITS)
        pieces += unit.parts[3:-3].split(_BETWEEN_PARTS) if len(unit.parts) > 2 else ()
        try:
            return [*map(self._by_piece.__getitem__, pieces)]
        except KeyError:
            return self._decode(unit, result)

    def number(self, key: TableKey, counts: Counts, result: StoredResult, line: int | None = None) -> int:
        """Of counts in a table that is compared."""
        table = self._by_key.get(key)
        if table is None:
            table = self._by_key[key] = len(self.keys)
            self.keys.append(key)
        number = self._by_counts.get((table, counts))
        if number is None:
            if len(counts) != self.columns[key[0]]:
                raise malformed_record_error(
                    result, line, f"{len(counts)} counts of {key[0]}, and not {self.columns[key[0]]}"
                )
            number = self._by_counts[table, counts] = len(self.values)
            self.tables.append(table)
            self.values.append(counts)
        return number

    def layout(self, numbers: Sequence[int]) -> TableOrder:
        """The tables of these entries; the same object for the same tables."""
        tables = (*map(self.tables.__getitem__, numbers),)
        known = self._layouts.get(tables)
        if known is None:
            if len(self._layouts) >= _MAX_CACHED:
                self._layouts = {}
            known = self._layouts[tables] = self._laid_out(tables)
        return known

    def _laid_out(self, tables: tuple[int, ...]) -> TableOrder:
        keys = [self.keys[table] for table in tables]
        compared = [table for table in tables if table != NOT_COMPARED]
        return TableOrder(
            tables,
            next((place for place, key in enumerate(keys) if key == self._watched), None),
            tuple(place for place, key in enumerate(keys) if len(key) == 2 and key[0] == self.averaged),
            len({*compared}) == len(compared),
        )

    def _decode(self, unit: RecordedUnit, result: StoredResult) -> list[int]:
        numbers = []
        for key, counts in unit_tables(unit, result).items():
            number = self.number(key, counts, result, unit.line) if key[0] in self.columns else NOT_COMPARED
            if number == NOT_COMPARED:
                self._left_out += 1
                if self._left_out > _MAX_CACHED:
                    self._left_out = 0
                    self._by_piece = {piece: known for piece, known in self._by_piece.items() if known != NOT_COMPARED}
            self._by_piece[_entry_bytes(key, counts)] = number
            numbers.append(number)
        return numbers


def _entry_bytes(key: TableKey, counts: Counts) -> bytes:
    """What lies between two cuts of a line that goldgate wrote."""
    if len(key) == 1:
        return orjson.dumps({key[0]: counts})[2:-2]
    return orjson.dumps([key, counts])[2:-2]


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
    changed: dict[Joint, list[str]] = field(default_factory=dict)  # ids by their counts in one table, where they differ
    lacking: dict[int, list[str]] = field(default_factory=dict)  # run → identities that others have and it has not
    meetings: PartProducts | None = None  # of parts that are averaged

    def pairs(self, key: TableKey, form: RatioForm) -> Mapping[Runs, int]:
        """Those of a table; none where it has no unit."""
        table = self.tables.get(key)
        return {} if table is None else table.pairs(form)


def join_results(
    results: Sequence[StoredResult], tables: Mapping[str, int], watched: str, averaged: str | None = None
) -> JointUnits:
    """The units of these results, joined by identity, in the tables with so many columns.

    `watched` is the table whose changes are listed, `averaged` the one whose parts are. Where a system may have several
    records of one identity, all of them are added up first. Records that count something else are an InputError.
    """
    counter = _Counter(results, CountEntries(tables, watched, averaged))
    runs = [read_units(result) for result in results]
    join = _join_sums if results[0].suite.pairing.several else _join_in_step
    collects = gc.isenabled()
    gc.disable()  # nothing here refers to itself, and looking for what does takes an eighth of the time
    try:
        join(runs, results, counter)
    finally:
        if collects:
            gc.enable()
    return counter.finished()


class _Counter:
    """Counts joined units into tables; those of a group are added up before they count."""

    def __init__(self, results: Sequence[StoredResult], entries: CountEntries) -> None:
        self.found = JointUnits()
        self._results = results
        self._entries = entries
        self._groups: dict[str, list[UnitCounts]] = {}
        self._joints: Counter[Joint] = Counter()  # of all tables: each number is of one
        if entries.averaged is not None:
            self.found.meetings = PartProducts(entries.columns[entries.averaged] * len(results))

    def add(self, identity: str | None, lines: Sequence[RecordedUnit | None]) -> None:
        """A unit, as its lines have it; None where a run has none."""
        whole = [line for line in lines if line is not None and line.group is None and line.times == 1]
        if len(whole) == len(lines):
            self._count(identity, [*map(self._entries.read, whole, self._results)])
            return
        group = next((line.group for line in lines if line is not None and line.group is not None), None)
        both = zip(lines, self._results, strict=True)
        self.add_counts(
            identity, [{} if line is None else scaled_unit_tables(line, result) for line, result in both], group
        )

    def add_counts(self, identity: str | None, runs: list[UnitCounts], group: str | None = None) -> None:
        """A unit given by its counts; or, with a group, a part of one."""
        if group is None:
            self._count(identity, self._numbers(runs))
            return
        known = self._groups.setdefault(group, [{} for _ in runs])
        for mine, theirs, result in zip(known, runs, self._results, strict=True):
            add_checked(mine, theirs, result)
        self._watch(identity, *self._joined(self._numbers(runs)))

    def finished(self) -> JointUnits:
        """All that was counted, every group as one unit."""
        found, entries = self.found, self._entries
        found.is_grouped = bool(self._groups)
        for runs in self._groups.values():
            self.add_counts(None, runs)
        self._groups = {}
        for joint, times in self._joints.items():
            number = max(joint)
            if number != NOT_COMPARED:
                key = entries.keys[entries.tables[number]]
                table = found.tables.get(key)
                if table is None:
                    table = found.tables[key] = JointTable(entries.values)
                table.joints[joint] = times
        return found

    def _numbers(self, runs: Sequence[UnitCounts]) -> list[list[int]]:
        entries = self._entries
        return [
            [entries.number(key, found, result) for key, found in counts.items() if key[0] in entries.columns]
            for counts, result in zip(runs, self._results, strict=True)
        ]

    def _count(self, identity: str | None, numbers: Sequence[Sequence[int]]) -> None:
        self.found.units += 1
        joints, layout = self._joined(numbers)
        self._joints.update(joints)
        if len(layout.averaged) > 1:
            self._meet([joints[place] for place in layout.averaged])
        self._watch(identity, joints, layout)

    def _joined(self, numbers: Sequence[Sequence[int]]) -> tuple[list[Joint], TableOrder]:
        """The numbers of every run table by table, and the order of the tables.

        Of one unit, runs mostly have the same tables in the same order, and then nothing has to be looked up.
        """
        layouts = [*map(self._entries.layout, numbers)]
        first = layouts[0]
        if first.is_plain and layouts.count(first) == len(layouts):
            return [*zip(*numbers, strict=True)], first
        by_table = [
            dict(zip(layout.tables, found, strict=True)) for layout, found in zip(layouts, numbers, strict=True)
        ]
        tables = sorted({table for found in by_table for table in found} - {NOT_COMPARED})
        joints = [tuple([found.get(table, NO_ENTRY) for found in by_table]) for table in tables]
        return joints, self._entries.layout([max(joint) for joint in joints])

    def _watch(self, identity: str | None, joints: Sequence[Joint], layout: TableOrder) -> None:
        if layout.watched is not None and identity is not None:
            joint = joints[layout.watched]
            if joint.count(joint[0]) != len(joint):
                self.found.changed.setdefault(joint, []).append(identity)

    def _meet(self, parts: Sequence[Joint]) -> None:
        meetings = self.found.meetings
        assert meetings is not None  # only what is averaged meets
        meetings.meet(parts, self._in_a_row)

    def _in_a_row(self, joint: Joint) -> tuple[TableKey, Counts]:
        """The part of a joint, and the counts of all runs one after the other."""
        entries = self._entries
        key = entries.keys[entries.tables[max(joint)]]
        nothing = (0,) * entries.columns[key[0]]
        values = [nothing if number == NO_ENTRY else entries.values[number] for number in joint]
        return key, tuple([count for counts in values for count in counts])


def _join_in_step(runs: Sequence[Iterable[RecordedUnit]], results: Sequence[StoredResult], counter: _Counter) -> None:
    """Line by line through all files at once; what has no partner in the same line waits for it."""
    waiting: dict[str | None, list[RecordedUnit | None]] = {}
    for lines in zip_longest(*runs):
        first = lines[0]
        if first is not None and first.identity not in waiting and _all_have_identity(first.identity, lines):
            counter.add(first.identity, lines)
            continue
        for index, line in enumerate(lines):
            if line is None:
                continue
            slots = waiting.setdefault(line.identity, [None] * len(lines))
            if slots[index] is not None:
                raise duplicate_id_error(line.identity, results[index])
            slots[index] = line
            if None not in slots:
                counter.add(line.identity, waiting.pop(line.identity))
    for identity, slots in waiting.items():
        for index, slot in enumerate(slots):
            if slot is None:
                counter.found.lacking.setdefault(index, []).append(str(identity))


def _all_have_identity(identity: str | None, lines: Sequence[RecordedUnit | None]) -> bool:
    for line in lines:  # noqa: SIM110  # `all` takes three times as long: for a million lines, a second
        if line is None or line.identity != identity:
            return False
    return True


def _join_sums(runs: Sequence[Iterable[RecordedUnit]], results: Sequence[StoredResult], counter: _Counter) -> None:
    """The sum of all records of an identity, in each run."""
    sums: dict[str | None, list[UnitCounts | None]] = {}
    for index, (lines, result) in enumerate(zip(runs, results, strict=True)):
        for line in lines:
            known = sums.setdefault(line.identity, [None] * len(runs))
            own = known[index]
            if own is None:
                own = known[index] = {}
            add_checked(own, scaled_unit_tables(line, result), result, line.line)
    for identity, counts in sums.items():
        lacking = [index for index, own in enumerate(counts) if own is None]
        if identity is not None and lacking:
            for index in lacking:
                counter.found.lacking.setdefault(index, []).append(identity)
        else:
            counter.add_counts(identity, [own or {} for own in counts])
