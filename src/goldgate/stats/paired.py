"""The difference of two systems' rates over the same units: how large, and how sure.

The units are given as a count of each different pair of counts, (a₁, b₁, a₂, b₂); a unit that one system lacks has
zeros there. Every number is a function of that multiset: order and split cannot matter, and with the systems
exchanged only signs change.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from goldgate.core.sums import RatioSums
from goldgate.stats.interval import LEVEL, Interval, NoInterval, outwards, share_interval
from goldgate.stats.student import t_quantile, t_tail
from goldgate.stats.swap import Pairs

FEW_DIFFERING = 5  # fewer units that differ say little about how often units differ
_NOTHING = "one of the two rates has nothing to divide by"


@dataclass(frozen=True, slots=True)
class PairedSums:
    """The sums of both systems and of their products: all that the difference and its interval need. They add up."""

    units: int  # where at least one system has something to count
    differing: int  # units whose counts are not the same in both
    first: RatioSums
    second: RatioSums
    a1a2: int
    a1b2: int
    b1a2: int
    b1b2: int

    def __add__(self, other: PairedSums) -> PairedSums:
        return PairedSums(
            self.units + other.units,
            self.differing + other.differing,
            self.first + other.first,
            self.second + other.second,
            self.a1a2 + other.a1a2,
            self.a1b2 + other.a1b2,
            self.b1a2 + other.b1a2,
            self.b1b2 + other.b1b2,
        )

    @property
    def value(self) -> Fraction | None:
        """First rate minus second; None where one of them is undefined."""
        if self.first.b == 0 or self.second.b == 0:
            return None
        return Fraction(self.first.a, self.first.b) - Fraction(self.second.a, self.second.b)

    @property
    def variance(self) -> Fraction | None:
        """n/(n - 1) Σd², d = (a₁ - R₁b₁)/Σb₁ - (a₂ - R₂b₂)/Σb₂; None for less than two units or an undefined rate."""
        one, two = self.first, self.second
        if self.units < 2 or one.b == 0 or two.b == 0:
            return None
        own = Fraction(_squares(one), one.b**4) + Fraction(_squares(two), two.b**4)
        product = (
            one.b * two.b * self.a1a2
            - one.b * two.a * self.a1b2
            - one.a * two.b * self.b1a2
            + one.a * two.a * self.b1b2
        )
        return Fraction(self.units, self.units - 1) * (own - Fraction(2 * product, one.b**2 * two.b**2))


@dataclass(frozen=True, slots=True)
class Standing:
    """On how many units the first system was better, neither, worse."""

    wins: int
    ties: int
    losses: int


def paired_sums(pairs: Pairs) -> PairedSums:
    """The sums of these units; those of several splits add up to those of the whole."""
    n = n1 = n2 = differing = 0
    a1s = b1s = a2s = b2s = 0
    a1a1 = a1b1 = b1b1 = a2a2 = a2b2 = b2b2 = a1a2 = a1b2 = b1a2 = b1b2 = 0
    for (a1, b1, a2, b2), k in pairs.items():
        n += k if a1 or b1 or a2 or b2 else 0
        n1 += k if a1 or b1 else 0
        n2 += k if a2 or b2 else 0
        differing += k if a1 != a2 or b1 != b2 else 0
        ka1, kb1, ka2, kb2 = k * a1, k * b1, k * a2, k * b2
        a1s, b1s, a2s, b2s = a1s + ka1, b1s + kb1, a2s + ka2, b2s + kb2
        a1a1, a1b1, b1b1 = a1a1 + ka1 * a1, a1b1 + ka1 * b1, b1b1 + kb1 * b1
        a2a2, a2b2, b2b2 = a2a2 + ka2 * a2, a2b2 + ka2 * b2, b2b2 + kb2 * b2
        a1a2, a1b2, b1a2, b1b2 = a1a2 + ka1 * a2, a1b2 + ka1 * b2, b1a2 + kb1 * a2, b1b2 + kb1 * b2
    first, second = RatioSums(n1, a1s, b1s, a1a1, a1b1, b1b1), RatioSums(n2, a2s, b2s, a2a2, a2b2, b2b2)
    return PairedSums(n, differing, first, second, a1a2, a1b2, b1a2, b1b2)


def difference_interval(
    sums: PairedSums, level: float = LEVEL, share: bool = True, df: int | None = None
) -> Interval | NoInterval:
    """Student's interval of the difference, with n - 1 degrees of freedom if nobody gives others.

    Where every unit has the same counts in both systems it is 0 to 0: there is no difference, not a small one. Where
    the units differ but all in the same way, there is no spread to judge by; the bounds are then put together from
    those of the two rates (Newcombe), as if these were independent.
    """
    value, variance = sums.value, sums.variance
    if value is None:
        return NoInterval(_NOTHING)
    if sums.differing == 0:
        return Interval(level, 0.0, 0.0, "equal", sums.units)
    if variance:
        half = t_quantile((1 + level) / 2, sums.units - 1 if df is None else df) * sqrt(variance)
        low, high = float(value) - half, float(value) + half
        if share:
            low, high = max(-1.0, low), min(1.0, high)
        return outwards(level, low, high, "paired-t", sums.units)
    if not share:
        return NoInterval("the units show no spread")
    return _from_both(sums, float(value), level)


def careful_interval(
    sums: PairedSums, level: float = LEVEL, share: bool = True, *, same: bool = False, df: int | None = None
) -> Interval | NoInterval:
    """The interval of the difference; where few units differ, with room for those that have not been seen to.

    That two systems came out alike on three documents does not say that they are alike. Only where both have made the
    `same` bytes is there no difference at all, and nothing to leave open.
    """
    found = difference_interval(sums, level, share, df)
    if isinstance(found, NoInterval) or same or sums.differing >= FEW_DIFFERING:
        return found
    room, value = unseen_room(sums, level), float(sums.value or 0)
    low, high = min(found.low, value - room), max(found.high, value + room)
    if share:
        low, high = max(-1.0, low), min(1.0, high)
    return outwards(level, low, high, f"{found.method}-few", sums.units)


def unseen_room(sums: PairedSums, level: float = LEVEL) -> float:
    """How far two systems may differ though none of so many units shows it: the bound of a rate of 0 over them."""
    found = [
        share_interval(RatioSums(side.units, 0, side.b, 0, 0, side.bb), level) for side in (sums.first, sums.second)
    ]
    return max([interval.high for interval in found if isinstance(interval, Interval)], default=1.0)


def t_test(sums: PairedSums) -> float | None:
    """The two-sided p-value that goes with the interval: below 1 - level where that leaves out 0. It takes no swaps."""
    value, variance = sums.value, sums.variance
    if value is None:
        return None
    if value == 0:
        return 1.0
    return min(1.0, 2 * t_tail(abs(float(value)) / sqrt(variance), sums.units - 1)) if variance else None


def standing(pairs: Pairs) -> Standing:
    """Wins, ties and losses of the first system by unit: which way the unit moves the difference of the two rates.

    That is the sign of (a₁ - a₂) Σb - (b₁ - b₂) Σa, with sums over both systems: more hits count for it, and more to
    divide by against it, at the rate that both have together. These terms add up to the difference; it is what the
    swap test swaps. A unit with equal counts is always a tie.
    """
    total_a = sum((a1 + a2) * times for (a1, _, a2, _), times in pairs.items())
    total_b = sum((b1 + b2) * times for (_, b1, _, b2), times in pairs.items())
    wins = ties = losses = 0
    for (a1, b1, a2, b2), times in pairs.items():
        moved = (a1 - a2) * total_b - (b1 - b2) * total_a
        if moved > 0:
            wins += times
        elif moved < 0:
            losses += times
        elif a1 or b1 or a2 or b2:
            ties += times
    return Standing(wins, ties, losses)


def _squares(sums: RatioSums) -> int:
    """Σ(a - R b)², times (Σb)²."""
    return sums.b**2 * sums.aa - 2 * sums.a * sums.b * sums.ab + sums.a**2 * sums.bb


def _from_both(sums: PairedSums, value: float, level: float) -> Interval | NoInterval:
    first, second = share_interval(sums.first, level), share_interval(sums.second, level)
    if isinstance(first, NoInterval) or isinstance(second, NoInterval):
        return NoInterval(_NOTHING)
    rate1, rate2 = sums.first.a / sums.first.b, sums.second.a / sums.second.b
    below = _hypotenuse(rate1 - first.low, second.high - rate2)
    above = _hypotenuse(first.high - rate1, rate2 - second.low)
    return outwards(level, max(-1.0, value - below), min(1.0, value + above), "newcombe", sums.units)


def _hypotenuse(one: float, other: float) -> float:
    return sqrt(one * one + other * other)  # `math.hypot` may differ in the last bit between machines
