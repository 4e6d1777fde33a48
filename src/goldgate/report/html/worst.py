"""The units that a page shows: the worst, and the worst for each gate that did not pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.plan import Plan
from goldgate.core.suite import Suite
from goldgate.core.unit_page import Given
from goldgate.report.html.looked import Looked
from goldgate.suites.worst import SHOWN, SHOWN_A_GATE, GateCost, Record, Worst, WorstUnits, gate_costs

ReadLine = Callable[[int, int], bytes]  # so many bytes of the records, from an offset on


def worst_units(
    suite: Suite,
    plan: Plan,
    evaluation: Evaluation,
    worst: WorstUnits,
    read: ReadLine,
    given: Given,
    shown: int = SHOWN,
) -> Looked:
    """The units to show, from those that weigh most, the lines of their records and what they were made from."""
    costs = gate_costs(suite, plan, evaluation.gates)
    by_gate = {metric: worst.by_gate.get(metric, Worst(0)) for metric in costs}
    a_gate = min(SHOWN_A_GATE, shown)
    first = {each.place: each for of_gate in by_gate.values() for each in of_gate.listed()[:a_gate]}
    others = [each for each in worst.overall.listed() if each.place not in first]
    chosen = {**first, **{each.place: each for each in others[: max(shown - len(first), 0)]}}
    records = {place: orjson.loads(read(each.offset, each.length)) for place, each in chosen.items()}
    units, weighed = {}, []
    for place, record in records.items():
        summary = suite.summary(record)
        units[place] = summary.id
        weighed.append((-summary.weight, place, (summary, suite.unit_page(record, given.of(record)))))
    weighed.sort(key=lambda entry: entry[:2])
    shown_ids = {metric: _shown(costs[metric], records.items(), units) for metric in costs}
    return Looked(
        units=tuple(unit for *_, unit in weighed),
        total=worst.total,
        wrong=worst.overall.count,
        unit=suite.unit,
        explains={metric: (by_gate[metric].count, shown_ids[metric]) for metric in costs if by_gate[metric].count},
    )


def _shown(cost: GateCost, records: Iterable[tuple[int, Record]], ids: Mapping[int, str]) -> tuple[str, ...]:
    """The ids of those of the shown units that cost a gate something, the worst first."""
    costs = [(cost(record), place) for place, record in records]
    return tuple(ids[place] for amount, place in sorted(costs, key=lambda c: (-c[0], c[1])) if amount > 0)
