"""Baselines of every suite: found out from the reports, for its gates or its headline, and refused where they lie."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError, GoldgateError
from goldgate.pipeline import evaluate_suite
from goldgate.report.text import render_text
from goldgate.runs.baseline import describe_baseline, make_baseline
from goldgate.suites import SUITES, all_suites, load_suite
from goldgate.suites.plan import load_plan
from tests.cases import cases

from .inputs import NAMES, TOY, given, write_inputs, write_lines

every_suite = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def _with_the_toy_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in TOY.items():
        monkeypatch.setitem(SUITES, name, place)


def stored(name: str, folder: Path) -> Path:
    """A report of the suite's example."""
    path = folder / f"{name}.json"
    path.write_text(
        evaluate_suite(load_suite(name), given(write_inputs(name, folder / name))).to_json(), encoding="utf-8"
    )
    return path


@every_suite
def test_the_suite_is_found_out_from_the_report(name: str, tmp_path: Path) -> None:
    suite, path = load_suite(name), stored(name, tmp_path)
    record: Any = make_baseline([path], all_suites())
    report = json.loads(path.read_text(encoding="utf-8"))
    assert record["suite"] == name
    assert [*record["metrics"]] == [*(suite.default_gates or suite.headline)]
    for metric, entry in record["metrics"].items():
        found = report["metrics"]["main"][metric]
        if "estimated" in found:  # no counts stand behind it: hits and trials are those that would say as much
            assert entry["numerator"] / entry["denominator"] == pytest.approx(found["value"], abs=0.02)
        else:
            assert (entry["numerator"], entry["denominator"]) == (found["numerator"], found["denominator"])
        assert entry["default"] == (suite.default_gates[metric].bounds() if suite.default_gates else None)
    shown = render_text(describe_baseline(record))
    assert f"{name} suite, 1 report, {record[suite.unit + 's']} {suite.unit}s" in shown


@every_suite
def test_a_protocol_names_its_record_whatever_the_suite(name: str, tmp_path: Path) -> None:
    record: Any = make_baseline([stored(name, tmp_path)], all_suites())
    (tmp_path / "baseline.json").write_text(json.dumps(record), encoding="utf-8")
    metric, entry = next(iter(record["metrics"].items()))
    protocol = tmp_path / "p.yaml"
    protocol.write_text(
        f"baseline: baseline.json\ngates: {{{metric}: {{min: {entry['proposal']['threshold']}}}}}\n", encoding="utf-8"
    )
    plan = load_plan(load_suite(name), protocol)
    assert plan.gates[metric].min == Decimal(entry["proposal"]["threshold"])
    assert len(str(plan.baseline_sha256)) == 64


@pytest.mark.parametrize("name", ["research", "qa"])  # those with default gates
def test_a_default_gate_is_lowered_with_a_record_only(name: str, tmp_path: Path) -> None:
    protocol = tmp_path / "p.yaml"
    metric = next(iter(load_suite(name).default_gates))
    protocol.write_text(f"gates: {{{metric}: {{min: 0.01}}}}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_plan(load_suite(name), protocol)
    assert caught.value.code == "protocol.lowered_without_baseline"
    assert "baseline: FILE" in str(caught.value.expected)


@cases("text", ["[]", "{}", '{"suite": ["qa"]}', '{"suite": "qa", "format_version": 9}', "7"])
def test_what_is_no_report_is_told_what_one_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(GoldgateError) as caught:
        make_baseline([tmp_path / "r.json"], all_suites())
    assert caught.value.code == "report.not_a_report"
    assert "extraction or research or fields or judged or qa" in str(caught.value.expected)


def test_a_threshold_that_cannot_fail_is_called_that(tmp_path: Path) -> None:
    """Three questions, none answered right: Beta(1, 4) leaves 0 of 3, which every evaluation reaches."""
    golds = [{"id": f"{n}", "question": "?", "answer": "a", "sources": []} for n in range(3)]
    answers = [{"id": f"{n}", "answer": "b", "citations": []} for n in range(3)]
    paths = {
        "gold": write_lines(tmp_path / "g.jsonl", golds),
        "predictions": write_lines(tmp_path / "p.jsonl", answers),
    }
    (tmp_path / "r.json").write_text(evaluate_suite(load_suite("qa"), given(paths)).to_json(), encoding="utf-8")
    record = make_baseline([tmp_path / "r.json"], all_suites())
    assert "not one of 3 trials succeeded" in record["metrics"]["exact_match"]["caution"]
    shown = render_text(describe_baseline(record))
    assert "none: 0 cannot fail" in shown
    assert "≥ 0.0000" not in shown
