"""The corrected rate: what people would have found, from their labels on some items and a judge's on all of them; and
how far judge and people agree (Cohen's kappa), and people with each other (Krippendorff's alpha).

Everything is made from sums over items, or over groups of items, as exact fractions; only a square root and the
quantile of Student's t are floats. So order and split do not matter. The specification names the formulas, and
docs/judging.md works each of them by hand:

- rate = mean h + λ (mean j of the other items - mean j of the labelled ones), λ = β m/N, β the slope of h over j;
- its variance has one pretended item of each disagreement (human 1 and judge 0, human 0 and judge 1);
- its interval is Wilson's around the rate with the effective number of labels, and Student's t.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from goldgate.stats.distributions import t_quantile, t_tail
from goldgate.stats.interval import SHARE_DIFFERENCES, SHARES, Interval, NoInterval, outward_interval, wilson_ends

LEAST_LABELS = 10  # of people, or groups with some: with fewer there is no corrected rate
LEAST_IN_STRATUM = 5
METHOD = "corrected-wilson-t"
_ZERO, _ONE = Fraction(0), Fraction(1)

# What a group sums: labels of people, their sum, the judge's on the same items; the other items, and the judge's there.
Row = tuple[Fraction, Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class LabelSums:
    """Sums over the items of a question, or of a stratum: h is a label of people, j one of the judge, from 0 to 1."""

    labelled: int
    others: int
    h: Fraction
    j: Fraction  # over labelled items
    o: Fraction  # of the judge over the others
    hh: Fraction
    hj: Fraction
    jj: Fraction
    oo: Fraction
    groups: int = 0  # with a label of people; 0 where no two items share a group
    products: tuple[tuple[Fraction, ...], ...] = ()  # of the rows of groups: Σ of each two of their sums
    zeros: int = 0  # things beside the items that are 0 without a label; where there are some, there are groups

    @property
    def items(self) -> int:
        return self.labelled + self.others

    def __add__(self, other: LabelSums) -> LabelSums:
        """The sums of two strata; groups are not kept."""
        names = ("labelled", "others", "h", "j", "o", "hh", "hj", "jj", "oo")
        return LabelSums(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A corrected rate with its variance. `lambdas` has one for each stratum, or one alone."""

    value: Fraction  # within 0 and 1
    variance: Fraction
    p: Fraction  # the rate of people with the pretended items
    df: Fraction
    beta: Fraction
    lambdas: tuple[Fraction, ...]

    @property
    def effective_labels(self) -> Fraction:
        """The number of labels of people that, without a judge, would leave the rate as uncertain."""
        return max(_ONE, self.p * (1 - self.p) / self.variance)

    def ends(self, level: float) -> tuple[float, float]:
        """The ends of the interval: Wilson's, with the effective number of labels and Student's t."""
        return student_ends(self.value, self.effective_labels, float(self.df), level)


def corrected_rate(
    whole: LabelSums, strata: Sequence[LabelSums] = (), *, gate: bool = False, correct: bool = True
) -> CorrectedRate:
    """The rate of one question. `gate`: groups weigh pretended items as a gate does; `correct` False: λ = 0.

    Strata and groups together: the specification has no formula. The variance of the strata is then raised by as much
    as groups raise that of the whole, and there are no more degrees of freedom than groups have.
    """
    if len(strata) < 2:
        return grouped_rate(whole, gate, correct) if whole.groups else plain_rate(whole, correct)
    rate = stratified_rate(strata, correct)
    if not whole.groups:
        return rate
    grouped, plain = grouped_rate(whole, gate, correct), plain_rate(whole, correct)
    raised = max(_ONE, grouped.variance / plain.variance)
    return replace(rate, variance=rate.variance * raised, df=min(rate.df, grouped.df))


def plain_rate(sums: LabelSums, correct: bool = True) -> CorrectedRate:
    """The corrected rate of items without groups and strata; n - 1 degrees of freedom."""
    n, beta = sums.labelled, slope([(sums, _ONE)]) if correct else _ZERO
    lam = beta * Fraction(sums.others, sums.items)
    variance = residual_variance(sums, lam, _ONE, _ONE) / (n + 2) + judge_variance(sums, lam)
    return CorrectedRate(_point(sums, lam), variance, (sums.h + 1) / (n + 2), Fraction(n - 1), beta, (lam,))


def grouped_rate(sums: LabelSums, gate: bool = False, correct: bool = True) -> CorrectedRate:
    """The uncertainty is over groups; their number with labels, less one, are the degrees of freedom.

    With things that are 0 beside the items, the rate is the items' share times that of the items alone. A group adds
    what it adds to both: share · u + rate · (its items - share · all that it has) / all.
    """
    n, count, beta = sums.labelled, sums.groups, slope([(sums, _ONE)]) if correct else _ZERO
    lam = beta * Fraction(sums.others, sums.items)
    weight = Fraction(n, count) if gate else Fraction(sqrt(Fraction(n, count)))
    size = n + 2 * weight
    mean = (sums.h - lam * sums.j + weight * (1 - lam)) / size
    others = (-lam * sums.o / sums.others**2, lam / sums.others) if sums.others else (_ZERO, _ZERO)
    row = [-mean / size, 1 / size, -lam / size, *others]
    point, share = _point(sums, lam), Fraction(sums.items, sums.items + sums.zeros)
    if sums.zeros:
        each = point / (sums.items + sums.zeros)
        row = [*(share * part for part in row), -each * share]
        row[0], row[3] = row[0] + each * (1 - share), row[3] + each * (1 - share)
    squares = quadratic(sums.products, row) + sum((share * weight * (r - mean) / size) ** 2 for r in (_ONE, -lam))
    variance, p = Fraction(count + 2, count + 1) * squares, share * (sums.h + weight) / size
    return CorrectedRate(share * point, variance, p, Fraction(count - 1), beta, (lam,))


def stratified_rate(strata: Sequence[LabelSums], correct: bool = True) -> CorrectedRate:
    """The corrected rate as a weighted mean over strata; each must have labels."""
    total = sum(each.items for each in strata)
    weights = [Fraction(each.items, total) for each in strata]
    beta = _ZERO
    if correct:
        beta = slope([(s, w**2 / (s.labelled * (s.labelled - 1))) for s, w in zip(strata, weights, strict=True)])
    more, fewer = _shares([s.j + s.o < s.items for s in strata]), _shares([s.j + s.o > 0 for s in strata])
    lambdas = tuple(beta * Fraction(s.others, s.items) for s in strata)
    means, p = [], _ZERO
    for s, w, lam, up, down in zip(strata, weights, lambdas, more, fewer, strict=True):
        size = s.labelled + up + down
        variance = residual_variance(s, lam, up, down) / size + judge_variance(s, lam)
        means.append(SignedMean(_point(s, lam, bounded=False), variance, size - 1))
        p += w * (s.h + up) / size
    mean = _mean_of_strata(means, weights, total)
    return CorrectedRate(_bound(mean.value), mean.variance, p, mean.df, beta, lambdas)


def merge_small(sizes: Sequence[int]) -> list[list[int]]:
    """The places of the strata in their order, some together: one with fewer than five labels goes with the next, the
    last with the one before."""
    merged, left = [[at] for at in range(len(sizes))], [*sizes]
    while len(merged) > 1:
        few = next((at for at, size in enumerate(left) if size < LEAST_IN_STRATUM), None)
        if few is None:
            break
        at = min(few, len(merged) - 2)
        merged[at : at + 2] = [merged[at] + merged[at + 1]]
        left[at : at + 2] = [left[at] + left[at + 1]]
    return merged


def labels_worth(whole: LabelSums, strata: Sequence[LabelSums] = ()) -> Fraction:
    """n v₀ / v: how many labels of people alone would say as much. v₀ is the variance with λ = 0."""
    alone, corrected = (corrected_rate(whole, strata, correct=correct).variance for correct in (False, True))
    return whole.labelled * alone / corrected


class RateEnds(NamedTuple):
    """A rate with every unsure item 0, and with every one 1; the same twice where none is unsure."""

    lower: CorrectedRate
    upper: CorrectedRate
    units: int  # labels of people, or groups that have some

    @property
    def value(self) -> Fraction:
        """The middle of the lower and the upper rate."""
        return (self.lower.value + self.upper.value) / 2

    def interval(self, level: float) -> Interval:
        """From the lower end of the lower rate to the upper end of the upper rate."""
        return outward_interval(level, self.lower.ends(level)[0], self.upper.ends(level)[1], METHOD, self.units, SHARES)


def slope(strata: Iterable[tuple[LabelSums, Fraction]]) -> Fraction:
    """β of h over j within strata, each with its weight, kept in 0 to 1; 0 if the judge is constant in all of them."""
    above = below = _ZERO
    for s, weight in strata:
        above += weight * (s.hj - s.h * s.j / s.labelled)
        below += weight * (s.jj - s.j**2 / s.labelled)
    return _bound(above / below) if below else _ZERO


def residual_variance(sums: LabelSums, lam: Fraction, up: Fraction, down: Fraction) -> Fraction:
    """var'(h - λj) over the labelled items, with `up` of the pretended 1 - 0λ and `down` of 0 - 1λ."""
    total = sums.h - lam * sums.j + up - down * lam
    squares = sums.hh - 2 * lam * sums.hj + lam**2 * sums.jj + up + down * lam**2
    size = sums.labelled + up + down
    return (squares - total**2 / size) / (size - 1)


def judge_variance(sums: LabelSums, lam: Fraction) -> Fraction:
    """λ² var(j) / m, the variance over all items with divisor N - 1."""
    if not sums.others or sums.items < 2:
        return _ZERO
    squares = sums.jj + sums.oo - (sums.j + sums.o) ** 2 / sums.items
    return lam**2 * squares / (sums.items - 1) / sums.others


def quadratic(matrix: Sequence[Sequence[Fraction]], row: Sequence[Fraction]) -> Fraction:
    """Σ of the squares of what groups add, where a group adds `row` times its sums."""
    return sum((x * y * matrix[i][k] for i, x in enumerate(row) if x for k, y in enumerate(row) if y), _ZERO)


def student_ends(rate: Fraction, trials: Fraction, df: float, level: float) -> tuple[float, float]:
    """Wilson's interval with Student's t; everything from 0 to 1 without degrees of freedom."""
    return wilson_ends(rate, trials, t_quantile((1 + level) / 2, df)) if df > 0 else SHARES


def share_of_items(hits: int, trials: int, level: float) -> Interval:
    """Wilson's interval of a share of items, each of which has it or not, with Student's t."""
    ends = student_ends(Fraction(hits, trials), Fraction(trials), trials - 1, level)
    return outward_interval(level, *ends, "wilson-t", trials, SHARES)


def _point(sums: LabelSums, lam: Fraction, *, bounded: bool = True) -> Fraction:
    value = sums.h / sums.labelled
    if sums.others:
        value += lam * (sums.o / sums.others - sums.j / sums.labelled)
    return _bound(value) if bounded else value


def _bound(value: Fraction) -> Fraction:
    return min(max(value, _ZERO), _ONE)


def _shares(possible: Sequence[bool]) -> list[Fraction]:
    """A pretended disagreement, shared equally among the strata where it can occur; where in none, among all."""
    chosen = [*possible] if any(possible) else [True] * len(possible)
    return [Fraction(int(can), sum(chosen)) for can in chosen]


@dataclass(frozen=True, slots=True)
class PairedUnit:
    """An item, or a group of items, in two systems: the row of each, and how many units are like it."""

    first: Row
    second: Row
    times: int = 1


class SignedMean(NamedTuple):
    """A number from -1 to 1 with its variance and degrees of freedom."""

    value: Fraction
    variance: Fraction
    df: Fraction

    def interval(self, level: float, units: int, method: str) -> Interval:
        half = t_quantile((1 + level) / 2, float(self.df)) * sqrt(self.variance) if self.df > 0 else 2.0
        value = float(self.value)
        return outward_interval(level, value - half, value + half, method, units, SHARE_DIFFERENCES)

    def p_value(self) -> float:
        """Two-sided, by Student's t."""
        if self.df <= 0 or not self.variance:
            return 1.0
        return min(1.0, 2 * t_tail(abs(float(self.value)) / sqrt(self.variance), float(self.df)))


def _mean_of_strata(strata: Sequence[SignedMean], weights: Sequence[Fraction], items: int) -> SignedMean:
    """The weighted mean of strata, whose spread Σ W (θ_s - θ)² / N is in its variance; Satterthwaite's degrees."""
    value = sum((w * each.value for w, each in zip(weights, strata, strict=True)), _ZERO)
    between = sum((w * (each.value - value) ** 2 for w, each in zip(weights, strata, strict=True)), _ZERO) / items
    parts = [w**2 * each.variance for w, each in zip(weights, strata, strict=True)]
    within = sum(parts, _ZERO)
    squares = sum((part**2 / each.df for part, each in zip(parts, strata, strict=True)), _ZERO)
    return SignedMean(value, within + between, max(_ONE, within**2 / squares) if squares else _ONE)


def corrected_difference(
    rates: tuple[CorrectedRate, CorrectedRate],
    strata: Sequence[Sequence[PairedUnit]],
    *,
    grouped: bool,
    gate: bool = False,
) -> SignedMean:
    """First rate minus second, over the same items; `strata` are those that both rates were made of.

    e is what an item adds by its labels of people, h - λj of the first less that of the second; f is λj of the first
    less that of the second, on the other items. One pretended item has e = 1 and another -1.
    """
    value = rates[0].value - rates[1].value
    if grouped:
        return _grouped_difference(value, rates, strata[0], gate)
    total = sum(_count_items(units) for units in strata)
    weights = [Fraction(_count_items(units), total) for units in strata]
    means = []
    share = Fraction(1, len(strata))  # of each pretended item
    for at, units in enumerate(strata):
        lambdas = _lambda(rates[0], at), _lambda(rates[1], at)
        e = moments_of([(_labelled_part(unit, lambdas), unit.times) for unit in units if unit.first[0]])
        f = moments_of([(_others_part(unit, lambdas), unit.times) for unit in units if unit.first[3]])
        mean = e.mean_with_disagreements(share)
        others = (f.total / f.size, f.variance / f.size) if f.size else (_ZERO, _ZERO)
        means.append(SignedMean(mean.value + others[0], mean.variance + others[1], mean.df))
    if len(strata) == 1:
        return SignedMean(value, means[0].variance, means[0].df - 2)
    return _mean_of_strata(means, weights, total)._replace(value=value)


def _grouped_difference(
    value: Fraction, rates: tuple[CorrectedRate, CorrectedRate], units: Sequence[PairedUnit], gate: bool
) -> SignedMean:
    lambdas = _lambda(rates[0], 0), _lambda(rates[1], 0)
    n = sum(unit.first[0] * unit.times for unit in units)
    m = sum(unit.first[3] * unit.times for unit in units)
    count = sum(unit.times for unit in units if unit.first[0])
    weight = Fraction(n, count) if gate else Fraction(sqrt(n / count))
    size = n + 2 * weight
    mean = sum((_labelled_part(unit, lambdas) * unit.times for unit in units), _ZERO) / size
    other = sum((_others_part(unit, lambdas) * unit.times for unit in units), _ZERO) / m if m else _ZERO
    squares = sum((weight * (end - mean) / size) ** 2 for end in (_ONE, -_ONE))
    for unit in units:
        added = (_labelled_part(unit, lambdas) - mean * unit.first[0]) / size
        added += (_others_part(unit, lambdas) - other * unit.first[3]) / m if m else 0
        squares += unit.times * added**2
    return SignedMean(value, Fraction(count + 2, count + 1) * squares, Fraction(count - 1))


class Moments(NamedTuple):
    """The number of values, their sum and the sum of their squares."""

    size: int
    total: Fraction
    squares: Fraction

    @property
    def variance(self) -> Fraction:
        return (self.squares - self.total**2 / self.size) / (self.size - 1) if self.size > 1 else _ZERO

    def mean_with_disagreements(self, share: Fraction = _ONE) -> SignedMean:
        """The mean of numbers from -1 to 1, with a share of a pretended 1 and of a pretended -1 in its variance."""
        size = self.size + 2 * share
        variance = (self.squares + 2 * share - self.total**2 / size) / (size - 1) / size
        return SignedMean(self.total / self.size, variance, size - 1)


def moments_of(values: Iterable[tuple[Fraction, int]]) -> Moments:
    """The moments of values, each given with how often it occurs."""
    count, total, squares = 0, _ZERO, _ZERO
    for value, times in values:
        count, total, squares = count + times, total + value * times, squares + value * value * times
    return Moments(count, total, squares)


def _labelled_part(unit: PairedUnit, lambdas: tuple[Fraction, Fraction]) -> Fraction:
    """e of a unit: h - λj over its labelled items, of the first system less the second."""
    return unit.first[1] - lambdas[0] * unit.first[2] - unit.second[1] + lambdas[1] * unit.second[2]


def _others_part(unit: PairedUnit, lambdas: tuple[Fraction, Fraction]) -> Fraction:
    """f of a unit: λj over its other items, of the first system less the second."""
    return lambdas[0] * unit.first[4] - lambdas[1] * unit.second[4]


def _count_items(units: Iterable[PairedUnit]) -> int:
    return int(sum((unit.first[0] + unit.first[3]) * unit.times for unit in units))


def _lambda(rate: CorrectedRate, stratum: int) -> Fraction:
    return rate.lambdas[stratum] if len(rate.lambdas) > 1 else rate.lambdas[0]


class Cells(NamedTuple):
    """How often each pair of labels occurs: human 1 and judge 1, human 1 and judge 0, and so on."""

    both_1: int
    human_1: int
    judge_1: int
    both_0: int

    @property
    def kappa(self) -> Fraction | None:
        """(observed - expected) / (1 - expected); None where all labels are alike."""
        n = sum(self)
        rows, columns = self._margins()
        expected = rows[0] * columns[0] + rows[1] * columns[1]
        return None if expected == n * n else Fraction((self.both_0 + self.both_1) * n - expected, n * n - expected)

    def kappa_interval(self, level: float) -> Interval | NoInterval:
        """Fleiss's delta method with 1 added to each cell, around the kappa of those cells."""
        n = sum(self)
        if n < 2:
            return NoInterval("one item shows no spread")
        more = Cells(*(cell + 1 for cell in self))
        kappa = SignedMean(more.kappa or _ZERO, more.kappa_variance(), Fraction(n - 1))
        return kappa.interval(level, n, "fleiss-t")

    def kappa_variance(self) -> Fraction:
        """Fleiss, Cohen and Everitt (1969), formula 13."""
        n = sum(self)
        (row0, row1), (column0, column1) = ([Fraction(k, n) for k in margin] for margin in self._margins())
        expected, kappa = row0 * column0 + row1 * column1, self.kappa
        assert kappa is not None  # no cell is 0
        same = sum(
            Fraction(cell, n) * (1 - (row + column) * (1 - kappa)) ** 2
            for cell, row, column in ((self.both_0, row0, column0), (self.both_1, row1, column1))
        )
        crossed = Fraction(self.judge_1, n) * (column0 + row1) ** 2 + Fraction(self.human_1, n) * (column1 + row0) ** 2
        rest = (kappa - expected * (1 - kappa)) ** 2
        return (same + (1 - kappa) ** 2 * crossed - rest) / (n * (1 - expected) ** 2)

    def _margins(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """How often people, and the judge, gave each label: 0 first."""
        people = self.judge_1 + self.both_0, self.human_1 + self.both_1
        return people, (self.human_1 + self.both_0, self.judge_1 + self.both_1)


class RatedItem(NamedTuple):
    """The labels that several people gave one item: how many, their sum and the sum of their squares."""

    people: int
    total: Fraction
    squares: Fraction

    @property
    def disagreement(self) -> Fraction:
        """Σ of the squared differences of its labels, each pair twice, over their number less one."""
        return 2 * (self.people * self.squares - self.total**2) / (self.people - 1)


RatedCounts = Mapping[RatedItem, int]  # how many items have such labels


def krippendorff_alpha(items: RatedCounts) -> Fraction | None:
    """1 - observed / expected disagreement, distances squared; None where no two labels differ."""
    return _alpha(*_alpha_sums(items))


def alpha_interval(items: RatedCounts, level: float) -> Interval | NoInterval:
    """The jackknife over items, with four pretended ones: all 1, all 0, and one dissenter each way."""
    real = sum(items.values())
    if real < 2:
        return NoInterval("one item shows no spread")
    sizes: dict[int, int] = {}
    for each, times in items.items():
        sizes[each.people] = sizes.get(each.people, 0) + times
    people = max(sizes, key=lambda size: (sizes[size], size))
    every = dict(items)
    for ones in (people, 0, people - 1, 1):
        pretended = RatedItem(people, Fraction(ones), Fraction(ones))
        every[pretended] = every.get(pretended, 0) + 1
    sums, count = _alpha_sums(every), real + 4
    centre = _alpha(*sums)
    assert centre is not None  # the pretended labels differ
    left_out = [
        (_alpha(sums[0] - one.disagreement, sums[1] - one.people, sums[2] - one.total, sums[3] - one.squares), times)
        for one, times in every.items()
    ]
    moments = moments_of([(value, times) for value, times in left_out if value is not None])
    variance = Fraction(count - 1, count) * (moments.squares - moments.total**2 / moments.size)
    return SignedMean(centre, variance, Fraction(real - 1)).interval(level, real, "jackknife-t")


def _alpha_sums(items: RatedCounts) -> tuple[Fraction, int, Fraction, Fraction]:
    """Σ of the disagreements, of labels, of their values and of the squares."""
    observed, people, total, squares = _ZERO, 0, _ZERO, _ZERO
    for each, times in items.items():
        observed, people = observed + each.disagreement * times, people + each.people * times
        total, squares = total + each.total * times, squares + each.squares * times
    return observed, people, total, squares


def _alpha(observed: Fraction, people: int, total: Fraction, squares: Fraction) -> Fraction | None:
    expected = 2 * (people * squares - total**2)
    return 1 - observed * (people - 1) / expected if expected else None
