"""This run's units beside those of stored runs, for the gates that compare with one.

A stored run is read before anything is scored, and only the tables that a gate needs are kept: a few hundred bytes a
unit. This run's units come as they are counted, and each takes its partner out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.baseline.reference import Reference, load_reference, require_alike
from goldgate.baseline.units import NOBODY, Unit, unit_id
from goldgate.core.counted_unit import CountedUnit, Key
from goldgate.core.gated import Gated, find_gated
from goldgate.core.measure import RatioMeasure
from goldgate.core.page import plural
from goldgate.core.plan import Plan
from goldgate.core.suite import Pairing, Suite
from goldgate.core.sums import Counts
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.url import folder_beside
from goldgate.readers.recorded_units import UnitTables, add_tables, times_over
from goldgate.readers.stored_result import input_digests
from goldgate.stats.gates import Paired
from goldgate.stats.paired import PairedSums, paired_sums
from goldgate.stats.swap import Pair

OVERWRITES = "against.overwritten"
SHOWN_IDS = 5
_MOST_JOINTS = 50_000  # different pairs of counts, before they are reduced to what a rate needs: 10 MB

_Both = tuple[Counts | None, Counts | None]  # of this run and of the stored one


class UnitTaker(NamedTuple):
    """Takes what pairing needs of a unit that was counted. It can be sent to another process."""

    pairing: Pairing
    wanted: frozenset[Key]

    def __call__(self, record: bytes, unit: CountedUnit) -> Unit:
        counted = {key: counts for key in self.wanted if (counts := unit.counted(key)) is not None}
        found = times_over(counted, unit.times)
        identity = orjson.loads(record)[self.pairing.field]
        return Unit(None if identity is None else str(identity), unit.group, found)


class StoredRuns:
    """The stored runs that gates of a plan name, waiting for the units of this one."""

    def __init__(self, suite: Suite, runs: Iterable[_StoredRun]) -> None:
        self.suite = suite
        self.runs = list(runs)
        self.taker = UnitTaker(suite.pairing, frozenset(key for run in self.runs for key in run.wanted))

    def add(self, units: Iterable[Unit]) -> None:
        """Units of this run, in any order."""
        for unit in units:
            for run in self.runs:
                run.add(unit)

    def paired(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, Paired]:
        """For each gate this run and the stored one; an InputError where the two are not alike."""
        return {name: found for run in self.runs for name, found in run.finish(signature, inputs).items()}


def load_stored_runs(suite: Suite, plan: Plan, written: Iterable[str] = ()) -> StoredRuns | None:
    """What the gates compare with; None where none does. `written` are the paths that a command writes to."""
    measures = suite.measures(plan.settings)
    by_name: dict[str, dict[str, Gated]] = {}
    for name, gate in plan.gates.items():
        if gate.against is not None:
            by_name.setdefault(gate.against, {})[name] = _gated(name, measures)
    runs = []
    for named, gates in by_name.items():
        place = plan.place(f"gates.{next(iter(gates))}.against")
        root = folder_beside(plan.file, named, place)
        _require_other_folder(root / named, written, place)
        runs.append(_StoredRun(suite, load_reference(root / named, named, place, suite), gates))
    return StoredRuns(suite, runs) if runs else None


class _StoredRun:
    """One stored run, and the gates that compare with it."""

    def __init__(self, suite: Suite, reference: Reference, gates: Mapping[str, Gated]) -> None:
        self.suite = suite
        self.reference = reference
        self.gates = gates
        self.wanted = frozenset(gated.key for gated in gates.values())
        self._waiting = self._stored_units()
        self._summed: dict[str, tuple[UnitTables, UnitTables]] = {}  # by group
        self._partners: dict[str | None, UnitTables] = {}  # what has several records, and what nobody asked for
        self._keys = {name: gated.key for name, gated in gates.items()}
        self._joints: dict[str, dict[_Both, int]] = {name: {} for name in gates}
        self._pairs: dict[str, dict[Pair, int]] = {name: {} for name in gates}
        self._unknown: list[str] = []

    def _stored_units(self) -> dict[bytes, UnitTables]:
        """The stored side, with as many counts in each table as this version has."""
        widths = {gated.key: len(gated.measure.columns) for gated in self.gates.values()}
        found = self.reference.units(self.wanted)
        if all(len(counts) == widths[key] for tables in found.values() for key, counts in tables.items()):
            return found
        raise self.reference.other_counts()

    def add(self, unit: Unit) -> None:
        identity = unit.identity
        if self.suite.pairing.several or identity is None:
            add_tables(self._partners.setdefault(identity, {}), unit.counts)
            return
        theirs = self._waiting.pop(unit_id(identity), None)
        if theirs is None:
            self._unknown.append(identity)
        elif unit.group is not None:
            both = self._summed.setdefault(unit.group, ({}, {}))
            add_tables(both[0], unit.counts)
            add_tables(both[1], theirs)
        else:
            self._count(unit.counts, theirs)

    def finish(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, Paired]:
        reference, suite = self.reference, self.suite
        require_alike(reference, signature, input_digests(suite, inputs, judged=False), "this run", suite)
        mine_alone, theirs_alone = self._partners.pop(None, {}), self._waiting.pop(NOBODY, {})  # nobody asked for it
        for identity, mine in self._partners.items():
            theirs = self._waiting.pop(unit_id(identity), None)
            if theirs is None:
                self._unknown.append(str(identity))
            else:
                self._count(mine, theirs)
        self._require_all()
        for mine, theirs in self._summed.values():
            self._count(mine, theirs)
        self._reduce()
        asked: dict[str, PairedSums] = {}
        if mine_alone or theirs_alone:
            asked = {name: paired_sums(pairs) for name, pairs in self._pairs.items()}
            self._count(mine_alone, theirs_alone)
            self._reduce()
        judged = input_digests(suite, inputs, judged=True)
        same = any(judged.values()) and bool(reference.judged) and all(dict(run) == judged for run in reference.judged)
        return {
            name: Paired(
                paired_sums(self._pairs[name]),
                gated.measure.ratios[gated.metric].share,
                reference.named,
                reference.sha256,
                same,
                asked.get(name),
            )
            for name, gated in self.gates.items()
        }

    def _count(self, mine: UnitTables, theirs: UnitTables) -> None:
        for name, key in self._keys.items():
            both, joints = (mine.get(key), theirs.get(key)), self._joints[name]
            joints[both] = joints.get(both, 0) + 1
            if len(joints) > _MOST_JOINTS:
                self._reduce()

    def _reduce(self) -> None:
        """Counts into the a and b of each rate; what is equal then is kept once."""
        for name, gated in self.gates.items():
            form, nothing, pairs = (
                gated.measure.forms[gated.metric],
                (0,) * len(gated.measure.columns),
                self._pairs[name],
            )
            for (mine, theirs), times in self._joints[name].items():
                pair = (*form.of(mine or nothing), *form.of(theirs or nothing))
                pairs[pair] = pairs.get(pair, 0) + times
            self._joints[name] = {}

    def _require_all(self) -> None:
        """Every unit of each must be one of the other."""
        if not self._unknown and not self._waiting:
            return
        units, named = plural(self.suite.pairing.unit or self.suite.unit), self.reference.named
        found = []
        if self._unknown:
            found.append(f"{len(self._unknown)} {units} are not in {named}{_some(self._unknown)}")
        if self._waiting:
            names = self.reference.names(self._waiting.keys())
            found.append(f"{len(self._waiting)} of {named} are not in this run{_some(names)}")
        raise InputError(
            "against.missing_ids",
            f"this run and {named} do not have the same {units}",
            place=Place(named),
            expected=f"the same {units} in both",
            found="; ".join(found),
            advice="score both with the same gold",
        )


def _gated(name: str, measures: Iterable[Any]) -> Gated:
    """The rate behind a gate's name; the plan has seen to it that it is one."""
    for measure in measures:
        if isinstance(measure, RatioMeasure) and name in measure.ratios:
            return Gated(measure, name)
    found = find_gated(name, measures)
    assert found is not None
    return found


def _require_other_folder(folder: Path, written: Iterable[str], place: Place) -> None:
    """A run that is compared with what it overwrites would be compared with the last run, whichever that was."""
    for path in written:
        target = Path(path).resolve()
        if target == folder.resolve() or (target.parent == folder.resolve() and target.is_file()):
            raise ConfigError(
                OVERWRITES,
                "the results would overwrite the run that a gate compares with",
                place=place,
                advice="choose another place for --out or --report",
            )


def _some(names: list[str]) -> str:
    if not names:
        return ""
    shown = sorted(names)[:SHOWN_IDS]
    return f" ({', '.join(shown)}{', …' if len(names) > len(shown) else ''})"
