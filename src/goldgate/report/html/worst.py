"""The units that a page shows: the worst, and the worst for each gate that did not pass. All records are read once.

What a unit costs a gate is in its counts: what its rate lacks where more is better, what it has where less is.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import GateResult, Verdict
from goldgate.core.gated import Gated, find_gated
from goldgate.core.measure import RatioMeasure
from goldgate.core.page import GateLine
from goldgate.core.plan import Plan
from goldgate.core.suite import Suite
from goldgate.core.sums import Counts
from goldgate.core.tally import Key
from goldgate.core.unit_page import Given
from goldgate.readers.unit_records import PARTS, UNITS
from goldgate.report.html.looked import Looked

SHOWN = 60  # units of a page at most
SHOWN_A_GATE = 10  # of them for each gate, before the rest is filled up with the worst

Record = Mapping[str, Any]
Cost = Callable[[Record], int]  # what a unit costs a gate, by its record


def worst_units(
    suite: Suite, plan: Plan, evaluation: Evaluation, lines: Iterable[bytes], given: Given, shown: int = SHOWN
) -> Looked:
    """The units to show, from the lines of the records and what they were made from."""
    costs = gate_costs(suite, plan, evaluation.gates)
    overall = _Worst(shown)
    by_gate = {metric: _Worst(min(SHOWN_A_GATE, shown)) for metric in costs}
    total = 0
    for line in lines:
        record = orjson.loads(line)
        summary = suite.summary(record)
        overall.add(summary.weight, total, line)
        for metric, cost in costs.items():
            by_gate[metric].add(cost(record), total, line)
        total += 1
    first = {each.place: each for worst in by_gate.values() for each in worst.listed()}
    others = [each for each in overall.listed() if each.place not in first]
    chosen = {**first, **{each.place: each for each in others[: max(shown - len(first), 0)]}}
    units, weighed = {}, []
    for place in chosen:
        record = orjson.loads(chosen[place].line)
        summary = suite.summary(record)
        units[place] = summary.id
        weighed.append((-summary.weight, place, (summary, suite.unit_page(record, given.of(record)))))
    weighed.sort(key=lambda entry: entry[:2])
    shown_ids = {metric: _shown(costs[metric], chosen.values(), units) for metric in costs}
    return Looked(
        units=tuple(unit for *_, unit in weighed),
        total=total,
        wrong=overall.count,
        unit=suite.unit,
        explains={metric: (by_gate[metric].count, shown_ids[metric]) for metric in costs if by_gate[metric].count},
    )


def gate_costs(suite: Suite, plan: Plan, gates: Iterable[GateResult | GateLine]) -> dict[str, Cost]:
    """For each gate that did not pass: what a unit costs it. None for a gate whose metric is no sum over units."""
    measures = [each for each in suite.measures(plan.settings) if isinstance(each, RatioMeasure)]
    found: dict[str, Cost] = {}
    for result in gates:
        gated = _gated(result.metric, measures)
        if result.verdict != Verdict.PASS and gated is not None:
            gate = result.gate
            less_is_better = gate.max is not None or gate.max_rise is not None
            found[result.metric] = _cost(gated, less_is_better=less_is_better)
    return found


def _gated(metric: str, measures: list[RatioMeasure[Any]]) -> Gated | None:
    for measure in measures:
        if metric in measure.forms:
            return Gated(measure, metric)
    return find_gated(metric, measures)


def _cost(gated: Gated, *, less_is_better: bool) -> Cost:
    form, key = gated.measure.forms[gated.metric], gated.key

    def cost(record: Record) -> int:
        found = _counts(record, key)
        if found is None:
            return 0
        above, below = form.of(found)
        return above if less_is_better else below - above

    return cost


def _counts(record: Record, key: Key) -> Counts | None:
    """What the unit counted in one table, or in one part of it."""
    if len(key) == 1:
        whole: Counts | None = record[UNITS].get(key[0])
        return whole
    return next((counts for part, counts in record.get(PARTS, ()) if tuple(part) == key), None)


class _Kept(NamedTuple):
    weight: int
    place: int
    line: bytes


class _Worst:
    """The heaviest units, the first of equal ones; and how many have any weight."""

    def __init__(self, most: int) -> None:
        self.count = 0
        self._most = most
        self._heap: list[tuple[int, int, bytes]] = []

    def add(self, weight: int, place: int, line: bytes) -> None:
        if weight <= 0:
            return
        self.count += 1
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, (weight, -place, line))
        elif self._heap and (weight, -place) > self._heap[0][:2]:
            heapq.heapreplace(self._heap, (weight, -place, line))

    def listed(self) -> list[_Kept]:
        return [_Kept(weight, -place, line) for weight, place, line in sorted(self._heap, reverse=True)]


def _shown(cost: Cost, chosen: Iterable[_Kept], ids: Mapping[int, str]) -> tuple[str, ...]:
    """The ids of those of the shown units that cost a gate something, the worst first."""
    costs = [(cost(orjson.loads(each.line)), each.place) for each in chosen]
    return tuple(ids[place] for amount, place in sorted(costs, key=lambda c: (-c[0], c[1])) if amount > 0)
