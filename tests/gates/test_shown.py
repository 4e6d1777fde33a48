"""What text, Markdown and the command line say of gates that are open, and of several together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goldgate.report import RENDERERS

from .stored import documents, extraction

GATES = (
    "gates: {strict_f1: {min: 0.5, confidence: 0.95}, "
    "relaxed_f1: {min: 0.5, confidence: 0.95, on_inconclusive: warn}, type_f1: {min: 1}}"
)


def goldgate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "goldgate", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture
def report(tmp_path: Path) -> Any:
    gold = documents(2, "Hire")
    return extraction(tmp_path / "new", gold, gold, GATES).report


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_every_format_says_what_is_open_and_how_gates_go_together(report: dict[str, Any], format: str) -> None:
    shown = " ".join(str(RENDERERS[format](report)).split())
    for words in ("INCONCLUSIVE", "INCONCLUSIVE (warn)", "PASS", "at 95 %", "Holm's method over 2 gates"):
        assert words.replace("(", "\\(").replace(")", "\\)") in shown or words in shown


def test_an_open_gate_is_yellow(report: dict[str, Any]) -> None:
    assert "\x1b[33mINCONCLUSIVE" in RENDERERS["text"](report, columns=80, colour=True)


def test_a_plain_report_says_nothing_of_confidence(tmp_path: Path) -> None:
    gold = documents(2, "Hire")
    plain = extraction(tmp_path / "new", gold, gold, "gates: {strict_f1: {min: 0.5}}").report
    assert "gates_together" not in plain
    assert plain["gates"][0].keys() == {
        "metric",
        "verdict",
        "reason",
        "severity",
        "on_not_evaluable",
        "min",
        "measured",
        "support",
    }


def test_the_command_ends_with_what_is_open(tmp_path: Path) -> None:
    gold = documents(2, "Hire")
    extraction(tmp_path / "new", gold, gold, GATES)
    files = ("--gold", tmp_path / "new/gold.jsonl", "--predictions", tmp_path / "new/predictions.jsonl")
    ended = goldgate("extraction", *files, "--protocol", tmp_path / "protocol.yaml")
    assert ended.returncode == 1
    closing = "INCONCLUSIVE  2 of 3 gates could not be decided: strict_f1, relaxed_f1"
    assert ended.stdout.splitlines()[-1] == closing


def test_a_baseline_folder_is_made_of_folders_only(tmp_path: Path) -> None:
    gold = documents(20, "Hire")
    extraction(tmp_path / "main", gold, gold)
    made = goldgate("baseline", tmp_path / "main", "--out", tmp_path / "deep" / "base")
    assert made.returncode == 0, made.stderr
    record = json.loads((tmp_path / "deep/base/baseline.json").read_text())
    assert record["units"]["count"] == 20
    mixed = goldgate("baseline", tmp_path / "main", tmp_path / "main/report.json", "--out", tmp_path / "base")
    assert mixed.returncode == 2
    assert "only files, or only folders" in mixed.stderr
    onto = goldgate("baseline", tmp_path / "main", "--out", tmp_path / "main")
    assert (onto.returncode, "out.is_an_input" in onto.stderr) == (2, True)
    in_the_way = goldgate("baseline", tmp_path / "main", "--out", tmp_path / "main/report.json")
    assert (in_the_way.returncode, "out.unwritable" in in_the_way.stderr) == (2, True)


def test_a_baseline_folder_lends_its_record_to_a_protocol(tmp_path: Path) -> None:
    gold = documents(20, "Hire")
    extraction(tmp_path / "main", gold, gold)
    assert goldgate("baseline", tmp_path / "main", "--out", tmp_path / "base").returncode == 0
    found = extraction(tmp_path / "new", gold, gold, "gates: {strict_f1: {min: 0.1}}\nbaseline: base/baseline.json")
    assert found.report["inputs"]["baseline"] is not None


RESTS = "Verdicts rest on point estimates"
BOUND = "Gates with a confidence rest on a one-sided bound; the intervals shown are two-sided, at 95 %."


@pytest.mark.parametrize(
    ("gates", "sentence"),
    [
        ("{strict_f1: {min: 0.5}}", f"{RESTS}; uncertain at 95 %: strict_f1."),  # 2 documents say little
        ("{missing_predictions: {max: 9}}", f"{RESTS}."),
        ("{strict_f1: {min: 0.5, confidence: 0.95}}", BOUND),
        ("{missing_predictions: {max: 9}, type_f1: {min: 0.5, confidence: 0.95}}", f"{RESTS}. {BOUND}"),
    ],
)
@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_one_sentence_says_what_the_verdicts_rest_on(tmp_path: Path, gates: str, sentence: str, format: str) -> None:
    gold = documents(2, "Hire")
    shown = " ".join(str(RENDERERS[format](extraction(tmp_path / "new", gold, gold, f"gates: {gates}").report)).split())
    assert sentence.replace("_", "\\_" if format == "markdown" else "_") in shown
    assert "inconclusive" not in shown


@pytest.mark.parametrize(
    ("gates", "messages"),
    [
        ("{strict_f1: {max: 0.8}}", ["strict_f1: max: 0.8 limits how good it may be; did you mean min: 0.8?"]),
        ("{'relaxed_f1[Hire]': {max: 0.8}, strict_f1_macro: {max: 0.9}}", [
            "relaxed_f1[Hire]: max: 0.8 limits how good it may be; did you mean min: 0.8?",
            "strict_f1_macro: max: 0.9 limits how good it may be; did you mean min: 0.9?",
        ]),
        ("{parse_errors: {min: 3}}", ["parse_errors: min: 3 limits how good it may be; did you mean max: 3?"]),
        ("{hallucination_rate: {max_drop: 0.02, against: main/}}", [
            "hallucination_rate: max_drop: 0.02 limits how good it may be; did you mean max_rise: 0.02?"
        ]),
        ("{strict_f1: {min: 0.5, max: 0.9}, relaxed_excess: {max: 2}, strict_recall: {equals: 1}}", []),
    ],
)  # fmt: skip
def test_a_bound_in_the_worse_direction_is_a_warning(tmp_path: Path, gates: str, messages: list[str]) -> None:
    gold = [{**record, "text": "Ada joined Initech."} for record in documents(12, "Hire")]
    extraction(tmp_path / "main", gold, gold)
    report = extraction(tmp_path / "new", gold, gold, f"gates: {gates}").report
    warnings = [each for each in report["stands_out"] if each["code"] == "wrong_direction"]
    assert [each["message"] for each in warnings] == (["; ".join(messages)] if messages else [])
