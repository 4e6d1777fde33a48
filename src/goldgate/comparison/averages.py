"""Macro averages of systems, and their differences: the plain mean of a rate over parts, such as event types.

The parts of a difference are put together as those of an average are (stats/macro): each part has a half-width of its
own, which has room for what few units cannot show (stats/paired), and the correlations are those of what units add.
Where many units differ in every part, that is Student's paired interval of the linearized difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import fsum, sqrt
from typing import NamedTuple

from goldgate.comparison.difference import Difference, four_counts
from goldgate.comparison.joint_units import JointUnits
from goldgate.comparison.rates import ComparedRate
from goldgate.comparison.unit_entries import NOTHING
from goldgate.core.counted_unit import Key
from goldgate.core.metric import Mean, Rate, exact_mean
from goldgate.core.products import MeanSums, Products
from goldgate.core.sums import RatioSums, pair_sums
from goldgate.stats.interval import LEVEL, Interval, NoInterval, outwards
from goldgate.stats.paired import FEW_DIFFERING, paired_sums, unseen_room
from goldgate.stats.several import Runs
from goldgate.stats.student import t_quantile, t_tail

_NOT_PAIRED = "how the parts go together is not summed: too many stand in one unit"
_SEVERAL_RUNS = "macro averages of several runs are not compared"
_NOTHING = "one of the two has no part to average"
_ONE_UNIT = "one unit shows no spread"

_Matrix = Sequence[Sequence[int]]


class _Side(NamedTuple):
    """A part in one run: what a unit with a and b adds to the difference is (B a - A b) times the weight."""

    place: int
    sums: RatioSums
    weight: Fraction


class Averages:
    """The macro averages of all runs that were joined."""

    def __init__(self, joined: JointUnits) -> None:
        self._joined = joined
        self._of_run, self._parts = cache(self._average), cache(self._find_parts)  # several answers need the same
        self._matrices: dict[tuple[Key, Key], _Matrix] | None = None
        self._why = _SEVERAL_RUNS  # there are no matrices
        if joined.meetings is not None:
            self._why = _NOT_PAIRED
            if joined.meetings.is_complete:
                self._matrices = dict(joined.meetings.matrices())

    def of(self, rate: ComparedRate, places: Sequence[int]) -> Mean:
        """Of a system's runs: their mean."""
        found = [self._of_run(rate, place) for place in places]
        if len(found) == 1:
            return found[0]
        exact = [one.exact for one in found if one.exact is not None]
        value = sum(exact, Fraction(0)) / len(exact) if len(exact) == len(found) else None
        averaged, undefined = max((one.averaged, one.undefined) for one in found)
        return Mean(None if value is None else float(value), averaged, undefined, exact=value)

    def difference(
        self, rate: ComparedRate, first: Sequence[int], second: Sequence[int], *, same: bool, level: float = LEVEL
    ) -> Difference:
        """Of the runs `first` minus the runs `second`, by their places; `same` where both made the same bytes."""
        one, two = self.of(rate, first), self.of(rate, second)
        pairs = self._joined.pairs((rate.table,), rate.form)
        units = paired_sums(four_counts(pairs, first, second)).units
        if one.exact is None or two.exact is None:
            return Difference(None, NoInterval(_NOTHING), None, None, None, 0.0, units, _NOTHING)
        value = one.exact - two.exact
        if self._matrices is None or units < 2:
            why = NoInterval(self._why if self._matrices is None else _ONE_UNIT)
            return Difference(value, why, None, None, None, 0.0, units)
        quantile, test = t_quantile((1 + level) / 2, units - 1), {"method": "macro-t"}
        sides = self._sides(rate, (first[0], one.averaged), (second[0], two.averaged))
        half = self._half_width(rate, sides, quantile * sqrt(units / (units - 1)), level, same)
        if half == 0:  # no unit differs, and none can
            return Difference(value, Interval(level, 0.0, 0.0, "equal", units), 1.0, test, None, 0.0, units)
        low, high = max(-1.0, float(value) - half), min(1.0, float(value) + half)
        p = min(1.0, 2 * t_tail(abs(float(value)) * quantile / half, units - 1))
        interval = outwards(level, low, high, "macro-t", units)
        return Difference(value, interval, p, test, None, half / quantile, units)

    def _average(self, rate: ComparedRate, place: int) -> Mean:
        tables = self._joined.tables
        sums = {
            key[1]: _sums(pairs, place)
            for key, pairs in self._parts(rate).items()
            if any(joint[place] != NOTHING for joint in tables[key].joints)
        }
        rates = [Rate(one.a, one.b, rate.undefined, one) for one in sums.values()]
        if self._matrices is None:
            return exact_mean(rates)
        weights = (rate.form.numerator, place), (rate.form.denominator, place)
        products = {
            (one[1], other[1]): Products(*(_weighted(found, *both) for both in product(weights, repeat=2)))
            for (one, other), found in self._matrices.items()
        }
        units = _sums(self._joined.pairs((rate.table,), rate.form), place).units
        return exact_mean(rates, MeanSums(sums, products, units))

    def _find_parts(self, rate: ComparedRate) -> dict[Key, Mapping[Runs, int]]:
        keys = sorted(key for key in self._joined.tables if len(key) == 2 and key[0] == rate.table)
        return {key: self._joined.pairs(key, rate.form) for key in keys}

    def _sides(self, rate: ComparedRate, *averaged: tuple[int, int]) -> dict[Key, list[_Side]]:
        """Each part in both runs, where it is defined; a run is given by its place and the number of its parts."""
        found: dict[Key, list[_Side]] = {}
        for key, pairs in self._parts(rate).items():
            for sign, (place, number) in zip((1, -1), averaged, strict=True):
                sums = _sums(pairs, place)
                if sums.b:
                    found.setdefault(key, []).append(_Side(place, sums, Fraction(sign, number * sums.b**2)))
        return found

    def _half_width(
        self, rate: ComparedRate, sides: Mapping[Key, list[_Side]], scale: float, level: float, same: bool
    ) -> float:
        variances, widths = {}, {}
        parts = self._parts(rate)
        for key, both in sides.items():
            variances[key] = _variance(parts[key], both)
            widths[key] = scale * sqrt(variances[key])
            sums = paired_sums(four_counts(parts[key], [both[0].place], [both[-1].place]))
            if not same and (len(both) == 1 or sums.differing < FEW_DIFFERING):
                largest = max(abs(side.weight) * side.sums.b**2 for side in both)
                widths[key] = max(widths[key], unseen_room(sums, level) * float(largest))
        terms = [width * width for width in widths.values()]
        for (one, other), matrix in (self._matrices or {}).items():
            if variances.get(one) and variances.get(other):
                together = _covariance(rate, matrix, sides[one], sides[other])
                size = sqrt(together * together / (variances[one] * variances[other]))
                terms.append(2 * (size if together > 0 else -size) * widths[one] * widths[other])
        return sqrt(max(0.0, fsum(terms)))


def _sums(pairs: Mapping[Runs, int], place: int) -> RatioSums:
    own: dict[tuple[int, int], int] = {}
    for runs, times in pairs.items():
        own[runs[place]] = own.get(runs[place], 0) + times
    return pair_sums(own)


def _variance(pairs: Mapping[Runs, int], sides: Sequence[_Side]) -> Fraction:
    """Σ of the squares of what units add to the difference through one part."""
    products = [[0 for _ in sides] for _ in sides]
    for runs, times in pairs.items():
        added = [runs[side.place][0] * side.sums.b - runs[side.place][1] * side.sums.a for side in sides]
        for row, one in enumerate(added):
            for column, other in enumerate(added):
                products[row][column] += one * other * times
    both = [(one, other) for one in range(len(sides)) for other in range(len(sides))]
    return sum((sides[one].weight * sides[other].weight * products[one][other] for one, other in both), Fraction(0))


def _covariance(rate: ComparedRate, matrix: _Matrix, ones: Iterable[_Side], others: Iterable[_Side]) -> Fraction:
    """Σ of the products of what units add through two parts."""
    return sum(
        (
            one.weight * other.weight * _weighted(matrix, _row(rate, one), _row(rate, other))
            for one in ones
            for other in others
        ),
        Fraction(0),
    )


def _row(rate: ComparedRate, side: _Side) -> tuple[Sequence[int], int]:
    """B a - A b as weights of the counts."""
    both = zip(rate.form.numerator, rate.form.denominator, strict=True)
    return [side.sums.b * top - side.sums.a * bottom for top, bottom in both], side.place


def _weighted(matrix: _Matrix, mine: tuple[Sequence[int], int], theirs: tuple[Sequence[int], int]) -> int:
    """The sum of a block of the matrix: weights of the counts of one run, which have its place in the row."""
    (rows, place), (columns, other) = mine, theirs
    top, left = place * len(rows), other * len(columns)
    return sum(
        weight * sum(matrix[top + row][left + column] * factor for column, factor in enumerate(columns) if factor)
        for row, weight in enumerate(rows)
        if weight
    )
