"""Units of several runs side by side: how often each combination of counts occurred, in every table and part of one.

All that is said of a comparison is a function of these multisets, so that order and split cannot matter. Files in the
same order are joined as they are read, and nothing is kept but the multisets and the ids of what changed; what comes
in another order waits for its partners.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest

import orjson

from goldgate.comparison.record_units import UnitLine
from goldgate.core.sums import Counts, RatioForm
from goldgate.core.tally import Key
from goldgate.errors import InputError, Place
from goldgate.stats.several import Runs

Joint = tuple[int, ...]  # the number of each run's counts in the list of its table; NOTHING where it has none
NOTHING = -1

# Between two entries of `parts`. Where a name has it, the pieces are not JSON, and so none that was seen before.
_BETWEEN = b"]],[["
_MOST_KEPT = 50_000  # lines that are remembered because others may count the same: 20 MB


class CountsList:
    """The different vectors of counts in a table: each has a number, and is decoded and divided once."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._numbers: dict[Counts, int] = {}
        self.values: list[Counts] = []
        self.of = cache(self._of)  # when all are known

    def number(self, counts: Sequence[int]) -> int:
        vector = tuple(counts)
        known = self._numbers.get(vector)
        if known is None:
            if len(vector) != self._columns or any(type(count) is not int for count in vector):
                raise ValueError(f"{self._columns} counts are integers")
            known = self._numbers[vector] = len(self.values)
            self.values.append(vector)
        return known

    def _of(self, form: RatioForm) -> list[tuple[int, int]]:
        """a and b of every vector; behind them zeros, for none."""
        return [*map(form.of, self.values), (0, 0)]


class JointTable:
    """The multiset of one table or part."""

    def __init__(self, counts: CountsList, joints: Mapping[Joint, int]) -> None:
        self.counts = counts
        self.joints = joints
        self.pairs = cache(self._pairs)

    def _pairs(self, form: RatioForm) -> Mapping[Runs, int]:
        """a and b of a rate in each run, and how often that occurred; units that have none of it are left out."""
        of, found = self.counts.of(form), dict[Runs, int]()
        for joint, times in self.joints.items():
            runs = tuple([of[number] for number in joint])
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

    def pairs(self, key: Key, form: RatioForm) -> Mapping[Runs, int]:
        """Those of a table; none where it has no unit."""
        table = self.tables.get(key)
        return {} if table is None else table.pairs(form)


def join_units(
    runs: Sequence[Iterable[UnitLine]], names: Sequence[str], tables: Mapping[str, int], watched: str, several: bool
) -> JointUnits:
    """The units of these runs, joined by identity, in the tables with so many columns.

    `watched` is the table whose changes are listed. Where a system may have several records of one identity, all of
    them are added up first. Counts that do not fit a table are a ValueError or a TypeError.
    """
    counter = _Counter(tables, watched)
    if several:
        _join_added(runs, counter)
    else:
        _join_in_step(runs, names, counter)
    return counter.finished()


class _Counter:
    """Counts joined units into tables; those of a group are added up before they count."""

    def __init__(self, tables: Mapping[str, int], watched: str) -> None:
        self.found = JointUnits()
        self._lists = {name: CountsList(columns) for name, columns in tables.items()}
        self._watched = watched
        self._groups: dict[str, list[dict[Key, Counts]]] = {}
        self._alike: dict[tuple[bytes, ...], list[str]] = {}  # ids of units that count the same in every run
        self._tables: dict[Key, int] = {}  # the number of each table
        self._joints: list[dict[Joint, int]] = []
        self._entries: dict[bytes, tuple[int, int]] = {}  # of `parts`: the numbers of its table and of its counts

    def add(self, identity: str | None, lines: Sequence[UnitLine | None]) -> None:
        """A unit, as its lines have it; None where a run has none."""
        whole = [line for line in lines if line is not None and line.group is None]
        if identity is not None and len(whole) == len(lines):
            self._add_plain(identity, whole)
            return
        group = next((line.group for line in lines if line is not None and line.group is not None), None)
        self.add_counts(identity, [{} if line is None else counts_of(line) for line in lines], group)

    def add_counts(self, identity: str | None, runs: list[dict[Key, Counts]], group: str | None = None) -> None:
        """A unit given by its counts; or, with a group, a part of one."""
        if group is not None:
            known = self._groups.setdefault(group, [{} for _ in runs])
            for mine, theirs in zip(known, runs, strict=True):
                _add(mine, theirs)
            if identity is not None:
                self._watch([identity], self._numbers((self._watched,), runs))
            return
        self.found.units += 1
        for key in {key for counts in runs for key in counts if key[0] in self._lists}:
            joint = self._numbers(key, runs)
            self._count(key, joint)
            if key == (self._watched,) and identity is not None:
                self._watch([identity], joint)

    def finished(self) -> JointUnits:
        """All that was counted, every group as one unit."""
        self._count_alike()
        self.found.is_grouped = bool(self._groups)
        for runs in self._groups.values():
            self.add_counts(None, runs)
        for key, number in self._tables.items():
            self.found.tables[key] = JointTable(self._lists[key[0]], self._joints[number])
        return self.found

    def _add_plain(self, identity: str, lines: Sequence[UnitLine]) -> None:
        self.found.units += 1
        units = tuple([line.units for line in lines])
        known = self._alike.get(units)
        if known is None:
            if len(self._alike) >= _MOST_KEPT:
                self._count_alike()
            known = self._alike[units] = []
        known.append(identity)
        decoded = [self._decode(line.parts) for line in lines]
        all_keys = decoded[0].copy()
        for other in decoded[1:]:
            all_keys.update(other)
        for table in all_keys:
            joint = tuple([one.get(table, NOTHING) for one in decoded])
            joints = self._joints[table]
            joints[joint] = joints.get(joint, 0) + 1

    def _count_alike(self) -> None:
        """Units of which the tables count the same, at once."""
        for units, identities in self._alike.items():
            runs: list[dict[Key, list[int]]] = [
                {(name,): counts for name, counts in orjson.loads(one).items()} for one in units
            ]
            for key in {key for counts in runs for key in counts if key[0] in self._lists}:
                joint = self._numbers(key, runs)
                self._count(key, joint, len(identities))
                if key[0] == self._watched:
                    self._watch(identities, joint)
        self._alike = {}

    def _decode(self, parts: bytes) -> dict[int, int]:
        """The counts of each part, both as numbers. The parts of most lines are among those seen before."""
        try:
            return dict([self._entries[entry] for entry in parts[3:-3].split(_BETWEEN)])
        except KeyError:
            pass
        if len(self._entries) > _MOST_KEPT:
            self._entries = {}
        found = {}
        for key, counts in orjson.loads(parts):
            if key[0] in self._lists:
                entry = orjson.dumps([key, counts])[2:-2]
                self._entries[entry] = table, number = self._table(tuple(key)), self._lists[key[0]].number(counts)
                found[table] = number
        return found

    def _table(self, key: Key) -> int:
        known = self._tables.get(key)
        if known is None:
            known = self._tables[key] = len(self._joints)
            self._joints.append({})
        return known

    def _numbers(self, key: Key, runs: Sequence[Mapping[Key, Sequence[int]]]) -> Joint:
        number = self._lists[key[0]].number
        return tuple([NOTHING if (counts := run.get(key)) is None else number(counts) for run in runs])

    def _count(self, key: Key, joint: Joint, times: int = 1) -> None:
        joints = self._joints[self._table(key)]
        joints[joint] = joints.get(joint, 0) + times

    def _watch(self, identities: list[str], joint: Joint) -> None:
        if any(number != joint[0] for number in joint):
            self.found.changed.setdefault(joint, []).extend(identities)


def _join_in_step(runs: Sequence[Iterable[UnitLine]], names: Sequence[str], counter: _Counter) -> None:
    """Line by line through all files at once; what has no partner in the same line waits for it."""
    waiting: dict[str | None, list[UnitLine | None]] = {}
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
                raise _twice(line.identity, names[index])
            slots[index] = line
            if None not in slots:
                counter.add(line.identity, waiting.pop(line.identity))
    for identity, slots in waiting.items():
        for index, slot in enumerate(slots):
            if slot is None:
                counter.found.lacking.setdefault(index, []).append(str(identity))


def _all_of(identity: str | None, lines: Sequence[UnitLine | None]) -> bool:
    return all(line is not None and line.identity == identity for line in lines)


def _join_added(runs: Sequence[Iterable[UnitLine]], counter: _Counter) -> None:
    """The sum of all records of an identity, in each run."""
    sums: dict[str | None, list[dict[Key, Counts] | None]] = {}
    for index, lines in enumerate(runs):
        for line in lines:
            known = sums.setdefault(line.identity, [None] * len(runs))
            own = known[index]
            if own is None:
                own = known[index] = {}
            _add(own, counts_of(line))
    for identity, counts in sums.items():
        lacking = [index for index, own in enumerate(counts) if own is None]
        if identity is not None and lacking:
            for index in lacking:
                counter.found.lacking.setdefault(index, []).append(identity)
        else:
            counter.add_counts(identity, [own or {} for own in counts])


def counts_of(line: UnitLine) -> dict[Key, Counts]:
    """Of a line, by key; as many times as it stands for."""
    units: dict[str, list[int]] = orjson.loads(line.units)
    parts: list[tuple[list[str], list[int]]] = orjson.loads(line.parts)
    pairs: list[tuple[Key, list[int]]] = [((name,), counts) for name, counts in units.items()]
    pairs += [(tuple(key), counts) for key, counts in parts]
    return {key: tuple([count * line.times for count in counts]) for key, counts in pairs}


def _add(mine: dict[Key, Counts], theirs: Mapping[Key, Counts]) -> None:
    for key, counts in theirs.items():
        had = mine.get(key)
        mine[key] = counts if had is None else tuple(map(sum, zip(had, counts, strict=True)))


def _twice(identity: str | None, name: str) -> InputError:
    return InputError(
        "records.duplicate_id",
        "two records have the same id",
        place=Place(name),
        expected="a record for each id",
        found=f"{identity} twice",
        advice="score it again with --out",
    )
