"""The formulas worked by hand on ten labels, and the laws of the corrected rate."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest

from goldgate.stats.corrected_rate import (
    Cells,
    LabelSums,
    RatedItem,
    grouped_rate,
    krippendorff_alpha,
    labels_worth,
    plain_rate,
    stratified_rate,
)
from goldgate.stats.interval import Interval, interval_of

from .made import metrics, random_items
from .reference import Item

F = Fraction

# Ten labels of people, eight of them 1; the judge says 1 for seven of those, 0 for the other three. Of 90 other items
# it says 1 for 57.
TEN = LabelSums(10, 90, F(8), F(7), F(57), F(8), F(7), F(7), F(57))


def test_ten_labels_worked_by_hand() -> None:
    """Σ(h-h̄)(j-j̄) = 7 - 10·0.8·0.7 = 1.4 and Σ(j-j̄)² = 7 - 4.9 = 2.1, so β = 2/3 and λ = 2/3·90/100 = 0.6."""
    rate = plain_rate(TEN)
    assert (rate.beta, rate.lambdas) == (F(2, 3), (F(3, 5),))
    assert rate.value == F(8, 10) + F(3, 5) * (F(57, 90) - F(7, 10)) == F(76, 100)
    # λ² var_N(j)/m: (64 - 64²/100)/99 = 23.04/99. var'(r): Σr = 8 - 4.2 + 1 - 0.6, Σr² = 8 - 8.4 + 2.52 + 1.36.
    judge = F(36, 100) * F(2304, 9900) / 90
    people = (F(348, 100) - F(42, 10) ** 2 / 12) / 11 / 12
    assert rate.variance == judge + people
    assert rate.p == F(9, 12)
    assert float(rate.effective_labels) == pytest.approx(0.1875 / float(judge + people))
    assert rate.df == 9
    t, n = 2.262157162798, float(rate.effective_labels)
    half = t / (1 + t * t / n) * sqrt(0.76 * 0.24 / n + t * t / (4 * n * n))
    centre = (0.76 + t * t / (2 * n)) / (1 + t * t / n)
    assert rate.ends(0.95) == pytest.approx((centre - half, centre + half), abs=1e-10)


def test_labels_worth_by_hand() -> None:
    """With λ = 0, v₀ = (9 - 81/12)/11/12."""
    alone = (F(9) - F(81, 12)) / 11 / 12
    assert labels_worth(TEN) == 10 * alone / plain_rate(TEN).variance


def test_people_alone_where_there_is_nothing_else_to_judge() -> None:
    rate = plain_rate(LabelSums(10, 0, F(8), F(7), F(0), F(8), F(7), F(7), F(0)))
    assert (rate.value, rate.lambdas) == (F(4, 5), (F(0),))


def test_groups_by_hand() -> None:
    """Two groups of five labels, all of the first 1: w = √5; λ = 0, so u = Σ(h - r̄')/n' of each group."""
    rows = [(F(5), F(5)), (F(5), F(3))]
    products = [[F(0)] * 5 for _ in range(5)]
    for n, h in rows:
        products[0][0] += n * n
        products[0][1] += n * h
        products[1][0] += n * h
        products[1][1] += h * h
    sums = LabelSums(10, 0, F(8), F(0), F(0), F(8), F(0), F(0), F(0), 2, tuple(map(tuple, products)))
    rate, w = grouped_rate(sums), sqrt(5)
    size = 10 + 2 * w
    mean = (8 + w) / size
    squares = sum(((float(h) - mean * float(n)) / size) ** 2 for n, h in rows)
    squares += (w * (1 - mean) / size) ** 2 + (w * mean / size) ** 2
    assert float(rate.variance) == pytest.approx(4 / 3 * squares, rel=1e-12)
    assert float(rate.p) == pytest.approx(mean, rel=1e-12)
    assert rate.df == 1
    assert grouped_rate(sums, gate=True).p == F(8 + 5, 10 + 10)  # w = 10/2


def test_strata_by_hand() -> None:
    """60 items that the judge has as 1 and 40 as 0: β is 0, because the judge is constant in each stratum."""
    ones = LabelSums(6, 54, F(6), F(6), F(54), F(6), F(6), F(6), F(54))
    zeros = LabelSums(5, 35, F(1), F(0), F(0), F(1), F(0), F(0), F(0))
    rate = stratified_rate([ones, zeros])
    assert (rate.beta, rate.value) == (F(0), F(6, 10) + F(4, 10) * F(1, 5))
    # Human 1 and judge 0 can occur in the second only, human 0 and judge 1 in the first only: n' = 7 and 6.
    first = F(36, 100) * (F(6) - F(36, 7)) / 6 / 7
    second = F(16, 100) * (F(2) - F(4, 6)) / 5 / 6
    between = (F(6, 10) * (1 - rate.value) ** 2 + F(4, 10) * (F(1, 5) - rate.value) ** 2) / 100
    assert rate.variance == first + second + between
    assert rate.p == F(6, 10) * F(6, 7) + F(4, 10) * F(2, 6)
    assert rate.df == (first + second) ** 2 / (first**2 / 6 + second**2 / 5)


def test_kappa_by_hand() -> None:
    """7, 1, 0 and 2 of ten: observed 9/10, expected (2·3 + 8·7)/100, so 28/38."""
    assert Cells(7, 1, 0, 2).kappa == F(28, 38)
    assert Cells(10, 0, 0, 0).kappa is None


def test_alpha_by_hand() -> None:
    """Two people on four items, apart on one: observed 2, expected 2·(8·5 - 25) = 30, over seven."""
    items = {RatedItem(2, F(2), F(2)): 2, RatedItem(2, F(0), F(0)): 1, RatedItem(2, F(1), F(1)): 1}
    assert krippendorff_alpha(items) == 1 - F(2 * 7, 30)


def test_alpha_of_published_data() -> None:
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section A: two people, ten items, 0.095."""
    people = zip("0100000010", "1110010000", strict=True)
    items = Counter(RatedItem(2, F(int(a) + int(b)), F(int(a) + int(b))) for a, b in people)
    assert float(krippendorff_alpha(items) or 0) == pytest.approx(0.095, abs=0.0005)


def ends(metric: Any) -> tuple[float, float]:
    interval = interval_of(metric)
    assert isinstance(interval, Interval)
    return interval.low, interval.high


@pytest.mark.law
@pytest.mark.parametrize("mode", ["plain", "groups", "strata"])
@pytest.mark.parametrize("seed", range(10))
def test_swapping_0_and_1_mirrors_rate_and_interval(mode: str, seed: int) -> None:
    items = random_items(random.Random(seed), mode)
    mirrored = [
        replace(
            item,
            human=1 - item.human if isinstance(item.human, (int, float)) else item.human,
            judge=None if item.judge is None else 1 - item.judge,
        )
        for item in items
    ]
    one, other = metrics(items)["rate"], metrics(mirrored)["rate"]
    if one.value is None:
        assert other.value is None
        return
    assert other.value == pytest.approx(1 - one.value, abs=1e-8)
    low, high = ends(one)
    assert ends(other) == pytest.approx((1 - high, 1 - low), abs=1e-8)


@pytest.mark.law
@pytest.mark.parametrize("seed", range(10))
def test_any_order_of_the_items_gives_the_same_numbers(seed: int) -> None:
    rng = random.Random(seed)
    items = random_items(rng, "groups")
    shuffled = rng.sample(items, len(items))
    one, other = metrics(items), metrics(shuffled)
    assert {name: (metric.exact, interval_of(metric)) for name, metric in one.items()} == {
        name: (metric.exact, interval_of(metric)) for name, metric in other.items()
    }


@pytest.mark.law
def test_with_a_judge_that_is_people_the_rate_is_the_judges() -> None:
    truth = [int(number % 3 > 0) for number in range(90)]
    items = [Item(label if number < 20 else None, label) for number, label in enumerate(truth)]
    found = metrics(items)
    assert found["rate"].exact == found["judge_rate"].exact == F(2, 3)


@pytest.mark.law
def test_a_coin_as_the_judge_costs_next_to_nothing() -> None:
    """On average the interval is at most 1.02 times as long as that of people alone."""
    rng, lengths = random.Random(5), [0.0, 0.0]
    for _ in range(60):
        items = [Item(int(rng.random() < 0.8) if number < 40 else None, rng.randint(0, 1)) for number in range(300)]
        alone = [item for item in items if item.human is not None]
        for at, some in enumerate((items, alone)):
            low, high = ends(metrics(some)["rate"])
            lengths[at] += high - low
    assert lengths[0] <= 1.02 * lengths[1]
