"""The four metrics and the companions, each number worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldgate.runs.baseline import make_baseline
from goldgate.suites.research.suite import SUITE

from .judged import codes, counts, finding, judged, judged_run
from .trees import claim, event, evidence, lines, manifest, output, query, write_golden, write_run

INSUFFICIENT = query("Who owned the ships?", (), False)


@pytest.mark.parametrize(
    ("status", "rate"),
    [
        ("verified", (0, 1)),
        (" Verified ", (0, 1)),
        ("VERIFIED", (0, 1)),
        ("candidate", (0, 0)),
        ("retracted", (0, 0)),
        ("verifed", (0, 1)),  # what cannot be read does not leave the denominator
        (None, (0, 1)),
        (1, (0, 1)),
    ],
)
def test_only_a_status_that_says_so_moves_a_claim_out(tmp_path: Path, status: Any, rate: tuple[int, int]) -> None:
    assert (
        counts(judged_run(tmp_path, out=output(claims=[{**claim(ids=()), "status": status}])), "evidence_coverage_rate")
        == rate
    )


def test_coverage_by_hand(tmp_path: Path) -> None:
    write_golden(tmp_path)
    claims = [
        claim("k1", ("e1",)),  # covered
        claim("k2", ("bad", "e1")),  # covered: one valid record is enough
        claim("k3", ("bad",)),  # not: the quote is fabricated
        claim("k4", ()),  # not: it cites nothing
        claim("k5", ("e1",), "candidate"),  # not verified
    ]
    ledger = [evidence(), evidence("bad", quote="froze in 1872")]
    write_run(tmp_path / "outputs", out=output(claims=claims, evidence=ledger))
    assert counts(judged(tmp_path), "evidence_coverage_rate") == (2, 4)


@pytest.mark.parametrize("entry", [None, "claim", [], 4])
def test_a_claim_that_is_none_counts_as_verified_and_not_covered(tmp_path: Path, entry: Any) -> None:
    evaluation = judged_run(tmp_path, out=output(claims=[claim(), entry]))
    assert counts(evaluation, "evidence_coverage_rate") == (1, 2)
    assert evaluation.report["conservation"]["claims"]["unreadable"] == 1


def test_recall_wants_valid_records(tmp_path: Path) -> None:
    write_golden(tmp_path, query(ids=("e1", "e2", "e3")))
    ledger = [evidence("e1"), evidence("e2", quote="froze in 1872")]  # e2 is fabricated, e3 is not there
    write_run(tmp_path / "outputs", out=output(evidence=ledger))
    assert counts(judged(tmp_path), "golden_recall") == (1, 3)


@pytest.mark.parametrize(
    ("stop_reason", "claims", "right"),
    [
        ("NO_EVIDENCE", [], 1),
        ("NO_EVIDENCE", [claim(status="candidate")], 1),
        ("NO_EVIDENCE", [claim()], 0),
        ("NO_EVIDENCE", [claim(status="Verified ")], 0),
        ("BUDGET_EXCEEDED", [], 0),
        ("SYSTEM_ERROR", [], 0),
        ("HUMAN_REQUESTED", [], 0),
        ("OBJECTIVE_ACHIEVED", [], 0),
    ],
)
def test_what_is_an_abstention(tmp_path: Path, stop_reason: str, claims: list[Any], right: int) -> None:
    write_golden(tmp_path, INSUFFICIENT)
    out = output(objective="Who owned the ships?", stop_reason=stop_reason, claims=claims)
    write_run(tmp_path / "outputs", out=out)
    assert counts(judged(tmp_path), "abstention_accuracy") == (right, 1)


@pytest.mark.parametrize(
    ("steps", "manifests", "rate", "code"),
    [
        ([1, 2], [1, 2], (2, 2), None),
        ([0, 1], [0, 1], (2, 2), None),
        ([1, 2, 2, 1], [1, 2], (2, 2), None),
        ([1, 2], [1], (1, 2), "manifest_missing"),
        ([1, 4], [1, 4], (2, 4), "step_gap"),  # 2 and 3 were left out
        ([3], [3], (1, 3), "step_gap"),  # 1 and 2 were
        ([1, 3], [1, 2, 3], (2, 3), "orphan_manifest"),  # a gap is no step that was shown
        ([1], [1, 2], (1, 1), "orphan_manifest"),
        ([], [1, 2], (0, 1), "no_steps"),
    ],
)
def test_steps_are_what_the_log_shows(
    tmp_path: Path, steps: list[int], manifests: list[int], rate: tuple[int, int], code: str | None
) -> None:
    write_golden(tmp_path)
    log = [event(None, objective="When did the harbour freeze?"), *(event(step) for step in steps)]
    write_run(tmp_path / "outputs", events=log, manifests=[manifest(step) for step in manifests])
    evaluation = judged(tmp_path)
    assert counts(evaluation, "manifest_integrity") == rate
    assert code is None or code in codes(evaluation)


def test_the_output_can_only_add_steps(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, out=output(steps=[1, {"step_id": 3}]))
    assert counts(evaluation, "manifest_integrity") == (2, 3)
    assert finding(evaluation, "unlogged_step")["pointer"] == "/steps/1"


@pytest.mark.parametrize(
    ("manifests", "rate"),
    [
        ([manifest(1), manifest(1), manifest(2)], (2, 2)),  # equal copies are one
        ([manifest(1), manifest(1, retrieval_query="other"), manifest(2)], (1, 2)),  # conflicting ones are none
        ([manifest(1), manifest(2, run_id="r9")], (1, 2)),  # of another run
        ([manifest(1), {"run_id": "r1", "step_id": 2}], (1, 2)),  # without the fields
        ([manifest(1), manifest(2, retrieval_query=None)], (1, 2)),
        ([manifest(1), manifest(2, selected_chunk_ids="c1")], (1, 2)),
        ([manifest(1), manifest(2, note="whatever more the agent records")], (2, 2)),
    ],
)
def test_a_step_has_a_manifest_when_exactly_one_is_stored(
    tmp_path: Path, manifests: list[Any], rate: tuple[int, int]
) -> None:
    assert counts(judged_run(tmp_path, manifests=manifests), "manifest_integrity") == rate


def test_manifests_may_be_files_of_their_own(tmp_path: Path) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs", manifests=[manifest(1)])
    (run / "manifests").mkdir()
    (run / "manifests" / "step-1.json").write_text(json.dumps(manifest(1)))
    (run / "manifests" / "step-2.json").write_text(json.dumps(manifest(2), indent=2))
    assert counts(judged(tmp_path), "manifest_integrity") == (2, 2)


@pytest.mark.parametrize("lowered", [False, True])
def test_with_a_torn_log_the_gate_cannot_pass(tmp_path: Path, lowered: bool) -> None:
    write_golden(tmp_path)
    log = lines(*(event(step) for step in range(1, 31)))
    many = [manifest(step) for step in range(1, 31)]
    write_run(tmp_path / "outputs", events=log + '{"run_id": "r1", "step_', manifests=many)
    protocol = None
    if lowered:
        without = tmp_path / "without"
        without.mkdir()
        write_golden(without)
        write_run(without / "outputs", events=[event(step) for step in range(1, 31)], manifests=many[:20])
        (without / "report.json").write_text(judged(without).to_json())
        record = make_baseline([without / "report.json"], [SUITE])  # proposes 0.43 for 20 of 30
        (tmp_path / "baseline.json").write_text(json.dumps(record))
        protocol = "research: {baseline: baseline.json}\ngates: {manifest_integrity: {min: 0.5}}"
    evaluation = judged(tmp_path, protocol)
    gate = next(gate for gate in evaluation.report["gates"] if gate["metric"] == "manifest_integrity")
    assert finding(evaluation, "torn_log")["line"] == 31
    assert counts(evaluation, "manifest_integrity") == (30, 31)
    assert gate["verdict"] == "FAIL"
    assert "torn" in gate["reason"]


def test_a_last_line_without_an_end_that_is_whole_is_not_torn(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, events=lines(event(1), event(2)).rstrip("\n"))
    assert counts(evaluation, "manifest_integrity") == (2, 2)
    assert "torn_log" not in codes(evaluation)


def test_a_missing_or_damaged_log_costs_at_least_one_step(tmp_path: Path) -> None:
    write_golden(tmp_path)
    (write_run(tmp_path / "outputs", "a") / "events.jsonl").unlink()
    log = lines(event(1)) + "nonsense\n" + lines(event(2), {"run_id": "r2", "event_type": "x", "payload": {}})
    write_run(tmp_path / "outputs", "b", output("r2"), events=log.replace('"r1"', '"r2"'))
    evaluation = judged(tmp_path)
    assert {"log_missing", "bad_event", "orphan_manifest"} <= codes(evaluation)
    assert counts(evaluation, "manifest_integrity") == (2, 4)  # a: 0 of 1; b: 2 of 3


def test_an_event_of_another_run_still_shows_a_step(tmp_path: Path) -> None:
    write_golden(tmp_path)
    log = [event(1), event(2), event(3, run_id="r9", stop_reason="NO_EVIDENCE")]
    write_run(tmp_path / "outputs", events=log)
    evaluation = judged(tmp_path)
    assert counts(evaluation, "manifest_integrity") == (2, 3)
    assert evaluation.report["runs"][0]["stop_reason"] == "OBJECTIVE_ACHIEVED"


@pytest.mark.parametrize(("status", "uncited"), [("candidate", 6), ("retracted", 6), ("verified", 0)])
def test_only_verified_claims_cite(tmp_path: Path, status: str, uncited: int) -> None:
    """Seven records: a verified claim cites the first, another claim all of them."""
    write_golden(tmp_path)
    ledger = [evidence(f"e{number}") for number in range(1, 8)]
    claims = [claim(), claim("k2", tuple(f"e{number}" for number in range(1, 8)), status)]
    write_run(tmp_path / "outputs", out=output(claims=claims, evidence=ledger))
    assert counts(judged(tmp_path), "uncited_evidence_rate") == (uncited, 7)


def test_a_broken_run_of_an_unknown_query_may_be_the_missing_one(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Other?", ("x",)))
    write_run(tmp_path / "outputs")
    run = write_run(tmp_path / "outputs", "b", output("r2"), events=[event(1, "r2"), event(2, "r2")])
    (run / "research_output.json").write_text("{")
    assert counts(judged(tmp_path), "run_completion_rate") == (1, 2)  # one query without a run, and not two
