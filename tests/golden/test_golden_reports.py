"""The reports of the examples, byte for byte. A change here is a change of what users publish.

`GOLDGATE_UPDATE=1 pytest tests/golden` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from goldgate import Evaluation, evaluate_files, evaluate_outputs, render

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FORMATS = pytest.mark.parametrize(("format", "suffix"), [("json", "json"), ("text", "txt"), ("markdown", "md")])


@pytest.mark.parametrize(("model", "protocol"), [("a", "pass"), ("b", "fail")])
@FORMATS
def test_extraction_report_is_unchanged(model: str, protocol: str, format: str, suffix: str) -> None:
    examples = ROOT / "examples" / "extraction"
    evaluation = evaluate_files(
        examples / "gold.jsonl",
        examples / f"model-{model}.jsonl",
        examples / "schema.json",
        examples / f"protocol-{protocol}.yaml",
    )
    _compare(evaluation, format, f"model-{model}.{suffix}")


@pytest.mark.parametrize("runs", ["passing", "failing"])
@FORMATS
def test_research_report_is_unchanged(runs: str, format: str, suffix: str) -> None:
    evaluation = evaluate_outputs(ROOT / "eval" / "golden_queries.json", ROOT / "examples" / "research" / runs)
    _compare(evaluation, format, f"research-{runs}.{suffix}")


def _compare(evaluation: Evaluation, format: str, name: str) -> None:
    found = render(evaluation, format)  # type: ignore[arg-type]  # one of the three
    expected = HERE / name
    if os.environ.get("GOLDGATE_UPDATE"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")
