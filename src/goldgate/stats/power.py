"""How small a difference the units at hand can show, and how many units a given difference needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from goldgate.stats.interval import LEVEL
from goldgate.stats.student import normal_quantile, t_quantile

POWER = 0.8  # as often is a difference of that size found; the usual choice
MOST_UNITS = 10**12  # beyond this no number is named


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """With so many units, differences from this size on are found as often as the power says."""

    units: int
    detectable: float


def detectable_difference(
    se: float, units: int, power: float = POWER, level: float = LEVEL, at: int | None = None
) -> float | None:
    """(t + t') · se, the smallest difference that is found with this power; `at` asks for another number of units."""
    wanted = units if at is None else at
    if wanted < 2 or units < 2:
        return None
    df = wanted - 1
    return (t_quantile((1 + level) / 2, df) + t_quantile(power, df)) * (se * sqrt(units / wanted))


def units_needed(se: float, units: int, difference: float, power: float = POWER, level: float = LEVEL) -> int | None:
    """The least number of units that shows such a difference; `se` is that of the difference over `units` units.

    None where there is no telling: no spread between the units at hand, less than two of them, or beyond all measure.
    """
    if difference == 0 or se == 0 or units < 2:
        return None
    # The normal quantiles are below those of t, so that one unit less than they ask for is never enough.
    normal = (normal_quantile((1 + level) / 2) + normal_quantile(power)) * se / abs(difference)
    if normal * normal * units > MOST_UNITS:
        return None
    low = max(1, int(normal * normal * units) - 1)
    step = 1
    while not _shows(se, units, difference, power, level, low + step):
        low, step = low + step, step * 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if _shows(se, units, difference, power, level, middle):
            high = middle
        else:
            low = middle
    return high


def power_curve(
    se: float, units: int, sizes: Iterable[int], power: float = POWER, level: float = LEVEL
) -> list[PowerPoint]:
    """The smallest difference that can be shown, for each number of units from two on."""
    found = ((size, detectable_difference(se, units, power, level, at=size)) for size in sizes)
    return [PowerPoint(size, detectable) for size, detectable in found if detectable is not None]


def unseen_difference_se(se: float, correlation: float = 0.0) -> float:
    """Of the difference from a second system that nobody has seen yet, as uncertain as the first.

    Two systems mostly fail on the same documents, so that a correlation of 0 asks for more units than will be needed.
    """
    return se * sqrt(2 * (1 - correlation))


def _shows(se: float, units: int, difference: float, power: float, level: float, at: int) -> bool:
    detectable = detectable_difference(se, units, power, level, at)
    return detectable is not None and detectable <= abs(difference)
