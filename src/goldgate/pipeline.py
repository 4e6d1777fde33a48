"""The line that every evaluation follows: read → score → count → sum → divide → judge → describe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import goldgate
from goldgate.core.evaluation import FORMAT_VERSION, Evaluation
from goldgate.core.finding import (
    LimitedFindings,
    common_remarks,
    explain_zero,
    finding_entries,
    first_causes,
    gates_that_cannot_fail_remarks,
    lowered_gates_remarks,
    wrong_direction_remarks,
)
from goldgate.core.gate import GateResult, Verdict, overall_verdict
from goldgate.core.measure import SampledMeasure, table_forms
from goldgate.core.metric import Metrics
from goldgate.core.process import infrequent_gc
from goldgate.core.suite import BATCH_SIZE, Inputs, Measure, Outcome, Plan, Source, Suite, Work, signature
from goldgate.core.tally import Tally, UnitCounts
from goldgate.core.unit_page import InputLookup
from goldgate.engines import Engine, EngineName, start_engine
from goldgate.engines.parts import RecordWriter
from goldgate.errors import Place
from goldgate.protocol import ProtocolSource
from goldgate.readers.unit_records import record_line
from goldgate.stats.gates import family_note, judge_gates, support
from goldgate.stats.interval import GROUP, LEVEL, METHOD, metric_with_interval
from goldgate.suites.plan import gate_metrics, load_plan
from goldgate.suites.worst_units import CostliestUnits, UnitWeigher, WorstUnits

if TYPE_CHECKING:
    from goldgate.core.contracts import GateCauses, SuiteReport
    from goldgate.runs.reference import ReferenceRuns, SelectedUnit, UnitSelector

Progress = Callable[[int, int], None]  # units done, units in all
Finished = Callable[
    [Evaluation, Plan, InputLookup, WorstUnits], None
]  # the evaluation, and its inputs while they are open


def evaluate_suite(
    suite: Suite,
    inputs: Inputs,
    protocol: ProtocolSource = None,
    *,
    workers: int | None = None,
    engine: EngineName | Engine = "processes",
    ray_address: str | None = None,
    written: Sequence[str] = (),
    records: IO[bytes] | None = None,
    progress: Progress | None = None,
    finished: Finished | None = None,
) -> Evaluation:
    """Score what is stored and judge it: the same files give the same report, whatever carries out the work.

    Without a number of `workers` it is one process, or the whole cluster at `ray_address`. An `engine` that was started
    already is taken as it is, and left to its owner.
    `records` receives a line of JSON for each unit (what a command writes to samples.jsonl or runs.jsonl);
    `written` are paths that the caller writes to, which are no input. `finished` is called while the inputs are open,
    with the worst units of `records`.
    """
    with ExitStack() as stack:
        # First, because workers take a while to start.
        mapper = (
            stack.enter_context(start_engine(workers, suite.preload, engine, ray_address))
            if isinstance(engine, str)
            else engine
        )
        plan = load_plan(suite, protocol)
        stored = _stored_runs(suite, plan, written)
        source = stack.enter_context(suite.open(inputs, plan, written, mapper))
        weigh = UnitWeigher(suite, plan, lines=finished is not None)
        total = _count_all(source, mapper, records, progress, stored, weigh)
        outcome = source.finish()
        outcome.findings += total.findings.to_list()
        evaluation = judge(suite, plan, total.tally, outcome, stored, total.costliest)
        evaluation = replace(evaluation, places=_unit_places(evaluation.report, source))
        if finished is not None:
            finished(evaluation, plan, source.lookup(), total.worst)
        return evaluation


def _stored_runs(suite: Suite, plan: Plan, written: Sequence[str]) -> ReferenceRuns | None:
    if all(gate.against is None for gate in plan.gates.values()):
        return None  # few protocols compare with a stored run, and it takes 20 ms to import what does
    from goldgate.runs.reference import load_reference_runs

    return load_reference_runs(suite, plan, written)


def _unit_places(report: SuiteReport, source: Source[Any, Any]) -> dict[str, Place]:
    """Where the units are that gates name. A report does not say: the order of lines changes nothing in it."""
    units = {cause["id"] for causes in report["causes"] for cause in causes["first"] if "id" in cause}
    return {unit: source.place(unit) for unit in units}


def judge(
    suite: Suite,
    plan: Plan,
    tally: Tally,
    outcome: Outcome,
    stored: ReferenceRuns | None = None,
    costliest: CostliestUnits | None = None,
) -> Evaluation:
    """Divide the sum, check the gates, and put the report together."""
    sections = divide(suite.measures(plan.settings), tally)
    metrics = {name: metric for section in sections.values() for name, metric in section.items()}
    unit = GROUP if tally.is_grouped else suite.unit
    outcome.note_counts(tally)
    signed = signature(_settings(suite, plan, outcome))
    paired = stored.paired(signed, outcome.inputs) if stored is not None else {}
    gated = gate_metrics(suite, plan, metrics, tally, outcome)
    gates = outcome.overrule(judge_gates(plan.gates, gated, paired, unit), tally)
    together = family_note(plan.gates)
    causes = [*_gate_causes(gates, suite.unit, outcome, costliest or CostliestUnits())]
    details = outcome.details(tally, metrics, gates)
    entries = {
        "format_version": FORMAT_VERSION,
        "suite": suite.name,
        "status": overall_verdict(gates),
        "protocol": asdict(plan.protocol),
        "signature": signed,
        "inputs": {**outcome.inputs, "protocol": plan.sha256, "baseline": plan.baseline_sha256},
        "gates": [
            gate.as_json(metric_with_interval(gate.measured, unit), support(gate.gate, gate.measured)) for gate in gates
        ],
        **({} if together is None else {"gates_together": together}),
        "causes": causes,
        "metrics": {
            "version": suite.metrics_version,
            **{
                name: {metric: metric_with_interval(value, unit) for metric, value in section.items()}
                for name, section in sections.items()
            },
        },
        "stands_out": [],
        **details,
        "findings": finding_entries(outcome.findings),
        "error": None,
    }
    report = cast("SuiteReport", entries)  # with the parts of the suite's own type
    report["stands_out"] = explain_zero([
        *common_remarks(report, suite.headline),
        *gates_that_cannot_fail_remarks(gates),
        *wrong_direction_remarks(plan.gates),
        *lowered_gates_remarks(plan.gates, suite.gates(plan)),
        *outcome.remarks(report),
    ])  # fmt: skip
    return Evaluation(report, metrics, gates)


def _gate_causes(
    gates: Iterable[GateResult], unit: str, outcome: Outcome, costliest: CostliestUnits
) -> Iterator[GateCauses]:
    """What keeps each gate from passing."""
    for gate in gates:
        if gate.verdict is Verdict.PASS:
            continue
        findings = outcome.causes(gate)
        first, more = costliest.causes(gate.metric, unit) if findings is None else first_causes(findings)
        if first:
            yield {"metric": gate.metric, "first": [finding.as_json() for finding in first], "more": more}


def divide(measures: Sequence[Measure[Any]], tally: Tally) -> dict[str, Metrics]:
    """All metrics of a tally, by section and name."""
    sections: dict[str, Metrics] = {"main": {}}
    for measure in measures:
        sections.setdefault(measure.section, {}).update(measure.metrics(tally))
    return sections


class UnitCounter:
    """Counts units one after the other: their sum, their findings, and which are the worst.

    `write` takes the lines of records, and `take` what gates need that compare with a stored run.
    """

    def __init__(
        self,
        work: Work[Any, Any],
        write: Callable[[bytes], object] | None = None,
        take: Callable[[SelectedUnit], object] | None = None,
        select: UnitSelector | None = None,
        weigh: UnitWeigher | None = None,
    ) -> None:
        self.total = Total(Tally(table_forms(work.measures)), weigh)
        self._work = work
        self._write = write
        self._take = take
        self._select = select
        self._weigh = weigh

    def count(self, scored: Iterable[tuple[Any, str | None]]) -> None:
        """Count facts, each with the group that it is part of."""
        units, measures, total = iter(scored), self._work.measures, self.total
        while batch := list(islice(units, BATCH_SIZE)):
            all_facts = [facts for facts, _ in batch]
            counts: list[UnitCounts] = [{} for _ in batch]
            for measure in measures:
                for facts, unit in zip(all_facts, counts, strict=True):
                    unit.update(measure.count(facts))
                for totals in filter(None, map(measure.totals, all_facts)):
                    total.tally.add_totals(totals)
                if isinstance(measure, SampledMeasure):
                    for facts in all_facts:
                        measure.add_to(total.tally, facts)
            for (facts, group), unit in zip(batch, counts, strict=True):
                self._add(facts, unit, group)
            total.units += len(batch)

    def _add(self, facts: Any, unit: UnitCounts, group: str | None) -> None:
        work, total, times = self._work, self.total, self._work.multiplicity(facts)
        total.tally.add(unit, group, times)
        total.tally.add_fingerprint(work.fingerprint(facts))
        total.tally.add_answer(work.answer(facts))
        total.findings.add(work.findings(facts))
        if self._weigh is not None:
            self._weigh.add_cost(total.costliest, work, facts, unit, group)
        if self._write is None and self._select is None:
            return
        record = work.record(facts)
        if self._write is not None:
            line = record_line(record, unit, group, times)
            self._write(line)
            if self._weigh is not None and self._weigh.lines:
                self._weigh.add(total.worst, line, work.weight(facts), unit.get)
        if self._select is not None and self._take is not None:
            self._take(self._select(record, unit, group, times))


class Total:
    """Tally, findings and worst units of some units: of a shard, or of all. Totals add up."""

    def __init__(self, tally: Tally, weigh: UnitWeigher | None) -> None:
        self.units = 0
        self.tally = tally
        self.findings = LimitedFindings()
        self.worst = WorstUnits() if weigh is None else weigh.nothing()
        self.costliest = CostliestUnits()

    def __iadd__(self, other: Total) -> Total:
        self.units += other.units
        self.tally += other.tally
        self.findings.add(other.findings.to_list())
        self.worst += other.worst
        self.costliest += other.costliest
        return self


class ShardResult(NamedTuple):
    """The total of one shard, and where the records of its units were put as JSON Lines."""

    total: Total
    records: Any
    selected: list[SelectedUnit]  # for gates that compare with a stored run


class CountShard:
    """Scores and counts the units of a shard, and writes their records if it has a writer. It can be sent to another
    process."""

    def __init__(
        self, work: Work[Any, Any], select: UnitSelector | None = None, weigh: UnitWeigher | None = None
    ) -> None:
        self.work = work
        self.select = select
        self.weigh = weigh

    def __call__(self, task: tuple[Any, RecordWriter | None]) -> ShardResult:
        shard, writer = task
        lines: list[bytes] = []
        selected: list[SelectedUnit] = []
        write = None if writer is None else lines.append
        counter = UnitCounter(self.work, write, selected.append, self.select, self.weigh)
        with infrequent_gc():
            counter.count(self.work.grouped(shard))
        return ShardResult(counter.total, None if writer is None else writer.write(b"".join(lines)), selected)


class ScoreShard:
    """Scores the units of a shard and counts none: that takes all of them."""

    def __init__(self, work: Work[Any, Any]) -> None:
        self.work = work

    def __call__(self, shard: Any) -> list[Any]:
        return list(self.work.score(shard))


def _count_all(
    source: Source[Any, Any],
    engine: Engine,
    records: IO[bytes] | None,
    progress: Progress | None,
    stored: ReferenceRuns | None,
    weigh: UnitWeigher | None,
) -> Total:
    """The sum over all units: each shard is counted where it was scored, or all units together if the source needs it.

    Records come into their file in the order of the shards.
    """
    work, select, done = source.work(), stored.selector if stored is not None else None, 0

    def advance(units: int) -> None:
        nonlocal done
        done += units
        if progress is not None:
            progress(done, source.units)

    def scored() -> Iterator[Any]:
        for facts in engine.map(ScoreShard(work), source.shards()):
            yield from facts
            advance(len(facts))

    if source.needs_all:
        write = None if records is None else records.write
        take = None if stored is None else stored.add_unit
        counter = UnitCounter(work, write, take, select, weigh)
        counter.count((facts, None) for facts in source.finalize(scored(), engine))
        return counter.total
    total = Total(Tally(), weigh)
    parts = engine.parts(records) if records is not None else None
    tasks = ((shard, None if parts is None else parts.new_writer()) for shard in source.shards())
    for part in engine.map(CountShard(work, select, weigh), tasks):
        if parts is not None:
            parts.append_part(part.records)
        total += part.total
        if stored is not None:
            stored.add(part.selected)
        advance(part.total.units)
    return total


def _settings(suite: Suite, plan: Plan, outcome: Outcome) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    return {
        "goldgate": goldgate.__version__,
        "suite": suite.name,
        "metrics": suite.metrics_version,
        "protocol": f"{plan.protocol.name}@{plan.protocol.version}",
        **outcome.settings,
        "interval": f"{METHOD}@{LEVEL}",
    }
