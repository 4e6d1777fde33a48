"""How small a difference the units at hand can show, and how many units a difference or an open gate needs.

Also how many labels of people a corrected rate needs: further labels are taken to be like those at hand, so the sums of
the labelled items are scaled to another number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Literal, NamedTuple

from goldgate.core.sums import RatioSums
from goldgate.stats.corrected_rate import LEAST_LABELS, CorrectedRate, LabelSums, grouped_rate, plain_rate
from goldgate.stats.distributions import normal_quantile, t_quantile
from goldgate.stats.interval import LEVEL, Interval, exact_end, one_sided, share_interval

POWER = 0.8  # as often is a difference of that size found; the usual choice
MAX_UNITS = 10**12  # beyond this no number is named
MAX_ONES = 100_000  # labels


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


class LabelGoal(NamedTuple):
    """What labels are needed for: an interval of at most this length, or a gate that passes."""

    kind: Literal["length", "min", "max"]
    bound: str
    confidence: float | None = None  # of a gate


class ExpectedLabels(NamedTuple):
    """The sums of a question with every unsure item 0, and with every one 1."""

    all_0: LabelSums
    all_1: LabelSums

    def ends(self, n: int, level: float, *, correct: bool = True, gate: bool = False) -> tuple[float, float]:
        """The interval that n labels like these would give; `correct` False: without the judge."""
        low, high = (_expected_rate(sums, n, correct, gate) for sums in self)
        return low.ends(level)[0], high.ends(level)[1]

    def length(self, n: int, *, correct: bool = True) -> float:
        low, high = self.ends(n, LEVEL, correct=correct)
        return high - low

    def reaches(self, goal: LabelGoal, n: int, *, correct: bool) -> bool:
        if goal.confidence is None:
            return self.length(n, correct=correct) <= float(goal.bound)
        low, high = self.ends(n, one_sided(goal.confidence), correct=correct, gate=True)
        return low >= Fraction(goal.bound) if goal.kind == "min" else high <= Fraction(goal.bound)

    def needed(self, goal: LabelGoal, *, correct: bool) -> int | None:
        """The least number of labels that reaches a goal; None where all items do not."""
        return _least(lambda n: self.reaches(goal, n, correct=correct), LEAST_LABELS, self.all_0.items)


def _expected_rate(sums: LabelSums, n: int, correct: bool, gate: bool) -> CorrectedRate:
    """The rate with n labels. Groups raise its variance by as much as they do now."""
    labelled, m = Fraction(n, sums.labelled), sums.items - n
    others = Fraction(m, sums.others) if sums.others else Fraction(0)
    h, j, hh, hj, jj = (labelled * part for part in (sums.h, sums.j, sums.hh, sums.hj, sums.jj))
    rate = plain_rate(LabelSums(n, m, h, j, others * sums.o, hh, hj, jj, others * sums.oo), correct)
    if not sums.groups:
        return rate
    raised = grouped_rate(sums, gate, correct).variance / plain_rate(sums, correct).variance
    df = max(Fraction(1), min(rate.df, sums.groups * labelled - 1))
    return replace(rate, variance=rate.variance * max(Fraction(1), raised), df=df)


def ones_needed(bound: Fraction, confidence: float) -> int | None:
    """How many labels of people, all of them 1 and without a judge, have a lower end of at least this."""

    def enough(n: int) -> bool:
        one, nothing = Fraction(n), Fraction(0)
        sums = LabelSums(n, 0, one, nothing, nothing, one, nothing, nothing, nothing)
        return plain_rate(sums).ends(one_sided(confidence))[0] >= bound

    return _least(enough, LEAST_LABELS, MAX_ONES)


def _least(enough: Callable[[int], bool], first: int, most: int = MAX_UNITS) -> int | None:
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


def _shows(se: float, units: int, difference: float, power: float, level: float, at: int) -> bool:
    detectable = detectable_difference(se, units, power, level, at)
    return detectable is not None and detectable <= abs(difference)
