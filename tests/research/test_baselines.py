"""Baseline records: reports that are others, whose numbers are those of their own runs, and records as written."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.runs.baseline import make_baseline
from goldgate.suites.research.suite import DEFAULT_GATES, SUITE
from tests.cases import error_from

from .judged import judged
from .test_gates import passing, refused, reports
from .trees import abstention, claim, output, query, write_golden, write_run


@pytest.fixture
def report(tmp_path: Path) -> Path:
    (path,) = reports(tmp_path, number=1)
    return path


def changed(path: Path, name: str, change: Callable[[dict[str, Any]], object]) -> Path:
    value = json.loads(path.read_text())
    change(value)
    other = path.parent / name
    other.write_text(json.dumps(value))
    return other


def refusal(*paths: Path) -> InputError:
    return error_from(InputError, make_baseline, paths, [SUITE])


def test_padding_does_not_make_another_report(report: Path) -> None:
    padded = report.parent / "padded.json"
    padded.write_text("\n\n" + report.read_text() + " " * 50)
    assert refusal(report, padded).code == "report.twice"
    value = json.loads(report.read_text())
    padded.write_text(json.dumps(dict(reversed(value.items())), indent=7))
    assert refusal(report, padded).code == "report.twice"


def test_the_same_runs_are_not_another_report(report: Path, tmp_path: Path) -> None:
    with_notes = changed(report, "notes.json", lambda value: value.update(notes="mine"))
    assert refusal(report, with_notes).code == "report.twice"
    again = tmp_path / "again"  # the same runs in other folders, under other ids
    again.mkdir()
    write_golden(again, query(), query("Who owned the ships?", (), False))
    claims = [claim(f"k{k}", ("e1",) if k < 45 else ()) for k in range(50)]
    write_run(again / "outputs", "x", output("x", claims=claims))
    write_run(again / "outputs", "y", abstention("y"))
    (again / "report.json").write_text(judged(again).to_json())
    error = refusal(report, again / "report.json")
    assert error.code == "report.twice"
    assert "2 runs" in str(error.found)


def rate(value: dict[str, Any], name: str) -> dict[str, Any]:
    metric: dict[str, Any] = value["metrics"]["main"][name]
    return metric


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (
            lambda value: rate(value, "evidence_coverage_rate").update(numerator=5),
            "metrics.main.evidence_coverage_rate",
        ),
        (lambda value: rate(value, "golden_recall").update(denominator=90), "metrics.main.golden_recall"),
        (lambda value: rate(value, "abstention_accuracy").update(numerator=0), "metrics.main.abstention_accuracy"),
        (lambda value: rate(value, "manifest_integrity").update(numerator=1), "metrics.main.manifest_integrity"),
        (lambda value: value["metrics"]["main"].pop("golden_recall"), "metrics.main.golden_recall"),
        (lambda value: value["runs"].pop(), "queries.1.trials"),
        (lambda value: value["runs"][0].update(covered_claims=70), "runs.0.covered_claims"),
        (lambda value: value["runs"][0].update(required_ids=7), "runs.0.required_ids"),
        (lambda value: value["queries"][0].update(owed_trials=3), "queries.1.trials"),
        (lambda value: value["conservation"]["runs"].update(evaluated=40), "conservation.runs.evaluated"),
    ],
)
def test_numbers_that_contradict_the_reports_own_runs(
    report: Path, change: Callable[[dict[str, Any]], object], field: str
) -> None:
    error = refusal(changed(report, "changed.json", change))
    assert error.code == "report.contradicts_itself"
    assert error.place.field == field


def test_reports_with_missing_broken_and_surplus_trials_agree_with_their_runs(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Other?", ("x", "y")), query("Who owned the ships?", (), False))
    write_run(tmp_path / "outputs", "a", output("a"))
    write_run(tmp_path / "outputs", "b", output("b", claims=[claim(), claim("k2", ())]))
    write_run(tmp_path / "outputs", "c", abstention("c"))
    write_run(tmp_path / "outputs", "d", output("d", objective="Nobody asked"))
    (write_run(tmp_path / "outputs", "e", abstention("e")) / "research_output.json").unlink()
    for number, protocol in enumerate((None, "research: {trials: 1}", "research: {trials: 4}")):
        path = tmp_path / f"report{number}.json"
        path.write_text(judged(tmp_path, protocol).to_json())
        make_baseline([path], [SUITE])


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["metrics"]["evidence_coverage_rate"]["proposal"].update(threshold="0.1"),
        lambda record: record["metrics"]["evidence_coverage_rate"].update(by_report=["1/100", "1/100"]),
        lambda record: record["metrics"]["evidence_coverage_rate"].update(by_report=["91/100"]),
        lambda record: record.update(false_alarm_rate="0.0001"),
    ],
)
def test_a_record_whose_arithmetic_does_not_hold_is_none(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    record: Any = make_baseline(reports(tmp_path), [SUITE])
    change(record)
    passing(tmp_path)
    (tmp_path / "baseline.json").write_text(json.dumps(record))
    assert refused(tmp_path, "research: {baseline: baseline.json}").code == "protocol.not_a_baseline"


@pytest.mark.parametrize("name", DEFAULT_GATES)
def test_only_warning_on_one_of_the_four_is_lowering_it(tmp_path: Path, name: str) -> None:
    passing(tmp_path)
    gate = "equals: 1.00" if name == "manifest_integrity" else f"min: {DEFAULT_GATES[name].min}"
    protocol = f"gates: {{{name}: {{{gate}, severity: warn}}}}"
    error = refused(tmp_path, protocol)
    assert error.code == "protocol.lowered_without_baseline"
    assert "severity warn" in str(error.found)
    record: Any = make_baseline(reports(tmp_path), [SUITE])
    (tmp_path / "baseline.json").write_text(json.dumps(record))
    with_record = f"baseline: baseline.json\n{protocol}"
    if Decimal(record["metrics"][name]["proposal"]["threshold"]):
        assert judged(tmp_path, with_record).passed
    else:  # too few trials: a threshold of 0 proposes nothing
        assert refused(tmp_path, with_record).code == "protocol.below_baseline"


def test_a_warning_below_the_record_is_refused_too(tmp_path: Path) -> None:
    record: Any = make_baseline(reports(tmp_path), [SUITE])
    passing(tmp_path)
    (tmp_path / "baseline.json").write_text(json.dumps(record))
    error = error_from(
        ConfigError,
        judged,
        tmp_path,
        "research: {baseline: baseline.json}\ngates: {evidence_coverage_rate: {min: 0.01, severity: warn}}",
    )
    assert error.code == "protocol.below_baseline"
