"""Gates that compare with a stored run (`against`): the reference run, and its units paired with those of this run.

A reference run is a result folder, or a baseline folder made of one or more. It is read before anything is scored,
and only the tables that a gate needs are kept: a few hundred bytes a unit. Units of this run are paired as they
are counted.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, cast

from goldgate.core.gate import GateTarget, find_gate_target
from goldgate.core.measure import RatioMeasure
from goldgate.core.page import plural
from goldgate.core.suite import Pairing, Plan, Suite, parse_signature, signature_differences
from goldgate.core.sums import RatioSums
from goldgate.core.tally import TableKey, UnitCounts
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.address import folder_of_reference
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_bytes, read_text_file
from goldgate.readers.stored_result import REPORT, StoredResult, answer_digests, input_digests
from goldgate.readers.unit_records import (
    CountIndex,
    UnitRow,
    UnitTable,
    duplicate_id_error,
    malformed_record_error,
    part_sums_error,
    read_unit_tables,
    scale,
)
from goldgate.runs.baseline import (
    BASELINE_KIND,
    FALSE_ALARM_RATE,
    StoredReport,
    is_baseline,
    load_report,
    make_baseline,
)
from goldgate.runs.contracts import BaselineFolderRecord
from goldgate.runs.differences import ComparedEstimates, sum_runs_by_system, why_not_compared
from goldgate.runs.paired_units import JointUnits, UnitJoin
from goldgate.runs.sources import short_digests
from goldgate.runs.units import NO_IDENTITY, UnitPacker, UnitsFile, ratio_measures, sum_records, unit_id, unpack_units
from goldgate.stats.gates import PairedEstimates, PairedRun
from goldgate.stats.interval import LEVEL
from goldgate.stats.multiple_testing import Runs
from goldgate.stats.paired import PairedSums, paired_sums

MAX_UNITS_BYTES = 1 << 30  # size of packed units, some 20 million of them
BASELINE_FILE, UNITS_FILE = "baseline.json", "units.bin"
_ADVICE = "name a folder that --out wrote, with all its files, or one that goldgate baseline DIR --out wrote"


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """A stored run: what it was made from, and where the counts of its units are."""

    label: str  # as the protocol or the command names it
    sha256: str
    signature: str  # the settings of the scoring
    asked: Mapping[str, Sequence[str]]  # digests of what every system is asked
    judged: Sequence[Mapping[str, Sequence[str]]]  # and of what the systems answered, run by run
    source: StoredResult | BaselineUnits

    def tables(self, index: CountIndex, keys: Collection[TableKey] | None) -> Iterator[UnitTable]:
        """The units; of a baseline, their ids are digests."""
        if isinstance(self.source, StoredResult):
            return read_unit_tables(self.source, index)
        return iter([self.source.table(index, keys)])

    def names(self, ids: Collection[bytes]) -> list[str]:
        """The identities behind digests, as far as they are stored."""
        if not isinstance(self.source, StoredResult):
            return []
        tables = read_unit_tables(self.source, CountIndex())
        return sorted({str(name) for table in tables for name in table.ids if unit_id(name) in ids})


class BaselineUnits(NamedTuple):
    """The units of a baseline folder, and what its record says of them."""

    file: Path
    label: str
    size: int
    sha256: str

    def table(self, index: CountIndex, keys: Collection[TableKey] | None) -> UnitTable:
        data = read_bytes(self.file, BASELINE_KIND, self.label, MAX_UNITS_BYTES)
        try:
            return unpack_units(data, self.size, self.sha256, index, keys)
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            raise self.unreadable(str(problem) if type(problem) is ValueError else None) from None

    def unreadable(self, found: str | None) -> InputError:
        return InputError(
            "baseline.units_unreadable",
            "the units of this baseline cannot be read, or are not those that it was made with",
            place=Place(self.label),
            found=found,
            advice="make the baseline again: goldgate baseline DIR --out FOLDER",
        )


def load_reference_run(folder: Path, name: str, place: Place, suite: Suite) -> ReferenceRun:
    """What `against` names; whatever is wrong with it is the protocol's error."""
    try:
        require_report_or_baseline(folder, name)
        if (folder / BASELINE_FILE).is_file():
            return _reference_from_baseline(folder, name, suite)
        return _reference_from_report(load_report(folder, [suite], name))
    except GoldgateError as problem:
        raise ConfigError(
            "protocol.against_unreadable",
            f"what this gate compares with is not a stored run of the {suite.name} suite",
            place=place,
            expected=f"a folder with {REPORT} and {suite.records}, or one with {BASELINE_FILE} and {UNITS_FILE}",
            found=f"{name}: {problem.message}" + (f" ({problem.found})" if problem.found else ""),
            advice=problem.advice or _ADVICE,
        ) from None


def require_report_or_baseline(folder: Path, name: str, written: str | None = None) -> None:
    """A folder with a report and a baseline would be two stored runs, of which one is verified and the other used."""
    if all(file == written or os.path.lexists(folder / file) for file in (REPORT, BASELINE_FILE)):
        raise InputError(
            "against.two_runs",
            "results and a baseline are in one folder",
            place=Place(name),
            expected=f"{REPORT} or {BASELINE_FILE}",
            found="both",
            advice="keep them in folders of their own",
        )


def make_baseline_and_units(
    folders: Sequence[str | Path], suites: Sequence[Suite], chance: Decimal = FALSE_ALARM_RATE
) -> tuple[BaselineFolderRecord, UnitsFile]:
    """A baseline record of the reports in result folders, and what their units counted; of several runs, the sum."""
    summed = make_baseline(folders, suites, chance)
    runs = [_reference_from_report(load_report(folder, suites)) for folder in folders]
    suite = next(suite for suite in suites if suite.name == summed["suite"])
    for run in runs[1:]:
        require_comparable(run, runs[0].signature, runs[0].asked, runs[0].label, suite)
    runs.sort(key=lambda run: run.sha256)
    packer = UnitPacker()
    for run in runs:
        _pack_run(run, suite, packer, first=run is runs[0])
    packed = packer.pack()
    record: BaselineFolderRecord = {
        **summed,
        "units": {"file": UNITS_FILE, "count": packed.units, "size": packed.size, "sha256": packed.sha256},
        "signature": runs[0].signature,  # without how the systems were asked
        "asked": {name: list(digests) for name, digests in runs[0].asked.items()},
        "judged": [{name: list(digests) for name, digests in run.judged[0].items()} for run in runs],
    }
    return record, packed


def _pack_run(run: ReferenceRun, suite: Suite, packer: UnitPacker, *, first: bool) -> None:
    """Add a run's units; every run must have the same ones."""
    assert isinstance(run.source, StoredResult)
    seen, before = set[bytes](), len(packer.ids())
    for table in run.tables(CountIndex(), None):
        for place, (identity, unit) in enumerate(zip(table.ids, table.units(), strict=True)):
            digest = unit_id(identity)
            if digest in seen and identity is not None and not suite.pairing.several:
                raise duplicate_id_error(identity, run.source)
            seen.add(digest)
            try:
                packer.add(digest, scale(unit, table.times.get(place, 1)))
            except ValueError:
                raise malformed_record_error(run.source, None, "other counts than this version has") from None
    if not first and not before == len(seen) == len(packer.ids()):
        raise InputError(
            "baseline.other_units",
            f"these runs do not have the same {suite.unit}s",
            place=Place(run.label),
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
    expected += [f"{name} with the sha256 {short_digests(asked[name])}" for name in gold]
    differences = [f"{part.name} {part.theirs}" for part in parts]
    differences += [f"{name} with the sha256 {short_digests(reference.asked.get(name, ()))}" for name in gold]
    raise InputError(
        "against.other_gold" if gold else "against.other_settings",
        "only runs scored with the same settings and gold can be compared",
        place=Place(reference.label),
        expected=f"{', '.join(expected)}, like {other}",
        found=", ".join(differences),
        advice="score what it was made of again, with this gold and this protocol",
    )


def _reference_from_report(report: StoredReport) -> ReferenceRun:
    result = report.result
    result.require_records()
    _require_sums_of_report(result)
    return ReferenceRun(
        result.label,
        result.sha256,
        result.signature,
        result.digests(judged=False),
        [answer_digests(result.suite, result.report["inputs"])],
        result,
    )


def _reference_from_baseline(folder: Path, name: str, suite: Suite) -> ReferenceRun:
    file = str(Path(name) / BASELINE_FILE)
    text, digest = read_text_file(folder / BASELINE_FILE, BASELINE_KIND)
    value = parse_json(text, file, BASELINE_KIND)
    if not is_baseline(value, suite.name, BaselineFolderRecord) or not value["judged"]:
        raise InputError(
            "baseline.not_a_baseline",
            f"not a baseline folder of the {suite.name} suite, or not as goldgate wrote it",
            place=Place(file),
            advice=_ADVICE,
        )
    record = cast(BaselineFolderRecord, value)
    size, content = record["units"]["size"], record["units"]["sha256"]
    units = BaselineUnits(folder / UNITS_FILE, str(Path(name) / UNITS_FILE), size, content)
    return ReferenceRun(name, digest, record["signature"], record["asked"], record["judged"], units)


def _require_sums_of_report(result: StoredResult) -> None:
    """The records must give the numbers of the report beside them."""
    measures = ratio_measures(result.suite, result.measured_by)
    tally, _, contradiction = sum_records(result, measures, ignore_other_tables=True)
    if contradiction is not None:
        line, identity = contradiction
        raise part_sums_error(identity, line, result)
    for measure in measures:
        table = tally.tables.get(measure.key)
        sums = {} if table is None else table.sums()
        for name in measure.ratios:
            rate = sums.get(name, RatioSums())
            result.require_sums(name, rate.a, rate.b)
        for name in sorted(measure.compared):
            result.require_value(name, measure.metrics(tally)[name].value)


SHOWN_IDS = 5
_SAME_ITEMS = "compare with a run of the same drawn items"
_THIS, _STORED = range(2)  # the runs of a join


class SelectedUnit(NamedTuple):
    """What was asked for, the group that it is part of, and what it counted. No identity: it belongs to no query."""

    identity: str | None
    group: str | None
    counts: UnitCounts


class UnitSelector(NamedTuple):
    """Takes what pairing needs of a unit that was counted. It can be sent to another process."""

    pairing: Pairing
    keys: frozenset[TableKey]
    estimated: frozenset[str]  # tables that are taken with all their parts

    def __call__(
        self, record: Mapping[str, object], unit: UnitCounts, group: str | None, times: int = 1
    ) -> SelectedUnit:
        identity = record[self.pairing.field]
        counts = {key: unit[key] for key in self.keys if key in unit}
        if self.estimated:
            counts |= {key: own for key, own in unit.items() if key[0] in self.estimated}
        return SelectedUnit(None if identity is None else str(identity), group, scale(counts, times))


class ReferenceRuns:
    """The stored runs that gates of a plan name, waiting for the units of this one."""

    def __init__(self, suite: Suite, runs: Iterable[_PairedRun]) -> None:
        self.suite = suite
        self.runs = list(runs)
        keys = frozenset(key for run in self.runs for key in run.keys)
        estimated = frozenset(table for run in self.runs for table in run.estimated)
        self.selector = UnitSelector(suite.pairing, keys, estimated)

    def add(self, units: Iterable[SelectedUnit]) -> None:
        """Units of this run, in any order."""
        for unit in units:
            self.add_unit(unit)

    def add_unit(self, unit: SelectedUnit) -> None:
        for run in self.runs:
            run.add(unit)

    def paired(self, signature: str, inputs: Mapping[str, object]) -> dict[str, PairedRun]:
        """For each gate this run and the stored one; an InputError where the two are not alike."""
        return {name: rate for run in self.runs for name, rate in run.finish(signature, inputs).items()}


def load_reference_runs(suite: Suite, plan: Plan, written: Iterable[str] = ()) -> ReferenceRuns | None:
    """What the gates compare with; None where none does. `written` are the paths that a command writes to."""
    measures = suite.measures(plan.settings)
    by_name: dict[str, dict[str, GateTarget]] = {}
    for name, gate in plan.gates.items():
        if gate.against is not None:
            by_name.setdefault(gate.against, {})[name] = _gate_target(name, measures)
    runs = []
    for name, gates in by_name.items():
        place = plan.place(f"gates.{next(iter(gates))}.against")
        root = folder_of_reference(plan.file, name, place)
        _require_other_folder(root / name, written, place)
        runs.append(_PairedRun(suite, load_reference_run(root / name, name, place, suite), gates))
    return ReferenceRuns(suite, runs) if runs else None


class _PairedRun:
    """One stored run, and the gates that compare with it."""

    def __init__(self, suite: Suite, reference: ReferenceRun, gates: Mapping[str, GateTarget]) -> None:
        self.suite = suite
        self.reference = reference
        self.gates = gates
        self.keys = frozenset(gated.key for gated in gates.values())
        self.estimated = frozenset(gated.measure.table for gated in gates.values() if gated.is_estimate)
        if self.estimated and len(reference.judged) > 1:
            raise _not_comparable(reference, "it is a baseline of several runs", "make a baseline of one run")
        widths = {gated.measure.table: len(gated.measure.columns) for gated in gates.values()}
        stored = reference.source if isinstance(reference.source, StoredResult) else None
        self._join = UnitJoin([None, stored], widths, several=suite.pairing.several)
        self._names: dict[bytes, str | None] = {}
        index = self._join.index
        for table in reference.tables(index, None if self.estimated else self.keys):
            for place in range(len(table)):
                unit, numbers = table.row(place), []
                for number in unit.numbers:
                    key = index.keys[index.tables[number]]
                    if key in self.keys or key[0] in self.estimated:
                        numbers.append(number)
                self._join.add(
                    _STORED, _digest(unit.identity), unit._replace(numbers=numbers), table.first_line + place
                )

    def add(self, unit: SelectedUnit) -> None:
        digest = _digest(unit.identity)
        row = UnitRow(unit.identity, self._join.index.numbers(unit.counts), unit.group)
        if not self._join.add(_THIS, digest, row) and digest is not None:
            self._names[digest] = unit.identity

    def finish(self, signature: str, inputs: Mapping[str, object]) -> dict[str, PairedRun]:
        reference, suite = self.reference, self.suite
        require_comparable(reference, signature, input_digests(suite, inputs, judged=False), "this run", suite)
        joined = self._join.finish()
        self._require_all(joined)
        judged = answer_digests(suite, inputs)
        same = any(judged.values()) and bool(reference.judged) and all(dict(run) == judged for run in reference.judged)
        paired = {}
        for name, gated in self.gates.items():
            if gated.is_estimate:
                paired[name] = self._paired_estimates(gated, joined, same)
                continue
            form, ratio = gated.measure.gate_form(gated.metric), gated.measure.ratios[gated.metric]
            why = why_not_compared(joined, gated.key, gated.measure.columns, ratio.equality, (_THIS, _STORED))
            if why is not None:
                raise _not_comparable(reference, why, _SAME_ITEMS)
            sums = _paired_sums(joined.pairs(gated.key, form))
            asked = _paired_sums(joined.asked_pairs(gated.key, form)) if joined.unasked else None
            paired[name] = PairedRun(sums, ratio.share, reference.label, reference.sha256, same, asked)
        return paired

    def _paired_estimates(self, gated: GateTarget, joined: JointUnits, same: bool) -> PairedRun:
        """The difference of an estimate; an InputError where it would mean nothing."""
        reference, tables = self.reference, ComparedEstimates(joined).tables(gated.measure, (_THIS, _STORED))
        result = gated.measure.difference(gated.metric, gated.key, tables, for_gate=True)
        if not result.comparable:
            raise _not_comparable(reference, str(result.reason), _SAME_ITEMS)
        units = joined.units if result.interval_at is None else result.interval_at(LEVEL).units
        estimates = PairedEstimates(result.value, units, result.interval_at)
        why = f"cannot be compared with: {result.reason}"
        return PairedRun(estimates, True, reference.label, reference.sha256, same, undefined=why)

    def _require_all(self, joined: JointUnits) -> None:
        """Raise an error if this run or the stored one has units that the other lacks."""
        if not joined.lacking:
            return
        units, reference = plural(self.suite.pairing.unit or self.suite.unit), self.reference.label
        problems = []
        unknown, missing = joined.lacking.get(_STORED), joined.lacking.get(_THIS)
        if unknown:
            names = [str(self._names[identity]) for identity in unknown]
            problems.append(f"{len(unknown)} {units} are not in {reference}{_first_ids(names)}")
        if missing:
            names = self.reference.names({*missing})
            problems.append(f"{len(missing)} of {reference} are not in this run{_first_ids(names)}")
        raise InputError(
            "against.missing_ids",
            f"this run and {reference} do not have the same {units}",
            place=Place(reference),
            expected=f"the same {units} in both",
            found="; ".join(problems),
            advice="score both with the same gold",
        )


def _digest(identity: str | bytes | None) -> bytes | None:
    """What units are paired by; None for a run that belongs to no query."""
    digest = identity if isinstance(identity, bytes) else unit_id(identity)
    return None if digest == NO_IDENTITY else digest


def _paired_sums(pairs: Mapping[Runs, int]) -> PairedSums:
    return paired_sums(sum_runs_by_system(pairs, [_THIS], [_STORED]))


def _not_comparable(reference: ReferenceRun, reason: str, advice: str) -> InputError:
    return InputError(
        "against.not_comparable",
        f"this run and {reference.label} cannot be compared: {reason}",
        place=Place(reference.label),
        advice=f"{advice}, or set a gate with min alone",
    )


def _gate_target(name: str, measures: Iterable[Any]) -> GateTarget:
    """The rate or estimate behind a gate's name; the plan has seen to it that it is one."""
    for measure in measures:
        if isinstance(measure, RatioMeasure) and (name in measure.ratios or name in measure.compared):
            return GateTarget(measure, name)
    target = find_gate_target(name, measures)
    assert target is not None
    return target


def _require_other_folder(folder: Path, written: Iterable[str], place: Place) -> None:
    """A run that is compared with what it overwrites would be compared with the last run, whichever that was."""
    for path in written:
        target = Path(path).resolve()
        if target == folder.resolve() or (target.parent == folder.resolve() and target.is_file()):
            raise ConfigError(
                "against.overwritten",
                "the results would overwrite the run that a gate compares with",
                place=place,
                advice="choose another place for --out or --report",
            )


def _first_ids(names: list[str]) -> str:
    if not names:
        return ""
    first = sorted(names)[:SHOWN_IDS]
    return f" ({', '.join(first)}{', …' if len(names) > len(first) else ''})"
