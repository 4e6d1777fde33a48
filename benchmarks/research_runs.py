"""Generated outputs of a research agent: runs in which all is right, runs that err as agents do, and small ones."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

QUERIES = 200

_WORDS = (
    "harbour river winter ledger council bridge grain annals keeper tower signal market frozen repaired counted "
    "eleven northern former second written letter stone timber season quarter record measure report crossing"
).split()

Record = dict[str, Any]


class Size(NamedTuple):
    """How much there is in a run."""

    steps: int = 20
    claims: int = 10
    evidence: int = 20
    chunks: int = 30


USUAL_RUN = Size()
SMALL_RUN = Size(2, 2, 4, 4)


class Run(NamedTuple):
    """The values of the four files of a run."""

    output: Record
    events: list[Record]
    manifests: list[Record]
    chunks: list[Record]


def make_outputs(folder: Path, runs: int, size: Size = USUAL_RUN, *, erring: bool = False) -> int:
    """Write golden queries and so many runs; the result is the number of bytes.

    Runs that err are written as Python's json writes, with blanks and escapes; the others without a needless byte.
    """
    rng = random.Random(7)
    outputs = folder / "outputs"
    outputs.mkdir(parents=True)
    golden = [
        {
            "objective": f"What is known about {rng.choice(_WORDS)} {number}?",
            "required_evidence_ids": [f"e{number}-{k}" for k in range(min(5, size.evidence))],
            "evidence_sufficient": True,
        }
        for number in range(QUERIES)
    ]
    golden.append({"objective": "What was never written?", "required_evidence_ids": [], "evidence_sufficient": False})
    (folder / "golden.json").write_text(json.dumps(golden), encoding="utf-8")
    total = 0
    for number in range(runs):
        run = _run(number, golden[number % QUERIES], size, rng)
        files = _files(_with_errors(run, rng), _as_python_writes) if erring else _files(run, orjson.dumps)
        if erring and rng.random() < 0.1:
            files["events.jsonl"] = files["events.jsonl"][:-20]  # a torn log
        total += _write(outputs / f"run_{number:06d}", files)
    return total


def _run(number: int, query: Record, size: Size, rng: random.Random) -> Run:
    """A run without a fault."""
    run_id = f"{number:06d}"
    chunks = [_chunk(run_id, k, rng) for k in range(size.chunks)]
    evidence = [_evidence(f"e{number % QUERIES}-{k}", chunks[k], rng) for k in range(size.evidence)]
    claims = [
        {
            "claim_id": f"k{k}",
            "statement": _sentence(rng),
            "status": "verified",
            "evidence_ids": [evidence[2 * k]["evidence_id"], evidence[2 * k + 1]["evidence_id"]],
        }
        for k in range(size.claims)
    ]
    output = {
        "run_id": run_id,
        "objective": query["objective"],
        "stop_reason": "OBJECTIVE_ACHIEVED",
        "claims": claims,
        "evidence": evidence,
    }
    steps = range(1, size.steps + 1)
    events = [_event(run_id, None, "run_started", objective=query["objective"])]
    events += [_event(run_id, step, "retrieval", query=_sentence(rng), hits=10) for step in steps]
    events += [
        _event(run_id, size.steps, "claim_verified", claim_id=f"k{k}", status="verified") for k in range(size.claims)
    ]
    events.append(_event(run_id, None, "run_stopped", stop_reason="OBJECTIVE_ACHIEVED"))
    manifests = [
        {
            "run_id": run_id,
            "step_id": step,
            "retrieval_query": _sentence(rng),
            "candidate_chunk_ids": [chunk["chunk_id"] for chunk in rng.sample(chunks, min(10, size.chunks))],
            "selected_chunk_ids": [chunk["chunk_id"] for chunk in rng.sample(chunks, min(3, size.chunks))],
        }
        for step in steps
    ]
    return Run(output, events, manifests, chunks)


def _with_errors(run: Run, rng: random.Random) -> Run:
    """The run with the faults of real agents: a third of its records, and something in most of the rest."""
    chunks = [chunk for chunk in run.chunks if rng.random() > 0.05]  # some are not stored
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in run.chunks}
    for record in run.output["evidence"]:
        if rng.random() < 0.35:
            rng.choice(_FAULTS)(record, texts[record["chunk_id"]], rng)
    for claim in run.output["claims"]:
        fate = rng.random()
        if fate < 0.15:
            claim["status"] = rng.choice(["candidate", "retracted"])  # and the log says that it is verified
        elif fate < 0.2:
            claim["evidence_ids"].append("e-of-nobody")
        elif fate < 0.25:
            claim["evidence_ids"] = []
    run.output["note"] = "Ich weiß — “möglicherweise”: 80 %."
    events = [event for event in run.events if event["event_type"] != "claim_verified" or rng.random() > 0.1]
    manifests = [manifest for manifest in run.manifests if rng.random() > 0.05]
    return Run(run.output, events, manifests, chunks)


def _shift_span(record: Record, text: str, rng: random.Random) -> None:
    record["span"] = {"start": record["span"]["start"] + 1, "end": record["span"]["end"] + 1}


def _drop_span(record: Record, text: str, rng: random.Random) -> None:
    record["span"] = None


def _wrong_end(record: Record, text: str, rng: random.Random) -> None:
    record["span"]["end"] = len(text) + 40


def _retype(record: Record, text: str, rng: random.Random) -> None:
    record["quote"] = record["quote"].replace(" ", "  ", 2)  # as good as the source, once it is folded


def _reword(record: Record, text: str, rng: random.Random) -> None:
    record["quote"] = record["quote"].replace(rng.choice(record["quote"].split()), "never")


def _splice(record: Record, text: str, rng: random.Random) -> None:
    record["quote"] = f"{text[:60].rpartition(' ')[0]} … {text[-80:].partition(' ')[2]}"


def _blank(record: Record, text: str, rng: random.Random) -> None:
    record["quote"] = rng.choice(["", "  ", "…", "---"])


def _forget_source(record: Record, text: str, rng: random.Random) -> None:
    record["provenance"] = {"source_id": "unknown"}


def _another_source(record: Record, text: str, rng: random.Random) -> None:
    record["provenance"]["source_id"] = "source-99"


_FAULTS: tuple[Callable[[Record, str, random.Random], None], ...] = (
    *(_shift_span, _drop_span, _wrong_end, _retype, _reword),
    *(_splice, _blank, _forget_source, _another_source),
)


def _chunk(run_id: str, number: int, rng: random.Random) -> Record:
    text = " ".join(_sentence(rng) for _ in range(8))
    return {
        "chunk_id": f"c{run_id}-{number}",
        "source_id": f"source-{number % 5}",
        "text": text,
        "start_offset": number * 1000,
        "end_offset": number * 1000 + len(text),
        "text_hash": hashlib.sha256(text.encode()).hexdigest(),
    }


def _evidence(name: str, chunk: Record, rng: random.Random) -> Record:
    start = rng.randrange(len(chunk["text"]) - 120)
    return {
        "evidence_id": name,
        "chunk_id": chunk["chunk_id"],
        "quote": chunk["text"][start : start + 100],
        "span": {"start": start, "end": start + 100},
        "provenance": {"source_id": chunk["source_id"], "uri": "https://example.org/" + chunk["source_id"]},
    }


def _event(run_id: str, step: int | None, kind: str, **payload: Any) -> Record:
    return {"run_id": run_id, "step_id": step, "event_type": kind, "payload": payload}


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=12)).capitalize() + "."


def _files(run: Run, write: Callable[[Record], bytes]) -> dict[str, bytes]:
    return {
        "research_output.json": write(run.output),
        "events.jsonl": b"".join(write(event) + b"\n" for event in run.events),
        "manifests.jsonl": b"".join(write(manifest) + b"\n" for manifest in run.manifests),
        "chunks.jsonl": b"".join(write(chunk) + b"\n" for chunk in run.chunks),
    }


def _as_python_writes(value: Record) -> bytes:
    return json.dumps(value).encode()


def _write(folder: Path, files: dict[str, bytes]) -> int:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return sum(map(len, files.values()))
