"""Differences of two systems: in a rate, from one run each or from several, and in a macro average over parts.

A macro average is the plain mean of a rate over parts, such as event types. Its difference is put together from
the parts as the average is (stats/macro): each part has its own half-width, with room for what few units cannot
show (stats/paired), and correlations come from what units add to two parts. Where many units differ in every part,
this is Student's paired interval of the linearized difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import fsum, lcm, sqrt
from typing import Any, NamedTuple

from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Mean, Rate, exact_mean
from goldgate.core.suite import Suite
from goldgate.core.sums import MeanSums, Products, RatioForm, RatioSums, pair_sums
from goldgate.core.tally import TableKey
from goldgate.runs.join import NO_ENTRY, JointUnits
from goldgate.stats.distributions import t_quantile, t_tail
from goldgate.stats.interval import LEVEL, Interval, NoInterval, outward_interval
from goldgate.stats.multiple_testing import Runs, benjamini_hochberg, compare_runs, holm
from goldgate.stats.paired import (
    FEW_DIFFERING,
    UnitPair,
    UnitPairs,
    WinCounts,
    conservative_interval,
    count_wins,
    max_unseen_difference,
    paired_sums,
    swap_test,
    t_test,
)
from goldgate.stats.power import POWER, detectable_difference, units_needed


@dataclass(frozen=True, slots=True)
class ComparedRate:
    """A rate: the table of its counts, their names, and how it is made of them."""

    metric: str
    table: str
    columns: tuple[str, ...]
    form: RatioForm
    share: bool  # False: it may be above 1
    undefined: str  # why there is none, where there is nothing to divide by


def compared_rates(suite: Suite, settings: Any = None) -> dict[str, ComparedRate]:
    """The rates of a suite by name, the headline first. Plain counts are no rates: their shares are.

    `settings` are those that the results have their measures by; none: the defaults.
    """
    found = {}
    for measure in suite.measures(suite.settings() if settings is None else settings):
        if isinstance(measure, RatioMeasure):
            for name, ratio in measure.ratios.items():
                found[name] = ComparedRate(
                    name, measure.table, measure.columns, measure.forms[name], ratio.share, ratio.undefined
                )
    order = [*(name for name in suite.headline if name in found), *found]
    return {name: found[name] for name in dict.fromkeys(order)}


def compared_averages(suite: Suite) -> dict[str, ComparedRate]:
    """The macro averages of a suite over its first kind of parts, by name; the rate of each has its own name."""
    return {
        f"{name}_{ending}": ComparedRate(
            name, measure.table, measure.columns, measure.forms[name], True, ratio.undefined
        )
        for measure in suite.measures(suite.settings())
        if isinstance(measure, RatioMeasure)
        for ending in [*measure.parts.values()][:1]
        for name, ratio in measure.ratios.items()
        if ratio.share
    }


def columns_by_table(rates: Mapping[str, ComparedRate]) -> dict[str, int]:
    """How many counts each table has that the rates are made of."""
    return {rate.table: len(rate.columns) for rate in rates.values()}


HOLM, BENJAMINI_HOCHBERG = "holm", "benjamini-hochberg"
_METHODS: dict[str, Callable[[Sequence[float]], list[float]]] = {HOLM: holm, BENJAMINI_HOCHBERG: benjamini_hochberg}


def adjust_p_values(family: Sequence[dict[str, Any]], method: str) -> None:
    """Write `p_adjusted` and `adjustment` into each comparison of a family; null where there is no p-value."""
    tested = [entry for entry in family if entry["p"] is not None]
    for entry in family:
        entry["p_adjusted"], entry["adjustment"] = None, method
    for entry, p in zip(tested, _METHODS[method]([entry["p"] for entry in tested]), strict=True):
        entry["p_adjusted"] = p


POINT = 0.01  # the difference whose price in units is told
MAX_SWAPPED = 1_000  # units that differ: beyond, Student's t is close, and swaps take a second for each metric


@dataclass(frozen=True, slots=True)
class Difference:
    """System minus reference. Where there is none, `reason` says why."""

    value: Fraction | None
    interval: Interval | NoInterval
    p: float | None
    test: Mapping[str, object] | None
    standing: WinCounts | None  # of an average there is none: what a unit adds to it is not kept
    se: float
    units: int
    reason: str | None = None
    df: float | None = None  # of the standard error, where runs take part in it

    @property
    def detectable(self) -> float | None:
        """The smallest difference that these units show with 80 % power."""
        if self.df is not None:
            return (t_quantile((1 + LEVEL) / 2, self.df) + t_quantile(POWER, self.df)) * self.se if self.df else None
        return detectable_difference(self.se, self.units) if self.se else None

    @property
    def needed(self) -> int | None:
        """How many units would show a difference of one point; of several runs, more units alone might never."""
        return None if self.df is not None else units_needed(self.se, self.units, POINT)

    def mirrored(self) -> Difference:
        """The same with the systems exchanged: signs change, and nothing else."""
        interval = self.interval
        if isinstance(interval, Interval):
            interval = interval._replace(low=0.0 - interval.high, high=0.0 - interval.low)  # never -0.0
        stands = self.standing and WinCounts(self.standing.losses, self.standing.ties, self.standing.wins)
        value = None if self.value is None else -self.value
        return replace(self, value=value, interval=interval, standing=stands)

    def as_json(self, *, planning: bool = True) -> dict[str, object]:
        """All but the adjusted p-value, which depends on the other comparisons; with or without what was needed."""
        if self.value is None:
            return {"difference": None, "reason": self.reason, "p": None, "test": None, "units": self.units}
        exact = {"exact": str(self.value)} if self.standing is not None else {}  # of averages it may fill a page
        bounds: dict[str, object] = {"low": None, "high": None}
        if isinstance(self.interval, Interval):
            bounds = {"low": self.interval.low, "high": self.interval.high, "method": self.interval.method}
        else:
            bounds["reason"] = self.interval.reason
        return {
            "difference": {"value": float(self.value), **exact, **bounds},
            "p": self.p,
            "test": self.test,
            **({} if self.standing is None else asdict(self.standing)),
            "units": self.units,
            **({"detectable": self.detectable, "units_for_one_point": self.needed} if planning else {}),
        }


def rate_difference(
    pairs: Mapping[Runs, int],
    first: Sequence[int],
    second: Sequence[int],
    share: bool,
    level: float = LEVEL,
    *,
    same: bool = False,
) -> Difference:
    """Of the runs `first` minus the runs `second`, by their places; `same` where both made the same bytes."""
    if len(first) == len(second) == 1:
        return paired_difference(four_counts(pairs, first, second), share, level, same=same)
    sides: dict[tuple[Runs, Runs], int] = {}
    for runs, times in pairs.items():
        key = tuple(runs[n] for n in first), tuple(runs[n] for n in second)
        sides[key] = sides.get(key, 0) + times
    found = compare_runs(sides, level, share)
    stands = count_wins(four_counts(pairs, first, second))
    units = sum(times for (one, two), times in sides.items() if any(a or b for a, b in (*one, *two)))
    if isinstance(found, NoInterval):
        return Difference(None, found, None, None, stands, 0.0, units, found.reason)
    return Difference(found.value, found.interval, found.p, {"method": "runs-t"}, stands, found.se, units, df=found.df)


def paired_difference(pairs: UnitPairs, share: bool = True, level: float = LEVEL, *, same: bool = False) -> Difference:
    """The same of one run each, from the counts of both."""
    sums = paired_sums(pairs)
    interval = conservative_interval(sums, level, share, same=same)
    if sums.value is None:
        reason = interval.reason if isinstance(interval, NoInterval) else None
        return Difference(None, interval, None, None, count_wins(pairs), 0.0, sums.units, reason)
    p = t_test(sums)
    test: dict[str, object] = {"method": "paired-t"}
    if p is None or sums.differing <= MAX_SWAPPED:
        swapped = swap_test(pairs)
        assert swapped is not None  # both rates are defined
        p, test = swapped.p, {"method": "swap", "exact": swapped.exact, "swaps": swapped.swaps}
    return Difference(sums.value, interval, p, test, count_wins(pairs), sqrt(sums.variance or 0), sums.units)


def four_counts(pairs: Mapping[Runs, int], first: Sequence[int], second: Sequence[int]) -> dict[UnitPair, int]:
    """The counts of both systems, those of several runs added up, and weighted so that both have as many runs."""
    if len(first) == len(second) == 1:
        (mine,), (theirs,) = first, second
        plain: dict[UnitPair, int] = {}
        for unit, times in pairs.items():
            pair = (*unit[mine], *unit[theirs])
            plain[pair] = plain.get(pair, 0) + times
        return plain
    runs = lcm(len(first), len(second))
    weights = runs // len(first), runs // len(second)
    found: dict[UnitPair, int] = {}
    for unit, times in pairs.items():
        four = [
            sum(unit[n][count] for n in side) * weight
            for side, weight in zip((first, second), weights, strict=True)
            for count in (0, 1)
        ]
        key = (four[0], four[1], four[2], four[3])
        found[key] = found.get(key, 0) + times
    return found


_NOT_PAIRED = "how the parts go together is not summed: too many stand in one unit"
_SEVERAL_RUNS = "macro averages of several runs are not compared"
_NO_PARTS = "one of the two has no part to average"
_ONE_UNIT = "one unit shows no spread"

_Matrix = Sequence[Sequence[int]]


class _Side(NamedTuple):
    """A part in one run: what a unit with a and b adds to the difference is (B a - A b) times the weight."""

    place: int
    sums: RatioSums
    weight: Fraction


class MacroAverages:
    """The macro averages of all runs that were joined."""

    def __init__(self, joined: JointUnits) -> None:
        self._joined = joined
        self._of_run, self._parts = cache(self._average), cache(self._find_parts)  # several answers need the same
        self._matrices: dict[tuple[TableKey, TableKey], _Matrix] | None = None
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
            return Difference(None, NoInterval(_NO_PARTS), None, None, None, 0.0, units, _NO_PARTS)
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
        interval = outward_interval(level, low, high, "macro-t", units)
        return Difference(value, interval, p, test, None, half / quantile, units)

    def _average(self, rate: ComparedRate, place: int) -> Mean:
        tables = self._joined.tables
        sums = {
            key[1]: _run_sums(pairs, place)
            for key, pairs in self._parts(rate).items()
            if any(joint[place] != NO_ENTRY for joint in tables[key].joints)
        }
        rates = [Rate(one.a, one.b, rate.undefined, one) for one in sums.values()]
        if self._matrices is None:
            return exact_mean(rates)
        weights = (rate.form.numerator, place), (rate.form.denominator, place)
        products = {
            (one[1], other[1]): Products(*(_weighted(found, *both) for both in product(weights, repeat=2)))
            for (one, other), found in self._matrices.items()
        }
        units = _run_sums(self._joined.pairs((rate.table,), rate.form), place).units
        return exact_mean(rates, MeanSums(sums, products, units))

    def _find_parts(self, rate: ComparedRate) -> dict[TableKey, Mapping[Runs, int]]:
        keys = sorted(key for key in self._joined.tables if len(key) == 2 and key[0] == rate.table)
        return {key: self._joined.pairs(key, rate.form) for key in keys}

    def _sides(self, rate: ComparedRate, *averaged: tuple[int, int]) -> dict[TableKey, list[_Side]]:
        """Each part in both runs, where it is defined; a run is given by its place and the number of its parts."""
        found: dict[TableKey, list[_Side]] = {}
        for key, pairs in self._parts(rate).items():
            for sign, (place, number) in zip((1, -1), averaged, strict=True):
                sums = _run_sums(pairs, place)
                if sums.b:
                    found.setdefault(key, []).append(_Side(place, sums, Fraction(sign, number * sums.b**2)))
        return found

    def _half_width(
        self, rate: ComparedRate, sides: Mapping[TableKey, list[_Side]], scale: float, level: float, same: bool
    ) -> float:
        variances, widths = {}, {}
        parts = self._parts(rate)
        for key, both in sides.items():
            variances[key] = _variance(parts[key], both)
            widths[key] = scale * sqrt(variances[key])
            sums = paired_sums(four_counts(parts[key], [both[0].place], [both[-1].place]))
            if not same and (len(both) == 1 or sums.differing < FEW_DIFFERING):
                largest = max(abs(side.weight) * side.sums.b**2 for side in both)
                widths[key] = max(widths[key], max_unseen_difference(sums, level) * float(largest))
        terms = [width * width for width in widths.values()]
        for (one, other), matrix in (self._matrices or {}).items():
            if variances.get(one) and variances.get(other):
                together = _covariance(rate, matrix, sides[one], sides[other])
                size = sqrt(together * together / (variances[one] * variances[other]))
                terms.append(2 * (size if together > 0 else -size) * widths[one] * widths[other])
        return sqrt(max(0.0, fsum(terms)))


def _run_sums(pairs: Mapping[Runs, int], place: int) -> RatioSums:
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
