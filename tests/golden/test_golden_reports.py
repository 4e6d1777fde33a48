"""The reports of the examples: every value of report.json, and how the beginning of two of them looks.

A change here is a change of what users publish. `GOLDGATE_UPDATE=1 pytest tests/golden` writes the files anew, to be
read before they are committed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from goldgate import Evaluation, evaluate_files, evaluate_outputs, render
from goldgate.verification import compare_values
from tests.cases import cases

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LINES = 40  # of an excerpt
UPDATE = bool(os.environ.get("GOLDGATE_UPDATE"))
RENEW = "read the difference; if it is meant: GOLDGATE_UPDATE=1 pytest tests/golden"
NAMES = ["model-a", "model-b", "research-passing", "research-failing"]


@pytest.fixture(autouse=True)
def _from_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # a printed report names files as they were given


def evaluation(name: str) -> Evaluation:
    if name.startswith("research"):
        return evaluate_outputs("eval/golden_queries.json", f"examples/research/{name.removeprefix('research-')}")
    examples, protocol = Path("examples", "extraction"), {"model-a": "pass", "model-b": "fail"}[name]
    inputs = (examples / file for file in ("gold.jsonl", f"{name}.jsonl", "schema.json", f"protocol-{protocol}.yaml"))
    return evaluate_files(*inputs)


@pytest.mark.parametrize("name", NAMES)
def test_values_of_a_report_are_unchanged(name: str) -> None:
    report, expected = json.loads(render(evaluation(name), "json")), HERE / f"{name}.json"
    if UPDATE:
        expected.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert compare_values(expected.name, json.loads(expected.read_bytes()), report) is None, RENEW


@cases(("name", "format", "suffix"), [("model-b", "text", "txt"), ("research-failing", "markdown", "md")])
def test_beginning_of_a_report_looks_as_before(name: str, format: str, suffix: str) -> None:
    rendered = render(evaluation(name), format)  # type: ignore[arg-type]  # one of the formats
    excerpt, expected = "".join(rendered.splitlines(keepends=True)[:LINES]), HERE / f"{name}.{suffix}"
    if UPDATE:
        expected.write_text(excerpt, encoding="utf-8")
    assert excerpt == expected.read_text(encoding="utf-8"), RENEW
