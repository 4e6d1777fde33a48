"""The gates of a stored report, decided again by what its records count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from goldgate.core.gate import Verdict, find_gate_target, stored_gate, target_metric
from goldgate.core.metric import Metric, gate_metric
from goldgate.core.suite import Plan
from goldgate.core.tally import Tally
from goldgate.readers.stored_result import StoredResult
from goldgate.stats.gates import family_note, judge_gates, support
from goldgate.stats.interval import metric_with_interval
from goldgate.verification import FileDifference, compare_values

if TYPE_CHECKING:
    from goldgate.core.contracts import GateValue, MetricValue

_FROM_WORST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)
_OVERRULED = "rules of the suite that can fail a gate which passes by its numbers, and its reason"
_NO_PROTOCOL = "which gates there are, with which bounds: the protocol is not here (--protocol)"
_UNDECIDED = "gates on {}: decided by the value and the difference in the report, and not by the records"


def gate_differences(
    result: StoredResult, plan: Plan | None, metrics: Mapping[str, Metric], tally: Tally, unit: str, left_out: list[str]
) -> Iterator[FileDifference]:
    """Where the gates of a report are not those that the protocol and the records give.

    `left_out` takes what could not be decided again.
    """
    stored, file = result.report["gates"], result.file.name
    gates = {gate["metric"]: stored_gate(gate) for gate in stored} if plan is None else plan.gates
    measures = result.suite.measures(result.measured_by if plan is None else plan.settings)
    targets = {name: find_gate_target(name, measures) for name in gates if gates[name].against is None}
    measured = {
        name: gate_metric(metrics[name]) if target is None else target_metric(target, tally)
        for name, target in targets.items()
        if (name if target is None else target.metric) in metrics
    }
    undecided = [name for name in gates if name not in measured]
    if any(gates[name].confidence for name in undecided):  # these share the chance of an error with the others
        undecided = [name for name, gate in gates.items() if gate.confidence or name in undecided]
    left_out += [_NO_PROTOCOL] if plan is None else []
    left_out += [_OVERRULED] if result.suite.overrules else []
    left_out += [_UNDECIDED.format(", ".join(undecided))] if undecided else []
    names = [gate["metric"] for gate in stored]
    if names != list(gates):
        yield FileDifference(file, ", ".join(names) or "no gate", ", ".join(gates) or "no gate", "/gates")
        return
    decided = judge_gates({name: gates[name] for name in gates if name not in undecided}, measured, unit=unit)
    again = {each.metric: each for each in decided}
    for number, (entry, gate) in enumerate(zip(stored, gates.values(), strict=True)):
        mine, theirs = _checked(entry), _checked(entry)
        if (each := again.get(entry["metric"])) is not None:
            theirs = _checked(each.as_json(metric_with_interval(each.measured, unit), support(gate, each.measured)))
            if result.suite.overrules:
                is_worse = mine["verdict"] in _FROM_WORST[: _FROM_WORST.index(each.verdict)]
                own = ("reason", "verdict", "measured", "support") if is_worse else ("reason",)
                theirs |= {key: mine[key] for key in own}
        elif replace(stored_gate(entry), against=gate.against) != gate:  # which has another name in the report
            theirs = {**mine, "bounds": gate.bounds()}
        yield from filter(None, [compare_values(file, mine, theirs, f"/gates/{number}")])
    together = result.report.get("gates_together"), family_note(gates)
    yield from filter(None, [compare_values(file, *together, "/gates_together")])


def _checked(entry: GateValue) -> dict[str, object]:
    return {**entry, "verdict": str(entry["verdict"]), "measured": numbers_of(entry["measured"])}


def numbers_of(metric: MetricValue) -> dict[str, object]:
    """A metric without the reasons why it is undefined."""
    return {name: value for name, value in metric.items() if name not in ("reason", "interval_reason")}
