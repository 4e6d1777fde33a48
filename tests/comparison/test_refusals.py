"""Unlike things are not compared, and the error says what differs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldgate.comparison import Comparison, compare
from goldgate.errors import GoldgateError
from goldgate.report import render_page
from goldgate.runs.comparison_page import describe_comparison
from tests.cases import error_from

from .runs import GOLD, MODELS, store_extraction


def edited(stored: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The run `b` with another report."""
    folder = tmp_path / "changed"
    shutil.copytree(stored / "b", folder)
    report = json.loads((folder / "report.json").read_bytes())
    change(report)
    (folder / "report.json").write_text(json.dumps(report))
    return folder


def signed(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        assert old in report["signature"]
        report["signature"] = report["signature"].replace(old, new)

    return change


def other_gold(report: dict[str, Any]) -> None:
    report["inputs"]["gold"][0]["sha256"] = "0" * 64


@pytest.mark.parametrize(
    ("change", "code", "found"),
    [
        (signed("metrics:2.0", "metrics:9.9"), "compare.other_settings", "metrics 9.9"),
        (signed("parser:5", "parser:6"), "compare.other_settings", "parser 6"),
        (signed("types:b9408e47e25c", "types:none"), "compare.other_settings", "types none"),
        (signed("norm:nfkc-cjk-casefold.v1", "norm:none"), "compare.other_settings", "norm none"),
        (other_gold, "compare.other_gold", "000000000000"),
        (lambda report: report.update(status="SYSTEM_ERROR"), "report.system_error", None),
        (lambda report: report.update(suite="nobody's"), "report.not_a_report", "nobody's"),
        (lambda report: report.pop("signature"), "report.malformed", None),
        (lambda report: report["metrics"]["main"]["strict_f1"].update(numerator=2), "records.other_run", "430/752"),
        (lambda report: report["metrics"]["main"]["strict_f1"].pop("denominator"), "report.malformed", None),
        (lambda report: report["metrics"]["main"].pop("strict_f1"), "records.other_run", "430/752"),
    ],
)
def test_what_differs_is_named(
    stored: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], code: str, found: str | None
) -> None:
    error = error_from(GoldgateError, compare, stored / "a", edited(stored, tmp_path, change))
    assert error.code == code
    assert str(error.place).startswith(str(tmp_path))
    assert found is None or found in str(error.found)


@pytest.mark.parametrize(
    "change", [signed("protocol:default@1.0", "protocol:other@2"), signed("goldgate:0.1.0", "goldgate:0.1.1")]
)
def test_names_that_change_no_number_do_not_matter(
    stored: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], a_and_b: Comparison
) -> None:
    same = compare(stored / "a", edited(stored, tmp_path, change))
    assert same["strict_f1"] == {**a_and_b["strict_f1"], "system": "changed"}


def test_other_suites_are_refused(stored: Path) -> None:
    with pytest.raises(GoldgateError, match="same suite"):
        compare(stored / "a", stored / "passing")


def test_missing_records_are_named_and_counted(stored: Path, tmp_path: Path) -> None:
    shutil.copytree(stored / "b", tmp_path / "b")
    lines = (stored / "b" / "samples.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "b" / "samples.jsonl").write_bytes(b"".join(lines[7:]))
    with pytest.raises(GoldgateError, match="7 missing: zh-001, zh-002, zh-003, zh-004, zh-005") as caught:
        compare(stored / "a", tmp_path / "b")
    assert caught.value.code == "compare.missing_ids"
    (tmp_path / "b" / "samples.jsonl").unlink()
    with pytest.raises(GoldgateError, match="not there"):
        compare(stored / "a", tmp_path / "b")


def test_what_both_have_is_compared_on_demand(stored: Path, tmp_path: Path) -> None:
    """60 of the 80 documents: the same as if both had been scored on those alone."""
    lines = GOLD.read_bytes().splitlines(keepends=True)
    (tmp_path / "gold.jsonl").write_bytes(b"".join(lines[20:]))
    for name, predictions in MODELS.items():
        kept = {json.loads(line)["id"] for line in lines[20:]}
        answers = predictions.read_bytes().splitlines(keepends=True)
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(one for one in answers if json.loads(one)["id"] in kept))
        store_extraction(tmp_path / name, tmp_path / f"{name}.jsonl", tmp_path / "gold.jsonl")
    with pytest.raises(GoldgateError, match="a different gold"):
        compare(stored / "a", tmp_path / "b")
    common = compare(stored / "a", tmp_path / "b", common=True)
    assert common.report["comparisons"] == compare(tmp_path / "a", tmp_path / "b").report["comparisons"]
    assert common.report["units"] == 60
    assert [(entry["lacks"], len(entry["first"])) for entry in common.report["left_out"]] == [(20, 5)]
    assert common.report["same_gold"] is False


def test_missing_answers_are_named(a_and_b: Comparison) -> None:
    systems = a_and_b.report["systems"]
    assert [system["runs"][0]["missing"] for system in systems] == [
        {"count": 0, "first": []},
        {"count": 2, "first": ["en-021", "zh-034"]},
    ]


def test_a_system_with_a_score_of_0_stands_out(tmp_path: Path) -> None:
    event = {"event_type": "Buy", "arguments": [{"role": "acquirer", "argument": "X"}]}
    other = {"event_type": "Buy", "arguments": {"acquirer": "X"}}
    records: dict[str, dict[str, Any]] = {
        "gold": {"events": [event]},
        "a": {"events": [event]},
        "b": {"events": [other]},
    }
    for name, record in records.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "1", **record}) + "\n", encoding="utf-8")
    schema = {"event_types": {"Buy": {"roles": ["acquirer"]}}}
    files = [tmp_path / f"{name}.jsonl" for name in ("a", "b")]
    comparison = compare(files, gold=tmp_path / "gold.jsonl", schema=schema)
    page = render_page(describe_comparison(comparison.report), "text")
    assert "b has 0 for strict_f1 and relaxed_f1: run goldgate extraction on it alone" in " ".join(page.split())
    with pytest.raises(GoldgateError) as caught:
        compare(comparison, comparison)  # type: ignore[arg-type]
    assert caught.value.advice is not None


def test_a_schema_without_gold_is_a_mistake(stored: Path) -> None:
    with pytest.raises(GoldgateError, match="needs --gold"):
        compare(stored / "a", stored / "b", schema="schema.json")
    with pytest.raises(GoldgateError, match="no system of this name"):
        compare(stored / "a", stored / "b", against="c")
