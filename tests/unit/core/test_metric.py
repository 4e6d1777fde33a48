"""Rates, counts and means: what is shown is rounded, what is undefined says why."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

import pytest

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.metric import Count, Limit, Rate, floor_quotient, format_number, mean
from tests.cases import cases
from tests.unit.helpers import count_units


def test_numbers_are_rounded_half_to_even_and_never_look_like_a_limit_that_they_miss() -> None:
    at_least, at_most, exactly = (Limit(sign, Fraction(4, 5)) for sign in "≥≤=")
    cases: list[tuple[float | Fraction, tuple[Limit, ...], str]] = [
        (Fraction(1), (), "1.0000"),
        (Fraction(0), (), "0.0000"),
        (Fraction(2, 3), (), "0.6667"),
        (Fraction(-2, 3), (), "-0.6667"),
        (Fraction(3, 2), (), "1.5000"),
        (Fraction(12345, 100_000), (), "0.1234"),  # half to even
        (Fraction(12355, 100_000), (), "0.1236"),
        (0.57, (), "0.5700"),  # as a float it lies below itself
        (0.12345, (), "0.1234"),
        (Fraction(99_997, 100_000), (), "0.99997"),
        (Fraction(999_999, 1_000_000), (), "0.999999"),
        (Fraction(-99_999, 100_000), (), "-0.99999"),
        (Fraction(100_001, 100_000), (), "1.00001"),
        (Fraction(1, 30_000), (), "0.00003"),
        (Fraction(-1, 30_000), (), "-0.00003"),
        (Fraction(79_996, 100_000), (at_least,), "0.79996"),  # it misses 0.80
        (Fraction(79_996, 100_000), (at_most,), "0.8000"),  # it meets 0.80, as shown
        (Fraction(80_004, 100_000), (at_most,), "0.80004"),
        (Fraction(80_004, 100_000), (at_least,), "0.8000"),
        (Fraction(80_004, 100_000), (exactly,), "0.80004"),
        (Fraction(4, 5), (at_least, at_most, exactly), "0.8000"),
        (Fraction(2, 3), (Limit("≥", Fraction(6667, 10_000)),), "0.66667"),  # 0.6667 would meet it
        (Fraction(66_666, 100_000), (Limit("≥", Fraction(66_666, 100_000)),), "0.6667"),
        (Fraction(66_664, 100_000), (Limit("≥", Fraction(66_664, 100_000)),), "0.66664"),  # 0.6666 would miss it
        (1e308, (), f"{10**308}.0000"),
        (Fraction(1, 10**12), (), "0.000000000001"),
        (-3e-17, (), "-3e-17"),
        (Fraction(1, 10**5000), (), "1e-5000"),
        (1 - Fraction(1, 10**5000), (), "1." + "0" * 60),
    ]
    for value, limits, text in cases:
        assert format_number(value, limits=limits) == text, (value, limits)
    assert (format_number(Fraction(2, 3), 6), floor_quotient(2, 3, 6)) == ("0.666667", "0.666666")


def test_rate_keeps_the_counts_behind_it() -> None:
    assert Rate(1, 2).as_json() == {"value": 0.5, "numerator": 1, "denominator": 2}
    assert Rate(1, 2).exact == Fraction(1, 2)
    assert str(Rate(2, 3)) == "0.6667"


def test_rate_over_nothing_is_undefined_with_a_reason() -> None:
    rate = Rate(0, 0, "nothing was predicted")
    assert rate.value is None
    assert rate.exact is None
    assert rate.as_json() == {"value": None, "numerator": 0, "denominator": 0, "reason": "nothing was predicted"}
    assert str(rate) == "n/a"


def test_count_is_a_value_or_a_reason() -> None:
    assert Count(3).as_json() == {"value": 3}
    assert Count(None, "off").as_json() == {"value": None, "reason": "off"}
    assert (str(Count(0)), str(Count(None, "off"))) == ("0", "n/a")
    assert (Count(3).exact, Count(None, "off").exact) == (Fraction(3), None)


@cases(
    ("hits", "predicted", "gold", "expected"),
    [
        # P = 1/2, R = 1/4, F1 = 2·1 / (2 + 4)
        pytest.param(1, 2, 4, ((1, 2), (1, 4), (2, 6)), id="some"),
        pytest.param(0, 0, 3, ((0, 0), (0, 3), (0, 3)), id="nothing-predicted"),
        pytest.param(0, 3, 0, ((0, 3), (0, 0), (0, 3)), id="nothing-in-gold"),
        pytest.param(0, 0, 0, ((0, 0), (0, 0), (0, 0)), id="nothing-at-all"),
        pytest.param(5, 5, 5, ((5, 5), (5, 5), (10, 10)), id="all"),
    ],
)
def test_f1_is_two_hits_over_both_sides(
    hits: int, predicted: int, gold: int, expected: tuple[tuple[int, int], ...]
) -> None:
    class Found(RatioMeasure[None]):
        table = "found"
        columns = ("hits", "predicted", "gold")
        ratios = MappingProxyType(precision_recall_f1("x_", "hits"))

        def row(self, facts: None) -> tuple[int, ...]:
            return hits, predicted, gold

    rates = Found().metrics(count_units([Found()], [None]))
    assert list(rates) == ["x_precision", "x_recall", "x_f1"]
    assert tuple((rate.numerator, rate.denominator) for rate in rates.values() if isinstance(rate, Rate)) == expected


def test_mean_leaves_out_undefined_rates_and_says_how_many() -> None:
    # (1/2 + 1/4) / 2 = 0.375; the third has no denominator
    average = mean([Rate(1, 2), Rate(1, 4), Rate(0, 0)])
    assert average.as_json() == {"value": 0.375, "averaged": 2, "undefined": 1}


def test_mean_of_nothing_is_undefined() -> None:
    assert mean([]).as_json()["value"] is None
    assert mean([Rate(0, 0)]).as_json() == {
        "value": None,
        "averaged": 0,
        "undefined": 1,
        "reason": "no rate to average is defined",
    }


def test_mean_does_not_depend_on_order() -> None:
    rates = [Rate(1, 10), Rate(2, 10), Rate(3, 10), Rate(1, 3), Rate(2, 7)]
    assert mean(rates) == mean(rates[::-1]) == mean(rates[2:] + rates[:2])
