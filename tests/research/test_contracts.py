"""The contracts of a run's files: types, JSON Schemas and explanations are of one mind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from goldgate.shape import schema_of
from goldgate.shape.validation import problems, type_test
from goldgate.suites.research.contracts import Chunk, Event, GoldenQueries, Manifest, ResearchOutput, ResearchReport
from tests.cases import cases
from tests.contract.referee import SCHEMAS, accepts
from tests.spoiling import spoiled

from .judged import judged
from .trees import chunk, event, evidence, manifest, output, query, write_golden, write_run

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


@cases(("kind", "value"), KINDS)
def test_schema_types_and_explanations_agree(kind: Any, value: Any) -> None:
    schema = schema_of(kind, "a test")
    assert type_test(kind)(value)
    assert accepts(schema, value)
    cases = spoiled(value)
    assert len(cases) > 20
    for case in cases:
        assert type_test(kind)(case) == accepts(schema, case) == (not list(problems(kind, case))), case


def test_a_report_has_the_shape_of_its_contract(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Who?", (), False), query("Nobody?", ("x",)))
    write_run(tmp_path / "outputs", artifact=True)
    write_run(tmp_path / "outputs", "b", output("r2", evidence=[evidence(quote="no")]))
    report = json.loads(judged(tmp_path).to_json())
    assert list(problems(ResearchReport, report)) == []
    assert accepts(SCHEMAS["report.schema.json"], report)
    assert report.keys() == ResearchReport.__required_keys__
