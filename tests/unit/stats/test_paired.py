from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import sqrt

import pytest

from goldgate.runs.differences import Difference, paired_difference
from goldgate.stats.distributions import t_quantile
from goldgate.stats.interval import Interval, NoInterval
from goldgate.stats.paired import (
    UnitPair,
    WinCounts,
    count_wins,
    difference_interval,
    difference_test,
    paired_sums,
    plus_two,
    swap_test,
    t_test,
    units_to_tell,
)
from tests.cases import cases


def compared(pairs: dict[UnitPair, int]) -> Difference:
    found = paired_difference(pairs)
    assert found.value is not None
    return found


def by_listing(units: list[UnitPair]) -> Fraction:
    """The swap test as its definition says: every way to exchange the counts, unit by unit."""

    def difference(swapped: tuple[bool, ...]) -> Fraction | None:
        chosen = [unit[2:] + unit[:2] if swap else unit for unit, swap in zip(units, swapped, strict=True)]
        a1, b1, a2, b2 = (sum(column) for column in zip(*chosen, strict=True))
        return abs(Fraction(a1, b1) - Fraction(a2, b2)) if b1 and b2 else None

    observed = difference((False,) * len(units))
    assert observed is not None
    ways = [difference(swapped) for swapped in product((False, True), repeat=len(units))]
    return Fraction(sum(way is None or way >= observed for way in ways), len(ways))


@cases(
    "units",
    [
        [(1, 1, 0, 1)] * 3,
        [(2, 5, 4, 6), (0, 3, 2, 4), (6, 6, 4, 7), (2, 2, 2, 2), (0, 1, 2, 5)],
        [(1, 2, 0, 0), (0, 3, 1, 1), (2, 2, 1, 4)],
        [(4, 9, 6, 8), (2, 3, 2, 9), (2, 2, 0, 4), (8, 9, 8, 8), (4, 4, 2, 3), (0, 7, 2, 2), (6, 8, 4, 4)],
    ],
)
def test_the_exact_swap_test_counts_every_way(units: list[UnitPair]) -> None:
    test = swap_test(Counter(units))
    assert test is not None
    assert test.exact
    assert Fraction(test.p) == by_listing(units)


def test_three_wins_of_three_by_hand() -> None:
    # 2³ ways; all three for one system or all three for the other: 2 of 8
    test = swap_test({(1, 1, 0, 1): 3})
    assert test is not None
    assert test.p == 0.25


def test_drawn_swaps_come_close_to_the_exact_count() -> None:
    # 1,200 single trials differ, 640 for the first: a sign test. P(|X - 600| ≥ 40), X binomial = 0.0225
    test = swap_test({(1, 1, 0, 1): 640, (0, 1, 1, 1): 560, (1, 1, 1, 1): 5000})
    assert test is not None
    assert (test.exact, test.swaps) == (False, 9_999)
    assert test.p == pytest.approx(0.0225, abs=0.005)


def test_difference_and_interval_by_hand() -> None:
    # R₁ = 3/4, R₂ = 1/4; d = (1 - 3/4)/4 - (0 - 1/4)/4 = 1/8 twice, and -1/8 twice: Σd² = 4/64, times 4/3
    found = compared({(1, 1, 0, 1): 2, (1, 1, 1, 1): 1, (0, 1, 0, 1): 1})
    assert found.value == Fraction(1, 2)
    assert found.se == pytest.approx(sqrt(Fraction(4, 3) * Fraction(4, 64)))
    assert isinstance(found.interval, Interval)
    # and with two more units that changed wholly: n' = 6, 6/5 · (16 · 4/64 + 2)/36 = 1/10
    assert found.interval.low == pytest.approx(0.5 - t_quantile(0.975, 3) * sqrt(0.1), abs=2e-9)
    assert found.interval.high == 1.0  # a difference of shares ends there
    assert found.standing == WinCounts(wins=2, ties=2, losses=0)


def test_few_changes_are_not_certain() -> None:
    # 4 of 20 changed, all one way: Σ(n d)² = 4 · 0.8² + 16 · 0.2² = 3.2; v = 5.2/(21 · 22), t₁₉ = 2.093
    found = compared({(1, 1, 1, 1): 16, (0, 1, 1, 1): 4})
    assert isinstance(found.interval, Interval)
    assert (round(found.interval.low, 3), round(found.interval.high, 3)) == (-0.422, 0.022)
    assert found.p == 0.125
    assert found.interval.method == "paired-plus-two-t"


def test_an_interval_holds_0_where_p_does_not_exclude_it() -> None:
    # 5 of 300 changed, all one way: -5/300 + 1.888 · √(6.917/(301 · 302)) is below 0 at 94 %, and p = 2/2⁵ above 6 %
    sums = paired_sums({(1, 1, 1, 1): 295, (0, 1, 1, 1): 5})
    assert difference_test(sums)[0] == 0.0625
    half = t_quantile(0.97, 299) * sqrt(plus_two(sums.variance or 0, 300))
    assert -5 / 300 + half < 0
    held, excluded = (difference_interval(sums, level) for level in (0.94, 0.93))
    assert isinstance(held, Interval)
    assert isinstance(excluded, Interval)
    assert [held.high, held.low] == [0.0, pytest.approx(-5 / 300 - half)]
    assert excluded.high < 0


def test_a_metric_that_is_no_share_has_the_plain_interval() -> None:
    # claims of a run: 2, 3 and 4 less 1 each; e = (1, 2, 3) - 2 over 3 runs, Σe² = 2/9, times 3/2
    sums = paired_sums({(2, 1, 1, 1): 1, (3, 1, 1, 1): 1, (4, 1, 1, 1): 1})
    plain, wider = difference_interval(sums, share=False), difference_interval(sums, 0.6, share=False)
    assert isinstance(plain, Interval)
    assert isinstance(wider, Interval)
    assert plain.method == wider.method == "paired-t"
    half = t_quantile(0.975, 2) * sqrt(1 / 3)
    assert [plain.low, plain.high] == [pytest.approx(2 - half), pytest.approx(2 + half)]
    assert isinstance(difference_interval(paired_sums({(2, 1, 1, 1): 3}), share=False), NoInterval)


def test_the_number_of_units_that_would_tell() -> None:
    sums = paired_sums({(1, 1, 1, 1): 96, (0, 1, 1, 1): 4})
    needed = units_to_tell(sums, Fraction(-1, 10), 0.95, share=True)
    assert needed is not None
    halves = [t_quantile(0.975, n - 1) * sqrt(plus_two(sums.variance or 0, 100, n)) for n in (needed - 1, needed)]
    assert halves[0] >= 0.06 > halves[1]
    assert units_to_tell(sums, Fraction(-4, 100), 0.95, share=True) is None
    alike = paired_sums({(1, 1, 1, 1): 50})  # 1.9686 · √(2/(277 · 278)) = 0.01003, and 0.00999 at 277
    assert units_to_tell(alike, Fraction(-1, 100), 0.95, share=True) == 277
    assert units_to_tell(alike, Fraction(-1, 100), 0.95, share=False) is None


def test_beyond_a_thousand_changed_units_p_is_students() -> None:
    assert difference_test(paired_sums({(1, 1, 0, 1): 540, (0, 1, 1, 1): 460}))[1]["method"] == "swap"
    sums = paired_sums({(1, 1, 0, 1): 541, (0, 1, 1, 1): 460})
    assert difference_test(sums) == (t_test(sums), {"method": "paired-t"})


def test_one_unit_says_nothing_of_others() -> None:
    sums = paired_sums({(1, 1, 0, 1): 1})
    assert difference_interval(sums) == Interval(0.95, -1.0, 1.0, "paired-plus-two-t", 1)
    assert t_test(sums) is None


def test_an_undefined_rate_is_said() -> None:
    assert paired_difference({(0, 0, 1, 2): 3}).reason == "one of the two rates has nothing to divide by"
    assert isinstance(difference_interval(paired_sums({})), NoInterval)
    assert swap_test({(0, 0, 1, 2): 3}) is None


def test_a_needless_prediction_loses_the_document() -> None:
    # Equal hits, but the first system predicted one more (F1: 2 hits over predicted + gold)
    assert count_wins({(4, 7, 4, 6): 1, (4, 6, 4, 6): 3}) == WinCounts(wins=0, ties=3, losses=1)
