"""The JSON Schemas: current, right by the standard, and true of every file that is stored here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from goldgate.comparison import compare
from goldgate.core.evaluation import error_report, render_json
from goldgate.errors import InputError, Place
from goldgate.runs.trend import trend
from goldgate.suites import all_suites
from goldgate.suites.extraction import contracts as extraction
from goldgate.suites.research import contracts as research
from goldgate.suites.research.imports import import_runs
from goldgate.suites.research.imports.mapping import READY_MAPPINGS, ready_mapping_text
from tests.cases import cases
from tests.comparison.runs import store_research

from .referee import SCHEMAS, objections

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LINES = {  # of a run directory, by the name of the file
    "events.jsonl": "event.schema.json",
    "manifests.jsonl": "manifest.schema.json",
    "chunks.jsonl": "chunk.schema.json",
}


def test_the_committed_schemas_are_current() -> None:
    stored = {path.name: path.read_bytes() for path in (ROOT / "contracts").glob("*.json")}
    assert stored == {name: render_json(schema) for name, schema in SCHEMAS.items()}, (
        "run: goldgate contracts --out contracts"
    )


def test_no_two_suites_write_the_same_file() -> None:
    assert not extraction.CONTRACTS.keys() & research.CONTRACTS.keys()


@cases("file", SCHEMAS)
def test_schema_is_one_by_the_standard(file: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[file])


def stored_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("protocol*.yaml")), ids=lambda path: path.name)
def test_protocols_of_the_examples_are_valid(path: Path) -> None:
    assert objections("protocol.schema.json", yaml.safe_load(path.read_text(encoding="utf-8"))) == []


def test_extraction_examples_are_valid() -> None:
    folder = EXAMPLES / "extraction"
    for record in stored_lines(folder / "gold.jsonl"):
        assert objections("extraction_gold.schema.json", record) == []
    for model in ("a", "b"):
        for record in stored_lines(folder / f"model-{model}.jsonl"):
            assert objections("extraction_predictions.schema.json", record) == []
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    assert objections("extraction_event_schema.schema.json", schema) == []


def test_research_examples_are_valid() -> None:
    for path in sorted((EXAMPLES / "research" / "passing").rglob("*.json*")):
        file = LINES.get(path.name, "research_output.schema.json")
        records = stored_lines(path) if path.name in LINES else [json.loads(path.read_text(encoding="utf-8"))]
        for record in records:
            assert objections(file, record) == [], path


def test_golden_queries_are_valid() -> None:
    golden = json.loads((ROOT / "eval" / "golden_queries.json").read_text(encoding="utf-8"))
    assert objections("golden_queries.schema.json", golden) == []


@cases(
    ("schema", "report"),
    [
        ("extraction_report.schema.json", "model-a"),
        ("extraction_report.schema.json", "model-b"),
        ("report.schema.json", "research-passing"),
        ("report.schema.json", "research-failing"),
    ],
)
def test_published_reports_are_valid(schema: str, report: str) -> None:
    value = json.loads((ROOT / "tests" / "golden" / f"{report}.json").read_text(encoding="utf-8"))
    assert objections(schema, value) == []
    assert objections(schema, {**value, "status": "SYSTEM_ERROR"}) != []


@pytest.mark.parametrize(
    "systems",
    [
        ["extraction/model-a.jsonl", "extraction/model-b.jsonl"],
        ["extraction/model-b.jsonl", "extraction/model-b.jsonl"],
        [
            "a=examples/extraction/model-a.jsonl",
            "b=examples/extraction/model-a.jsonl,examples/extraction/model-b.jsonl",
        ],
    ],
    ids=["two", "alike", "several runs"],
)
def test_comparisons_are_valid(systems: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    folder = EXAMPLES / "extraction"
    given = [system if "=" in system else str(EXAMPLES / system) for system in systems]
    found = compare(*given, gold=folder / "gold.jsonl", schema=folder / "schema.json")
    report = json.loads(found.to_json())
    assert objections("comparison.schema.json", report) == []
    assert objections("comparison.schema.json", {**report, "kind": "else"}) != []
    for line in found.changed_lines():
        assert objections("comparison_changed.schema.json", json.loads(line)) == []


def test_a_comparison_of_undefined_rates_is_valid(tmp_path: Path) -> None:
    """In the failing research runs, some rates have nothing to divide by."""
    for name in ("one", "two"):
        store_research(tmp_path / name, "failing")
    report = json.loads(compare(tmp_path / "one", tmp_path / "two").to_json())
    assert objections("comparison.schema.json", report) == []


def test_a_comparison_that_failed_is_valid(tmp_path: Path) -> None:
    error = error_report("compare", InputError("compare.not_a_folder", "no folder", place=Place("a")))
    assert objections("comparison.schema.json", json.loads(render_json(error))) == []


def test_trends_are_valid(tmp_path: Path) -> None:
    for name in ("one", "two"):
        store_research(tmp_path / name, "failing")
    report = trend([str(tmp_path / "one"), str(tmp_path / "two")], all_suites())
    assert objections("trend.schema.json", json.loads(render_json(report))) == []
    assert objections("trend.schema.json", {**report, "kind": "else"}) != []
    error = error_report("trend", InputError("report.missing", "no report", place=Place("a")))
    assert objections("trend.schema.json", json.loads(render_json(error))) == []


def test_imports_and_mappings_are_valid(tmp_path: Path) -> None:
    import_runs([str(EXAMPLES / "traces" / "otel.jsonl")], str(tmp_path / "runs"))
    for path in tmp_path.glob("runs/*/import.json"):
        assert objections("import.schema.json", json.loads(path.read_bytes())) == []
    for name in READY_MAPPINGS:
        assert objections("mapping.schema.json", yaml.safe_load(ready_mapping_text(name))) == []
    assert objections("mapping.schema.json", {"extends": "otel", "steps": [{"a": "b"}]}) == []
    wrong: list[dict[str, object]] = [{"extends": "otter"}, {"steps": [1]}, {"extends": "otel", "claim": []}]
    for mapping in wrong:
        assert objections("mapping.schema.json", mapping) != []
