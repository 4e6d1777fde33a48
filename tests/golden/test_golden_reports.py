"""The reports of the examples, byte for byte. A change here is a change of what users publish.

`GOLDGATE_UPDATE=1 pytest tests/golden` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from goldgate import Evaluation, evaluate_files, evaluate_outputs, render
from goldgate.core.suite import Plan
from goldgate.core.unit_page import InputLookup
from goldgate.pipeline import evaluate_suite
from goldgate.report import describe_report
from goldgate.report.html import render_html
from goldgate.report.html.units import worst_units
from goldgate.suites import load_suite
from goldgate.suites.worst_units import WorstUnits
from tests.cases import cases

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHOWN = 3  # samples of a page
FORMATS = pytest.mark.parametrize(("format", "suffix"), [("json", "json"), ("text", "txt"), ("markdown", "md")])


@pytest.mark.parametrize(("model", "protocol"), [("a", "pass"), ("b", "fail")])
@FORMATS
def test_extraction_report_is_unchanged(
    model: str, protocol: str, format: str, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # a printed report names files as they were given
    examples = Path("examples", "extraction")
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


@cases(
    ("suite", "inputs", "protocol", "name"),
    [
        (
            "extraction",
            {
                "gold": ["examples/extraction/gold.jsonl"],
                "predictions": ["examples/extraction/model-b.jsonl"],
                "schema": ["examples/extraction/schema.json"],
            },
            "examples/extraction/protocol-fail.yaml",
            "model-b.html",
        ),
        (
            "research",
            {"golden": ["eval/golden_queries.json"], "outputs": ["examples/research/failing"], "corpus": []},
            None,
            "research-failing.html",
        ),
    ],
)
def test_page_is_unchanged(suite: str, inputs: dict[str, list[str]], protocol: str | None, name: str) -> None:
    """With a few samples: all of them would be a large file to keep."""
    records, shown = io.BytesIO(), []

    def look(evaluation: Evaluation, plan: Plan, given: InputLookup, worst: WorstUnits) -> None:
        def read(offset: int, length: int) -> bytes:
            return records.getvalue()[offset : offset + length]

        looked = worst_units(load_suite(suite), plan, evaluation, worst, read, given, limit=SHOWN)
        shown.append(render_html(describe_report(evaluation.report), looked))

    paths = {kind: [str(ROOT / path) for path in given] for kind, given in inputs.items()}
    evaluate_suite(load_suite(suite), paths, protocol and str(ROOT / protocol), records=records, finished=look)
    _compare_text(shown[0], name)


def _compare(evaluation: Evaluation, format: str, name: str) -> None:
    _compare_text(render(evaluation, format), name)  # type: ignore[arg-type]  # one of the three


def _compare_text(found: str, name: str) -> None:
    expected = HERE / name
    if os.environ.get("GOLDGATE_UPDATE"):
        expected.write_text(found, encoding="utf-8")
    renew = "read the difference; if it is meant: GOLDGATE_UPDATE=1 pytest tests/golden"
    assert found == expected.read_text(encoding="utf-8"), renew
