"""How far the judge agrees with people, and people with each other: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from goldgate.stats.interval import Interval, NoInterval
from goldgate.suites.judged.estimate import SignedMean, moments_of


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
        return SignedMean(more.kappa or Fraction(0), more.kappa_variance(), Fraction(n - 1)).interval(
            level, n, "fleiss-t"
        )

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
    observed = sum((each.disagreement * times for each, times in items.items()), Fraction(0))
    people = sum(each.people * times for each, times in items.items())
    total = sum((each.total * times for each, times in items.items()), Fraction(0))
    return observed, people, total, sum((each.squares * times for each, times in items.items()), Fraction(0))


def _alpha(observed: Fraction, people: int, total: Fraction, squares: Fraction) -> Fraction | None:
    expected = 2 * (people * squares - total**2)
    return 1 - observed * (people - 1) / expected if expected else None
