"""Settings by which the evaluator demands less of an agent: what each does, and that nobody can overlook it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from goldgate.suites.research.run.evidence import EvidenceDemands, Sources, check_evidence

from .judged import broken, codes, counts, finding, judged
from .trees import CHUNKS, SOURCE, abstention, chunk, evidence, manifest, output, query, write_golden, write_run

INSUFFICIENT = query("Who owned the ships?", (), False)


def warnings(evaluation: Any) -> set[str]:
    return {entry["code"] for entry in evaluation.report["stands_out"]}


def without_chunk_id(**change: Any) -> dict[str, Any]:
    record = evidence(**change)
    del record["chunk_id"]
    return record


def test_a_record_without_a_chunk_id_names_the_setting_that_takes_it(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    write_run(tmp_path / "outputs", out=output(evidence=[without_chunk_id()]))
    write_run(tmp_path / "outputs", "run_r2", abstention("r2"))
    strict = judged(tmp_path)
    message = finding(strict, "provenance_missing")["message"]
    assert message == "e1: the chunk_id is missing or blank; research.provenance: source takes records without one"
    assert "provenance" not in strict.report["signature"]
    lenient = judged(tmp_path, "research: {provenance: source}")
    assert lenient.passed
    assert not {"contract", "provenance_missing"} & codes(lenient)
    assert "|provenance:source|" in lenient.report["signature"]
    assert "provenance_by_source" in warnings(lenient)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ("verbatim", None)),
        ({"quote": "eleven days", "chunk_id": "\u200b"}, ("verbatim", None)),  # in another chunk of the source
        ({"quote": "It froze in 1872."}, (None, "fabricated")),
        ({"quote": "froze in 1871. Ships waited"}, (None, "spliced")),  # no chunk has all of it
        ({"quote": None, "span": {"start": 0, "end": 4}}, (None, "blank_quote")),
        ({"provenance": {"source_id": "tales"}}, (None, "dangling_chunk")),
        ({"provenance": {"artifact_id": "annals"}}, (None, "dangling_chunk")),
        ({"quote": "The mill burned.", "provenance": {"source_id": "other"}}, ("verbatim", None)),
        ({"quote": "The mill burned."}, (None, "misattributed")),
        ({"provenance": {"source_id": " "}}, (None, "provenance_missing")),
        ({"chunk_id": "c9"}, (None, "dangling_chunk")),  # an id that is there must be right
    ],
)
def test_a_record_without_a_chunk_id_is_held_against_its_source(change: dict[str, Any], expected: Any) -> None:
    chunks: dict[str, Any] = {name: chunk(name) for name in CHUNKS}
    chunks["m"] = {"chunk_id": "m", "source_id": "other", "text": "The mill burned."}
    record = {**without_chunk_id(), **change}
    checked = check_evidence(record, Sources(chunks), EvidenceDemands(chunk=False))
    assert (checked.level, checked.failure) == expected


def test_quoting_a_whole_chunk_is_no_evidence_whether_or_not_it_is_named(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    whole = {"chunk_id": "whole", "source_id": "annals", "text": SOURCE}
    stored = [whole, {**whole, "chunk_id": "None", "source_id": "tales", "text": "Nothing."}]
    write_run(tmp_path / "outputs", out=output(evidence=[without_chunk_id(quote=SOURCE)]), chunks=stored)
    assert "empty_evidence" in codes(judged(tmp_path, "research: {provenance: source}"))
    sources = Sources({each["chunk_id"]: each for each in stored})  # type: ignore[misc]  # chunks as they are stored
    assert sources.chunk_of(without_chunk_id(quote="froze in 1871")) == whole
    assert sources.chunk_of(without_chunk_id(quote="It froze in 1872.")) is None


def test_manifests_that_lack_a_field_name_it_and_the_setting(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    short = {name: value for name, value in manifest(2).items() if name != "retrieval_query"}
    write_run(tmp_path / "outputs", manifests=[manifest(1), short])
    write_run(tmp_path / "outputs", "run_r2", abstention("r2"))
    strict = judged(tmp_path)
    assert counts(strict, "manifest_integrity") == (3, 4)
    message = finding(strict, "bad_manifest")["message"]
    assert message.startswith("query 'When did the harbour freeze?': retrieval_query: expected")
    assert message.endswith("research.manifest: recorded takes manifests without it")
    lenient = judged(tmp_path, "research: {manifest: recorded}")
    assert lenient.passed
    assert "|manifest:recorded|" in lenient.report["signature"]
    assert "recorded_manifests" in warnings(lenient)


@pytest.mark.parametrize("stored", ["{}", '{"run_id": "r1"}', '{"run_id": "r1", "step_id": true}', "[]", "nonsense"])
def test_a_recorded_manifest_names_run_and_step(tmp_path: Path, stored: str) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs", manifests=[manifest(1)])
    with (run / "manifests.jsonl").open("a") as stream:
        stream.write(stored + "\n")
    assert counts(judged(tmp_path, "research: {manifest: recorded}"), "manifest_integrity") == (1, 2)


def test_recorded_manifests_may_hold_anything(tmp_path: Path) -> None:
    write_golden(tmp_path)
    odd = [manifest(1, retrieval_query=[7], candidate_chunk_ids=None), {"run_id": "r1", "step_id": 2}]
    for name in ("r1", "r2"):
        write_run(tmp_path / "outputs", name, output(name), manifests=[{**each, "run_id": name} for each in odd])
    assert counts(judged(tmp_path, "research: {manifest: recorded}"), "manifest_integrity") == (2, 2)


def deterministic(folder: Path, trials: int = 5) -> None:
    """An agent that abstains alike in every trial, and answers differently each time."""
    write_golden(folder, query(), INSUFFICIENT)
    for number in range(trials):
        answer = output(f"a{number}")
        answer["claims"][0]["statement"] += " Again." * number
        write_run(folder / "outputs", f"a{number}", answer)
        write_run(folder / "outputs", f"n{number}", abstention(f"n{number}"))


def test_an_agent_that_is_deterministic_on_some_queries(tmp_path: Path) -> None:
    """Merged, five equal abstentions are one, and the query lacks four trials: 1 of 5."""
    deterministic(tmp_path)
    assert counts(judged(tmp_path), "abstention_accuracy") == (1, 5)
    counted = judged(tmp_path, "research: {copies: count, trials: 5}")
    assert counts(counted, "abstention_accuracy") == (5, 5)
    assert counted.passed
    assert "|copies:count|" in counted.report["signature"]
    (remark,) = (entry for entry in counted.report["stands_out"] if entry["code"] == "copies_are_trials")
    assert remark["message"] == "research.copies is count: 4 runs equal others and count as trials"
    assert remark["counts"] == {"copies": 4}


def test_where_copies_count_one_run_id_is_one_run_and_failing_copies_fail(tmp_path: Path) -> None:
    deterministic(tmp_path, 2)
    write_run(tmp_path / "outputs", "bytes", abstention("n0"))  # n0 once more
    counted = judged(tmp_path, "research: {copies: count}")
    assert "copied_run" in codes(counted)
    assert counted.report["queries"][1]["trials"] == 2
    assert not broken(counted)
    for name in ("x", "y"):
        bad = {**abstention(name), "stop_reason": "BUDGET_EXCEEDED"}
        write_run(tmp_path / "outputs", name, bad)
    assert counts(judged(tmp_path, "research: {copies: count}"), "abstention_accuracy") == (2, 4)


def test_settings_in_the_outputs_change_nothing(tmp_path: Path) -> None:
    deterministic(tmp_path)
    settings = {"copies": "count", "provenance": "source", "manifest": "recorded"}
    write_run(tmp_path / "outputs", "z", {**abstention("z"), "research": settings, **settings})
    (tmp_path / "outputs" / "protocol.yaml").write_text("research: {copies: count}")
    assert counts(judged(tmp_path), "abstention_accuracy") == (2, 5)
