"""Whether a gate is supported by enough runs; quantiles against sums in exact fractions."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import comb

from goldgate.core.gate import Gate
from goldgate.core.metric import Count, Rate
from goldgate.core.sums import pair_sums
from goldgate.stats.distributions import beta_binomial_quantile
from goldgate.stats.gates import support
from goldgate.stats.interval import Interval, interval_of, one_sided
from tests.cases import cases


def rate(*units: tuple[int, int]) -> Rate:
    """The rate of units that count a of b each."""
    sums = pair_sums(Counter(units))
    return Rate(sums.a, sums.b, sums=sums)


def lower_bound(metric: Rate) -> float:
    """One-sided, at 95 %."""
    found = interval_of(metric, one_sided(0.95))
    assert isinstance(found, Interval)
    return found.low


def test_what_is_in_one_run_goes_together() -> None:
    # Sixty claims without a miss: in sixty runs they support 0.95; in six runs, hardly more than six claims do.
    assert lower_bound(rate(*[(1, 1)] * 60)) > 0.95
    assert lower_bound(rate(*[(10, 10)] * 6)) == lower_bound(rate(*[(1, 1)] * 6)) < 0.6
    assert lower_bound(rate((60, 60))) == 0  # one run says nothing of the next


@cases(
    ("gate", "metric", "expected"),
    [
        (Gate(min=Decimal("0.95")), rate(*[(1, 1)] * 54), "supported"),
        (Gate(min=Decimal("0.95")), rate(*[(1, 1)] * 53), "inconclusive"),
        (Gate(min=Decimal("0.95")), rate(*[(1, 2)] * 20), "refuted"),
        (Gate(min=Decimal("0.95")), rate((10, 20)), "inconclusive"),
        (Gate(max=Decimal("0.10")), rate(*[(0, 1)] * 100), "supported"),
        (Gate(max=Decimal("0.10")), rate(*[(0, 1)] * 3), "inconclusive"),
        (Gate(max=Decimal("0.10")), rate(*[(1, 1)] * 60, *[(0, 1)] * 40), "refuted"),
        (Gate(equals=Decimal("1.00")), rate(*[(1, 1)] * 20), "inconclusive"),
        (Gate(equals=Decimal("1.00")), rate(*[(1, 1)] * 19, (0, 1)), "refuted"),
        (Gate(min=Decimal("0.5")), rate(), None),
        (Gate(min=Decimal("0.5")), Rate(3, 4), None),
        (Gate(min=Decimal("0.5")), Count(3), None),
    ],
)
def test_support(gate: Gate, metric: Rate | Count, expected: str | None) -> None:
    assert support(gate, metric) == expected


def beta_binomial(hits: int, trials: int, further: int, count: int) -> Fraction:
    """C(m, x) B(x + a, m - x + b) / B(a, b), for integers a and b, in exact fractions."""

    def beta(a: int, b: int) -> Fraction:
        return Fraction(1, (a + b - 1) * comb(a + b - 2, a - 1))

    a, b = hits + 1, trials - hits + 1
    return comb(further, count) * beta(count + a, further - count + b) / beta(a, b)


@cases("case", [(0, 0, 5), (19, 20, 20), (5, 10, 7), (40, 40, 30), (0, 12, 9), (3, 4, 50)])
@cases("chance", ["0.01", "0.05", "0.2"])
def test_the_quantile_against_a_sum_in_fractions(case: tuple[int, int, int], chance: str) -> None:
    hits, trials, further = case
    terms = [beta_binomial(hits, trials, further, count) for count in range(further + 1)]
    assert sum(terms) == 1
    expected = max(c for c in range(further + 1) if sum(terms[:c]) <= Fraction(chance))
    found = beta_binomial_quantile(hits, trials, further, float(chance))
    assert found.hits == expected
    assert abs(found.chance_below - float(sum(terms[:expected]))) < 1e-12
