"""Many tests at once and many runs of one system: adjusted p-values, and means over runs with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf, sqrt

from goldgate.stats.distributions import t_quantile, t_tail
from goldgate.stats.interval import (
    LEVEL,
    Interval,
    NoInterval,
    UnitSpread,
    effective_units,
    outward_interval,
    wilson,
)
from goldgate.stats.paired import plus_two, student_interval

Runs = tuple[tuple[int, int], ...]  # a and b of one unit in each run
RunUnits = Mapping[Runs, int]  # and how often that occurred

_NO_SPREAD = "the units and the runs show no spread"


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: the chance of even one false finding stays below the level. For what gates."""
    adjusted, largest, count = [1.0] * len(p_values), 0.0, len(p_values)
    for rank, index in enumerate(sorted(range(count), key=p_values.__getitem__)):
        largest = adjusted[index] = max(largest, min(1.0, _times(p_values[index], count - rank)))
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: the expected share of false ones among the findings stays below the level. For exploring."""
    adjusted, smallest, count = [1.0] * len(p_values), 1.0, len(p_values)
    for rank, index in enumerate(sorted(range(count), key=p_values.__getitem__, reverse=True)):
        smallest = adjusted[index] = min(smallest, _times(p_values[index], Fraction(count, count - rank)))
    return adjusted


def _times(p: float, factor: int | Fraction) -> float:
    # The shortest decimal is scaled: three times 0.0001 is 0.0003, and no more, as p-values are shown rounded up.
    return float(Fraction(repr(p)) * factor)


@dataclass(frozen=True, slots=True)
class RunsSummary:
    """The mean of the runs' rates, and the two spreads: from run to run, and from unit to unit, as standard errors
    of it.

    V = V(units) + max(0, s²/k - V(both)): s² is the variance of the k runs' rates; V(units) that of the mean over
    units by linearization; V(both), the part that is in either, is what one unit's answers vary from run to run, and
    counts once.
    """

    mean: Fraction
    rates: tuple[Fraction, ...]
    between_runs: float  # standard deviation of the runs' rates; 0 for one run
    se_runs: float
    se_units: float
    se: float
    df: float
    interval: Interval | NoInterval


@dataclass(frozen=True, slots=True)
class _Parts:
    mean: Fraction
    rates: tuple[Fraction, ...]
    units: int
    trials: int
    whole_units: float
    of_runs: float  # s²/k
    of_units: float
    of_both: float

    @property
    def extra(self) -> float:
        return max(0.0, self.of_runs - self.of_both)


def summarize_runs(units: RunUnits, level: float = LEVEL, share: bool = True) -> RunsSummary | NoInterval:
    """Summarize a rate of several runs over the same units; `share` is false if it may be above 1."""
    parts = _parts(units)
    if parts is None:
        return NoInterval("a run has nothing to divide by")
    variance = parts.of_units + parts.extra
    runs = len(parts.rates)
    df = _satterthwaite(variance, [(parts.of_units, parts.whole_units - 1), (parts.of_runs, runs - 1.0)])
    if parts.units < 2:
        df = 0.0  # however many runs: they say nothing about other units
    return RunsSummary(
        mean=parts.mean,
        rates=parts.rates,
        between_runs=sqrt(parts.of_runs * runs),
        se_runs=sqrt(parts.extra),
        se_units=sqrt(parts.of_units),
        se=sqrt(variance),
        df=df,
        interval=(_share_interval if share else _ratio_interval)(parts, variance, df, level),
    )


def _share_interval(parts: _Parts, variance: float, df: float, level: float) -> Interval:
    spread = UnitSpread(Fraction(variance), Fraction(parts.whole_units), Fraction(parts.trials))
    return wilson(parts.mean, effective_units(parts.mean, spread), df, level, parts.units)


def _ratio_interval(parts: _Parts, variance: float, df: float, level: float) -> Interval | NoInterval:
    if df == 0 or variance == 0:
        return NoInterval("one unit shows no spread" if df == 0 else _NO_SPREAD)
    half = t_quantile((1 + level) / 2, df) * sqrt(variance)
    mean = float(parts.mean)
    return outward_interval(level, mean - half, mean + half, "runs-t", parts.units, (0.0, inf))


@dataclass(frozen=True, slots=True)
class RunsDifference:
    """First mean minus second, with both spreads of both systems in its standard error; p from Student's t."""

    value: Fraction
    se: float
    df: float
    interval: Interval | NoInterval
    p: float | None


def compare_runs(
    units: Mapping[tuple[Runs, Runs], int], level: float = LEVEL, share: bool = True
) -> RunsDifference | NoInterval:
    """Compare two systems with one or several runs each, paired by unit; `share` is false if a rate may be above 1."""
    first, second = _parts(_side(units, 0)), _parts(_side(units, 1))
    if first is None or second is None:
        return NoInterval("a run has nothing to divide by")
    value = first.mean - second.mean
    n = sum(times for sides, times in units.items() if any(a or b for runs in sides for a, b in runs))
    if n < 2:
        return RunsDifference(value, 0.0, 0.0, NoInterval("one unit shows no spread"), None)
    totals = [_totals(_side(units, side)) for side in (0, 1)]
    squares = []
    for sides, times in units.items():
        one, other = (fsum(_deviations(runs, total)) / len(total) for runs, total in zip(sides, totals, strict=True))
        squares.append(times * ((one - other) * (one - other)))
    of_units = fsum(squares) * n / (n - 1)
    se = sqrt(fsum((of_units, first.extra, second.extra)))  # the same with the systems exchanged
    spread = plus_two(of_units, n) if share else of_units
    variance = fsum((spread, first.extra, second.extra))
    if variance == 0:
        return RunsDifference(value, 0.0, n - 1.0, NoInterval(_NO_SPREAD), 1.0 if value == 0 else None)
    df = _satterthwaite(
        variance, [(spread, n - 1.0), *((side.of_runs, len(side.rates) - 1.0) for side in (first, second))]
    )
    method = "runs-plus-two-t" if share else "runs-t"
    interval = student_interval(level, value, variance, df, (method, n), share=share)
    return RunsDifference(value, se, df, interval, min(1.0, 2 * t_tail(abs(float(value)) / sqrt(variance), df)))


def _parts(units: RunUnits) -> _Parts | None:
    totals = _totals(units)
    if not totals or any(b == 0 for _, b in totals):
        return None
    k = len(totals)
    rates = tuple(Fraction(a, b) for a, b in totals)
    mean = sum(rates, Fraction(0)) / k
    n = sum(times for runs, times in units.items() if any(a or b for a, b in runs))
    of_runs = float(sum((rate - mean) ** 2 for rate in rates)) / (k * (k - 1)) if k > 1 else 0.0
    # Floats, for exact fractions over k denominators take seconds; `fsum` is right to the last bit in any order.
    squares, within, weights = [], [], []
    for runs, times in units.items():
        own = _deviations(runs, totals)
        d = fsum(own) / k
        squares.append(times * (d * d))
        within.append(times * fsum((one - d) * (one - d) for one in own))
        weight = fsum(b / total for (_, b), (_, total) in zip(runs, totals, strict=True)) / k
        weights.append(times * (weight * weight))
    inflate = n / (n - 1) if n > 1 else 0.0
    return _Parts(
        mean=mean,
        rates=rates,
        units=n,
        trials=sum(b for _, b in totals) // k,
        whole_units=1 / fsum(weights),
        of_runs=of_runs,
        of_units=inflate * fsum(squares),
        of_both=inflate * fsum(within) / (k * (k - 1)) if k > 1 else 0.0,
    )


def _side(units: Mapping[tuple[Runs, Runs], int], side: int) -> Counter[Runs]:
    counts: Counter[Runs] = Counter()
    for sides, times in units.items():
        counts[sides[side]] += times
    return counts


def _totals(units: RunUnits) -> Runs:
    """Σa and Σb of each run."""
    by_run = zip(*([(a * times, b * times) for a, b in runs] for runs, times in units.items()), strict=True)
    return tuple((sum(a for a, _ in run), sum(b for _, b in run)) for run in by_run)


def _deviations(runs: Runs, totals: Runs) -> list[float]:
    """(a - R b) / Σb in each run."""
    return [(a * sb - sa * b) / (sb * sb) for (a, b), (sa, sb) in zip(runs, totals, strict=True)]


def _satterthwaite(variance: float, parts: Sequence[tuple[float, float]]) -> float:
    """The degrees of freedom of a variance that is put together from parts with their own: V² / Σ(part² / df).

    The part of the runs is taken in full, though V has less of it: with two runs it is too uncertain to be taken off.
    """
    positive = [(part, df) for part, df in parts if part]
    if not positive:
        return parts[0][1]
    least = min(df for _, df in positive)
    if least <= 0:
        return 0.0
    return max(least, variance * variance / fsum(part * part / df for part, df in positive))
