"""Without an event schema, event types and roles are those of the gold, whichever command needs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import goldgate
from goldgate.cli.main import goldgate as command
from goldgate.suites.extraction.settings import ResponseSettings
from goldgate.suites.extraction.task import TaskOptions, load_task

EXTRACTION = Path(__file__).parents[3] / "examples" / "extraction"
GOLD, PREDICTIONS = EXTRACTION / "gold.jsonl", EXTRACTION / "model-a.jsonl"


def run(*words: object, status: int = 0) -> str:
    result = CliRunner().invoke(command, [*map(str, words)])
    assert result.exit_code == status, result.output
    return result.output


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_schema(report: dict[str, Any]) -> dict[str, Any]:
    """A report without its inputs and the remark on the schema."""
    remarks = [remark for remark in report["stands_out"] if remark["code"] != "derived_schema"]
    return {**report, "inputs": None, "stands_out": remarks}


def test_a_derived_schema_scores_as_the_one_that_the_command_schema_writes(tmp_path: Path) -> None:
    run("schema", "--from", GOLD, "--out", tmp_path / "schema.json")
    given = goldgate.evaluate_files(GOLD, PREDICTIONS, tmp_path / "schema.json").report
    derived = goldgate.evaluate_files(GOLD, PREDICTIONS).report
    assert without_schema(given) == without_schema(derived)
    assert derived["inputs"]["schema"] is None
    digest = goldgate.load_event_schema(tmp_path / "schema.json").digest
    assert f"|types:{digest[:12]}|" in derived["signature"]
    (remark,) = [remark for remark in derived["stands_out"] if remark["code"] == "derived_schema"]
    assert remark["counts"] == {"event_types": 15, "roles": 76}
    assert "goldgate schema --from GOLD --out schema.json" in remark["message"]
    in_memory = goldgate.evaluate(load(GOLD), load(PREDICTIONS)).report
    assert {**in_memory, "inputs": None} == {**derived, "inputs": None}


def test_types_and_roles_that_gold_never_has_are_violations() -> None:
    gold = [
        {"id": "1", "text": "a b", "events": [{"event_type": "Buy", "arguments": [{"role": "Who", "argument": "a"}]}]}
    ]
    for event_type, role, violations in (
        ("Buy", "Who", {}),
        ("Sell", "Who", {"unknown_event_type"}),
        ("Buy", "What", {"unknown_role"}),
    ):
        answer = json.dumps([{"event_type": event_type, "arguments": [{"role": role, "argument": "a"}]}])
        report = goldgate.evaluate(gold, [{"id": "1", "response": answer}]).report
        assert {*report["reading"]["violations"]} == {*violations}, (event_type, role)


def test_no_schema_is_derived_where_none_is_needed() -> None:
    report = goldgate.evaluate_files(
        GOLD, PREDICTIONS, protocol={"metrics": {"schema": {"mode": "syntax_only"}}}
    ).report
    assert "|types:none|" in report["signature"]
    assert "derived_schema" not in {remark["code"] for remark in report["stands_out"]}


def test_a_result_with_a_derived_schema_is_verified_and_compared(tmp_path: Path) -> None:
    run("extraction", "--gold", GOLD, "--predictions", PREDICTIONS, "--out", tmp_path / "a", "--quiet")
    run("verify", tmp_path / "a")
    stored = goldgate.compare([f"{name}={tmp_path / 'a'}" for name in "ab"]).report
    scored = goldgate.compare([f"{name}={PREDICTIONS}" for name in "ab"], gold=str(GOLD)).report
    assert stored["systems"][0]["metrics"] == scored["systems"][0]["metrics"]


def test_a_model_is_asked_with_the_types_and_roles_of_the_gold(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "goldgate")  # a quiet command in this process raised it
    task = load_task(TaskOptions([str(GOLD)]), [None], ResponseSettings())
    assert "derived from gold (15 event types, 76 roles)" in caplog.text
    assert (
        task.schema.event_types[0]
        in task.question(0, None).messages[0].content + task.question(0, None).messages[-1].content
    )
    assert task.scored_inputs()["schema"] == []
    assert task.settings["schema"] == task.schema.digest
    task.close()
