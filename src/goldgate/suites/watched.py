"""Which gates can be decided before all documents were asked, and the most that each metric divides by in a document.

An unasked document may turn out to be anything. What the gold alone decides (recall), and what is at most one in a
document (shares of documents), has a bound; what a model may predict has none, unless somebody sets a limit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from goldgate.core.gate import Gate
from goldgate.core.measure import EACH, RatioMeasure
from goldgate.core.plan import Plan
from goldgate.core.sums import Counts, RatioForm
from goldgate.errors import ConfigError, did_you_mean
from goldgate.stats.gate_watch import WatchedBound

_PLAIN = ("min", "max", "on_not_evaluable", "severity")
_SIDES: tuple[Literal["min", "max"], ...] = ("min", "max")


def watched_bounds(
    plan: Plan,
    measures: Sequence[Any],
    unanswered: Iterable[Mapping[str, Counts | None]],
    most_predictions: int | None = None,
) -> list[WatchedBound]:
    """The bounds of all gates. `unanswered` are the counts of every document where nothing was answered.

    A gate that cannot be decided early is a ConfigError that names those that can.
    """
    rates = {name: measure for measure in measures if isinstance(measure, RatioMeasure) for name in measure.forms}
    if not plan.gates:
        raise ConfigError(
            "stop.no_gates",
            "--stop-when-decided needs gates that can be decided",
            expected="gates in the protocol, such as strict_recall: {min: 0.8}",
        )
    for name, gate in plan.gates.items():
        _require_watchable(plan, name, gate, rates, most_predictions)
    largest = dict.fromkeys(plan.gates, 0)
    for counts in unanswered:
        for name in largest:
            largest[name] = max(largest[name], _most(rates[name], name, counts, most_predictions))
    return [bound for name, gate in plan.gates.items() for bound in _bounds(name, gate, rates[name], largest[name])]


def _bounds(name: str, gate: Gate, measure: RatioMeasure[Any], largest: int) -> Iterator[WatchedBound]:
    for side in _SIDES:
        threshold = getattr(gate, side)
        if threshold is not None:
            form = measure.forms[name]
            yield WatchedBound(name, side, threshold, measure.table, form, largest, name in measure.counted)


def _require_watchable(
    plan: Plan, name: str, gate: Gate, rates: Mapping[str, RatioMeasure[Any]], most_predictions: int | None
) -> None:
    measure = rates.get(name)
    others = [
        field.name
        for field in dataclasses.fields(gate)
        if field.name not in _PLAIN and getattr(gate, field.name) != field.default
    ]
    why = None
    if others:
        why = f"it has {', '.join(others)}, and only min and max are decided before the end"
    elif measure is None or (name in measure.ratios and not measure.ratios[name].share):
        why = "it is not a share of anything that documents count"
    elif name in measure.counted and gate.min is not None:
        why = "a count grows with every document, so a lower bound is decided at the end"
    elif most_predictions is None and _open_columns(measure, measure.forms[name]):
        raise ConfigError(
            "stop.unbounded",
            f"the gate on {name} cannot be decided early: there is no limit on what an answer that was not asked for "
            "may predict",
            place=plan.place(f"gates.{name}"),
            expected=f"--most-predictions N, or gates only on {', '.join(_bounded(rates))}",
            advice="set N to more than any answer of yours has had; an answer beyond it makes the run go on to the end",
        )
    if why is not None:
        raise ConfigError(
            "stop.not_watchable",
            f"the gate on {name} cannot be decided early: {why}",
            place=plan.place(f"gates.{name}"),
            expected=f"gates with min or max on {', '.join(_bounded(rates))}",
            advice=did_you_mean(name, _bounded(rates)) if measure is None else "leave out --stop-when-decided",
        )


def _bounded(rates: Mapping[str, RatioMeasure[Any]]) -> list[str]:
    return [
        name
        for name, measure in rates.items()
        if not _open_columns(measure, measure.forms[name]) and (name in measure.counted or measure.ratios[name].share)
    ]


def _open_columns(measure: RatioMeasure[Any], form: RatioForm) -> list[str]:
    """The columns below the line that an answer may make as large as it likes."""
    bounded = measure.known | measure.single | {EACH}
    weights = zip(measure.columns, form.denominator, strict=True)
    return [column for column, weight in weights if weight and column not in bounded]


def _most(
    measure: RatioMeasure[Any], name: str, counts: Mapping[str, Counts | None], most_predictions: int | None
) -> int:
    """The most that a metric can divide by in one document."""
    found = counts.get(measure.table) or (0,) * len(measure.columns)
    largest = 0
    for column, weight, count in zip(measure.columns, measure.forms[name].denominator, found, strict=True):
        most = count if column in measure.known else 1 if column in measure.single or column == EACH else None
        largest += weight * (most if most is not None else most_predictions or 0)
    return largest
