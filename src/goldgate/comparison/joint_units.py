"""Units of several runs side by side: how often each combination of counts occurred, in every table and part of one.

All that is said of a comparison is a function of these multisets, so that order and split cannot matter. Files in the
same order are joined as they are read, and nothing is kept but the multisets and the ids of what changed; what comes
in another order waits for its partners.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest

from goldgate.comparison.meetings import Joint, Meetings
from goldgate.comparison.unit_entries import LEFT_OUT, NOTHING, Entries, Layout
from goldgate.core.counted_unit import Key
from goldgate.core.sums import Counts, RatioForm
from goldgate.readers.recorded_units import (
    RecordedUnit,
    UnitTables,
    add_checked,
    all_counts_of,
    read_units,
    twice,
)
from goldgate.readers.stored_result import StoredResult
from goldgate.stats.several import Runs


class JointTable:
    """The multiset of one table or part."""

    def __init__(self, values: Sequence[Counts]) -> None:
        self._values = values
        self.joints: dict[Joint, int] = {}
        self.pairs = cache(self._pairs)  # when all are known

    def counts(self, joint: Joint) -> list[Counts | None]:
        """What each run counted."""
        return [None if number == NOTHING else self._values[number] for number in joint]

    def _pairs(self, form: RatioForm) -> Mapping[Runs, int]:
        """a and b of a rate in each run, and how often that occurred; units that have none of it are left out."""
        known, found = {NOTHING: (0, 0)}, dict[Runs, int]()
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

    tables: dict[Key, JointTable] = field(default_factory=dict)
    units: int = 0
    is_grouped: bool = False
    changed: dict[Joint, list[str]] = field(default_factory=dict)  # ids by their counts in one table, where they differ
    lacking: dict[int, list[str]] = field(default_factory=dict)  # run → identities that others have and it has not
    meetings: Meetings | None = None  # of parts that are averaged

    def pairs(self, key: Key, form: RatioForm) -> Mapping[Runs, int]:
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
    counter = _Counter(results, Entries(tables, watched, averaged))
    runs = [read_units(result) for result in results]
    join = _join_added if results[0].suite.pairing.several else _join_in_step
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

    def __init__(self, results: Sequence[StoredResult], entries: Entries) -> None:
        self.found = JointUnits()
        self._results = results
        self._entries = entries
        self._groups: dict[str, list[UnitTables]] = {}
        self._joints: Counter[Joint] = Counter()  # of all tables: each number is of one
        if entries.averaged is not None:
            self.found.meetings = Meetings(entries.columns[entries.averaged] * len(results))

    def add(self, identity: str | None, lines: Sequence[RecordedUnit | None]) -> None:
        """A unit, as its lines have it; None where a run has none."""
        whole = [line for line in lines if line is not None and line.group is None and line.times == 1]
        if len(whole) == len(lines):
            self._count(identity, [*map(self._entries.read, whole, self._results)])
            return
        group = next((line.group for line in lines if line is not None and line.group is not None), None)
        both = zip(lines, self._results, strict=True)
        self.add_counts(identity, [{} if line is None else all_counts_of(line, result) for line, result in both], group)

    def add_counts(self, identity: str | None, runs: list[UnitTables], group: str | None = None) -> None:
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
            if number != LEFT_OUT:
                key = entries.keys[entries.tables[number]]
                table = found.tables.get(key)
                if table is None:
                    table = found.tables[key] = JointTable(entries.values)
                table.joints[joint] = times
        return found

    def _numbers(self, runs: Sequence[UnitTables]) -> list[list[int]]:
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

    def _joined(self, numbers: Sequence[Sequence[int]]) -> tuple[list[Joint], Layout]:
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
        tables = sorted({table for found in by_table for table in found} - {LEFT_OUT})
        joints = [tuple([found.get(table, NOTHING) for found in by_table]) for table in tables]
        return joints, self._entries.layout([max(joint) for joint in joints])

    def _watch(self, identity: str | None, joints: Sequence[Joint], layout: Layout) -> None:
        if layout.watched is not None and identity is not None:
            joint = joints[layout.watched]
            if joint.count(joint[0]) != len(joint):
                self.found.changed.setdefault(joint, []).append(identity)

    def _meet(self, parts: Sequence[Joint]) -> None:
        meetings = self.found.meetings
        assert meetings is not None  # only what is averaged meets
        meetings.meet(parts, self._in_a_row)

    def _in_a_row(self, joint: Joint) -> tuple[Key, Counts]:
        """The part of a joint, and the counts of all runs one after the other."""
        entries = self._entries
        key = entries.keys[entries.tables[max(joint)]]
        nothing = (0,) * entries.columns[key[0]]
        values = [nothing if number == NOTHING else entries.values[number] for number in joint]
        return key, tuple([count for counts in values for count in counts])


def _join_in_step(runs: Sequence[Iterable[RecordedUnit]], results: Sequence[StoredResult], counter: _Counter) -> None:
    """Line by line through all files at once; what has no partner in the same line waits for it."""
    waiting: dict[str | None, list[RecordedUnit | None]] = {}
    for lines in zip_longest(*runs):
        first = lines[0]
        if first is not None and first.identity not in waiting and _all_of(first.identity, lines):
            counter.add(first.identity, lines)
            continue
        for index, line in enumerate(lines):
            if line is None:
                continue
            slots = waiting.setdefault(line.identity, [None] * len(lines))
            if slots[index] is not None:
                raise twice(line.identity, results[index])
            slots[index] = line
            if None not in slots:
                counter.add(line.identity, waiting.pop(line.identity))
    for identity, slots in waiting.items():
        for index, slot in enumerate(slots):
            if slot is None:
                counter.found.lacking.setdefault(index, []).append(str(identity))


def _all_of(identity: str | None, lines: Sequence[RecordedUnit | None]) -> bool:
    for line in lines:  # noqa: SIM110  # `all` takes three times as long: for a million lines, a second
        if line is None or line.identity != identity:
            return False
    return True


def _join_added(runs: Sequence[Iterable[RecordedUnit]], results: Sequence[StoredResult], counter: _Counter) -> None:
    """The sum of all records of an identity, in each run."""
    sums: dict[str | None, list[UnitTables | None]] = {}
    for index, (lines, result) in enumerate(zip(runs, results, strict=True)):
        for line in lines:
            known = sums.setdefault(line.identity, [None] * len(runs))
            own = known[index]
            if own is None:
                own = known[index] = {}
            add_checked(own, all_counts_of(line, result), result, line.line)
    for identity, counts in sums.items():
        lacking = [index for index, own in enumerate(counts) if own is None]
        if identity is not None and lacking:
            for index in lacking:
                counter.found.lacking.setdefault(index, []).append(identity)
        else:
            counter.add_counts(identity, [own or {} for own in counts])
