"""What real files of other programs have: several filters, other kinds of tasks, systems in different layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from tests.cli.test_prediction_layouts import (
    ANSWERS,
    SCHEMA,
    Json,
    batch,
    counts,
    events,
    gold_record,
    refusal,
    run,
    score,
    write,
)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.jsonl", [gold_record(number) for number in range(3)])


def test_of_several_filters_of_lm_eval_the_first_counts(gold: Path, tmp_path: Path) -> None:
    def line(number: int, name: str, **other: Any) -> Json:
        return {"doc_id": number, "doc": {"text": "x"}, "resps": [[ANSWERS[number]]], "filter": name} | other

    for records in (
        [line(number, name) for name in ("strict-match", "flexible-extract") for number in range(3)],
        [line(number, name) for number in range(3) for name in ("none", "other")],  # interleaved
        [{"doc_id": number, "target": "", "filtered_resps": [ANSWERS[number]]} for number in range(3)],
        [line(number, "none", resps=[[ANSWERS[number], "[]"]]) for number in range(3)],
    ):
        assert counts(score(gold, write(tmp_path / "samples.jsonl", records))) == (2, 2, 0)


@pytest.mark.parametrize("resps", [[[[-1.5, False]], [[-0.5, True]]], [[-3.0, False], [-4.0, False]], [], 1])
def test_log_likelihoods_of_lm_eval_are_no_answers(gold: Path, tmp_path: Path, resps: Any) -> None:
    error = refusal(gold, write(tmp_path / "samples.jsonl", [{"doc_id": 0, "doc": {}, "resps": resps}]))
    assert (error.code, error.place.line, error.place.field) == ("predictions.not_generated", 1, "resps")


def test_embeddings_of_a_batch_are_no_answers_and_calls_of_a_response_are(gold: Path, tmp_path: Path) -> None:
    body = {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}], "model": "m"}
    error = refusal(gold, write(tmp_path / "a.jsonl", [batch(0, response={"status_code": 200, "body": body})]))
    assert error.code == "predictions.not_generated"
    call = {"type": "function_call", "name": "events", "arguments": json.dumps({"events": events("Ann")})}
    called = batch(0, response={"status_code": 200, "body": {"object": "response", "output": [call]}})
    assert counts(score(gold, write(tmp_path / "b.jsonl", [called]))) == (1, 1, 2)


def test_systems_that_are_stored_in_different_layouts_are_compared(gold: Path, tmp_path: Path) -> None:
    in_batch = write(tmp_path / "a.jsonl", [batch(number) for number in range(3)])
    in_order = [{"prompt": "p", "predict": answer, "label": "l"} for answer in (*ANSWERS[:2], "[]")]
    found = goldgate.compare(in_batch, write(tmp_path / "b.jsonl", in_order), gold=gold, schema=_schema(tmp_path))
    assert [system["name"] for system in found.report["systems"]] == ["a", "b"]


def test_compare_reads_ids_and_responses_where_they_are(gold: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", [{"doc": f"d{n}", "out": {"t": each}} for n, each in enumerate(ANSWERS)])
    options = ("--gold", gold, "--schema", _schema(tmp_path), "--id-field", "doc", "--response-field", "out.t")
    systems = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert run("compare", *systems, *options).exit_code == 0
    assert run("compare", *systems, *options[:4]).exit_code == 2
    without_gold = run("compare", tmp_path, tmp_path, "--id-field", "doc", "--format", "json")
    assert "compare.no_gold" in without_gold.output
    out = tmp_path / "out"
    assert run("compare", *systems, *options, "--dialect", "goldgate", "--out", out).exit_code == 0
    assert json.loads((out / "run.json").read_text())["inputs"]["id_field"] == ["doc"]


def _schema(folder: Path) -> Path:
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    return folder / "schema.json"
