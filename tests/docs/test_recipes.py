"""The recipes of docs/ci.md list the samples that they say, also where samples lack what they look for."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import goldgate

from .documents import DOCS

T = {"event_type": "T", "arguments": [{"role": "R", "argument": "x"}]}
GOLDS: list[dict[str, Any]] = [
    {"id": "supported", "text": "x", "events": [T]},
    {"id": "not supported", "text": "y", "events": []},
    {"id": "without text", "events": [T]},
    {"id": "not answered", "text": "x", "events": [T]},
    {"id": "not read", "text": "x", "events": [T]},
]
ANSWERS = {"supported": [T], "not supported": [T], "without text": [T]}
PREDICTIONS = [{"id": name, "response": json.dumps(events)} for name, events in ANSWERS.items()]
PREDICTIONS.append({"id": "not read", "response": "I cannot tell."})

EXPECTED = {"hallucination": ["not supported"], "parse": ["not answered", "not read"]}


def recipe(about: str) -> str:
    """The filter of the command that looks at this part of samples.jsonl."""
    page = (DOCS / "ci.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ (jq .* out/release/samples\.jsonl)$", page, re.MULTILINE)
    found = [shlex.split(line)[-2] for line in lines if f".{about}" in line]
    assert len(found) == 1
    return found[0]


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("about", EXPECTED)
def test_recipe_lists_the_samples_that_it_is_about(about: str, tmp_path: Path) -> None:
    schema = {"event_types": {"T": {"roles": ["R"]}}}
    samples = goldgate.evaluate(GOLDS, PREDICTIONS, schema, records=True).samples
    assert samples is not None
    stored = tmp_path / "samples.jsonl"
    stored.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    listed = subprocess.run(["jq", "-r", recipe(about), str(stored)], capture_output=True, text=True, check=True).stdout
    assert listed.splitlines() == EXPECTED[about]
