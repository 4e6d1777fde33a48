"""Bounds and quantiles against sums in exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import comb

import pytest
from goldgate.baseline.support import support
from goldgate.stats.binomial import lower_bound, upper_bound
from hypothesis import given, settings
from hypothesis import strategies as st

from goldgate.core.gate import Gate
from goldgate.core.metric import Count, Rate
from goldgate.stats.beta_binomial import quantile

STEP = Fraction(1, 10**6)


def at_least(hits: int, trials: int, rate: Fraction) -> Fraction:
    return sum((comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(hits, trials + 1)), Fraction())


@given(st.integers(1, 25).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=80)
def test_the_lower_bound_is_the_last_rate_that_is_still_unlikely(case: tuple[int, int]) -> None:
    hits, trials = case
    bound = Fraction(lower_bound(hits, trials))
    assert at_least(hits, trials, bound) <= Fraction(1, 20) or hits == 0
    assert hits == 0 or at_least(hits, trials, bound + STEP) > Fraction(1, 20)
    assert bound <= Fraction(hits, trials) <= Fraction(upper_bound(hits, trials))


@pytest.mark.parametrize(
    ("hits", "trials", "bound"),
    [
        (0, 10, "0"),
        (1, 1, "0.050000"),  # 0.05
        (10, 10, "0.741134"),  # 0.05 to the power of 1/10
        (59, 59, "0.950492"),  # the least sample without a miss that supports 0.95
        (58, 58, "0.949660"),
        (1, 2, "0.025320"),  # 1 - (1 - p)² = 0.05: p = 1 - √0.95
    ],
)
def test_known_bounds(hits: int, trials: int, bound: str) -> None:
    assert lower_bound(hits, trials) == Decimal(bound)


def test_bounds_of_large_numbers_are_close_to_the_rate() -> None:
    assert Decimal("0.4994") < lower_bound(5_000_000, 10_000_000) < Decimal("0.5")


@pytest.mark.parametrize(
    ("gate", "rate", "expected"),
    [
        (Gate(min=Decimal("0.95")), Rate(59, 59), "supported"),
        (Gate(min=Decimal("0.95")), Rate(58, 58), "inconclusive"),
        (Gate(min=Decimal("0.95")), Rate(10, 20), "refuted"),
        (Gate(max=Decimal("0.10")), Rate(0, 100), "supported"),
        (Gate(max=Decimal("0.10")), Rate(0, 3), "inconclusive"),
        (Gate(max=Decimal("0.10")), Rate(60, 100), "refuted"),
        (Gate(equals=Decimal("1.00")), Rate(20, 20), "inconclusive"),
        (Gate(equals=Decimal("1.00")), Rate(19, 20), "refuted"),
        (Gate(min=Decimal("0.5")), Rate(0, 0), None),
        (Gate(min=Decimal("0.5")), Count(3), None),
    ],
)
def test_support(gate: Gate, rate: Rate | Count, expected: str | None) -> None:
    assert support(gate, rate) == expected


def beta_binomial(hits: int, trials: int, further: int, count: int) -> Fraction:
    """C(m, x) B(x + a, m - x + b) / B(a, b), for integers a and b, in exact fractions."""

    def beta(a: int, b: int) -> Fraction:
        return Fraction(1, (a + b - 1) * comb(a + b - 2, a - 1))

    a, b = hits + 1, trials - hits + 1
    return comb(further, count) * beta(count + a, further - count + b) / beta(a, b)


@pytest.mark.parametrize("case", [(0, 0, 5), (19, 20, 20), (5, 10, 7), (40, 40, 30), (0, 12, 9), (3, 4, 50)])
@pytest.mark.parametrize("chance", ["0.01", "0.05", "0.2"])
def test_the_quantile_against_a_sum_in_fractions(case: tuple[int, int, int], chance: str) -> None:
    hits, trials, further = case
    terms = [beta_binomial(hits, trials, further, count) for count in range(further + 1)]
    assert sum(terms) == 1
    expected = max(c for c in range(further + 1) if sum(terms[:c]) <= Fraction(chance))
    found = quantile(hits, trials, further, float(chance))
    assert found.hits == expected
    assert abs(found.chance_below - float(sum(terms[:expected]))) < 1e-12
