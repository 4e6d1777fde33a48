from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, sqrt

import pytest

from goldgate.core.gate import Gate, Verdict
from goldgate.core.metric import Rate
from goldgate.core.sums import RatioSums, pair_sums
from goldgate.stats.distributions import t_quantile
from goldgate.stats.gates import judge_gates, support
from goldgate.stats.interval import (
    Interval,
    NoInterval,
    UnitSpread,
    count_interval,
    effective_units,
    one_sided,
    ratio_interval,
    share_interval,
)
from tests.cases import cases


def interval(pairs: dict[tuple[int, int], int]) -> Interval:
    found = share_interval(pair_sums(pairs))
    assert isinstance(found, Interval)
    return found


def test_all_right_is_wilson_with_the_number_of_documents() -> None:
    # 20 documents of the same size, all right: nₑ = 20, R = 1, low = 1 / (1 + t²/20)
    t = t_quantile(0.975, 19)
    found = interval({(5, 5): 20})
    assert found.high == 1.0
    assert found.low == pytest.approx(1 / (1 + t * t / 20), abs=2e-9)
    assert (found.units, found.method, found.level) == (20, "wilson-t", 0.95)


def test_all_wrong_mirrors_all_right() -> None:
    right, wrong = interval({(5, 5): 20}), interval({(0, 5): 20})
    assert wrong.low == 0.0
    assert wrong.high == pytest.approx(1 - right.low, abs=2e-9)


def test_single_trials_come_close_to_wilsons_interval() -> None:
    # 1,000 documents with one trial each, half right: the textbook's interval is 0.5 ± 0.031
    found = interval({(1, 1): 500, (0, 1): 500})
    t, n = t_quantile(0.975, 999), 1000
    half = t / (1 + t * t / n) * sqrt(0.25 / n + t * t / (4 * n * n))
    assert found.high - 0.5 == pytest.approx(half, rel=2e-3)  # n/(n-1), and a little drawn towards whole units


def test_one_unit_says_nothing() -> None:
    assert interval({(3, 4): 1}) == Interval(0.95, 0.0, 1.0, "wilson-t", 1)
    assert interval({(4, 4): 1}) == Interval(0.95, 0.0, 1.0, "wilson-t", 1)


def test_a_giant_among_dwarfs_is_nearly_one_unit() -> None:
    wide, narrow = interval({(9_000, 10_000): 1, (1, 1): 19}), interval({(9, 10): 20})
    assert wide.high - wide.low > 0.99
    assert narrow.high - narrow.low < 0.5


def test_no_units_give_a_reason() -> None:
    assert isinstance(share_interval(RatioSums()), NoInterval)


def test_more_than_all_is_no_share() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        share_interval(pair_sums({(3, 2): 2}))


def test_effective_units_by_hand() -> None:
    # R = 1/2, variance 1/400: 100 trials; weight (1/5) / (50 + 1/5) = 1/251; 1 / (250/251/100 + 1/251/20) = 25100/255
    assert effective_units(Fraction(1, 2), UnitSpread(Fraction(1, 400), Fraction(20), Fraction(300))) == Fraction(
        25100, 255
    )
    # All right: as many trials as whole units.
    assert effective_units(Fraction(1), UnitSpread(Fraction(0), Fraction(20), Fraction(300))) == 20


def test_variance_by_hand() -> None:
    # 1/2 and 3/4: R = 4/6; residuals 1 - 2·2/3 = -1/3 and 3 - 4·2/3 = 1/3; 2/1 · (2/9) / 36 = 1/81
    assert pair_sums({(1, 2): 1, (3, 4): 1}).variance == Fraction(1, 81)
    assert pair_sums({(1, 2): 1}).variance is None


def test_a_ratio_may_be_above_one() -> None:
    found = ratio_interval(pair_sums({(3, 2): 10, (5, 2): 10}))
    assert isinstance(found, Interval)
    # All sizes are 2, so this is the mean ± t s/√n of 3/2 and 5/2: 2 ± t · √(20/19) / 2 / √20
    half = t_quantile(0.975, 19) * sqrt(20 / 19) / 2 / sqrt(20)
    assert found.low == pytest.approx(2 - half, abs=2e-9)
    assert found.high == pytest.approx(2 + half, abs=2e-9)


@cases("pairs", [{}, {(3, 2): 1}, {(3, 2): 5}, {(0, 2): 5}, {(5, 1): 1, (1, 100): 1}])
def test_a_ratio_without_an_honest_interval_says_why(pairs: dict[tuple[int, int], int]) -> None:
    found = ratio_interval(pair_sums(pairs))
    assert isinstance(found, NoInterval)
    assert found.reason


def test_a_count_of_at_most_one_each_is_a_share_times_the_units() -> None:
    counted, share = count_interval(pair_sums({(1, 1): 3, (0, 1): 17})), interval({(1, 1): 3, (0, 1): 17})
    assert isinstance(counted, Interval)
    assert (counted.low, counted.high) == (floor(20 * share.low), ceil(20 * share.high))
    assert isinstance(counted.low, int)


def test_a_count_of_many_each() -> None:
    found = count_interval(pair_sums({(3, 1): 10, (5, 1): 10}))
    assert isinstance(found, Interval)
    assert found.low < 80 < found.high
    with pytest.raises(ValueError, match="at least 1"):
        count_interval(pair_sums({(3, 0): 10}))


def test_a_count_over_groups_is_one_over_their_records() -> None:
    # Two of nine records, both in one of the three groups.
    found = count_interval(pair_sums({(2, 3): 1, (0, 4): 1, (0, 2): 1}))
    share = interval({(2, 3): 1, (0, 4): 1, (0, 2): 1})
    assert isinstance(found, Interval)
    assert (found.low, found.high) == (floor(9 * share.low), ceil(9 * share.high))
    assert found.units == 3


def test_a_ratio_beyond_all_bounds_has_an_interval() -> None:
    found = ratio_interval(pair_sums({(10**30, 1): 2, (10**29, 1): 3}))
    assert isinstance(found, Interval)
    assert found.low == 0 < found.high


@cases("right", range(10, 30))
def test_the_end_of_an_interval_is_what_is_written(right: int) -> None:
    """A gate at the very end of the interval holds, wherever the float lies that is nearest to it."""
    sums = pair_sums({(1, 1): right, (0, 1): 40 - right})
    found = share_interval(sums, one_sided(0.95))
    assert isinstance(found, Interval)
    least = Decimal(repr(found.low))
    assert support(Gate(min=least), Rate(sums.a, sums.b, sums=sums)) == "supported"
    (judged,) = judge_gates({"m": Gate(min=least, confidence=Decimal("0.95"))}, {"m": Rate(sums.a, sums.b, sums=sums)})
    assert judged.verdict is Verdict.PASS
