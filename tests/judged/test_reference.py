"""The reference itself: numbers worked by hand, and the laws that the specification names."""

from __future__ import annotations

import random
from dataclasses import replace
from math import isclose

from tests.judged.reference import (
    Bounded,
    Estimate,
    Item,
    Share,
    Undefined,
    agreement,
    alpha,
    cohens_kappa,
    difference,
    estimate,
    grouped_parts,
    human_agreement,
    judge_bias,
    judge_rate,
    kappa_variance,
    plain_parts,
    sensitivity,
    specificity,
    stratified_parts,
    stretched,
)

TWENTY = (
    [Item(1, 1)] * 6 + [Item(1, 0)] + [Item(0, 0)] * 2 + [Item(0, 1)] + [Item(None, 1)] * 5 + [Item(None, 0)] * 5
)  # ten with a human label: 0.7 of them 1, and 0.7 by the judge; half of the others


def random_items(rng: random.Random, kind: str = "plain") -> list[Item]:
    """Items of 40 to 200, ten or more with a human label; `kind` says what else they have."""
    size, rate, right = rng.randint(40, 200), rng.random(), rng.uniform(0.5, 1)
    drawn = set(rng.sample(range(size), rng.randint(12, size)))
    together = rng.choice([1, 2, 5])
    items = []
    for at in range(size):
        human = float(rng.random() < rate)
        judge: float | None = human if rng.random() < right else 1 - human
        stratum = f"{judge}" if kind == "by judge" else f"{at % 3}" if kind == "strata" else None
        if kind == "scores":
            judge = rng.choice([0.2, 0.3, 0.4]) + 0.3 * human
        if kind in ("nulls", "unsure") and rng.random() < 0.2:
            judge = None
        said: float | str = "unsure" if kind == "unsure" and rng.random() < 0.1 else human
        group = f"g{at // together}" if kind == "groups" else None
        items.append(Item(said if at in drawn else None, judge, group, stratum))  # type: ignore[arg-type] # "unsure"
    return items


KINDS = ("plain", "by judge", "strata", "scores", "nulls", "unsure", "groups")


def both(items: list[Item]) -> Bounded:
    found = estimate(items)
    assert isinstance(found, Bounded), found
    return found


def test_a_rate_worked_by_hand() -> None:
    """β = (6 - 10 · 0.49) / (7 - 10 · 0.49) = 11/21, λ = 11/42, θ = 0.7 + 11/42 · (0.5 - 0.7).

    r = h - λj is 31/42 six times, 1 twice, 0 twice and -11/42 twice, the pretended ones counted: mean 248/504, squares
    9536/1764. v = (9536/1764 - 248²/(12 · 42²)) / 11 / 12 + (11/42)² · (4.8/19) / 10 = 0.0206752, p = 8/12,
    n_e = 0.2222 / 0.0206752 = 10.7482, t = 2.262157: centre 0.600006, half 0.275455.
    """
    found = both(TWENTY).lower
    assert isclose(found.rate, 0.7 - 0.2 * 11 / 42)
    assert isclose(found.variance, (9536 / 1764 - 248**2 / (12 * 42**2)) / 132 + (11 / 42) ** 2 * (4.8 / 19) / 10)
    assert isclose(found.effective, 10.7482, abs_tol=1e-4)
    assert (round(found.low, 4), round(found.high, 4)) == (0.3246, 0.8755)
    assert isclose(found.labels_worth, 10 * (2 / 9 / 11) / found.variance)  # n_e of people alone is n + 1
    assert (judge_rate(TWENTY), round(judge_bias(TWENTY), 12)) == (0.6, 0)


def test_agreement_worked_by_hand() -> None:
    """Cells 6, 1, 2, 1: agreement 8/10, of seven 1s six, of three 0s two; kappa (0.8 - 0.58) / 0.42."""
    shares = [agreement(TWENTY), sensitivity(TWENTY), specificity(TWENTY), cohens_kappa(TWENTY)]
    values = [(share.value, share.of) for share in shares if isinstance(share, Share)]
    assert values[:3] == [(8 / 10, 10), (6 / 7, 7), (2 / 3, 3)]
    assert isclose(values[3][0], 0.22 / 0.42)


def test_variance_of_kappa_is_that_of_the_delta_method() -> None:
    counts = {(0, 0): 20, (0, 1): 5, (1, 0): 10, (1, 1): 65}
    step, n = 1e-5, sum(counts.values())

    def kappa(p: dict[tuple[int, int], float]) -> float:
        total = sum(p.values())
        expected = sum((p[k, 0] + p[k, 1]) * (p[0, k] + p[1, k]) for k in (0, 1)) / total**2
        return ((p[0, 0] + p[1, 1]) / total - expected) / (1 - expected)

    shares = {cell: count / n for cell, count in counts.items()}
    slopes = {
        c: (kappa(shares | {c: shares[c] + step}) - kappa(shares | {c: shares[c] - step})) / 2 / step for c in shares
    }
    mean = sum(shares[c] * slopes[c] for c in shares)
    assert isclose(kappa_variance(counts), sum(shares[c] * (slopes[c] - mean) ** 2 for c in shares) / n, rel_tol=1e-6)


def test_alpha_of_published_data() -> None:
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section A: two people, ten items, 0.095."""
    first, second = "0100000010", "1110010000"
    items = [[float(a), float(b)] for a, b in zip(first, second, strict=True)]
    found = alpha(items)
    assert found is not None
    assert round(found, 3) == 0.095
    share = human_agreement(items)
    assert isinstance(share, Share)
    assert share.low < found < share.high


def test_26_labels_that_are_all_1_carry_a_gate_at_09() -> None:
    """n_e = n + 1: the bound is 27 / (27 + t²) = 0.9025 with t = 1.708; with 25 it is 26 / (26 + 1.711²) = 0.8988."""
    for labels, passes in ((25, False), (26, True)):
        items = [Item(1, 1)] * labels + [Item(None, 1), Item(None, 0)]
        found = estimate(items, level=0.9)
        assert isinstance(found, Bounded)
        assert (found.lower.low >= 0.9) == passes


def test_fewer_than_ten_labels_or_groups_have_no_rate() -> None:
    assert isinstance(estimate([*TWENTY[1:]]), Undefined)
    assert isinstance(estimate([*TWENTY[1:], Item("unsure", 1)]), Undefined)
    assert isinstance(estimate([replace(item, group=f"{at % 9}") for at, item in enumerate(TWENTY)]), Undefined)


def test_swapping_0_and_1_mirrors_rate_and_interval() -> None:
    rng = random.Random("mirror")
    for kind in KINDS * 20:
        items = random_items(rng, kind)
        swapped = []
        for item in items:
            human = 1 - item.human if isinstance(item.human, float) else item.human
            swapped.append(replace(item, human=human, judge=None if item.judge is None else 1 - item.judge))
        one, other = both(items), both(swapped)
        for end, mirrored in ((one.lower, other.upper), (one.upper, other.lower)):
            expected = [1 - end.rate, 1 - end.high, 1 - end.low, end.labels_worth]
            found = [mirrored.rate, mirrored.low, mirrored.high, mirrored.labels_worth]
            assert all(isclose(a, b, abs_tol=1e-9) for a, b in zip(found, expected, strict=True)), kind


def test_order_does_not_matter() -> None:
    rng = random.Random("order")
    for kind in KINDS * 5:
        items = random_items(rng, kind)
        shuffled = rng.sample(items, len(items))
        for one, other in zip(_numbers(both(items)), _numbers(both(shuffled)), strict=True):
            assert isclose(one, other, abs_tol=1e-12), kind


def test_a_judge_that_says_what_people_say_gives_the_judge_rate() -> None:
    rng = random.Random("perfect")
    for _ in range(100):
        items = [Item(None if i.human is None else i.judge, i.judge) for i in random_items(rng)]
        if len({item.human for item in items if item.human is not None}) == 2:
            assert isclose(both(items).lower.rate, judge_rate(items), abs_tol=1e-12)


def test_a_coin_costs_next_to_nothing() -> None:
    rng, coin, alone = random.Random("coin"), 0.0, 0.0
    for _ in range(200):
        items = [replace(item, judge=float(rng.random() < 0.5)) for item in random_items(rng)]
        found, people = both(items).lower, both([replace(item, judge=None) for item in items]).lower
        coin, alone = coin + found.high - found.low, alone + people.high - people.low
    assert coin <= 1.02 * alone


def test_a_stratum_or_groups_of_one_without_a_correction_are_the_plain_formula() -> None:
    rng = random.Random("same")
    for _ in range(50):
        items = random_items(rng)
        labels = stretched(items)
        plain, alone = plain_parts(items, labels, True), plain_parts(items, labels, False)
        stratum = stratified_parts([(items, labels)], True)
        grouped = grouped_parts(items, labels, False, gate=False)
        for one, other in ((plain, stratum), (alone, grouped)):
            assert isclose(one.theta, other.theta, abs_tol=1e-12)
            assert isclose(one.variance, other.variance, rel_tol=1e-9)
            assert isclose(one.p, other.p)


def test_the_same_system_twice_differs_by_nothing() -> None:
    items = random_items(random.Random("twice"))
    found = difference(items, items)
    assert isinstance(found, tuple)
    value, low, high = found
    assert value == 0
    assert isclose(low, -high)
    n = sum(item.human is not None for item in items)
    assert high > 0, n  # the pretended disagreements keep it from being a point


def _numbers(found: Bounded) -> list[float]:
    return [x for end in (found.lower, found.upper) for x in _ends(end)]


def _ends(found: Estimate) -> list[float]:
    return [found.rate, found.low, found.high, found.labels_worth, found.df]
