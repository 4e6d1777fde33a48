"""How many units the next evaluation needs to show a difference, or to decide a gate, from the spread of stored units.

A stored result has what each unit counted; so many more units like these would leave a rate, or the difference from a
second system, so much less uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt
from typing import Any, NamedTuple

from goldgate.core.metric import Rate, Ratio
from goldgate.core.sums import RatioSums
from goldgate.errors import ConfigError, did_you_mean
from goldgate.readers.stored_result import StoredResult, stored_gates
from goldgate.results.recorded import ratio_measures, recorded_metrics, summed_records
from goldgate.stats.interval import LEVEL, Interval, exact
from goldgate.stats.power import POWER, detectable_difference, units_needed, units_to_decide, unseen_difference_se
from goldgate.stats.reported import GROUP, interval_of, with_interval

FORMAT_VERSION = 1  # of a plan, as JSON
DETECT = Decimal("0.01")
CORRELATION = 0.0  # with a system that nobody has seen: systems mostly fail on the same units, which takes fewer
SIZES = (25, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000)

_NO_SPREAD = "all units are alike, so they show no spread to plan with"
_TOO_FEW = "less than two units count towards it"
_NOTHING = "no unit counts towards it"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to know."""

    detect: Decimal = DETECT
    metrics: Sequence[str] = ()  # the suite's headline if none is named
    threshold: Decimal | None = None  # the report's own gates if none is given
    correlation: float = CORRELATION
    power: float = POWER
    sizes: Sequence[int] = SIZES


class Spread(NamedTuple):
    """The standard error of a difference over so many units, and how the two systems go together."""

    se: float
    units: int
    correlation: float | None


class Observed(NamedTuple):
    """How the differences between two stored systems spread, by metric; the pairs that there are, and of what."""

    spreads: Mapping[str, Spread | str]
    unit: str
    pairs: int


class Scale(NamedTuple):
    """Units of a rate are not all there are: a record without the event type says nothing about the type."""

    records: int
    units: int

    def in_records(self, units: int | None) -> int | None:
        """As many records as bring so many units of the rate."""
        return None if units is None else ceil(Fraction(units * self.records, self.units))

    def in_units(self, records: int) -> int:
        return records * self.units // self.records


def plan_power(result: StoredResult, wanted: Wanted, against: Observed | None = None) -> dict[str, Any]:
    """The plan of every metric that is asked for, as plain values; `against` has the spread of observed differences."""
    measures = ratio_measures(result.suite, result.measured_by)
    tally, records = summed_records(result, measures)
    rates = {
        name: metric
        for metrics in recorded_metrics(tally, measures).values()
        for name, metric in metrics.items()
        if isinstance(metric, Rate)
    }
    names = _names(result, wanted, rates)
    unit = GROUP if tally.is_grouped else result.suite.unit
    return {
        "format_version": FORMAT_VERSION,
        "kind": "power",
        "suite": result.suite.name,
        "signature": result.report["signature"],
        "unit": unit,
        "records": records,
        "level": LEVEL,
        "power": wanted.power,
        "detect": str(wanted.detect),
        "against": None if against is None else {"unit": against.unit, "pairs": against.pairs},
        "correlation": None if against is not None else wanted.correlation,
        "metrics": {
            name: {
                "measured": with_interval(rates[name], unit),
                "units": _sums(rates[name]).units,
                "difference": _planned_difference(name, _sums(rates[name]), records, wanted, against),
                "gates": [
                    _gate(rates[name], side, bound, records) for side, bound in _bounds(result, name, wanted).items()
                ],
            }
            for name in names
        },
        "error": None,
    }


def _planned_difference(
    name: str, sums: RatioSums, records: int, wanted: Wanted, against: Observed | None
) -> dict[str, Any]:
    """Units are those of the metric; records are what has to be collected for them."""
    spread = _unseen(sums, wanted.correlation) if against is None else against.spreads[name]
    if isinstance(spread, str):
        return {"reason": spread}
    return _difference(spread, Scale(records if against is None else against.pairs, spread.units), wanted)


def _sums(rate: Rate) -> RatioSums:
    assert rate.sums is not None  # it was summed from records
    return rate.sums


def _difference(spread: Spread, scale: Scale, wanted: Wanted) -> dict[str, Any]:
    needed = units_needed(spread.se, spread.units, float(wanted.detect), wanted.power)
    curve = [
        {"records": size, "detectable": detectable}
        for size in sorted({*wanted.sizes, scale.records})
        if (detectable := _detectable(spread, scale.in_units(size), wanted)) is not None
    ]
    return {
        "standard_error": spread.se,
        "correlation": spread.correlation,
        "detectable": _detectable(spread, spread.units, wanted),
        "units_needed": needed,
        "records_needed": scale.in_records(needed),
        "reason": None if needed is not None else "more than can be named",
        "curve": curve,
    }


def _detectable(spread: Spread, units: int, wanted: Wanted) -> float | None:
    found = detectable_difference(spread.se, spread.units, wanted.power, at=units)
    return None if found is None or found > 1 else found  # no two shares are further apart


def _gate(rate: Rate, side: str, bound: Decimal, records: int) -> dict[str, Any]:
    """Whether the interval leaves out the bound, or with how many units like these it would."""
    entry: dict[str, Any] = {"bound": side, "threshold": str(bound), "decided": None, "records_needed": None}
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
    above = rate.exact is not None and rate.exact > Fraction(bound)
    decided = not exact(interval.low) <= Fraction(bound) <= exact(interval.high)
    return {
        **entry,
        "decided": ("above" if above else "below") if decided else None,
        "tends": "above" if above else "below",
        "records_needed": Scale(records, sums.units).in_records(needed),
    }


def _unseen(sums: RatioSums, correlation: float) -> Spread | str:
    """The spread of the difference from a system that nobody has seen; why there is none, in words."""
    if sums.b == 0:
        return _NOTHING
    variance = sums.variance
    if variance is None:
        return _TOO_FEW
    if variance == 0 or correlation == 1:
        return _NO_SPREAD
    return Spread(unseen_difference_se(sqrt(variance), correlation), sums.units, None)


def _bounds(result: StoredResult, name: str, wanted: Wanted) -> dict[str, Decimal]:
    """The threshold that is asked for, or the bounds of the report's gates on this metric."""
    if wanted.threshold is not None:
        return {"threshold": wanted.threshold}
    found: dict[str, Decimal] = {}
    for gate in stored_gates(result.report):
        if gate.metric == name:
            found |= gate.bounds
    return found


def _names(result: StoredResult, wanted: Wanted, rates: Mapping[str, Rate]) -> list[str]:
    for name in wanted.metrics:
        if name not in rates:
            raise ConfigError(
                "power.unknown_metric",
                f"there is no rate {name} in this result",
                expected=f"a rate of the {result.suite.name} suite: {', '.join(sorted(rates))}",
                found=name,
                advice=did_you_mean(name, rates),
            )
    return [*dict.fromkeys(wanted.metrics)] or [name for name in result.suite.headline if name in rates]
