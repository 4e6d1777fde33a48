"""Gates compare exactly: integers against the decimal as it was written."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from goldgate.core.gate import Gate, Verdict, overall_verdict
from goldgate.core.metric import Count, Metric, Rate
from goldgate.stats.gates import judge_gates
from tests.cases import cases

from ..helpers import gate


@cases(
    ("measured", "bound", "verdict"),
    [
        # 1 × 10000 = 10000 ≥ 3333 × 3 = 9999, but not ≥ 3334 × 3 = 10002
        pytest.param(Rate(1, 3), gate(min="0.3333"), "PASS", id="third-above-0.3333"),
        pytest.param(Rate(1, 3), gate(min="0.3334"), "FAIL", id="third-below-0.3334"),
        pytest.param(Rate(1, 3), gate(max="0.3333"), "FAIL", id="third-not-at-most-0.3333"),
        pytest.param(Rate(1, 3), gate(equals="0.3333333333333333"), "FAIL", id="third-is-no-decimal"),
        # 0.1 + 0.2 > 0.3 in floats; 3/10 is 0.3
        pytest.param(Rate(3, 10), gate(min="0.3"), "PASS", id="three-tenths-min"),
        pytest.param(Rate(3, 10), gate(max="0.3"), "PASS", id="three-tenths-max"),
        pytest.param(Rate(3, 10), gate(equals="0.30"), "PASS", id="three-tenths-equals"),
        pytest.param(Rate(3, 10), gate(equals="0.30000000000000004"), "FAIL", id="sum-in-floats"),
        # 95/100 against 0.95: as floats 0.95 is a little below
        pytest.param(Rate(95, 100), gate(min="0.95"), "PASS", id="at-the-threshold"),
        pytest.param(Rate(10**18 - 1, 10**18), gate(min="1"), "FAIL", id="nearly-one-is-not-one"),
        pytest.param(Rate(10**18 - 1, 10**18), gate(equals="1.0"), "FAIL", id="float-would-say-one"),
        pytest.param(Rate(0, 5), gate(min="0"), "PASS", id="zero"),
        pytest.param(Count(10), gate(max="10"), "PASS", id="count-at-the-bound"),
        pytest.param(Count(11), gate(max="10"), "FAIL", id="count-above"),
        pytest.param(Count(0), gate(equals="0"), "PASS", id="count-equals"),
        pytest.param(Rate(1, 2), gate(min="0.4", max="0.6"), "PASS", id="between"),
        pytest.param(Rate(7, 10), gate(min="0.4", max="0.6"), "FAIL", id="beyond-the-upper"),
        pytest.param(Rate(1, 2), gate(min="0.6", equals="0.5"), "FAIL", id="one-of-two-bounds"),
    ],
)
def test_gate_compares_exactly(measured: Metric, bound: Gate, verdict: str) -> None:
    (result,) = judge_gates({"m": bound}, {"m": measured})
    assert result.verdict == verdict


def test_reason_gives_the_counts_and_the_bound() -> None:
    passed, failed, both = judge_gates(
        {"a": gate(min="0.3"), "b": gate(max="3"), "c": gate(min="0.9", max="0.1")},
        {"a": Rate(1, 3), "b": Count(4), "c": Rate(1, 2)},
    )
    assert passed.reason == "1/3 is ≥ 0.3"
    assert failed.reason == "4 is not ≤ 3"
    assert both.reason == "1/2 is not ≥ 0.9; 1/2 is not ≤ 0.1"


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [pytest.param("fail", Verdict.FAIL, id="fails"), pytest.param("pass", Verdict.PASS, id="passes-if-told-so")],
)
@pytest.mark.parametrize("measured", [Rate(0, 0, "nothing"), Count(None, "nothing")], ids=["rate", "count"])
def test_undefined_metric_is_not_evaluable(policy: str, verdict: Verdict, measured: Metric) -> None:
    bound = Gate(min=Decimal(0), on_not_evaluable=policy)  # type: ignore[arg-type]  # the two words
    (result,) = judge_gates({"m": bound}, {"m": measured})
    assert result.verdict is verdict
    assert result.reason == "not_evaluable: nothing"


def test_warning_does_not_fail_the_evaluation() -> None:
    warn = Gate(min=Decimal(1), severity="warn")
    results = judge_gates({"a": warn, "b": gate(max="1")}, {"a": Rate(0, 1), "b": Count(0)})
    assert [r.verdict for r in results] == [Verdict.FAIL, Verdict.PASS]
    assert overall_verdict(results) is Verdict.PASS


def test_without_a_gate_that_can_fail_nothing_passes() -> None:
    assert overall_verdict([]) is Verdict.NO_GATES
    warning = judge_gates({"m": replace(gate(min="0.9"), severity="warn")}, {"m": Rate(1, 2)})
    assert overall_verdict(warning) is Verdict.NO_GATES
