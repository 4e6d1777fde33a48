"""Gates that compare with a stored run (`against`): the reference run, and its units paired with those of this run.

A reference run is a result folder, or a baseline folder made of one or more. It is read before anything is scored,
and only the tables that a gate needs are kept: a few hundred bytes a unit. Units of this run are paired as they
are counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.gate import GateTarget, find_gate_target
from goldgate.core.measure import RatioMeasure
from goldgate.core.page import plural
from goldgate.core.plan import Plan, parse_signature, signature_differences
from goldgate.core.suite import Pairing, Suite
from goldgate.core.sums import Counts
from goldgate.core.tally import TableKey, UnitCounts
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.address import folder_of_reference
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_bytes, read_text_file
from goldgate.readers.stored_result import REPORT, StoredResult, input_digests
from goldgate.readers.unit_records import (
    add_tables,
    malformed_record_error,
    part_sums_error,
    parts_add_up,
    read_units,
    scale,
    unit_tables,
)
from goldgate.runs.baseline import (
    BASELINE_KIND,
    FALSE_ALARM_RATE,
    FORMAT_VERSION,
    StoredReport,
    load_report,
    make_baseline,
)
from goldgate.runs.units import (
    NO_IDENTITY,
    UnitPacker,
    UnitRow,
    UnitsFile,
    read_unit_rows,
    unit_id,
    unit_tables_by_id,
    unpack_units,
)
from goldgate.stats.gates import PairedRun
from goldgate.stats.paired import PairedSums, UnitPair, paired_sums

MAX_UNITS_BYTES = 1 << 30  # of the packed units: some 20 million
BASELINE_FILE, UNITS_FILE = "baseline.json", "units.bin"
_ADVICE = "name a folder that --out wrote, with all its files, or one that goldgate baseline DIR --out wrote"


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """A stored run: what it was made from, and where the counts of its units are."""

    named: str  # as the protocol or the command names it
    sha256: str
    signature: str  # of how it was scored
    asked: Mapping[str, Sequence[str]]  # digests of what every system is asked
    judged: Sequence[Mapping[str, Sequence[str]]]  # and of what the systems made, run by run
    source: StoredResult | BaselineUnits

    def units(self, wanted: Collection[TableKey] | None = None) -> dict[bytes, UnitCounts]:
        """The counts of every unit by its id."""
        if isinstance(self.source, StoredResult):
            return unit_tables_by_id(self.source, wanted)
        return self.source.units(wanted)

    def names(self, ids: Collection[bytes]) -> list[str]:
        """The identities behind ids, as far as they are stored: a baseline has none."""
        if not isinstance(self.source, StoredResult):
            return []
        return sorted({str(unit.identity) for unit in read_units(self.source) if unit_id(unit.identity) in ids})

    def other_counts(self) -> InputError:
        """The error for units that this version counts in another way."""
        if isinstance(self.source, StoredResult):
            return malformed_record_error(self.source, None, "other counts than this version has")
        return self.source.unreadable("counts that this version does not have")


class BaselineUnits(NamedTuple):
    """The units of a baseline folder, and what its record says of them."""

    file: Path
    named: str
    told: Mapping[str, Any]

    def units(self, wanted: Collection[TableKey] | None = None) -> dict[bytes, UnitCounts]:
        data = read_bytes(self.file, BASELINE_KIND, self.named, MAX_UNITS_BYTES)
        try:
            return unpack_units(data, int(self.told["size"]), str(self.told["sha256"]), wanted)
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            raise self.unreadable(str(problem) if type(problem) is ValueError else None) from None

    def unreadable(self, found: str | None) -> InputError:
        return InputError(
            "baseline.units_unreadable",
            "the units of this baseline cannot be read, or are not those that it was made with",
            place=Place(self.named),
            found=found,
            advice="make the baseline again: goldgate baseline DIR --out FOLDER",
        )


def load_reference_run(folder: Path, named: str, place: Place, suite: Suite) -> ReferenceRun:
    """What `against` names; whatever is wrong with it is the protocol's error."""
    try:
        require_report_or_baseline(folder, named)
        if (folder / BASELINE_FILE).is_file():
            return _reference_from_baseline(folder, named, suite)
        return _reference_from_report(load_report(folder, [suite], named))
    except GoldgateError as problem:
        raise ConfigError(
            "protocol.against_unreadable",
            f"what this gate compares with is no stored run of the {suite.name} suite",
            place=place,
            expected=f"a folder with {REPORT} and {suite.records}, or one with {BASELINE_FILE} and {UNITS_FILE}",
            found=f"{named}: {problem.message}" + (f" ({problem.found})" if problem.found else ""),
            advice=problem.advice or _ADVICE,
        ) from None


def require_report_or_baseline(folder: Path, named: str, written: str | None = None) -> None:
    """A folder with a report and a baseline would be two stored runs, of which one is verified and the other used."""
    if all(name == written or os.path.lexists(folder / name) for name in (REPORT, BASELINE_FILE)):
        raise InputError(
            "against.two_runs",
            "results and a baseline are in one folder",
            place=Place(named),
            expected=f"{REPORT} or {BASELINE_FILE}",
            found="both",
            advice="keep them in folders of their own",
        )


def make_baseline_and_units(
    folders: Sequence[str | Path], suites: Sequence[Suite], chance: Decimal = FALSE_ALARM_RATE
) -> tuple[dict[str, Any], UnitsFile]:
    """A baseline record of the reports in result folders, and what their units counted; of several runs, the sum."""
    record = make_baseline(folders, suites, chance)
    runs = [_reference_from_report(load_report(folder, suites)) for folder in folders]
    suite = next(suite for suite in suites if suite.name == record["suite"])
    for run in runs[1:]:
        require_comparable(run, runs[0].signature, runs[0].asked, runs[0].named, suite)
    runs.sort(key=lambda run: run.sha256)
    packer = UnitPacker()
    for run in runs:
        _pack_run(run, suite, packer, first=run is runs[0])
    packed = packer.pack()
    record["units"] = {"file": UNITS_FILE, "count": packed.units, "size": packed.size, "sha256": packed.sha256}
    record["signature"] = runs[0].signature  # without how the systems were asked
    record["asked"] = {name: list(digests) for name, digests in runs[0].asked.items()}
    record["judged"] = [{name: list(digests) for name, digests in run.judged[0].items()} for run in runs]
    return record, packed


def _pack_run(run: ReferenceRun, suite: Suite, packer: UnitPacker, *, first: bool) -> None:
    """Add a run's units; every run must have the same ones."""
    assert isinstance(run.source, StoredResult)
    seen, before = set[bytes](), len(packer.ids())
    for unit in read_unit_rows(run.source):
        identity = unit_id(unit.identity)
        seen.add(identity)
        try:
            packer.add(identity, unit.counts)
        except ValueError:
            raise run.other_counts() from None
    if not first and not before == len(seen) == len(packer.ids()):
        raise InputError(
            "baseline.other_units",
            f"these runs do not have the same {suite.unit}s",
            place=Place(run.named),
            expected=f"the {before} {suite.unit}s of the others",
            found=f"{len(seen)}, of which {len(packer.ids()) - before} are not among those",
        )


def require_comparable(
    reference: ReferenceRun, signature: str, asked: Mapping[str, Sequence[str]], other: str, suite: Suite
) -> None:
    """An InputError that names what differs, unless both were scored alike by the same gold."""
    parts = signature_differences(parse_signature(signature), parse_signature(reference.signature))
    gold = [name for name in asked if list(asked[name]) != list(reference.asked.get(name, ()))]
    if not parts and not gold:
        return
    expected = [f"{part.name} {part.mine}" for part in parts]
    expected += [f"{name} with the sha256 {_short_digests(asked[name])}" for name in gold]
    found = [f"{part.name} {part.theirs}" for part in parts]
    found += [f"{name} with the sha256 {_short_digests(reference.asked.get(name, ()))}" for name in gold]
    raise InputError(
        "against.other_gold" if gold else "against.other_settings",
        "only runs that were scored alike, by the same gold, can be compared",
        place=Place(reference.named),
        expected=f"{', '.join(expected)}, like {other}",
        found=", ".join(found),
        advice="score what it was made of again, with this gold and this protocol",
    )


def _reference_from_report(report: StoredReport) -> ReferenceRun:
    result = report.result
    result.require_records()
    _require_sums_of_report(result)
    return ReferenceRun(
        result.named,
        result.sha256,
        result.signature,
        result.digests(judged=False),
        [result.digests(judged=True)],
        result,
    )


def _reference_from_baseline(folder: Path, named: str, suite: Suite) -> ReferenceRun:
    file = str(Path(named) / BASELINE_FILE)
    text, digest = read_text_file(folder / BASELINE_FILE, BASELINE_KIND)
    value = parse_json(text, file, BASELINE_KIND)
    try:
        if (value["kind"], value["suite"], value["format_version"]) != (BASELINE_KIND, suite.name, FORMAT_VERSION):
            raise KeyError("kind")
        asked, judged = _digest_lists(value["asked"]), [_digest_lists(run) for run in value["judged"]]
        size, content, signature = value["units"]["size"], value["units"]["sha256"], value["signature"]
        if type(size) is not int or type(content) is not str or type(signature) is not str or not judged:
            raise TypeError("units")
        units = BaselineUnits(folder / UNITS_FILE, str(Path(named) / UNITS_FILE), {"size": size, "sha256": content})
        return ReferenceRun(named, digest, signature, asked, judged, units)
    except (KeyError, TypeError, AttributeError):
        raise InputError(
            "baseline.not_a_baseline",
            f"not a baseline folder of the {suite.name} suite, or not as goldgate wrote it",
            place=Place(file),
            advice=_ADVICE,
        ) from None


def _digest_lists(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Lists of digests by the name of an input; TypeError where it is something else."""
    if not all(type(found) is list and all(type(digest) is str for digest in found) for found in given.values()):
        raise TypeError("digests")
    return dict(given)


def _require_sums_of_report(result: StoredResult) -> None:
    """The records must give the numbers of the report beside them."""
    measures = {
        measure.key: measure
        for measure in result.suite.measures(result.measured_by)
        if isinstance(measure, RatioMeasure)
    }
    vectors: Counter[tuple[TableKey, Counts]] = Counter()  # equal ones are multiplied, not added one by one
    for unit in read_units(result):
        counted = unit_tables(unit, result)
        if not parts_add_up(counted):
            raise part_sums_error(unit, result)
        for key in measures.keys() & counted.keys():
            if len(counted[key]) != len(measures[key].columns):
                raise malformed_record_error(result, unit.line, f"{len(counted[key])} counts of {key[0]}")
            vectors[key, counted[key]] += unit.times
    for measure in measures.values():
        own = [(counts, times) for (key, counts), times in vectors.items() if key == measure.key]
        for metric in measure.ratios:
            pairs = [(*measure.forms[metric].of(counts), times) for counts, times in own]
            result.require_sums(
                metric, sum(a * times for a, _, times in pairs), sum(b * times for _, b, times in pairs)
            )


def _short_digests(found: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in found) or "none"


OVERWRITES_CODE = "against.overwritten"
SHOWN_IDS = 5
_MAX_JOINTS = 50_000  # different pairs of counts, before they are reduced to what a rate needs: 10 MB

_CountsOfBoth = tuple[Counts | None, Counts | None]  # of this run and of the stored one


class UnitSelector(NamedTuple):
    """Takes what pairing needs of a unit that was counted. It can be sent to another process."""

    pairing: Pairing
    wanted: frozenset[TableKey]

    def __call__(self, record: Mapping[str, Any], unit: UnitCounts, group: str | None, times: int = 1) -> UnitRow:
        identity = record[self.pairing.field]
        counts = scale({key: unit[key] for key in self.wanted if key in unit}, times)
        return UnitRow(None if identity is None else str(identity), group, counts)


class ReferenceRuns:
    """The stored runs that gates of a plan name, waiting for the units of this one."""

    def __init__(self, suite: Suite, runs: Iterable[_PairedRun]) -> None:
        self.suite = suite
        self.runs = list(runs)
        self.selector = UnitSelector(suite.pairing, frozenset(key for run in self.runs for key in run.wanted))

    def add(self, units: Iterable[UnitRow]) -> None:
        """Units of this run, in any order."""
        for unit in units:
            self.add_unit(unit)

    def add_unit(self, unit: UnitRow) -> None:
        for run in self.runs:
            run.add(unit)

    def paired(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, PairedRun]:
        """For each gate this run and the stored one; an InputError where the two are not alike."""
        return {name: found for run in self.runs for name, found in run.finish(signature, inputs).items()}


def load_reference_runs(suite: Suite, plan: Plan, written: Iterable[str] = ()) -> ReferenceRuns | None:
    """What the gates compare with; None where none does. `written` are the paths that a command writes to."""
    measures = suite.measures(plan.settings)
    by_name: dict[str, dict[str, GateTarget]] = {}
    for name, gate in plan.gates.items():
        if gate.against is not None:
            by_name.setdefault(gate.against, {})[name] = _gate_target(name, measures)
    runs = []
    for named, gates in by_name.items():
        place = plan.place(f"gates.{next(iter(gates))}.against")
        root = folder_of_reference(plan.file, named, place)
        _require_other_folder(root / named, written, place)
        runs.append(_PairedRun(suite, load_reference_run(root / named, named, place, suite), gates))
    return ReferenceRuns(suite, runs) if runs else None


class _PairedRun:
    """One stored run, and the gates that compare with it."""

    def __init__(self, suite: Suite, reference: ReferenceRun, gates: Mapping[str, GateTarget]) -> None:
        self.suite = suite
        self.reference = reference
        self.gates = gates
        self.wanted = frozenset(gated.key for gated in gates.values())
        self._waiting = self._stored_units()
        self._summed: dict[str, tuple[UnitCounts, UnitCounts]] = {}  # by group
        self._partners: dict[str | None, UnitCounts] = {}  # what has several records, and what nobody asked for
        self._keys = {name: gated.key for name, gated in gates.items()}
        self._joints: dict[str, dict[_CountsOfBoth, int]] = {name: {} for name in gates}
        self._pairs: dict[str, dict[UnitPair, int]] = {name: {} for name in gates}
        self._unknown: list[str] = []

    def _stored_units(self) -> dict[bytes, UnitCounts]:
        """The stored side, with as many counts in each table as this version has."""
        widths = {gated.key: len(gated.measure.columns) for gated in self.gates.values()}
        found = self.reference.units(self.wanted)
        if all(len(counts) == widths[key] for tables in found.values() for key, counts in tables.items()):
            return found
        raise self.reference.other_counts()

    def add(self, unit: UnitRow) -> None:
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

    def finish(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, PairedRun]:
        reference, suite = self.reference, self.suite
        require_comparable(reference, signature, input_digests(suite, inputs, judged=False), "this run", suite)
        mine_alone, theirs_alone = (
            self._partners.pop(None, {}),
            self._waiting.pop(NO_IDENTITY, {}),
        )  # nobody asked for it
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
            name: PairedRun(
                paired_sums(self._pairs[name]),
                gated.measure.ratios[gated.metric].share,
                reference.named,
                reference.sha256,
                same,
                asked.get(name),
            )
            for name, gated in self.gates.items()
        }

    def _count(self, mine: UnitCounts, theirs: UnitCounts) -> None:
        for name, key in self._keys.items():
            both, joints = (mine.get(key), theirs.get(key)), self._joints[name]
            joints[both] = joints.get(both, 0) + 1
            if len(joints) > _MAX_JOINTS:
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
            found.append(f"{len(self._unknown)} {units} are not in {named}{_first_ids(self._unknown)}")
        if self._waiting:
            names = self.reference.names(self._waiting.keys())
            found.append(f"{len(self._waiting)} of {named} are not in this run{_first_ids(names)}")
        raise InputError(
            "against.missing_ids",
            f"this run and {named} do not have the same {units}",
            place=Place(named),
            expected=f"the same {units} in both",
            found="; ".join(found),
            advice="score both with the same gold",
        )


def _gate_target(name: str, measures: Iterable[Any]) -> GateTarget:
    """The rate behind a gate's name; the plan has seen to it that it is one."""
    for measure in measures:
        if isinstance(measure, RatioMeasure) and name in measure.ratios:
            return GateTarget(measure, name)
    found = find_gate_target(name, measures)
    assert found is not None
    return found


def _require_other_folder(folder: Path, written: Iterable[str], place: Place) -> None:
    """A run that is compared with what it overwrites would be compared with the last run, whichever that was."""
    for path in written:
        target = Path(path).resolve()
        if target == folder.resolve() or (target.parent == folder.resolve() and target.is_file()):
            raise ConfigError(
                OVERWRITES_CODE,
                "the results would overwrite the run that a gate compares with",
                place=place,
                advice="choose another place for --out or --report",
            )


def _first_ids(names: list[str]) -> str:
    if not names:
        return ""
    shown = sorted(names)[:SHOWN_IDS]
    return f" ({', '.join(shown)}{', …' if len(names) > len(shown) else ''})"
