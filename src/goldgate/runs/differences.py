"""Differences of two systems: in a rate, from one run each or from several, and in a macro average over parts.

A macro average is the plain mean of a rate over parts, such as event types. Its difference is put together from
what units add to each part and to each two parts; its interval is that of a rate (stats/paired).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm, sqrt
from operator import mul
from typing import Any, NamedTuple

from goldgate.core.measure import EqualityRule, PairedTables, RatioMeasure
from goldgate.core.metric import Mean, Metric, Rate, exact_mean
from goldgate.core.suite import Suite
from goldgate.core.sums import MeanSums, Products, RatioForm, RatioSums
from goldgate.core.tally import TableKey, Tally
from goldgate.runs.paired_units import NO_ENTRY, JointUnits
from goldgate.runs.units import ratio_measures
from goldgate.stats.distributions import t_quantile, t_tail
from goldgate.stats.interval import (
    LEVEL,
    POWER,
    Interval,
    NoInterval,
    detectable_difference,
    residual_product,
    residual_square,
    units_needed,
)
from goldgate.stats.multiple_testing import Runs, benjamini_hochberg, compare_runs, holm
from goldgate.stats.paired import (
    EQUAL,
    PairedSums,
    UnitPair,
    UnitPairs,
    WinCounts,
    count_wins,
    difference_interval,
    difference_test,
    paired_sums,
    plus_two,
    student_interval,
)


@dataclass(frozen=True, slots=True)
class ComparedRate:
    """A rate: the table of its counts, their names, and how it is made of them."""

    metric: str
    table: str
    columns: tuple[str, ...]
    form: RatioForm
    share: bool  # False: it may be above 1
    undefined: str  # why there is none, where there is nothing to divide by
    equality: EqualityRule | None = None


def compared_rates(suite: Suite, settings: Any = None) -> dict[str, ComparedRate]:
    """The rates of a suite by name, the headline first. Plain counts are no rates: their shares are.

    `settings` are those that the results have their measures by; none: the defaults.
    """
    rates = {
        name: ComparedRate(
            name, measure.table, measure.columns, measure.forms[name], ratio.share, ratio.undefined, ratio.equality
        )
        for measure in ratio_measures(suite, suite.settings() if settings is None else settings)
        for name, ratio in measure.ratios.items()
    }
    return {name: rates[name] for name in dict.fromkeys([*suite.headline, *rates]) if name in rates}


def compared_averages(suite: Suite) -> dict[str, ComparedRate]:
    """The macro averages of a suite over its first kind of parts, by name; the rate of each has its own name."""
    return {
        f"{name}_{ending}": ComparedRate(
            name, measure.table, measure.columns, measure.forms[name], True, ratio.undefined
        )
        for measure in ratio_measures(suite, suite.settings())
        for ending in [*measure.parts.values()][:1]
        if ending
        for name, ratio in measure.ratios.items()
        if ratio.share
    }


Estimates = Mapping[str, RatioMeasure[Any]]  # by the name of an estimate, the measure that makes it


def compared_estimates(suite: Suite, settings: Any) -> Estimates:
    """The estimates of a suite that are compared."""
    return {
        name: measure
        for measure in ratio_measures(suite, settings)
        for name in measure.estimates
        if name in measure.compared
    }


class ComparedEstimates:
    """The estimates of all runs that were joined: of each run, and their differences."""

    def __init__(self, joined: JointUnits) -> None:
        self._joined = joined

    def of(self, name: str, measure: RatioMeasure[Any], key: TableKey, place: int) -> Metric:
        """The estimate of one run over the units that were joined."""
        tally = Tally({measure.table: measure.forms})
        for table, units in self.tables(measure, (place, place)).items():
            for (counts, _), times in units.items():
                if counts is not None:
                    tally.add({table: counts}, times=times)
        return measure.metrics_of(tally, key)[name]

    def difference(
        self, name: str, measure: RatioMeasure[Any], key: TableKey, places: tuple[Sequence[int], Sequence[int]]
    ) -> Difference:
        """The difference of the first less the second system, each with one run."""
        units = self._joined.units
        if any(len(runs) > 1 for runs in places):
            return undefined_difference(SEVERAL_ESTIMATES, units)
        (first,), (second,) = places
        result = measure.difference(name, key, self.tables(measure, (first, second)))
        if result.value is None or result.interval_at is None:
            return undefined_difference(str(result.reason), units)
        interval, test = result.interval_at(LEVEL), {"method": result.method}
        return Difference(result.value, interval, result.p, test, None, result.se, interval.units)

    def tables(self, measure: RatioMeasure[Any], places: tuple[int, int]) -> PairedTables:
        """What units counted in two runs, in the measure's table and its parts."""
        tables: dict[TableKey, Counter[tuple[Any, Any]]] = {}
        for key, table in self._joined.tables.items():
            if key[0] == measure.table:
                pairs = tables[key] = Counter()
                for joint, times in table.joints.items():
                    counts = table.counts(joint)
                    pairs[counts[places[0]], counts[places[1]]] += times
        return tables


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


@dataclass(frozen=True, slots=True)
class Difference:
    """System minus reference. Where there is none, `reason` says why."""

    value: Fraction | None
    interval: Interval | NoInterval
    p: float | None
    test: Mapping[str, object] | None
    standing: WinCounts | None  # None for an average: what a unit adds to it is not kept
    se: float
    units: int
    reason: str | None = None
    df: float | None = None  # degrees of freedom of the standard error, if it includes runs

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
        """The difference with the two systems exchanged: only signs change."""
        interval = self.interval
        if isinstance(interval, Interval):
            interval = interval._replace(low=0.0 - interval.high, high=0.0 - interval.low)  # never -0.0
        stands = self.standing and WinCounts(self.standing.losses, self.standing.ties, self.standing.wins)
        value = None if self.value is None else -self.value
        return replace(self, value=value, interval=interval, standing=stands)

    def as_json(self, *, planning: bool = True) -> dict[str, object]:
        """The difference as JSON, without the adjusted p-value; `planning` adds how many units it would have needed."""
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


def undefined_difference(reason: str, units: int) -> Difference:
    """A difference without a value, and the reason why it has none."""
    return Difference(None, NoInterval(reason), None, None, None, 0.0, units, reason)


def why_not_compared(
    joined: JointUnits, key: TableKey, columns: Sequence[str], equality: EqualityRule | None, runs: Sequence[int]
) -> str | None:
    """Why a rate of these runs is not compared: a unit has another count where all must have the same."""
    table = joined.tables.get(key)
    if equality is None or table is None:
        return None
    place = columns.index(equality.column)
    for joint in table.joints:
        counts = table.counts(joint)
        if len({None if (own := counts[run]) is None else own[place] for run in runs}) > 1:
            return equality.reason
    return None


def rate_difference(
    pairs: Mapping[Runs, int],
    first: Sequence[int],
    second: Sequence[int],
    share: bool,
    level: float = LEVEL,
    *,
    same: bool = False,
) -> Difference:
    """The difference `first` minus `second`, runs by their places; `same` if both gave the same answers."""
    summed = sum_runs_by_system(pairs, first, second)
    if len(first) == len(second) == 1 or (same and all(pair[:2] == pair[2:] for pair in summed)):
        return paired_difference(summed, share, level, same=same)
    sides: Counter[tuple[Runs, Runs]] = Counter()
    for runs, times in pairs.items():
        sides[tuple(runs[n] for n in first), tuple(runs[n] for n in second)] += times
    result = compare_runs(sides, level, share)
    stands = count_wins(summed)
    units = sum(times for (one, two), times in sides.items() if any(a or b for a, b in (*one, *two)))
    if isinstance(result, NoInterval):
        return undefined_difference(result.reason, units)
    return Difference(
        result.value, result.interval, result.p, {"method": "runs-t"}, stands, result.se, units, df=result.df
    )


def paired_difference(pairs: UnitPairs, share: bool = True, level: float = LEVEL, *, same: bool = False) -> Difference:
    """The difference in a rate of two systems that have one run each, from the counts of their units."""
    sums = paired_sums(pairs)
    interval = difference_interval(sums, level, share, same=same)
    if sums.value is None:
        assert isinstance(interval, NoInterval)  # one of the rates is undefined
        return undefined_difference(interval.reason, sums.units)
    p, test = difference_test(sums)
    return Difference(sums.value, interval, p, test, count_wins(pairs), sqrt(sums.variance or 0), sums.units)


def sum_runs_by_system(pairs: Mapping[Runs, int], first: Sequence[int], second: Sequence[int]) -> dict[UnitPair, int]:
    """How often units have these counts: a and b of the first system, a and b of the second.

    Several runs of a system are added up, and weighted so that both systems have equally many.
    """
    if len(first) == len(second) == 1:
        (mine,), (theirs,) = first, second
        units: list[UnitPair] = [(*unit[mine], *unit[theirs]) for unit in pairs]
    else:
        runs, units = lcm(len(first), len(second)), []
        for unit in pairs:
            a1, b1 = (sum(counts) * (runs // len(first)) for counts in zip(*[unit[n] for n in first], strict=True))
            a2, b2 = (sum(counts) * (runs // len(second)) for counts in zip(*[unit[n] for n in second], strict=True))
            units.append((a1, b1, a2, b2))
    pair_counts: dict[UnitPair, int] = {}
    for summed, times in zip(units, pairs.values(), strict=True):
        pair_counts[summed] = pair_counts.get(summed, 0) + times
    return pair_counts


_NOT_PAIRED = "a unit has too many parts to sum how they vary together"
_SEVERAL_RUNS = "macro averages of several runs are not compared"
SEVERAL_ESTIMATES = "estimates of several runs are not compared"
_NO_PARTS = "one of the two has no part to average"
_ONE_UNIT = "one unit shows no spread"

_Matrix = Sequence[Sequence[int]]


class _PartShare(NamedTuple):
    """What units add to the difference of two averages through one part."""

    weights: list[int]  # of the counts of all runs in a row, over `denominator`: what a unit adds is their sum
    denominator: int
    squares: Fraction  # Σ of those of what units add
    sums: PairedSums


class MacroAverages:
    """The macro averages of all runs that were joined."""

    def __init__(self, joined: JointUnits) -> None:
        self._joined = joined
        self._of_run = cache(self._average)  # several answers need the same
        self._matrices: dict[tuple[TableKey, TableKey], _Matrix] | None = None
        self._why = _SEVERAL_RUNS  # there are no matrices
        if joined.part_products is not None:
            self._why = _NOT_PAIRED
            if joined.part_products.is_complete:
                self._matrices = dict(joined.part_products.matrices())

    def of(self, rate: ComparedRate, places: Sequence[int]) -> Mean:
        """The mean over a system's runs."""
        averages = [self._of_run(rate, place) for place in places]
        if len(averages) == 1:
            return averages[0]
        exact = [one.exact for one in averages if one.exact is not None]
        value = sum(exact, Fraction(0)) / len(exact) if len(exact) == len(averages) else None
        averaged, undefined = max((one.averaged, one.undefined) for one in averages)
        return Mean(None if value is None else float(value), averaged, undefined, exact=value)

    def difference(
        self, rate: ComparedRate, first: Sequence[int], second: Sequence[int], *, same: bool, level: float = LEVEL
    ) -> Difference:
        """The difference `first` minus `second`, runs by their places; `same` if both gave the same answers."""
        one, two = self.of(rate, first), self.of(rate, second)
        pairs = self._joined.pairs((rate.table,), rate.form)
        units = paired_sums(sum_runs_by_system(pairs, first, second)).units
        if one.exact is None or two.exact is None:
            return undefined_difference(_NO_PARTS, units)
        value = one.exact - two.exact
        if self._matrices is None or units < 2:
            why = NoInterval(self._why if self._matrices is None else _ONE_UNIT)
            return Difference(value, why, None, None, None, 0.0, units)
        test = {"method": "macro-t"}
        shares = self._shares(rate, (first[0], one.averaged), (second[0], two.averaged))
        if same and all(share.sums.differing == 0 for share in shares.values()):
            return Difference(value, Interval(level, 0.0, 0.0, EQUAL, units), 1.0, test, None, 0.0, units)
        variance = self._squares(shares) * units / (units - 1)
        spread = plus_two(variance, units)
        p = min(1.0, 2 * t_tail(abs(float(value)) / sqrt(spread), units - 1))
        interval = student_interval(level, value, spread, units - 1, ("macro-plus-two-t", units), share=True)
        return Difference(value, interval, p, test, None, sqrt(variance), units)

    def _average(self, rate: ComparedRate, place: int) -> Mean:
        tables = self._joined.tables
        sums = {
            key[1]: self._joined.run_sums(key, rate.form, place)
            for key in self._parts(rate)
            if any(joint[place] != NO_ENTRY for joint in tables[key].joints)
        }
        rates = [Rate(one.a, one.b, rate.undefined, one) for one in sums.values()]
        if self._matrices is None:
            return exact_mean(rates)
        weights = (rate.form.numerator, place), (rate.form.denominator, place)
        products = {
            (one[1], other[1]): Products(*(_weighted(matrix, *both) for both in product(weights, repeat=2)))
            for (one, other), matrix in self._matrices.items()
        }
        units = self._joined.run_sums((rate.table,), rate.form, place).units
        return exact_mean(rates, MeanSums(sums, products, units))

    def _parts(self, rate: ComparedRate) -> list[TableKey]:
        return sorted(key for key in self._joined.tables if len(key) == 2 and key[0] == rate.table)

    def _shares(self, rate: ComparedRate, *averaged: tuple[int, int]) -> dict[TableKey, _PartShare]:
        """Each part, where a run has it; both runs are given by their place and the number of parts averaged."""
        (first, _), (second, _) = averaged
        shares = {}
        for key in self._parts(rate):
            sums = paired_sums(sum_runs_by_system(self._joined.pairs(key, rate.form), [first], [second]))
            sides = zip((1, -1), (sums.first, sums.second), averaged, strict=True)
            present = [(sign * number, side, place) for sign, side, (place, number) in sides if side.b]
            if present:
                shares[key] = _part_share(rate.form, sums, present)
        return shares

    def _squares(self, shares: Mapping[TableKey, _PartShare]) -> float:
        """Σ of the squares of what units add to the difference of the averages, through all parts."""
        terms = [share.squares for share in shares.values()]
        for (one, other), matrix in (self._matrices or {}).items():
            mine, theirs = shares.get(one), shares.get(other)
            if mine and theirs:
                terms.append(2 * _covariance(matrix, mine, theirs))
        return float(max(Fraction(0), sum(terms, Fraction(0))))


def _part_share(form: RatioForm, sums: PairedSums, sides: Sequence[tuple[int, RatioSums, int]]) -> _PartShare:
    """The share of the sides that have the part: each with the number of its parts, its sums and its place.

    A unit with a and b adds (B a - A b) / (number B²), where A and B are the sums of a and b.
    """
    denominator = lcm(*(number * side.b**2 for number, side, _ in sides))
    factors = [denominator // (number * side.b**2) for number, side, _ in sides]
    width = len(form.numerator)
    weights = [0] * (width * (1 + max(place for *_, place in sides)))
    squares = 0
    for factor, (_, side, place) in zip(factors, sides, strict=True):
        for column, (top, bottom) in enumerate(zip(form.numerator, form.denominator, strict=True)):
            weights[place * width + column] = factor * (side.b * top - side.a * bottom)
        squares += factor * factor * residual_square(side)
    if len(sides) > 1:
        squares += 2 * factors[0] * factors[1] * residual_product(sums.first, sums.second, sums.products)
    return _PartShare(weights, denominator, Fraction(squares, denominator**2), sums)


def _covariance(matrix: _Matrix, one: _PartShare, other: _PartShare) -> Fraction:
    """Σ of the products of what units add through two parts."""
    products = (weight * sum(map(mul, other.weights, row)) for weight, row in zip(one.weights, matrix, strict=False))
    return Fraction(sum(products), one.denominator * other.denominator)


def _weighted(matrix: _Matrix, mine: tuple[Sequence[int], int], theirs: tuple[Sequence[int], int]) -> int:
    """The sum of a block of the matrix: weights of the counts of one run, which have its place in the row."""
    (rows, place), (columns, other) = mine, theirs
    top, left = place * len(rows), other * len(columns)
    right = left + len(columns)
    return sum(
        weight * sum(map(mul, columns, matrix[top + row][left:right])) for row, weight in enumerate(rows) if weight
    )
