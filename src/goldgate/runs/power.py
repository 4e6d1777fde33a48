"""How many units the next evaluation needs to show a difference or to decide a gate, as numbers and as a page.

A stored result has what each unit counted. From their spread follows how uncertain a rate, or the difference from
a second system, would be with more units like these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from goldgate.core.metric import Limit, Rate, Ratio, format_number
from goldgate.core.page import (
    NOT_AVAILABLE,
    Cell,
    Column,
    Name,
    Notes,
    Page,
    Section,
    Table,
    count_text,
    measured_value,
    plural,
)
from goldgate.core.sums import RatioSums
from goldgate.errors import ConfigError, did_you_mean
from goldgate.readers.stored_result import StoredResult
from goldgate.runs.units import metrics_from_sums, ratio_measures, sum_records
from goldgate.stats.interval import (
    GROUP,
    LEVEL,
    POWER,
    Interval,
    detectable_difference,
    exact_end,
    interval_of,
    metric_with_interval,
    units_needed,
    units_to_decide,
    unseen_difference_se,
)

if TYPE_CHECKING:
    from goldgate.runs.contracts import CurvePoint, PlannedDifference, PlannedGate, PlannedMetric, PowerPlan

FORMAT_VERSION = 1  # of a plan, as JSON
BoundName = Literal["min", "max", "threshold"]
DETECT = Decimal("0.01")
CORRELATION = 0.0  # with an unknown system: systems mostly fail on the same units, which takes fewer
SIZES = (25, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000)

_NO_SPREAD = "all units are alike, so they show no spread to plan with"
_TOO_FEW = "less than two units count towards it"
_NOTHING = "no unit counts towards it"


@dataclass(frozen=True, slots=True)
class PowerOptions:
    """The options of a plan."""

    detect: Decimal = DETECT
    metrics: Sequence[str] = ()  # the suite's headline if none is named
    threshold: Decimal | None = None  # the report's own gates if none is given
    correlation: float = CORRELATION
    power: float = POWER
    sizes: Sequence[int] = SIZES


class DifferenceSpread(NamedTuple):
    """The standard error of a difference over `units` units, and the correlation of the two systems."""

    se: float
    units: int
    correlation: float | None


class ObservedSpreads(NamedTuple):
    """How the differences between two stored systems spread, by metric; the pairs that there are, and of what."""

    spreads: Mapping[str, DifferenceSpread | str]
    unit: str
    pairs: int


def plan_power(result: StoredResult, options: PowerOptions, against: ObservedSpreads | None = None) -> PowerPlan:
    """The plan of every metric that is asked for, as plain values; `against` has the spread of observed differences."""
    measures = ratio_measures(result.suite, result.measured_by)
    tally, records, _ = sum_records(result, measures)
    rates = {
        name: metric
        for metrics in metrics_from_sums(tally, measures).values()
        for name, metric in metrics.items()
        if isinstance(metric, Rate)
    }
    _require_known(result, options.metrics, rates)
    names = [*dict.fromkeys(options.metrics)] or [name for name in result.suite.headline if name in rates]
    unit = GROUP if tally.is_grouped else result.suite.unit
    return {
        "format_version": FORMAT_VERSION,
        "kind": "power",
        "suite": result.suite.name,
        "signature": result.report["signature"],
        "unit": unit,
        "records": records,
        "level": LEVEL,
        "power": options.power,
        "detect": str(options.detect),
        "against": None if against is None else {"unit": against.unit, "pairs": against.pairs},
        "correlation": None if against is not None else options.correlation,
        "metrics": {
            name: {
                "measured": metric_with_interval(rates[name], unit),
                "units": _sums(rates[name]).units,
                "difference": _planned_difference(name, _sums(rates[name]), records, options, against),
                "gates": [
                    _gate(rates[name].gate_rate or rates[name], side, bound, records)
                    for side, bound in _bounds(result, name, options).items()
                ],
            }
            for name in names
        },
        "error": None,
    }


def _planned_difference(
    name: str, sums: RatioSums, records: int, options: PowerOptions, against: ObservedSpreads | None
) -> PlannedDifference:
    """Units are those of the metric; records are what has to be collected for them."""
    spread = _unknown_system_spread(sums, options.correlation) if against is None else against.spreads[name]
    if isinstance(spread, str):
        return {"reason": spread}
    records = records if against is None else against.pairs
    needed = units_needed(spread.se, spread.units, float(options.detect), options.power)
    curve: list[CurvePoint] = [
        {"records": size, "detectable": detectable}
        for size in sorted({*options.sizes, records})
        if (detectable := _detectable(spread, size * spread.units // records, options)) is not None
    ]
    return {
        "standard_error": spread.se,
        "correlation": spread.correlation,
        "detectable": _detectable(spread, spread.units, options),
        "units_needed": needed,
        "records_needed": None if needed is None else _in_records(needed, spread.units, records),
        "reason": None if needed is not None else "more than can be named",
        "curve": curve,
    }


def _in_records(needed: int, units: int, records: int) -> int:
    """The number of records that bring the needed units, where `records` brought `units`.

    Units of a rate are not all there are: a record without the event type says nothing about the type.
    """
    return ceil(Fraction(needed * records, units))


def _sums(rate: Rate) -> RatioSums:
    assert rate.sums is not None  # it was summed from records
    return rate.sums


def _detectable(spread: DifferenceSpread, units: int, options: PowerOptions) -> float | None:
    difference = detectable_difference(spread.se, spread.units, options.power, at=units)
    return None if difference is None or difference > 1 else difference  # no two shares are further apart


def _gate(rate: Rate, side: BoundName, bound: Decimal, records: int) -> PlannedGate:
    """Whether the interval leaves out the bound, or with how many units like these it would."""
    entry: PlannedGate = {"bound": side, "threshold": str(bound), "decided": None, "records_needed": None}
    sums = _sums(rate)
    if not rate.denominator:
        return {**entry, "reason": rate.reason}
    if isinstance(rate, Ratio):
        return {**entry, "reason": "it may be above 1, and only shares are planned for"}
    interval = interval_of(rate)
    assert isinstance(interval, Interval)  # a share of something
    needed = units_to_decide(sums, Fraction(bound))
    if needed is None:
        return {**entry, "reason": "the rate is at the threshold: no number of units decides it"}
    side_now: Literal["above", "below"] = "above" if Fraction(rate.exact or 0) > Fraction(bound) else "below"
    is_decided = not exact_end(interval.low) <= Fraction(bound) <= exact_end(interval.high)
    return {
        **entry,
        "decided": side_now if is_decided else None,
        "tends": side_now,
        "records_needed": _in_records(needed, sums.units, records),
    }


def _unknown_system_spread(sums: RatioSums, correlation: float) -> DifferenceSpread | str:
    """The spread of the difference from an unknown system, or why there is none."""
    if sums.b == 0:
        return _NOTHING
    if sums.variance is None:
        return _TOO_FEW
    if sums.variance == 0 or correlation == 1:
        return _NO_SPREAD
    return DifferenceSpread(unseen_difference_se(sqrt(sums.variance), correlation), sums.units, None)


def _bounds(result: StoredResult, name: str, options: PowerOptions) -> dict[BoundName, Decimal]:
    """The threshold that is asked for, or the bounds of the report's gates on this metric."""
    if options.threshold is not None:
        return {"threshold": options.threshold}
    gates = [gate for gate in result.report["gates"] if gate["metric"] == name]
    return {side: Decimal(gate[side]) for gate in gates for side in ("min", "max") if side in gate}


def _require_known(result: StoredResult, metrics: Sequence[str], rates: Mapping[str, Rate]) -> None:
    for name in metrics:
        if name not in rates:
            raise ConfigError(
                "power.unknown_metric",
                f"there is no rate {name} in this result",
                expected=f"a rate of the {result.suite.name} suite: {', '.join(sorted(rates))}",
                found=name,
                advice=did_you_mean(name, rates),
            )


_SIGNS = {"min": "≥", "max": "≤", "threshold": "≥"}  # of a threshold, which side of it the number is on counts


def describe_power(plan: PowerPlan) -> Page:
    """The page of a plan, from its JSON."""
    unit = "record" if plan["unit"] == "group" else plan["unit"]
    of_pairs = plan["against"]["unit"] if plan["against"] else unit
    metrics = plan["metrics"]
    sections = (
        Section(
            f"{plural(of_pairs).capitalize()} needed to detect a difference of {plan['detect']}",
            (_needed_table(metrics, of_pairs),),
        ),
        Section(f"{plural(unit).capitalize()} needed to decide a threshold", tuple(_gate_tables(metrics, unit))),
        Section(
            f"Smallest difference that this many {plural(of_pairs)} detect", tuple(_curve_tables(metrics, of_pairs))
        ),
        Section("What this rests on", (Notes(tuple((words,) for words in _assumptions(plan))),)),
    )
    return Page(
        suite="power",
        subject=f"{plan['suite']} suite, {count_text(plan['records'], unit)}",
        sections=tuple(section for section in sections if section.blocks),
    )


def _needed_table(metrics: Mapping[str, PlannedMetric], unit: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, metric in metrics.items():
        limits = [Limit(_SIGNS[gate["bound"]], Fraction(gate["threshold"])) for gate in metric["gates"]]
        value, difference = measured_value(metric["measured"]).against(tuple(limits)), metric["difference"]
        interval = NOT_AVAILABLE if value.interval is None else str(value.interval)
        needed, smallest = difference["reason"] or "", ""  # the reason stands alone
        if "units_needed" in difference:
            needed = needed or f"{difference['records_needed']:,}"
            detectable = difference["detectable"]
            smallest = NOT_AVAILABLE if detectable is None else f"≥ {format_number(detectable)}"
        rows.append((Name(name, whole=True), value._replace(interval=None), interval, needed, smallest))
    columns = ("metric", "value", "interval", f"{plural(unit)} needed", "found now")
    return Table(tuple(map(Column, columns)), tuple(rows))


def _gate_tables(metrics: Mapping[str, PlannedMetric], unit: str) -> Iterator[Table]:
    signs = {"min": "≥ ", "max": "≤ ", "threshold": ""}
    rows = []
    for name, metric in metrics.items():
        for gate in metric["gates"]:
            now = f"{gate['decided']} it already" if gate["decided"] else NOT_AVAILABLE
            if gate["decided"] is None and "tends" in gate:
                now = f"open, tends to be {gate['tends']}"
            needed = gate.get("reason") or f"{gate['records_needed']:,}"
            rows.append((Name(name, whole=True), signs[gate["bound"]] + gate["threshold"], now, needed))
    if rows:
        yield Table(tuple(map(Column, ("metric", "threshold", "now", f"{plural(unit)} needed"))), tuple(rows))


def _curve_tables(metrics: Mapping[str, PlannedMetric], unit: str) -> Iterator[Table]:
    curves = {
        name: {point["records"]: point["detectable"] for point in metric["difference"].get("curve", ())}
        for name, metric in metrics.items()
    }
    sizes = sorted({size for curve in curves.values() for size in curve})
    rows = tuple(
        (f"{size:,}", *(format_number(curve[size]) if size in curve else NOT_AVAILABLE for curve in curves.values()))
        for size in sizes
    )
    if rows:
        yield Table((Column(plural(unit)), *map(Column, curves)), rows)


def _assumptions(plan: PowerPlan) -> Iterator[str]:
    yield (
        f"Such a difference is detected in {plan['power'] * 100:g} % of all comparisons, at a level of "
        f"{plan['level'] * 100:g} %, if further {plural(plan['unit'])} are like these."
    )
    if plan["against"] is None:
        yield (
            "The other system is assumed to vary as much as this one, with a correlation of "
            f"{plan['correlation']:g}. Systems that fail on the same documents need fewer, one that varies more needs "
            "more: --against DIR uses the spread of two stored systems."
        )
        return
    correlations = ", ".join(
        f"{name} {format_number(correlation, 2)}"
        for name, metric in plan["metrics"].items()
        if (correlation := metric["difference"].get("correlation")) is not None
    )
    yield "The spread is that of the difference between these two systems" + (
        f"; correlations: {correlations}." if correlations else "."
    )
