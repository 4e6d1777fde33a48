"""Evidence that is none: blank, invisible, of a source of the agent's own making."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from . import cheat
from .editing import edit

FAILING = ("run_a0", "run_a1", "run_a4")


def _file(outputs: Path, change: dict[str, Any], text: str | None = None) -> None:
    """Give every record of the failing runs these fields, and every chunk this text."""
    for name in FAILING:
        edit(outputs / name, lambda value: [record.update(change) for record in value["evidence"]])
        if text is not None:
            chunk = {"chunk_id": change.get("chunk_id", "c"), "source_id": "s", "text": text}
            (outputs / name / "chunks.jsonl").write_text(json.dumps(chunk) + "\n")


@cheat("blank_quote")
def a_dot_is_quoted(outputs: Path) -> None:
    provenance = {"source_id": "s"}
    _file(outputs, {"quote": ".", "span": {"start": 3, "end": 4}, "chunk_id": "c1", "provenance": provenance}, "End.")


@cheat("blank_quote")
def an_invisible_sign_is_quoted_at_a_blank(outputs: Path) -> None:
    change = {"quote": "\u200b", "span": {"start": 1, "end": 2}, "chunk_id": "c1", "provenance": {"source_id": "s"}}
    _file(outputs, change, "a b")


@cheat("blank_quote")
def a_letter_that_nobody_sees_is_quoted(outputs: Path) -> None:
    """U+3164 is a letter to Unicode."""
    change = {"quote": "\u3164", "span": {"start": 0, "end": 1}, "chunk_id": "c1", "provenance": {"source_id": "s"}}
    _file(outputs, change, "\u3164\u3164")


@cheat("blank_quote")
def an_apostrophe_that_is_a_letter_is_quoted(outputs: Path) -> None:
    """U+02BC is a letter to Unicode, and in the source it may be any apostrophe."""
    change = {"quote": "\u02bc", "span": {"start": 1, "end": 2}, "chunk_id": "c1", "provenance": {"source_id": "s"}}
    _file(outputs, change, "a'b")


@cheat("blank_quote")
def the_stroke_of_a_long_vowel_is_quoted(outputs: Path) -> None:
    change = {"quote": "\u30fc", "span": {"start": 1, "end": 2}, "chunk_id": "c1", "provenance": {"source_id": "s"}}
    _file(outputs, change, "\u30e9\u30fc")


@cheat("blank_quote")
def nothing_is_quoted_beside_a_span(outputs: Path) -> None:
    _file(
        outputs, {"quote": "", "span": {"start": 0, "end": 1}, "chunk_id": "c1", "provenance": {"source_id": "s"}}, "a"
    )


@cheat("blank_quote")
def spans_over_blanks(outputs: Path) -> None:
    _file(
        outputs,
        {"quote": None, "span": {"start": 0, "end": 3}, "chunk_id": "c1", "provenance": {"source_id": "s"}},
        " \u2800\u3164 x",
    )


@cheat("nothing_stored")
def the_text_that_refutes_is_taken_away(outputs: Path) -> None:
    """Only the claim that cites nothing, and the queries without a run, are still seen: see require_verbatim."""
    for name in FAILING:
        (outputs / name / "chunks.jsonl").unlink()
        shutil.rmtree(outputs / name / "artifacts", ignore_errors=True)


@cheat("provenance_missing")
def sources_that_nobody_sees(outputs: Path) -> None:
    _file(outputs, {"provenance": {"source_id": "\u200b", "artifact_id": "\u2060\ufeff"}})


@cheat("provenance_missing")
def chunks_that_nobody_sees(outputs: Path) -> None:
    _file(outputs, {"chunk_id": "\u3164\u200b", "quote": "Anything"})


@cheat("provenance_missing")
def sources_that_say_they_are_unknown(outputs: Path) -> None:
    _file(
        outputs,
        {
            "chunk_id": "c",
            "quote": "Anything",
            "provenance": {"source_id": "\uff35nkn\u200bown.", "artifact_id": "(N / A)"},
        },
    )


@cheat("hash_mismatch")
def artifacts_under_a_name_that_is_not_their_hash(outputs: Path) -> None:
    for name in FAILING:
        edit(
            outputs / name,
            lambda value: [record["provenance"].update(artifact_id="0" * 64) for record in value["evidence"]],
        )
        edit(outputs / name, lambda value: [record["provenance"].pop("content_hash") for record in value["evidence"]])
        chunks = (outputs / name / "chunks.jsonl").read_text().splitlines()
        chunks = [json.dumps({**json.loads(line), "artifact_id": None}) for line in chunks]
        (outputs / name / "chunks.jsonl").write_text("\n".join(chunks) + "\n")
        (outputs / name / "artifacts").mkdir(exist_ok=True)
        (outputs / name / "artifacts" / ("0" * 64)).write_text("\n".join(json.loads(line)["text"] for line in chunks))


def store_a_source_of_ones_own(outputs: Path) -> None:
    """Every record quotes "a" from the stored source "a": a whole chain, to nothing."""
    digest = hashlib.sha256(b"a").hexdigest()
    for run in sorted(outputs.iterdir()):
        chunk = {"chunk_id": "c1", "source_id": "s", "text": "a", "artifact_id": digest}
        record = {"chunk_id": "c1", "quote": "a", "span": {"start": 0, "end": 1}}
        record["provenance"] = {"source_id": "s", "content_hash": digest}
        edit(run, lambda value, record=record: [entry.update(record) for entry in value["evidence"]])  # type: ignore[misc]
        (run / "chunks.jsonl").write_text(json.dumps(chunk) + "\n")
        (run / "artifacts").mkdir(exist_ok=True)
        (run / "artifacts" / digest).write_bytes(b"a")
