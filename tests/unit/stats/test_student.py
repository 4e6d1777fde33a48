"""Quantiles and tails agree with scipy, whose values are stored beside this file: 60 MB to install for one table."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import Any

import pytest

from goldgate.stats.distributions import normal_quantile, t_quantile, t_tail
from tests.cases import cases

REFERENCE: dict[str, Any] = json.loads(Path(__file__).with_name("scipy_student.json").read_text())
PROBABILITIES: list[float] = REFERENCE["probabilities"]


@pytest.mark.parametrize("row", REFERENCE["t"], ids=lambda row: str(row["df"]))
def test_t_agrees_with_scipy(row: dict[str, Any]) -> None:
    for p, quantile, tail in zip(PROBABILITIES, row["quantiles"], row["tails"], strict=True):
        assert t_quantile(p, row["df"]) == pytest.approx(quantile, rel=1e-10, abs=0)
        assert t_tail(quantile, row["df"]) == pytest.approx(tail, rel=1e-10, abs=0)


def test_normal_agrees_with_scipy() -> None:
    row = REFERENCE["normal"]
    for p, quantile, tail in zip(PROBABILITIES, row["quantiles"], row["tails"], strict=True):
        assert normal_quantile(p) == pytest.approx(quantile, rel=1e-12, abs=0)
        assert t_tail(quantile, inf) == pytest.approx(tail, rel=1e-12, abs=0)


def test_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    assert t_tail(1.0, 1) == pytest.approx(0.25, rel=1e-15)  # tan(π/4) = 1
    assert t_quantile(0.75, 1) == pytest.approx(1.0, rel=1e-14)


def test_many_degrees_of_freedom_are_normal() -> None:
    assert t_quantile(0.975, 1e12) == normal_quantile(0.975)


def test_the_middle_and_the_ends() -> None:
    assert t_quantile(0.5, 7) == 0.0
    assert t_quantile(0.25, 7) == -t_quantile(0.75, 7)
    assert t_tail(inf, 3) == 0.0
    assert t_tail(-2.0, 3) == 1 - t_tail(2.0, 3)


# Of those above 900, Newton's steps end in a circle of neighbouring floats: where in it they stop is pinned too.
BITS = {
    2.5: "0x1.c98e4a34726a0p+1",
    82.0: "0x1.fd43fb203a3ccp+0",
    964.0: "0x1.f661ac8b0a6c6p+0",
    973.0: "0x1.f6602db6f9722p+0",
    994.0: "0x1.f65ccb70c74b2p+0",
    45600.0: "0x1.f5c39bf3f5b07p+0",
}


def test_quantiles_are_the_same_to_the_last_bit() -> None:
    assert {df: t_quantile(0.975, df).hex() for df in BITS} == BITS


@cases(("p", "df"), [(0.0, 5), (1.0, 5), (0.5, 0), (0.5, -1), (float("nan"), 5), (0.5, float("nan"))])
def test_nonsense_is_refused(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="needed"):
        t_quantile(p, df)
