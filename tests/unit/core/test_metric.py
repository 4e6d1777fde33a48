"""Rates, counts and means: what is shown is rounded, what is undefined says why."""

from __future__ import annotations

from fractions import Fraction

from goldgate.core.metric import Limit, Rate, floor_quotient, format_number, mean


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
