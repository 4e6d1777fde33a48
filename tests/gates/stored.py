"""Small evaluations of the toy suite and of extraction, kept in folders as --out does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldgate.core.evaluation import Evaluation, render_json
from goldgate.core.suite import Suite
from goldgate.pipeline import evaluate_suite
from goldgate.suites.extraction.suite import SUITE as EXTRACTION
from tests.toy.suite import SUITE as QA

Records = Sequence[Mapping[str, Any]]


def write_lines(path: Path, records: Records) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def stored_run(
    folder: Path,
    suite: Suite,
    gold: Records,
    predictions: Records,
    protocol: str | None = None,
    workers: int = 1,
    out: bool = True,
) -> Evaluation:
    """Evaluate; report.json and the records go to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = {
        "gold": [write_lines(folder / "gold.jsonl", gold)],
        "predictions": [write_lines(folder / "predictions.jsonl", predictions)],
    }
    path = None
    if protocol is not None:
        path = folder.parent / "protocol.yaml"
        path.write_text(protocol, encoding="utf-8")
    with open(folder / (suite.records if out else "unused.jsonl"), "wb") as records:
        found = evaluate_suite(
            suite, inputs, path, workers=workers, records=records if out else None, written=[str(folder)]
        )
    if out:
        (folder / "report.json").write_bytes(render_json(found.report))
    return found


def questions(number: int) -> list[dict[str, Any]]:
    return [{"id": f"q{n}", "question": "?", "answer": "yes", "sources": [f"s{n}"]} for n in range(number)]


def answers(number: int, right: int) -> list[dict[str, Any]]:
    """The first so many are right."""
    return [{"id": f"q{n}", "answer": "yes" if n < right else "no", "citations": [f"s{n}"]} for n in range(number)]


def qa(folder: Path, number: int, right: int, protocol: str | None = None, **more: Any) -> Evaluation:
    return stored_run(folder, QA, questions(number), answers(number, right), protocol, **more)


def event(event_type: str, **roles: str) -> dict[str, Any]:
    return {"event_type": event_type, "arguments": [{"role": role, "argument": text} for role, text in roles.items()]}


def documents(number: int, *event_types: str) -> list[dict[str, Any]]:
    """Each has an event of every type, with one argument."""
    return [{"id": f"d{n}", "events": [event(name, Who="Ann") for name in event_types]} for n in range(number)]


def extraction(folder: Path, gold: Records, predictions: Records, gates: str = "", workers: int = 1) -> Evaluation:
    """Without a schema; the file's second line and those after it are the gates."""
    protocol = f"metrics: {{schema: {{mode: syntax_only}}}}\n{gates}"
    return stored_run(folder, EXTRACTION, gold, predictions, protocol, workers)
