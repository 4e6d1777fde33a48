"""The reports of the example models, byte for byte. A change here is a change of what users publish.

`GOLDGATE_UPDATE=1 pytest tests/golden` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from goldgate import evaluate_files, render

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "extraction"


@pytest.mark.parametrize(("model", "protocol"), [("a", "pass"), ("b", "fail")])
@pytest.mark.parametrize(("format", "suffix"), [("json", "json"), ("text", "txt"), ("markdown", "md")])
def test_example_report_is_unchanged(model: str, protocol: str, format: str, suffix: str) -> None:
    evaluation = evaluate_files(
        EXAMPLES / "gold.jsonl",
        EXAMPLES / f"model-{model}.jsonl",
        EXAMPLES / "schema.json",
        EXAMPLES / f"protocol-{protocol}.yaml",
    )
    found = render(evaluation, format)  # type: ignore[arg-type]  # one of the three
    expected = HERE / f"model-{model}.{suffix}"
    if os.environ.get("GOLDGATE_UPDATE"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")
