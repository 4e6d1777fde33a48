"""Gold and predictions that are large enough for several shards, and small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAMPLES = 2_500
SCHEMA = {"event_types": {"T": {"roles": ["R", "S"]}}}
PROTOCOL = 'protocol: {name: remote, version: "1"}\ngates: {strict_f1: {min: 0.1}}\n'


def _events(number: int, value: str) -> list[dict[str, Any]]:
    return [{"event_type": "T", "arguments": [{"role": "RS"[number % 2], "argument": f"{value} {number}"}]}]


def gold_lines() -> bytes:
    records = ({"id": str(n), "text": f"value {n}", "events": _events(n, "value")} for n in range(SAMPLES))
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def predicted_lines(*, wrong: int = 3, backwards: bool = False) -> bytes:
    numbers = reversed(range(SAMPLES)) if backwards else range(SAMPLES)
    records = ({"id": str(n), "response": json.dumps(_events(n, "value" if n % wrong else "another"))} for n in numbers)
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write_all(folder: Path) -> Path:
    """A folder with gold, predictions, schema and protocol."""
    folder.mkdir()
    (folder / "gold.jsonl").write_bytes(gold_lines())
    (folder / "predictions.jsonl").write_bytes(predicted_lines())
    (folder / "backwards.jsonl").write_bytes(predicted_lines(backwards=True))
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    (folder / "protocol.yaml").write_text(PROTOCOL)
    return folder
