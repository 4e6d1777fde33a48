"""The JSON Schemas: current, and of one mind with the types that read the files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.evaluation import render_json
from goldgate.suites.research.contracts import Chunk, Event, GoldenQueries, Manifest, ResearchOutput
from goldgate.suites.research.fits import fits, problems
from goldgate.suites.research.report_contract import Report, ResearchReport
from goldgate.suites.research.schemas import all_schemas, schema_of

from .judged import judged
from .trees import chunk, event, evidence, manifest, output, query, write_golden, write_run

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_schemas_are_current() -> None:
    stored = {path.name: path.read_bytes() for path in (ROOT / "contracts").glob("*.json")}
    assert stored == {name: render_json(schema) for name, schema in all_schemas().items()}, "run: goldgate schemas"


def valid(schema: dict[str, Any], value: Any, root: dict[str, Any] | None = None) -> bool:
    """As much of JSON Schema as these schemas use."""
    root = root or schema
    if "$ref" in schema:
        return valid(root["$defs"][schema["$ref"].rpartition("/")[2]], value, root)
    if "anyOf" in schema and not any(valid(option, value, root) for option in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    if "type" in schema:
        allowed = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        kind = "null" if value is None else names[type(value)]
        if kind not in allowed and not (kind == "integer" and "number" in allowed):
            return False
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        return False
    if "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        return False
    if isinstance(value, list) and len(value) < schema.get("minItems", 0):
        return False
    if isinstance(value, list) and "items" in schema:
        return all(valid(schema["items"], item, root) for item in value)
    if isinstance(value, dict):
        if any(name not in value for name in schema.get("required", ())):
            return False
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is False and not value.keys() <= properties.keys():
            return False
        return all(valid(properties[name], item, root) for name, item in value.items() if name in properties)
    return True


KINDS: list[tuple[Any, Any]] = [
    (GoldenQueries, [query()]),
    (GoldenQueries, {"schema_version": 1, "queries": [query()], "pins": {"index_id": "i"}}),
    (ResearchOutput, output(steps=[1, {"step_id": 2}], corpus_id="c")),
    (
        ResearchOutput,
        output(claims=[{"claim_id": "k", "statement": "", "status": "retracted", "evidence": [evidence()]}]),
    ),
    (Event, event(None, objective="o")),
    (Event, event(3)),
    (Manifest, manifest(1, more=True)),
    (Chunk, chunk("c1", text_hash=None)),
]


def spoiled(value: Any) -> list[Any]:
    """The value with one thing changed or left out, everywhere in it."""
    found: list[Any] = []
    if isinstance(value, dict):
        found.append([])
        for name in value:
            found.append({key: item for key, item in value.items() if key != name})
            found += [{**value, name: inner} for inner in spoiled(value[name])]
    elif isinstance(value, list):
        found += [{}, []] if value and isinstance(value[0], dict) else [{}]
        for number, item in enumerate(value):
            found += [[*value[:number], inner, *value[number + 1 :]] for inner in spoiled(item)]
    else:
        found += [None, True, 1, -1, "", " x ", 1.5, "verified", {}, []]
    return found


@pytest.mark.parametrize(("kind", "value"), KINDS)
def test_schema_types_and_explanations_agree(kind: Any, value: Any) -> None:
    schema = schema_of(kind, "a test")
    assert fits(kind)(value)
    assert valid(schema, value)
    cases = spoiled(value)
    assert len(cases) > 20
    for case in cases:
        assert fits(kind)(case) == valid(schema, case) == (not list(problems(kind, case))), case


def test_a_report_has_the_shape_of_its_contract(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Who?", (), False), query("Nobody?", ("x",)))
    write_run(tmp_path / "outputs", artifact=True)
    write_run(tmp_path / "outputs", "b", output("r2", evidence=[evidence(quote="no")]))
    report = json.loads(judged(tmp_path).to_json())
    assert list(problems(ResearchReport, report)) == []
    assert valid(schema_of(Report, "a test"), report)
    assert report.keys() == ResearchReport.__annotations__.keys()


def test_pointers_of_problems_are_json_pointers() -> None:
    wrong = output(claims=[{"claim_id": "k", "statement": 1, "status": "x"}])
    found = {problem.pointer: problem.message for problem in problems(ResearchOutput, wrong)}
    assert found == {
        "/claims/0/statement": "expected a string, found the number 1",
        "/claims/0/status": 'expected one of verified, candidate, retracted, found the string "x"',
    }
