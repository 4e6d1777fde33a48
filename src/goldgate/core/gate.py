"""Gates: bounds on a metric with a verdict of PASS or FAIL; with a confidence, also INCONCLUSIVE.

A gate without a confidence compares exactly and is judged here; `goldgate.stats.gates` judges the others. A gate
is set on a metric, on one part of it, or on the macro average over its parts: `strict_f1[Attack]` is the metric
of one event type, `strict_f1[Attack/Target]` of one of its roles. A part whose name has a slash or begins with a
quotation mark is written as JSON: `strict_f1["Buy/Sell"/"Price"]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Estimate, Limit, Mean, Metric, Rate, exact_mean, format_number
from goldgate.core.tally import TableKey, Tally

if TYPE_CHECKING:
    from goldgate.core.contracts import GateValue, MetricValue

_MAX_DIGITS = 1_000  # before or after the point
BOUND_NAMES = ("min", "max", "equals", "max_drop", "max_rise", "confidence")  # what is a decimal in a gate
# A part of a metric's name, as JSON where it could be mistaken, and a name with parts.
_PART = r'"(?:[^"\\]|\\.)*"|[^"/][^/]*'
_NAME_WITH_PARTS = rf"([^\[]*)\[((?:{_PART})(?:/(?:{_PART}))*)\]"


class Verdict(StrEnum):
    """The result of a gate, or of a whole evaluation."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"  # the units are too few to say
    NO_GATES = "NO_GATES"  # of an evaluation without gates; no single gate has it
    SYSTEM_ERROR = "SYSTEM_ERROR"


@dataclass(frozen=True, slots=True)
class Gate:
    """The bounds set for a metric. Thresholds are decimals as written, never floats."""

    min: Decimal | None = None
    max: Decimal | None = None
    equals: Decimal | None = None
    max_drop: Decimal | None = None  # how far it may lie below the rate of `against`
    max_rise: Decimal | None = None  # and above it
    against: str | None = None  # a stored run or a baseline folder, named from the protocol's own folder
    confidence: Decimal | None = None
    on_not_evaluable: Literal["fail", "pass"] = "fail"
    on_inconclusive: Literal["fail", "warn", "pass"] = "fail"
    severity: Literal["error", "warn"] = "error"

    @property
    def least(self) -> Decimal | None:
        """The lowest value that may pass; None where there is no such bound."""
        bounds = [bound for bound in (self.min, self.equals) if bound is not None]
        return max(bounds) if bounds else None

    @property
    def is_plain(self) -> bool:
        """Whether it is decided by the value alone."""
        return self.confidence is None and self.against is None

    @property
    def most(self) -> Decimal | None:
        """The highest value that may pass; None where there is no such bound."""
        bounds = [bound for bound in (self.max, self.equals) if bound is not None]
        return min(bounds) if bounds else None

    def is_weaker_than(self, default: Gate) -> bool:
        """Whether a value passes here that the default would have failed.

        What is not evaluable is another matter: it stands out, and there may be good reasons for it.
        """
        return (
            (default.least is not None and (self.least is None or self.least < default.least))
            or (default.max is not None and (self.most is None or self.most > default.max))
            or (self.severity, default.severity) == ("warn", "error")
            or (self.on_inconclusive != "fail" and default.on_inconclusive == "fail")
        )

    def value_bounds(self) -> list[tuple[str, Decimal]]:
        """The sign and the threshold of each bound on the value."""
        parts = (("≥", self.min), ("≤", self.max), ("=", self.equals))
        return [(sign, bound) for sign, bound in parts if bound is not None]

    def limits(self) -> tuple[Limit, ...]:
        """The limits that a value must meet."""
        return tuple(Limit(sign, Fraction(bound)) for sign, bound in self.value_bounds())

    def difference_limits(self) -> tuple[Limit, ...]:
        """The limits of the difference from a stored run."""
        parts = (("≥", self.max_drop and -self.max_drop), ("≤", self.max_rise))
        return tuple(Limit(sign, Fraction(bound)) for sign, bound in parts if bound is not None)

    def bounds(self) -> str:
        """The bounds in words: `≥ 0.95`, `drop ≤ 0.01 at 95 %`."""
        parts = (*self.value_bounds(), ("drop ≤", self.max_drop), ("rise ≤", self.max_rise))
        words = " and ".join(f"{sign} {bound}" for sign, bound in parts if bound is not None)
        return words if self.confidence is None else f"{words} at {confidence_percent(self.confidence)}"


def parse_bound(text: object) -> Decimal:
    """A bound as it is written: 0.45 is 45/100. ValueError where it is not a number that can be computed with.

    One such as 1e-999999999, in a report that was edited, would take minutes.
    """
    try:
        bound = Decimal(str(text))
    except InvalidOperation:
        raise ValueError(text) from None
    if not bound.is_finite() or abs(bound.adjusted()) > _MAX_DIGITS:
        raise ValueError(text)
    return bound


def stored_gate(entry: GateValue) -> Gate:
    """The gate of an entry in a report."""
    stored = cast("Mapping[str, Any]", entry)
    bounds: Any = {name: parse_bound(stored[name]) for name in BOUND_NAMES if stored.get(name) is not None}
    return Gate(
        **bounds,
        against=entry["against"]["name"] if "against" in entry else None,
        on_not_evaluable=entry["on_not_evaluable"],
        on_inconclusive=entry.get("on_inconclusive", "fail"),
        severity=entry["severity"],
    )


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate's verdict. `more` is what its report says beside: the difference from a stored run."""

    metric: str
    gate: Gate
    measured: Metric | Mean
    verdict: Verdict
    reason: str
    more: Mapping[str, object] = field(default_factory=dict)

    def as_json(self, measured: MetricValue, support: str | None) -> GateValue:
        """The entry of a report, with the interval of what was measured and what that says about the gate."""
        gate = self.gate
        entry = {
            "metric": self.metric,
            "verdict": self.verdict,
            "reason": self.reason,
            "severity": gate.severity,
            "on_not_evaluable": gate.on_not_evaluable,
            **({} if gate.confidence is None else {"on_inconclusive": gate.on_inconclusive}),
            **{name: str(bound) for name in BOUND_NAMES if (bound := getattr(gate, name)) is not None},
            **self.more,
            "measured": measured,
            "support": support,
        }
        return cast("GateValue", entry)  # of which a gate has only the bounds that it sets


def check_gate(name: str, gate: Gate, measured: Metric | Mean) -> GateResult:
    """The verdict by the value alone, exactly."""
    exact = measured.exact
    if exact is None:
        return not_evaluable_result(name, gate, measured, str(measured.reason))
    counts = counts_text(measured, gate)
    broken = [
        f"{counts} is not {sign} {bound}"
        for sign, bound in gate.value_bounds()
        if not Limit(sign, Fraction(bound)).is_met(exact)
    ]
    if broken:
        return GateResult(name, gate, measured, Verdict.FAIL, "; ".join(broken))
    return GateResult(name, gate, measured, Verdict.PASS, f"{counts} is {gate.bounds()}")


def not_evaluable_result(
    name: str, gate: Gate, measured: Metric | Mean, why: str, more: Mapping[str, object] | None = None
) -> GateResult:
    """The verdict where there is nothing to judge."""
    verdict = Verdict.PASS if gate.on_not_evaluable == "pass" else Verdict.FAIL
    return GateResult(name, gate, measured, verdict, f"not_evaluable: {why}", more or {})


def overall_verdict(results: list[GateResult]) -> Verdict:
    """FAIL if a gate of severity `error` failed, INCONCLUSIVE if one is open that may not be; NO_GATES if there is
    none that could have failed."""
    deciding = [result for result in results if result.gate.severity == "error"]
    if not deciding:
        return Verdict.NO_GATES
    if any(result.verdict is Verdict.FAIL for result in deciding):
        return Verdict.FAIL
    open_gates = [result for result in deciding if result.verdict is Verdict.INCONCLUSIVE]
    return Verdict.INCONCLUSIVE if any(r.gate.on_inconclusive == "fail" for r in open_gates) else Verdict.PASS


def counts_text(measured: Metric | Mean, gate: Gate | None = None) -> str:
    """A rate as its counts, anything else as its value, never shown as a bound of the gate that it does not reach."""
    if isinstance(measured, Rate):
        return f"{measured.numerator}/{measured.denominator}"
    if isinstance(measured, (Mean, Estimate)) and measured.value is not None:
        return format_number(measured.value, limits=() if gate is None else gate.limits())
    return str(measured)


def confidence_percent(share: Decimal) -> str:
    """`0.95` as `95 %`."""
    return f"{(share * 100).normalize():f} %"


class MetricName(NamedTuple):
    """The name of a metric, and of the part of it that is meant; without one, all of it."""

    metric: str
    part: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.metric}[{'/'.join(map(_quote_part, self.part))}]" if self.part else self.metric


class GateTarget(NamedTuple):
    """The rate that a gate is set on: of a measure, of one part of it, or averaged over a level of parts."""

    measure: RatioMeasure[Any]
    metric: str
    part: tuple[str, ...] = ()
    averaged: int = 0  # the level whose parts are averaged; 0: none

    @property
    def key(self) -> TableKey:
        """The table of its counts."""
        return (self.measure.table, *self.part)

    @property
    def is_estimate(self) -> bool:
        """Whether the metric is an estimate with an interval of its own, not a ratio of two sums."""
        return self.metric in self.measure.estimates


def parse_metric_name(text: str) -> MetricName:
    """A gate's name, taken apart; one that is not written as a part of a metric is the whole name of one."""
    match = re.fullmatch(_NAME_WITH_PARTS, text, re.DOTALL)
    if match is None:
        return MetricName(text)
    parts = re.findall(_PART, match[2], re.DOTALL)
    try:
        return MetricName(match[1], tuple(json.loads(part) if part.startswith('"') else part for part in parts))
    except ValueError:
        return MetricName(text)


def find_gate_target(name: str, measures: Iterable[Any]) -> GateTarget | None:
    """The part or the macro average that a name stands for; None where it is neither."""
    parsed = parse_metric_name(name)
    for measure in measures:
        if not isinstance(measure, RatioMeasure):
            continue
        metrics = measure.ratios.keys() | measure.estimates.keys()
        if parsed.metric in metrics and 0 < len(parsed.part) <= len(measure.parts):
            return GateTarget(measure, *parsed)
        for level, ending in enumerate(measure.parts.values(), 1):
            metric = name.removesuffix(f"_{ending}")
            if ending and metric != name and metric in measure.ratios:
                return GateTarget(measure, metric, (), level)
    return None


def average_names(measures: Iterable[Any]) -> list[str]:
    """The names of all macro averages."""
    return [
        f"{metric}_{ending}"
        for measure in measures
        if isinstance(measure, RatioMeasure)
        for ending in measure.parts.values()
        if ending
        for metric in measure.ratios
    ]


def target_metric(gated: GateTarget, tally: Tally) -> Metric | Mean:
    """The metric that a gate is set on, over everything that was counted."""
    if not gated.averaged:
        return gated.measure.metrics_of(tally, gated.key)[gated.metric]
    rates = [metrics[gated.metric] for metrics in gated.measure.by_part(tally, gated.averaged).values()]
    # Which roles meet in a unit is not kept: of the macro average over them there is no interval.
    sums = gated.measure.means(tally)[gated.metric].sums if gated.averaged == 1 else None
    return exact_mean((rate for rate in rates if isinstance(rate, Rate)), sums)


def _quote_part(name: str) -> str:
    plain = name and "/" not in name and not name.startswith('"')
    return name if plain else json.dumps(name, ensure_ascii=False)


def similar_parts(gated: GateTarget, tally: Tally, declared: Sequence[tuple[str, ...]]) -> list[str]:
    """The names of parts that a gate could be set on, at the level of this one."""
    level = len(gated.part)
    parts = {*gated.measure.part_names(tally, level), *(part for part in declared if len(part) == level)}
    return [str(MetricName(gated.metric, part)) for part in sorted(parts)]
