"""Small trees of runs for tests: a run that is right in every respect, to be spoiled one thing at a time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

SOURCE = (
    "The harbour of Oldwick froze in 1871. Ships waited eleven days. "
    "Nobody was hurt, and the mayor “thanked” the crews for their patience."
)
CHUNKS = {"c1": (0, 37), "c2": (38, 64), "c3": (64, len(SOURCE))}
SHA256 = hashlib.sha256(SOURCE.encode()).hexdigest()


def query(
    objective: str = "When did the harbour freeze?", ids: tuple[str, ...] = ("e1",), sufficient: bool = True
) -> dict[str, Any]:
    return {"objective": objective, "required_evidence_ids": list(ids), "evidence_sufficient": sufficient}


def evidence(name: str = "e1", chunk: str = "c1", quote: str | None = "froze in 1871", **more: Any) -> dict[str, Any]:
    """A record whose span is where the quote is, if it is."""
    text = chunk_text(chunk)
    record: dict[str, Any] = {"evidence_id": name, "chunk_id": chunk, "provenance": {"source_id": "annals"}}
    if quote is not None:
        record["quote"] = quote
        if quote in text:
            record["span"] = {"start": text.index(quote), "end": text.index(quote) + len(quote)}
    return {**record, **more}


def claim(name: str = "k1", ids: tuple[str, ...] = ("e1",), status: str = "verified") -> dict[str, Any]:
    return {"claim_id": name, "statement": "It froze in 1871.", "status": status, "evidence_ids": list(ids)}


def output(run_id: str = "r1", **more: Any) -> dict[str, Any]:
    plain = {
        "run_id": run_id,
        "objective": "When did the harbour freeze?",
        "stop_reason": "OBJECTIVE_ACHIEVED",
        "claims": [claim()],
        "evidence": [evidence()],
    }
    return {**plain, **more}


def abstention(run_id: str = "r1", objective: str = "Who owned the ships?") -> dict[str, Any]:
    return output(run_id, objective=objective, stop_reason="NO_EVIDENCE", claims=[], evidence=[])


def event(step: int | None, run_id: str = "r1", kind: str = "step", **payload: Any) -> dict[str, Any]:
    return {"run_id": run_id, "step_id": step, "event_type": kind, "payload": payload}


def manifest(step: int, run_id: str = "r1", **more: Any) -> dict[str, Any]:
    plain = {
        "run_id": run_id,
        "step_id": step,
        "retrieval_query": "harbour frozen",
        "candidate_chunk_ids": ["c1", "c2"],
        "selected_chunk_ids": ["c1"],
    }
    return {**plain, **more}


def chunk_text(name: str) -> str:
    start, end = CHUNKS[name]
    return SOURCE[start:end]


def chunk(name: str, **more: Any) -> dict[str, Any]:
    start, end = CHUNKS[name]
    plain = {
        "chunk_id": name,
        "source_id": "annals",
        "text": SOURCE[start:end],
        "start_offset": start,
        "end_offset": end,
    }
    return {**plain, **more}


def write_golden(folder: Path, *queries: dict[str, Any], pins: dict[str, str] | None = None) -> Path:
    path = folder / "golden.json"
    value: Any = list(queries or [query()])
    if pins is not None:
        value = {"schema_version": "1.0", "pins": pins, "queries": value}
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def write_run(
    outputs: Path,
    name: str = "run_r1",
    out: dict[str, Any] | None = None,
    *,
    events: list[dict[str, Any]] | str | None = None,
    manifests: list[dict[str, Any]] | None = None,
    chunks: list[dict[str, Any]] | None = None,
    artifact: bool = False,
) -> Path:
    """A run of two steps with all its files; what is given replaces a part of it."""
    run = outputs / name
    run.mkdir(parents=True, exist_ok=True)
    out = output() if out is None else out
    run_id = out["run_id"]
    (run / "research_output.json").write_text(json.dumps(out), encoding="utf-8")
    if events is None:
        events = [event(None, run_id, "run_started", objective=out["objective"]), event(1, run_id), event(2, run_id)]
    (run / "events.jsonl").write_text(events if isinstance(events, str) else lines(*events), encoding="utf-8")
    manifests = [manifest(1, run_id), manifest(2, run_id)] if manifests is None else manifests
    (run / "manifests.jsonl").write_text(lines(*manifests), encoding="utf-8")
    chunks = [chunk(name) for name in CHUNKS] if chunks is None else chunks
    (run / "chunks.jsonl").write_text(lines(*chunks), encoding="utf-8")
    if artifact:
        (run / "artifacts").mkdir(exist_ok=True)
        (run / "artifacts" / SHA256).write_text(SOURCE, encoding="utf-8")
    return run
