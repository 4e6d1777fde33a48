"""The JSON Schemas: current, right by the standard, and true of every file that is stored here."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from goldgate.comparison import compare
from goldgate.core.evaluation import error_report, render_json
from goldgate.errors import InputError, Place
from goldgate.runs.trend import trend
from goldgate.suites import all_suites
from goldgate.suites.research.imports import import_runs
from goldgate.suites.research.imports.mapping import READY_MAPPINGS, ready_mapping_text
from tests.cases import cases
from tests.comparison.runs import store_research

from .referee import SCHEMAS, objections

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def test_the_committed_schemas_are_current() -> None:
    stored = {path.name: path.read_bytes() for path in (ROOT / "contracts").glob("*.json")}
    assert stored == {name: render_json(schema) for name, schema in SCHEMAS.items()}, (
        "run: goldgate contracts --out contracts"
    )


@cases("file", SCHEMAS)
def test_schema_is_one_by_the_standard(file: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[file])


def test_every_example_is_valid() -> None:
    """By a part of its path."""
    schemas = {
        "extraction/gold.jsonl": "extraction_gold.schema.json",
        "extraction/model-?.jsonl": "extraction_predictions.schema.json",
        "extraction/schema.json": "extraction_event_schema.schema.json",
        "research/passing/*/events.jsonl": "event.schema.json",
        "research/passing/*/manifests.jsonl": "manifest.schema.json",
        "research/passing/*/chunks.jsonl": "chunk.schema.json",
        "research/passing/*/research_output.json": "research_output.schema.json",
        "**/protocol*.yaml": "protocol.schema.json",
        "../eval/golden_queries.json": "golden_queries.schema.json",
    }
    for pattern, schema in schemas.items():
        paths = [*EXAMPLES.glob(pattern)] if pattern[0] != "." else [EXAMPLES / pattern]
        assert paths, pattern
        for path in paths:
            text = path.read_text(encoding="utf-8")
            values = map(json.loads, text.splitlines()) if path.suffix == ".jsonl" else [yaml.safe_load(text)]
            assert [found for value in values for found in objections(schema, value)] == [], path
    whole = {path.name for path in (EXAMPLES / "research" / "passing").rglob("*.json*")}
    assert whole <= {pattern.rpartition("/")[2] for pattern in schemas}


@cases("systems", ["model-a.jsonl model-b.jsonl", "model-b.jsonl model-b.jsonl",
                  "a=model-a.jsonl b=model-a.jsonl,model-b.jsonl"])  # fmt: skip
def test_comparisons_are_valid(systems: str) -> None:
    with chdir(EXAMPLES / "extraction"):
        found = compare(*systems.split(), gold="gold.jsonl", schema="schema.json")
    report = json.loads(found.to_json())
    assert objections("comparison.schema.json", report) == []
    assert objections("comparison.schema.json", {**report, "kind": "else"}) != []
    for line in found.changed_lines():
        assert objections("comparison_changed.schema.json", json.loads(line)) == []


def test_comparisons_and_trends_of_undefined_rates_and_errors_are_valid(tmp_path: Path) -> None:
    """In the failing research runs, some rates have nothing to divide by."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        store_research(folder, "failing")
    assert objections("comparison.schema.json", json.loads(compare(*folders).to_json())) == []
    report = trend([*map(str, folders)], all_suites())
    assert objections("trend.schema.json", json.loads(render_json(report))) == []
    assert objections("trend.schema.json", {**report, "kind": "else"}) != []
    for command, schema in (("compare", "comparison"), ("trend", "trend")):
        error = error_report(command, InputError("report.missing", "no report", place=Place("a")))
        assert objections(f"{schema}.schema.json", json.loads(render_json(error))) == []


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
