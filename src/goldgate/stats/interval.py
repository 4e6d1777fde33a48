"""The interval of a rate, a count or a macro average over clustered units, and how many units a difference needs.

The interval of a rate is Wilson's with an effective number of units, and never of width zero: where all units are
right, or all alike, the variance is that of units that are right or wrong as a whole. docs/decisions/0007 has the
simulation that chose this. The bounds of a macro average are put together from those of its classes as their
variances would be (variance estimates recovery; Zou and Donner 2008), with the products of classes that occur in
the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, sqrt
from typing import TYPE_CHECKING, NamedTuple, cast

from goldgate.core.metric import Count, Estimate, Mean, Metric, Ratio, gate_metric
from goldgate.core.sums import MeanSums, Products, RatioSums
from goldgate.stats.distributions import normal_quantile, t_quantile

if TYPE_CHECKING:
    from goldgate.core.contracts import IntervalEntry, IntervalValue, MetricValue

LEVEL = 0.95
METHOD = "wilson-t.v1"  # in the signature; raised when the same sums may give another interval
DIGITS = 9  # of a bound, cut outwards
ANY_VALUES, SHARES, SHARE_DIFFERENCES = (-inf, inf), (0.0, 1.0), (-1.0, 1.0)  # the values that a measure can have
WHOLE_UNIT_WEIGHT = Fraction(1, 5)  # chosen by simulation: 0.1 covers too little at a rate of 0.98, 0.4 too much

_LEAST_DF = 0.1  # below, t is above 10¹² and the bounds are 0 and 1
_STEP = Decimal(1).scaleb(-DIGITS)
_ANY_FLOAT = Context(prec=400)  # digits: the largest float has 309 before the point
_NOTHING = "no unit counts towards it"


class Interval(NamedTuple):
    """The values that the units do not rule out, at a level of confidence."""

    level: float
    low: float
    high: float
    method: str
    units: int

    def as_json(self, unit: str) -> IntervalValue:
        """The interval as a JSON object of a report; `unit` is the word for its units: document, run, group."""
        level, low, high, method, units = self
        return {"level": level, "low": low, "high": high, "method": method, "unit": unit, "units": units}


class NoInterval(NamedTuple):
    """There is no honest interval, for this reason."""

    reason: str


class UnitSpread(NamedTuple):
    """How far a share can be trusted: its variance over units, and what limits that estimate.

    `whole_units` is the number of units of equal size that would weigh as much, (Σb)² / Σb² (Kish): the
    trials there are if every unit stands or falls as a whole. `trials` is Σb: those if all parts of a unit are
    independent.
    """

    variance: Fraction
    whole_units: Fraction
    trials: Fraction


@lru_cache(maxsize=4096)  # of hundreds of rates more than half have the sums of another, such as strict and relaxed
def share_interval(sums: RatioSums, level: float = LEVEL, at: int | None = None) -> Interval | NoInterval:
    """The interval of a rate from 0 to 1; with `at`, the one expected for that number of units like these."""
    if sums.b == 0:
        return NoInterval(_NOTHING)
    if not 0 <= sums.a <= sums.b:
        raise ValueError(f"a share lies between 0 and 1, not at {sums.a}/{sums.b}")
    units = sums.units if at is None else at
    times = Fraction(units, sums.units)
    rate, whole_units = Fraction(sums.a, sums.b), Fraction(sums.b**2, sums.bb) * times
    spread = UnitSpread((sums.variance or Fraction(0)) / times, whole_units, sums.b * times)
    return wilson(rate, effective_units(rate, spread), float(whole_units - 1), level, units)


def effective_units(rate: Fraction, spread: UnitSpread) -> Fraction:
    """The number of independent trials that would leave the rate as uncertain as these units do.

    nₑ = R (1 - R) / variance, drawn towards the number of whole units by a weight of c / (nₑ min(R, 1 - R) + c): the
    fewer failures (or hits) have been seen, the less their spread says, and with none it says nothing. The result is
    the weighted harmonic mean of the two numbers.
    """
    ends = rate * (1 - rate)
    observed = spread.trials
    if spread.variance and ends:
        observed = min(observed, ends / spread.variance)
    whole = min(spread.whole_units, observed) if ends else spread.whole_units
    rarer = min(rate, 1 - rate)
    return (observed * rarer + WHOLE_UNIT_WEIGHT) / (rarer + WHOLE_UNIT_WEIGHT / whole)


def wilson(rate: Fraction, trials: Fraction, df: float, level: float, units: int) -> Interval:
    """Wilson's score interval, with Student's t in place of the normal quantile; all of 0 to 1 for one unit."""
    if df < _LEAST_DF:
        return Interval(level, 0.0, 1.0, "wilson-t", units)
    ends = wilson_ends(rate, trials, t_quantile((1 + level) / 2, _round_df(df)))
    return outward_interval(level, *ends, "wilson-t", units, SHARES)


def wilson_ends(rate: Fraction, trials: Fraction, t: float) -> tuple[float, float]:
    """The ends of Wilson's interval. At 0 and 1 the formula gives the end itself, but for rounding."""
    share, n = float(rate), float(trials)
    scale = 1 + t * t / n
    centre = (share + t * t / (2 * n)) / scale
    half = t / scale * sqrt(share * (1 - share) / n + t * t / (4 * n * n))
    return 0.0 if rate == 0 else centre - half, 1.0 if rate == 1 else centre + half


def ratio_interval(sums: RatioSums, level: float = LEVEL) -> Interval | NoInterval:
    """The interval of a ratio that may be above 1: the θ for which Σ(a - θ b) is not clearly other than 0 (Fieller)."""
    if sums.b == 0:
        return NoInterval(_NOTHING)
    if sums.units < 2:
        return NoInterval("one unit shows no spread")
    if sums.variance == 0:
        return NoInterval("all units have the same ratio, so they show no spread")
    n = sums.units
    t = Fraction(t_quantile((1 + level) / 2, n - 1))
    factor = t * t * Fraction(n, n - 1)
    # (Σa - θ Σb)² = t² n/(n-1) (Σ(a - θb)² - (Σa - θΣb)²/n): a quadratic equation in θ.
    weight = 1 + factor / n
    square = weight * sums.b**2 - factor * sums.bb
    middle = weight * sums.a * sums.b - factor * sums.ab
    rest = weight * sums.a**2 - factor * sums.aa
    if square <= 0:
        return NoInterval("the sizes vary too much between so few units")
    root = sqrt((middle * middle - square * rest) / (square * square))
    centre = float(middle / square)
    return outward_interval(level, centre - root, centre + root, "fieller-t", n, (0.0 if sums.a >= 0 else -inf, inf))


def count_interval(sums: RatioSums, level: float = LEVEL) -> Interval | NoInterval:
    """The interval of a count over records: what as many records like these bring on average, in whole numbers.

    Every b is the number of records of its unit: 1, or the size of the group.
    """
    if sums.b < sums.units:
        raise ValueError("for the interval of a count, b is at least 1 in every unit")
    # At most one in each record is a share of the records. These sums then are in this order; and where b is 1
    # everywhere, they are in no other case.
    is_share = sums.a <= sums.b and sums.aa <= sums.ab <= sums.bb
    mean = share_interval(sums, level) if is_share else ratio_interval(sums, level)
    if isinstance(mean, NoInterval):
        return mean
    low, high = floor(mean.low * sums.b), ceil(mean.high * sums.b)
    return Interval(level, low, high, mean.method, sums.units)


def one_sided(confidence: float) -> float:
    """The level of a two-sided interval whose one end holds with this confidence: a gate has one side."""
    return 2 * confidence - 1


def exact_end(end: float) -> Fraction:
    """The end of an interval as it stands in a report: 0.95 is 95/100, not the float beside it."""
    return Fraction(repr(end))


def outward_interval(
    level: float, low: float, high: float, method: str, units: int, within: tuple[float, float] = ANY_VALUES
) -> Interval:
    """An interval whose bounds lie `within` these and have few digits, the lower rounded down and the upper up."""
    low, high = max(within[0], low), min(within[1], high)
    return Interval(level, _cut(low, ROUND_FLOOR), _cut(high, ROUND_CEILING), method, units)


def _round_df(df: float) -> float:
    """Degrees of freedom rounded down to three digits, below 10 to two, so that cached quantiles are reused.

    A quantile takes 0.3 ms; with fewer degrees of freedom it is larger, so the interval is never too short.
    """
    if df < 10:
        return int(df * 10) / 10
    unit = 1
    while df >= 1000 * unit:
        unit *= 10
    return float(int(df) // unit * unit)


def _cut(bound: float, rounding: str) -> float:
    return float(Decimal(bound).quantize(_STEP, rounding, _ANY_FLOAT))


def mean_interval(sums: MeanSums, level: float = LEVEL) -> Interval | NoInterval:
    """The interval of a mean of rates from 0 to 1; undefined rates are left out."""
    classes = {name: one for name, one in sorted(sums.rates.items()) if one.b}
    below: dict[str, float] = {}
    above: dict[str, float] = {}
    for name, one in classes.items():
        bound, rate = share_interval(one, level), one.a / one.b
        if isinstance(bound, Interval):
            below[name], above[name] = rate - bound.low, bound.high - rate
    if not below:
        return NoInterval("no rate to average is defined")
    links = _correlations(classes, sums.products)
    mean = float(sum((Fraction(one.a, one.b) for one in classes.values()), Fraction(0)) / len(classes))
    low, high = mean - _together(below, links), mean + _together(above, links)
    return outward_interval(level, low, high, "mover-wilson-t", sums.units, SHARES)


def _together(widths: Mapping[str, float], links: Mapping[tuple[str, str], float]) -> float:
    """The width of the mean: the root of the sum of squares and of twice the products, times their correlation."""
    total = 0.0
    for name in sorted(widths):
        total += widths[name] * widths[name]
    for (one, other), correlation in sorted(links.items()):
        total += 2 * correlation * widths[one] * widths[other]
    return sqrt(max(0.0, total)) / len(widths)


def _correlations(
    classes: Mapping[str, RatioSums], products: Mapping[tuple[str, str], Products]
) -> dict[tuple[str, str], float]:
    """Correlations of the linearized rates of two classes: Σ(a - Rb)(c - Qd) over the root of both sums of squares."""
    correlations = {}
    for (name, other), met in products.items():
        one, two = classes.get(name), classes.get(other)
        if one is None or two is None:
            continue
        joint = residual_product(one, two, met)
        squares = residual_square(one) * residual_square(two)
        if joint and squares:
            # joint² / squares in integers first: the root of a ratio below 1, however large the numbers.
            size = sqrt(Fraction(joint * joint, squares))
            correlations[name, other] = size if joint > 0 else -size
    return correlations


def residual_product(one: RatioSums, two: RatioSums, met: Products) -> int:
    """Σ(a - R b)(c - Q d), times Σb Σd."""
    return one.b * two.b * met.aa - one.b * two.a * met.ab - one.a * two.b * met.ba + one.a * two.a * met.bb


def residual_square(sums: RatioSums) -> int:
    """Σ(a - R b)², times (Σb)²."""
    return residual_product(sums, sums, Products(sums.aa, sums.ab, sums.ab, sums.bb))


GROUP = "group"  # the unit, where records name the group that they belong to
_NO_INTERVAL = "it has no interval"
_NOT_PAIRED = "how its rates vary together is not summed"


def metric_with_interval(metric: Metric | Mean, unit: str, level: float = LEVEL) -> MetricValue:
    """A metric's JSON with `interval`; null, with `interval_reason`, where there is no honest one."""
    entry = {**metric.as_json(), **interval_entry(interval_of(metric, level), unit)}
    judged = gate_metric(metric)
    if judged is not metric and judged.exact is not None:
        entry["gate_rate"] = metric_with_interval(judged, unit, level)
    return cast("MetricValue", entry)


def interval_entry(interval: Interval | NoInterval, unit: str) -> IntervalEntry:
    """The interval for a report, or the reason why there is none."""
    if isinstance(interval, Interval):
        return {"interval": interval.as_json(unit)}
    return {"interval": None, "interval_reason": interval.reason}


def interval_of(metric: Metric | Mean, level: float = LEVEL) -> Interval | NoInterval:
    """The interval of a rate, a ratio, a count, a mean of rates or an estimate."""
    if metric.value is None:
        return NoInterval(str(metric.reason))
    if isinstance(metric, Mean):
        return NoInterval(_NOT_PAIRED) if metric.sums is None else mean_interval(metric.sums, level)
    if not isinstance(metric, Count) and metric.interval_at is not None:
        own: Interval | NoInterval = metric.interval_at(level)
        return own
    if isinstance(metric, Estimate):
        return NoInterval(_NO_INTERVAL)
    if metric.sums is None:
        return NoInterval(metric.interval_reason)
    if isinstance(metric, Count):
        return count_interval(metric.sums, level)
    return ratio_interval(metric.sums, level) if isinstance(metric, Ratio) else share_interval(metric.sums, level)


def gate_interval_of(metric: Metric | Mean, level: float) -> Interval | NoInterval:
    """The interval that a gate is held against: an estimate may have a wider one for it."""
    if isinstance(metric, Estimate) and metric.exact is not None and metric.gate_interval_at is not None:
        own: Interval | NoInterval = metric.gate_interval_at(level)
        return own
    return interval_of(metric, level)


POWER = 0.8  # as often is a difference of that size found; the usual choice
MAX_UNITS = 10**12  # beyond this no number is named


def detectable_difference(
    se: float, units: int, power: float = POWER, level: float = LEVEL, at: int | None = None
) -> float | None:
    """(t + t') · se, the smallest difference that is found with this power; `at` asks for another number of units."""
    target = units if at is None else at
    if target < 2 or units < 2:
        return None
    df = target - 1
    return (t_quantile((1 + level) / 2, df) + t_quantile(power, df)) * (se * sqrt(units / target))


def units_needed(se: float, units: int, difference: float, power: float = POWER, level: float = LEVEL) -> int | None:
    """The least number of units that shows such a difference; `se` is that of the difference over `units` units.

    None where there is no telling: no spread between the units at hand, less than two of them, or beyond all measure.
    """
    if difference == 0 or se == 0 or units < 2:
        return None
    # The normal quantiles are below those of t, so that one unit less than they ask for is never enough.
    normal = (normal_quantile((1 + level) / 2) + normal_quantile(power)) * se / abs(difference)
    if normal * normal * units > MAX_UNITS:
        return None

    def shows(at: int) -> bool:
        detectable = detectable_difference(se, units, power, level, at)
        return detectable is not None and detectable <= abs(difference)

    return least_number(shows, max(2, int(normal * normal * units)))


def units_to_decide(sums: RatioSums, threshold: Fraction, level: float = LEVEL) -> int | None:
    """The least number of units like these whose interval leaves out the threshold: a gate is then decided.

    None where no number would do (the rate is at the threshold) or there is no interval.
    """
    if sums.b == 0 or Fraction(sums.a, sums.b) == threshold:
        return None

    def decided(at: int) -> bool:
        interval = share_interval(sums, level, at=at)
        return isinstance(interval, Interval) and not exact_end(interval.low) <= threshold <= exact_end(interval.high)

    return least_number(decided, 1)


def unseen_difference_se(se: float, correlation: float = 0.0) -> float:
    """Standard error of the difference from a second system that is not known yet, as uncertain as the first.

    Two systems mostly fail on the same documents, so that a correlation of 0 asks for more units than will be needed.
    """
    return se * sqrt(2 * (1 - correlation))


def least_number(enough: Callable[[int], bool], first: int, most: int = MAX_UNITS) -> int | None:
    """The least number from `first` to `most` that is enough, where more is never less; None where there is none."""
    low, high = first - 1, first
    while high < most and not enough(high):
        low, high = high, min(high + 2 * (high - low), most)
    if high > most or not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
