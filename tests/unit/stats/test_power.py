from __future__ import annotations

from fractions import Fraction

import pytest

from goldgate.core.sums import RatioSums, pair_sums
from goldgate.stats.interval import (
    Interval,
    detectable_difference,
    share_interval,
    units_needed,
    units_to_decide,
    unseen_difference_se,
)
from tests.cases import cases


def test_detectable_is_the_sum_of_two_quantiles_times_the_error() -> None:
    # t(0.975, 299) = 1.9679, t(0.8, 299) = 0.8428
    assert detectable_difference(0.01, 300) == pytest.approx(0.028107, abs=1e-6)
    assert detectable_difference(0.01, 1) is None


def test_as_many_units_as_show_the_difference_and_one_less_do_not() -> None:
    needed = units_needed(0.01, 300, 0.01)
    assert needed is not None
    at, before = detectable_difference(0.01, 300, at=needed), detectable_difference(0.01, 300, at=needed - 1)
    assert at is not None
    assert before is not None
    assert at <= 0.01 < before
    assert needed == pytest.approx(300 * 2.8016**2, rel=0.01)


def test_direction_does_not_matter() -> None:
    assert units_needed(0.01, 300, -0.02) == units_needed(0.01, 300, 0.02)


@cases(("se", "units", "difference"), [(0.0, 300, 0.01), (0.01, 1, 0.01), (0.01, 300, 0.0), (1.0, 300, 1e-9)])
def test_no_telling(se: float, units: int, difference: float) -> None:
    assert units_needed(se, units, difference) is None


def test_two_units_show_what_is_huge() -> None:
    # With 2, t(0.975, 1) + t(0.8, 1) = 14.1, and the error is √150 times as large: 0.17
    assert units_needed(0.001, 300, 0.9) == 2
    assert units_needed(0.001, 300, 0.17) == 3


def test_an_open_gate_says_how_many_units_would_decide_it() -> None:
    sums = pair_sums({(1, 1): 45, (0, 1): 5})
    needed = units_to_decide(sums, Fraction(85, 100))
    assert needed is not None
    now = share_interval(sums)
    before, then = share_interval(sums, at=needed - 1), share_interval(sums, at=needed)
    assert isinstance(now, Interval)
    assert isinstance(before, Interval)
    assert isinstance(then, Interval)
    assert now.low < before.low <= 0.85 < then.low
    assert units_to_decide(sums, Fraction(9, 10)) is None
    assert units_to_decide(RatioSums(), Fraction(9, 10)) is None


def test_an_unseen_system_is_as_uncertain() -> None:
    assert unseen_difference_se(0.01) == pytest.approx(0.0141421356)
    assert unseen_difference_se(0.01, correlation=0.5) == pytest.approx(0.01)
