"""Which units are the worst, and which cost a gate most: weighed where they are scored, and added up.

A unit costs a gate what its counts lack of a rate of which more is better, or what they have of one of which less is.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from goldgate.core.finding import Finding
from goldgate.core.gate import Gate, GateResult, GateTarget, Verdict, find_gate_target
from goldgate.core.measure import RatioMeasure
from goldgate.core.page import GateLine, MeasuredValue
from goldgate.core.suite import Plan, Suite, Work
from goldgate.core.sums import Counts, RatioForm
from goldgate.core.tally import TableKey, UnitCounts
from goldgate.core.unit_page import UnitSummary, text_snippet
from goldgate.readers.unit_records import whole_record

if TYPE_CHECKING:
    from goldgate.core.contracts import CountedRecord

SHOWN = 60  # units of a page at most
SHOWN_A_GATE = 10  # units for each gate, before the rest is filled with the worst

CountsLookup = Callable[[TableKey], Counts | None]  # what a unit counted in a table


class GateCost(NamedTuple):
    """A function from the record of a unit to what the unit costs a gate."""

    key: TableKey
    form: RatioForm
    less_is_better: bool

    def __call__(self, record: CountedRecord) -> int:
        return self.of(_counts(record, self.key))

    def of(self, counts: Counts | None) -> int:
        """What a unit with these counts in the table of the metric costs the gate."""
        if counts is None:
            return 0
        above, below = self.form.of(counts)
        return above if self.less_is_better else below - above


def gate_costs(suite: Suite, plan: Plan, gates: Iterable[GateResult | GateLine]) -> dict[str, GateCost]:
    """The cost function of each gate that did not pass; gates whose metric is not a sum over units are left out."""
    return _costs(suite, plan, {each.metric: each.gate for each in gates if each.verdict != Verdict.PASS})


Summarize = Callable[["CountedRecord", Mapping[str, Any]], UnitSummary]  # a unit's record, its part of each input


def unit_summaries(suite: Suite, plan: Plan) -> Summarize:
    """A function that gives the summary of a unit, with its score in the suite's first metric and its snippet."""
    metric = next(iter(suite.headline), "")
    target = _gate_targets(suite, plan, [metric]).get(metric)

    def summarize(record: CountedRecord, inputs: Mapping[str, Any]) -> UnitSummary:
        summary = suite.summary(record)._replace(snippet=text_snippet(suite.snippet(record, inputs)))
        counts = None if target is None else _counts(record, target.key)
        if target is None or counts is None:
            return summary
        above, below = target.measure.forms[target.metric].of(counts)
        return summary._replace(metric=metric, score=MeasuredValue(above / below if below else None, above, below))

    return summarize


SHOWN_CAUSES = 3  # units that are named for a gate that does not pass


class CostliestUnits:
    """The units that cost each gate most, and how many cost it anything: the same for any order of the units."""

    __slots__ = ("counts", "first")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.first: dict[str, list[tuple[int, str, str]]] = {}  # by gate: the cost negated, the id, what is wrong

    def add(self, metric: str, cost: int, times: int, unit: str, describe: Callable[[], str]) -> None:
        self.counts[metric] += times
        first = self.first.get(metric, [])
        if len(first) < SHOWN_CAUSES or (-cost, unit) < first[-1]:
            self._keep(metric, [(-cost, unit, describe())])

    def __iadd__(self, other: CostliestUnits) -> CostliestUnits:
        self.counts.update(other.counts)
        for metric, units in other.first.items():
            self._keep(metric, units)
        return self

    def _keep(self, metric: str, units: list[tuple[int, str, str]]) -> None:
        self.first[metric] = sorted([*self.first.get(metric, ()), *units])[:SHOWN_CAUSES]

    def causes(self, metric: str, unit: str) -> tuple[list[Finding], int]:
        """The units as findings, and how many more there are."""
        first = self.first.get(metric, [])
        findings = [Finding(f"worst_{unit}", "error", "", None, "", words, name) for _, name, words in first]
        return findings, self.counts[metric] - len(first)


class WeighedUnit(NamedTuple):
    """A unit with a weight: its position among all units, and the offset and length of its line in the records file."""

    weight: int
    place: int
    offset: int
    length: int


class HeaviestUnits:
    """The units with the largest weights, earlier ones first among equals; and how many have a weight above 0."""

    __slots__ = ("_heap", "_most", "count")

    def __init__(self, most: int) -> None:
        self.count = 0
        self._most = most
        self._heap: list[tuple[int, int, int, int]] = []  # as `WeighedUnit`, with the place negated

    def add(self, weight: int, place: int, offset: int, length: int) -> None:
        if weight > 0:
            self.count += 1
            self._keep((weight, -place, offset, length))

    def add_all(self, other: HeaviestUnits, places: int, offset: int) -> None:
        """Add units whose place and offset start at `places` and `offset`."""
        self.count += other.count
        for weight, place, begin, length in other._heap:
            self._keep((weight, place - places, begin + offset, length))

    def _keep(self, entry: tuple[int, int, int, int]) -> None:
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def to_list(self) -> list[WeighedUnit]:
        return [WeighedUnit(weight, -place, *line) for weight, place, *line in sorted(self._heap, reverse=True)]


class WorstUnits:
    """The worst units overall and for each gate. Parts add up in order, wherever the units are cut into shards."""

    def __init__(self, gates: Iterable[str] = ()) -> None:
        self.total = 0
        self.size = 0  # bytes of their lines
        self.overall = HeaviestUnits(SHOWN)
        self.by_gate = {metric: HeaviestUnits(SHOWN_A_GATE) for metric in gates}
        self.fault: str | None = None  # why units could not be weighed: a bug, which must not cost the verdict

    def __iadd__(self, other: WorstUnits) -> WorstUnits:
        self.overall.add_all(other.overall, self.total, self.size)
        for metric, worst in other.by_gate.items():
            self.by_gate.setdefault(metric, HeaviestUnits(SHOWN_A_GATE)).add_all(worst, self.total, self.size)
        self.total += other.total
        self.size += other.size
        self.fault = self.fault or other.fault
        return self


class UnitWeigher:
    """Weighs units by the lines of their records. It can be sent to another process."""

    def __init__(self, suite: Suite, plan: Plan, *, lines: bool = True) -> None:
        """`lines` says whether the lines of records are weighed, or only what units cost the gates."""
        self.suite = suite
        self.lines = lines
        self.costs = _costs(suite, plan, plan.gates)

    def nothing(self) -> WorstUnits:
        return WorstUnits(self.costs)

    def add(
        self, worst: WorstUnits, line: bytes, weight: int | None = None, counted: CountsLookup | None = None
    ) -> None:
        """Weigh one more unit. Given its weight and its counts, the line is not decoded again.

        A failure is noted, not raised: a list of the worst units must not cost a long run its verdict.
        """
        if worst.fault is not None:
            return
        try:
            if weight is None or counted is None:
                weight, counted = self._by_record(line)
            worst.overall.add(weight, worst.total, worst.size, len(line))
            for metric, cost in self.costs.items():
                worst.by_gate[metric].add(cost.of(counted(cost.key)), worst.total, worst.size, len(line))
        except Exception as problem:
            worst.fault = f"{type(problem).__name__}: {problem}"
        worst.total += 1
        worst.size += len(line)

    def add_cost(
        self, costliest: CostliestUnits, work: Work[Any, Any], facts: Any, unit: UnitCounts, group: str | None
    ) -> None:
        """Note what a unit costs each gate."""

        def describe() -> str:
            try:
                return self.suite.summary(whole_record(work.record(facts), unit, group)).word
            except Exception as problem:  # a bug, which must not cost the verdict
                return f"{type(problem).__name__}: {problem}"

        for metric, cost in self.costs.items():
            if (weight := cost.of(unit.get(cost.key))) > 0:
                costliest.add(metric, weight, work.multiplicity(facts), work.unit_id(facts), describe)

    def _by_record(self, line: bytes) -> tuple[int, CountsLookup]:
        """The weight of a unit, and what it counted in a table."""
        record = orjson.loads(line)
        return self.suite.summary(record).weight, partial(_counts, record)


def _costs(suite: Suite, plan: Plan, gates: Mapping[str, Gate]) -> dict[str, GateCost]:
    return {
        metric: GateCost(
            target.key,
            target.measure.gate_form(target.metric),
            less_is_better=gates[metric].max is not None or gates[metric].max_rise is not None,
        )
        for metric, target in _gate_targets(suite, plan, gates).items()
    }


def _gate_targets(suite: Suite, plan: Plan, metrics: Iterable[str]) -> dict[str, GateTarget]:
    """The measure behind each of these metrics, parts and averages that is a sum over units, by name."""
    measures = [each for each in suite.measures(plan.settings) if isinstance(each, RatioMeasure)]
    whole = {metric: GateTarget(measure, metric) for measure in reversed(measures) for metric in measure.forms}
    targets = {metric: whole.get(metric) or find_gate_target(metric, measures) for metric in metrics}
    return {metric: each for metric, each in targets.items() if each is not None and each.metric in each.measure.forms}


def _counts(record: CountedRecord, key: TableKey) -> Counts | None:
    """The counts of a unit in one table, or in one part of it; None where it has none."""
    if len(key) == 1:
        whole = record["units"].get(key[0])
        return None if whole is None else tuple(whole)
    return next((tuple(counts) for part, counts in record.get("parts", ()) if tuple(part) == key), None)
