"""Gates: the defaults, severity, what is not evaluable, and thresholds that only a baseline record may lower."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goldgate.core.gate import Gate, GateResult, Verdict
from goldgate.core.metric import Rate
from goldgate.errors import ConfigError
from goldgate.runs.baseline import make_baseline
from goldgate.suites.research.golden import Golden
from goldgate.suites.research.measures import note_uniform_dilution
from goldgate.suites.research.run import RunFacts, RunSettings, judge_run
from goldgate.suites.research.suite import SUITE
from tests.cases import error_from

from .judged import counts, judged, judged_run
from .trees import abstention, claim, output, query, write_golden, write_run

INSUFFICIENT = query("Who owned the ships?", (), False)


def passing(folder: Path) -> None:
    write_golden(folder, query(), INSUFFICIENT)
    write_run(folder / "outputs")
    write_run(folder / "outputs", "run_r2", abstention("r2"))


def refused(folder: Path, protocol: str) -> ConfigError:
    return error_from(ConfigError, judged, folder, protocol)


def test_the_four_defaults(tmp_path: Path) -> None:
    passing(tmp_path)
    evaluation = judged(tmp_path)
    shown = [(gate["metric"], gate.get("min") or gate.get("equals")) for gate in evaluation.report["gates"]]
    assert shown == [
        ("evidence_coverage_rate", "0.95"),
        ("golden_recall", "0.80"),
        ("abstention_accuracy", "0.90"),
        ("manifest_integrity", "1.00"),
    ]
    assert evaluation.report["status"] == "PASS"
    assert all(gate["reason"] and gate["measured"]["denominator"] for gate in evaluation.report["gates"])
    assert all(gate["support"] == "inconclusive" for gate in evaluation.report["gates"])
    interval = evaluation.report["metrics"]["main"]["golden_recall"]["interval"]
    assert (interval["low"], interval["high"]) == (0, 1)  # 1 of 1: one run says nothing of the next
    assert (interval["unit"], interval["units"]) == ("run", 1)


@pytest.mark.parametrize(("covered", "verdict"), [(19, "PASS"), (18, "FAIL")])
def test_the_comparison_is_exact_at_the_threshold(tmp_path: Path, covered: int, verdict: str) -> None:
    write_golden(tmp_path)
    claims = [claim(f"k{number}", ("e1",) if number < covered else ()) for number in range(20)]
    write_run(tmp_path / "outputs", out=output(claims=claims))
    gate = judged(tmp_path).report["gates"][0]
    assert gate["verdict"] == verdict  # 19/20 is 0.95, and 18/20 is not


def test_what_is_not_evaluable_fails_unless_the_gate_says_otherwise(tmp_path: Path) -> None:
    assert judged_run(tmp_path).report["gates"][2]["reason"].startswith("not_evaluable")
    protocol = "gates: {abstention_accuracy: {min: 0.90, on_not_evaluable: pass}}"
    evaluation = judged(tmp_path, protocol)
    assert evaluation.passed
    assert evaluation.report["gates"][2]["support"] is None


def test_a_warning_is_shown_and_does_not_fail(tmp_path: Path) -> None:
    passing(tmp_path)
    failing = "gates: {ledger_precision: {max: 0, severity: %s}}"
    assert judged(tmp_path, failing % "warn").passed
    assert not judged(tmp_path, failing % "error").passed


def test_a_bound_beyond_what_a_rate_can_be_is_refused(tmp_path: Path) -> None:
    passing(tmp_path)
    assert refused(tmp_path, "gates: {golden_recall: {min: 80}}").code == "protocol.wrong_value"


def test_companions_are_available_to_gates_and_unknown_names_are_not(tmp_path: Path) -> None:
    passing(tmp_path)
    for name in judged(tmp_path).report["metrics"]["companions"]:
        assert len(judged(tmp_path, f"gates: {{{name}: {{min: 0}}}}").report["gates"]) == 5
    error = refused(tmp_path, "gates: {golden_recal: {min: 0.9}}")
    assert error.code == "protocol.unknown_metric"
    assert error.advice == "did you mean golden_recall?"


@pytest.mark.parametrize(
    "gate",
    [
        "golden_recall: {min: 0.79}",
        "golden_recall: {max: 1.0}",
        "evidence_coverage_rate: {equals: 0.9}",
        "manifest_integrity: {min: 0.999}",
        "abstention_accuracy: {min: 0}",
    ],
)
def test_a_lower_threshold_needs_a_baseline_record(tmp_path: Path, gate: str) -> None:
    passing(tmp_path)
    error = refused(tmp_path, f"gates: {{{gate}}}")
    assert error.code == "protocol.lowered_without_baseline"
    assert error.advice is not None
    assert "goldgate baseline" in error.advice
    assert error.place.line == 1


@pytest.mark.parametrize(
    "gate", ["golden_recall: {min: 0.8}", "manifest_integrity: {min: 1}", "golden_recall: {min: 1}"]
)
def test_the_same_or_a_higher_threshold_does_not(tmp_path: Path, gate: str) -> None:
    passing(tmp_path)
    assert judged(tmp_path, f"gates: {{{gate}}}").passed


def reports(folder: Path, covered: int = 45, number: int = 2) -> list[Path]:
    """Reports with 50 verified claims each, so many of them covered; the second has one more."""
    paths = []
    for index in range(number):
        inner = folder / f"b{index}"
        inner.mkdir()
        write_golden(inner, query(), INSUFFICIENT)
        claims = [claim(f"k{k}", ("e1",) if k < covered + index else ()) for k in range(50)]
        write_run(inner / "outputs", out=output(claims=claims))
        write_run(inner / "outputs", "run_r2", abstention("r2"))
        path = inner / "report.json"
        path.write_text(judged(inner).to_json(), encoding="utf-8")
        paths.append(path)
    return paths


def test_a_baseline_record_holds_digests_counts_and_arithmetic(tmp_path: Path) -> None:
    record: Any = make_baseline(reports(tmp_path), [SUITE])
    assert [len(report["sha256"]) for report in record["reports"]] == [64, 64]
    assert (record["runs"], record["objectives"]) == (4, 2)
    coverage = record["metrics"]["evidence_coverage_rate"]
    assert (coverage["numerator"], coverage["denominator"], coverage["observed"]) == (91, 100, "0.910000")
    proposal = coverage["proposal"]
    # Beta(92, 10), 50 further trials: the sum of the Beta-binomial terms in fractions gives the same (test_stats).
    assert proposal["posterior"] == "Beta(92, 10)"
    assert proposal["further_trials"] == 50
    assert Decimal(proposal["threshold"]) == Decimal(proposal["count"]) / 50
    assert Decimal(proposal["chance_below"]) <= Decimal("0.05")
    assert proposal["arithmetic"].startswith("91 of 100 leave Beta(92, 10); of 50 further trials fewer than")
    assert "caution" in record["metrics"]["golden_recall"]  # two trials


def test_the_order_of_the_reports_changes_nothing(tmp_path: Path) -> None:
    paths = reports(tmp_path)
    assert make_baseline(paths, [SUITE]) == make_baseline(paths[::-1], [SUITE])


def test_a_protocol_that_names_its_record_may_lower_as_far_as_it_proposes(tmp_path: Path) -> None:
    record: Any = make_baseline(reports(tmp_path), [SUITE])
    passing(tmp_path)
    (tmp_path / "baseline.json").write_text(json.dumps(record))
    proposed = Decimal(record["metrics"]["evidence_coverage_rate"]["proposal"]["threshold"])
    protocol = "research: {{baseline: baseline.json}}\ngates: {{evidence_coverage_rate: {{min: {}}}}}"
    evaluation = judged(tmp_path, protocol.format(proposed))
    assert evaluation.passed
    assert len(evaluation.report["inputs"]["baseline"]) == 64
    error = refused(tmp_path, protocol.format(proposed - Decimal("0.01")))
    assert error.code == "protocol.below_baseline"
    assert error.expected == f"≥ {proposed}"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "protocol.baseline_unreadable"),
        ("{", "protocol.baseline_unreadable"),
        ("[]", "protocol.not_a_baseline"),
        ('{"kind": "baseline"}', "protocol.not_a_baseline"),
        ('{"kind": "baseline", "suite": "extraction", "format_version": 1}', "protocol.not_a_baseline"),
    ],
)
def test_a_record_that_is_none(tmp_path: Path, content: str | None, code: str) -> None:
    passing(tmp_path)
    if content is not None:
        (tmp_path / "baseline.json").write_text(content)
    error = refused(tmp_path, "research: {baseline: baseline.json}")
    assert error.code == code
    assert error.place.field == "research.baseline"


def test_require_settings_reach_the_records(tmp_path: Path) -> None:
    passing(tmp_path)
    run = tmp_path / "outputs" / "run_r1"
    (run / "chunks.jsonl").write_text("")
    assert counts(judged(tmp_path), "evidence_coverage_rate") == (1, 1)
    strict = judged(tmp_path, "research: {require_verbatim: true}")
    assert counts(strict, "evidence_coverage_rate") == (0, 1)  # storing less cannot score more
    assert strict.report["evidence"]["failures"] == {"text_missing": 1}
    assert "verbatim:yes" in strict.report["signature"]


@pytest.fixture
def facts(tmp_path: Path) -> RunFacts:
    write_run(tmp_path)
    result = judge_run(str(tmp_path), "run_r1", Golden([]), RunSettings())
    assert result.facts is not None
    return result.facts


def diluted(facts: RunFacts, runs: list[tuple[int, int]]) -> bool:
    """Whether runs with so many uncovered of so many verified claims look diluted."""
    gate = GateResult("evidence_coverage_rate", Gate(min=Decimal("0.9")), Rate(9, 10), Verdict.PASS, "")
    counted = [facts._replace(verified=verified, covered=verified - missed) for missed, verified in runs]
    return bool([*note_uniform_dilution([gate], counted)])


def test_honest_mistakes_are_rarely_taken_for_dilution(facts: RunFacts) -> None:
    random = Random(7)
    for size, share, runs in ((20, 0.05, 10), (8, 0.1, 30), (100, 0.04, 12)):
        sets = [[(sum(random.random() < share for _ in range(size)), size) for _ in range(runs)] for _ in range(100)]
        assert sum(diluted(facts, counts) for counts in sets) <= 4, (size, share)
