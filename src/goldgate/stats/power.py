"""How small a difference the units at hand can show, and how many units a difference or an open gate needs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import sqrt

from goldgate.core.sums import RatioSums
from goldgate.stats.distributions import normal_quantile, t_quantile
from goldgate.stats.interval import LEVEL, Interval, exact_end, share_interval

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
    return _least(lambda at: _shows(se, units, difference, power, level, at), max(2, int(normal * normal * units)))


def units_to_decide(sums: RatioSums, threshold: Fraction, level: float = LEVEL) -> int | None:
    """The least number of units like these whose interval leaves out the threshold: a gate is then decided.

    None where no number would do (the rate is at the threshold) or there is no interval.
    """
    if sums.b == 0 or Fraction(sums.a, sums.b) == threshold:
        return None

    def decided(at: int) -> bool:
        interval = share_interval(sums, level, at=at)
        return isinstance(interval, Interval) and not exact_end(interval.low) <= threshold <= exact_end(interval.high)

    return _least(decided, 1)


def units_to_separate(se: float, units: int, distance: float, level: float = LEVEL) -> int | None:
    """The least number of units for which a difference stays clear of a bound that it is this far from now.

    For "not worse than" the distance is |difference + margin|. None where no number would do.
    """
    if distance == 0 or units < 2:
        return None
    return _least(lambda at: t_quantile((1 + level) / 2, at - 1) * (se * sqrt(units / at)) < abs(distance), 2)


def unseen_difference_se(se: float, correlation: float = 0.0) -> float:
    """Standard error of the difference from a second system that is not known yet, as uncertain as the first.

    Two systems mostly fail on the same documents, so that a correlation of 0 asks for more units than will be needed.
    """
    return se * sqrt(2 * (1 - correlation))


def _least(enough: Callable[[int], bool], first: int) -> int | None:
    """The least number from `first` on that is enough, where more is never less; None beyond all measure."""
    low, step = first - 1, 1
    while not enough(low + step):
        low, step = low + step, step * 2
        if low > MAX_UNITS:
            return None
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _shows(se: float, units: int, difference: float, power: float, level: float, at: int) -> bool:
    detectable = detectable_difference(se, units, power, level, at)
    return detectable is not None and detectable <= abs(difference)
