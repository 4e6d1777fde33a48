"""Gates with a confidence: PASS, FAIL or INCONCLUSIVE by one-sided bounds, several of them together."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from goldgate.core.gate import Gate, GateResult, Verdict, overall_verdict
from goldgate.core.metric import Count, Metric, Rate
from goldgate.core.sums import RatioSums, pair_sums
from goldgate.stats.gates import PairedRun, family_note, judge_gates
from goldgate.stats.interval import Interval, metric_with_interval, one_sided, share_interval
from goldgate.stats.paired import paired_sums
from tests.cases import cases


def rate(pairs: dict[tuple[int, int], int]) -> Rate:
    sums = pair_sums(pairs)
    return Rate(sums.a, sums.b, "nothing", sums)


def bounds(measured: Rate, confidence: float) -> Interval:
    assert measured.sums is not None
    found = share_interval(measured.sums, one_sided(confidence))
    assert isinstance(found, Interval)
    return found


def sure(confidence: str = "0.95", min: str | None = None, max: str | None = None) -> Gate:
    low, high = (None if bound is None else Decimal(bound) for bound in (min, max))
    return Gate(low, high, confidence=Decimal(confidence))


def judged(gate: Gate, measured: Metric, paired: PairedRun | None = None) -> GateResult:
    (result,) = judge_gates({"m": gate}, {"m": measured}, None if paired is None else {"m": paired}, "sample")
    return result


EIGHTY = rate({(1, 1): 80, (0, 1): 20})  # 80 of 100 samples, one thing in each


def test_the_whole_interval_must_lie_within_the_bound() -> None:
    found = bounds(EIGHTY, 0.95)
    assert 0.72 < found.low < 0.73 < 0.8 < 0.85 < found.high < 0.86
    assert judged(sure(min="0.70"), EIGHTY).verdict is Verdict.PASS
    assert judged(sure(min=str(found.low)), EIGHTY).verdict is Verdict.PASS
    assert judged(sure(min="0.79"), EIGHTY).verdict is Verdict.INCONCLUSIVE
    assert judged(sure(min=str(found.high)), EIGHTY).verdict is Verdict.INCONCLUSIVE
    assert judged(sure(min="0.90"), EIGHTY).verdict is Verdict.FAIL


@cases(
    ("bound", "verdict"),
    [
        ({"max": "0.90"}, "PASS"),
        ({"max": "0.81"}, "INCONCLUSIVE"),
        ({"max": "0.70"}, "FAIL"),
        ({"min": "0.70", "max": "0.90"}, "PASS"),
        ({"min": "0.79", "max": "0.90"}, "INCONCLUSIVE"),
        ({"min": "0.10", "max": "0.70"}, "FAIL"),
    ],
)
def test_likewise_for_an_upper_bound_and_for_two(bound: dict[str, str], verdict: str) -> None:
    assert judged(sure(**bound), EIGHTY).verdict == verdict


def test_what_passes_with_confidence_passes_by_its_value() -> None:
    for hits in range(41):
        measured = rate({(1, 1): hits, (0, 1): 40 - hits})
        for threshold in ("0.05", "0.5", "0.9", "1"):
            plain = judged(Gate(min=Decimal(threshold)), measured).verdict
            for confidence in ("0.51", "0.8", "0.95", "0.999"):
                with_confidence = judged(sure(confidence, min=threshold), measured).verdict
                assert with_confidence is not Verdict.PASS or plain is Verdict.PASS
                assert with_confidence is not Verdict.FAIL or plain is Verdict.FAIL


def test_the_reason_names_the_samples_that_would_decide() -> None:
    result = judged(sure(min="0.79"), EIGHTY)
    assert result.reason.startswith("80/100 does not decide ≥ 0.79: from 0.72")
    number = int(result.reason.rpartition("; about ")[2].partition(" ")[0].replace(",", ""))
    assert result.reason.endswith(f"; about {number:,} samples would decide it, and 100 have something to count")
    # Of so many like these the gate would pass, and of one less it would not.
    enough = rate({(1, 1): 80 * number, (0, 1): 20 * number})
    assert enough.sums is not None
    assert EIGHTY.sums is not None
    at = share_interval(EIGHTY.sums, one_sided(0.95), at=number)
    below = share_interval(EIGHTY.sums, one_sided(0.95), at=number - 1)
    assert isinstance(at, Interval)
    assert isinstance(below, Interval)
    assert at.low > 0.79 >= below.low


def test_at_the_threshold_no_number_decides() -> None:
    assert "would decide" not in judged(sure(min="0.8"), EIGHTY).reason


def test_what_has_no_interval_is_inconclusive() -> None:
    result = judged(sure(min="0.5"), Rate(8, 10))
    assert (result.verdict, result.reason) == (
        Verdict.INCONCLUSIVE,
        "8/10 does not decide ≥ 0.5: it is not a sum over units",
    )


def test_a_count_is_judged_by_its_own_interval() -> None:
    errors = Count(3, None, RatioSums(100, 3, 100, 3, 3, 100))
    assert judged(sure(max="20"), errors).verdict is Verdict.PASS
    assert judged(sure(max="3"), errors).verdict is Verdict.INCONCLUSIVE
    assert judged(sure(min="20"), errors).verdict is Verdict.FAIL


@cases(("allowed", "status"), [("fail", Verdict.INCONCLUSIVE), ("warn", Verdict.PASS), ("pass", Verdict.PASS)])
def test_the_status_of_an_open_gate(allowed: str, status: Verdict) -> None:
    gate = replace(sure(min="0.79"), on_inconclusive=allowed)  # type: ignore[arg-type]  # one of the three
    result = judged(gate, EIGHTY)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert overall_verdict([result]) is status


def test_a_failed_gate_outweighs_an_open_one() -> None:
    results = judge_gates({"a": sure(min="0.79"), "b": sure(min="0.99")}, {"a": EIGHTY, "b": EIGHTY})
    assert [result.verdict for result in results] == [Verdict.INCONCLUSIVE, Verdict.FAIL]
    assert overall_verdict(results) is Verdict.FAIL


def test_failures_share_their_chance_by_holms_rule() -> None:
    # Between the upper bounds at 95 % and at 97.5 %: alone it fails, beside another it is open.
    threshold = str(round((bounds(EIGHTY, 0.95).high + bounds(EIGHTY, 0.975).high) / 2, 6))
    close, fine, clear = sure(min=threshold), sure(min="0.1"), sure(min="0.99")
    metrics: dict[str, Metric] = {"close": EIGHTY, "other": EIGHTY}
    assert judged(close, EIGHTY).verdict is Verdict.FAIL
    two = judge_gates({"close": close, "other": fine}, metrics)
    assert [result.verdict for result in two] == [Verdict.INCONCLUSIVE, Verdict.PASS]
    assert two[0].reason.endswith("alone this gate would fail, corrected for the other gates it does not")
    # A clear failure is taken out first, and leaves its share to the rest.
    two = judge_gates({"close": close, "other": clear}, metrics)
    assert [result.verdict for result in two] == [Verdict.FAIL, Verdict.FAIL]


def test_the_bounds_of_one_gate_share_its_part() -> None:
    threshold = str(round((bounds(EIGHTY, 0.95).high + bounds(EIGHTY, 0.975).high) / 2, 6))
    assert judged(sure(min=threshold), EIGHTY).verdict is Verdict.FAIL
    assert judged(sure(min=threshold, max="1"), EIGHTY).verdict is Verdict.INCONCLUSIVE


def test_passing_needs_no_correction() -> None:
    threshold = str(bounds(EIGHTY, 0.95).low)
    gates = {str(number): sure(min=threshold) for number in range(5)}
    results = judge_gates(gates, dict.fromkeys(gates, EIGHTY))
    assert {result.verdict for result in results} == {Verdict.PASS}


def test_a_gate_that_warns_stands_for_itself() -> None:
    threshold = str(round((bounds(EIGHTY, 0.95).high + bounds(EIGHTY, 0.975).high) / 2, 6))
    warns = replace(sure(min="0.1"), severity="warn")
    results = judge_gates({"a": sure(min=threshold), "b": warns}, {"a": EIGHTY, "b": EIGHTY})
    assert [result.verdict for result in results] == [Verdict.FAIL, Verdict.PASS]


def test_how_they_are_judged_together_is_said_of_several() -> None:
    assert family_note({"a": sure(min="0.5")}) is None
    assert family_note({"a": sure(min="0.5"), "b": Gate(min=Decimal(1))}) is None
    said = family_note({"a": sure(min="0.5"), "b": sure(max="0.5")})
    assert said is not None
    assert "Holm's method over 2 gates" in said


def against(pairs: dict[tuple[int, int, int, int], int], same: bool = False) -> PairedRun:
    return PairedRun(paired_sums(pairs), True, "main/", "0" * 64, same)


def drop(limit: str, confidence: str | None = "0.95") -> Gate:
    return Gate(
        max_drop=Decimal(limit), against="main/", confidence=None if confidence is None else Decimal(confidence)
    )


# 1,000 samples: 10 won, 20 lost, so 30 differ; 880/1000 against 890/1000.
CLOSE = {(1, 1, 1, 1): 870, (0, 1, 0, 1): 100, (1, 1, 0, 1): 10, (0, 1, 1, 1): 20}


def test_not_worse_than_is_judged_by_the_paired_difference() -> None:
    measured = rate({(1, 1): 880, (0, 1): 120})
    # √((30 - 1000 · 0.01² + 2)/(1001 · 1002)) = 0.00564, t(0.95, 999) = 1.646: -0.01 ± 0.0093 is -0.0193 and -0.0007.
    assert judged(drop("0.02"), measured, against(CLOSE)).verdict is Verdict.PASS
    assert judged(drop("0.018"), measured, against(CLOSE)).verdict is Verdict.INCONCLUSIVE
    assert judged(drop("0.002"), measured, against(CLOSE)).verdict is Verdict.INCONCLUSIVE
    assert judged(drop("0"), measured, against(CLOSE)).verdict is Verdict.FAIL
    report: Any = judged(drop("0.02"), measured, against(CLOSE)).as_json(metric_with_interval(measured, "sample"), None)
    assert report["against"] == {"name": "main/", "sha256": "0" * 64}
    difference = report["difference"]
    assert isinstance(difference, dict)
    assert (difference["value"], difference["units"]) == (-0.01, 1000)
    assert -0.0194 < difference["low"] < -0.0192
    assert -0.0008 < difference["high"] < -0.0006


def test_an_open_comparison_names_the_samples_that_would_decide() -> None:
    reason = judged(drop("0.018"), rate({(1, 1): 880, (0, 1): 120}), against(CLOSE)).reason
    # Σ(n d)² is 29.9 of 1,000; 1.646 · √((0.0299 n + 2)/((n + 1)(n + 2))) < 0.008 from n = 1,327 on.
    assert reason.startswith("a difference of -0.0100 from main/ does not decide ≥ -0.018")
    assert reason.endswith("; about 1,327 samples would decide it, and 1,000 have something to count")


def test_a_rise_is_the_other_side() -> None:
    measured = rate({(1, 1): 880, (0, 1): 120})
    gate = Gate(max_rise=Decimal("0"), against="main/", confidence=Decimal("0.95"))
    assert judged(gate, measured, against(CLOSE)).verdict is Verdict.PASS
    gate = Gate(max_rise=Decimal("0"), against="main/")
    assert judged(gate, measured, against(CLOSE)).verdict is Verdict.PASS


@cases(("limit", "verdict"), [("0.01", "PASS"), ("0.009999", "FAIL")])
def test_without_a_confidence_the_exact_difference_decides(limit: str, verdict: str) -> None:
    result = judged(drop(limit, None), rate({(1, 1): 880, (0, 1): 120}), against(CLOSE))
    word = "is" if verdict == "PASS" else "is not"
    assert (result.verdict, result.reason) == (verdict, f"a drop of 0.0100 from main/ {word} ≤ {limit}")
    assert against(CLOSE).sums.value == Fraction(-1, 100)


def test_three_samples_alike_do_not_show_that_two_systems_are() -> None:
    few = {(1, 1, 1, 1): 3}
    assert judged(drop("0.01"), rate({(1, 1): 3}), against(few)).verdict is Verdict.INCONCLUSIVE
    # A small win must not narrow it.
    won = {(1, 1, 1, 1): 49, (1, 1, 0, 1): 1}
    assert judged(drop("0.01"), rate({(1, 1): 50}), against(won)).verdict is Verdict.INCONCLUSIVE
    many = {(1, 1, 1, 1): 3000}
    assert judged(drop("0.01"), rate({(1, 1): 3000}), against(many)).verdict is Verdict.PASS


def test_a_stored_rate_that_is_undefined_is_not_evaluable() -> None:
    result = judged(drop("0.1"), rate({(1, 1): 3}), against({(1, 1, 0, 0): 3}))
    assert (result.verdict, result.reason) == (Verdict.FAIL, "not_evaluable: main/ has nothing to divide by")
