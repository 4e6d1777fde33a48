"""Rates, counts and means: what is shown is cut, what is undefined says why."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

import pytest

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.metric import Count, Rate, mean, shorten
from goldgate.core.tally import Tally


@pytest.mark.parametrize(
    ("numerator", "denominator", "shown"),
    [
        pytest.param(1, 1, "1.0000", id="one"),
        pytest.param(0, 7, "0.0000", id="zero"),
        pytest.param(2, 3, "0.6666", id="two-thirds-is-cut"),  # 0.66666…
        pytest.param(19_999, 20_000, "0.9999", id="nearly-one-is-not-one"),  # 0.99995
        pytest.param(999_999, 1_000_000, "0.9999", id="six-nines"),
        pytest.param(57, 100, "0.5700", id="no-float-error"),  # 0.57 as a float lies below itself
        pytest.param(3, 2, "1.5000", id="above-one"),
        pytest.param(1, 30_000, "0.0000", id="tiny"),  # 0.0000333…
        pytest.param(-1, 3, "-0.3333", id="negative-is-cut-towards-zero"),
    ],
)
def test_quotients_are_shown_cut_never_rounded_up(numerator: int, denominator: int, shown: str) -> None:
    assert shorten(numerator, denominator) == shown


def test_more_digits_can_be_asked_for() -> None:
    assert shorten(2, 3, digits=6) == "0.666666"


def test_rate_keeps_the_counts_behind_it() -> None:
    assert Rate(1, 2).as_json() == {"value": 0.5, "numerator": 1, "denominator": 2}
    assert Rate(1, 2).exact == Fraction(1, 2)
    assert str(Rate(2, 3)) == "0.6666"


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


@pytest.mark.parametrize(
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

        def units(self, facts: None) -> tuple[int, ...]:
            return hits, predicted, gold

    tally = Tally()
    Found().count(None, tally)
    rates = Found().metrics(tally)
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
