"""Where log and output contradict each other, the reading that is worse for the run counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from .judged import broken, codes, counts, judged, judged_run, run_entry
from .trees import claim, event, output, query, write_golden, write_run

INSUFFICIENT = query("Who owned the ships?", (), False)


@pytest.mark.parametrize(
    ("stated", "logged", "counted"),
    [
        ("verified", [], "verified"),
        ("verified", ["candidate"], "verified"),
        ("verified", ["retracted"], "verified"),
        ("verified", ["verified", "retracted"], "verified"),
        ("candidate", ["verified"], "verified"),
        ("retracted", ["verified"], "verified"),
        ("retracted", ["Verified "], "verified"),
        ("retracted", ["verified", "retracted"], "retracted"),  # both end with it
        ("retracted", ["candidate"], "candidate"),
        ("retracted", [], "retracted"),
        ("candidate", ["verified", "candidate"], "candidate"),
        ("candidate", ["verified", "withdrawn"], "verified"),  # a word of the agent's own changes nothing
    ],
)
def test_a_claims_status(tmp_path: Path, stated: str, logged: list[str], counted: str) -> None:
    write_golden(tmp_path)
    log = [event(1), event(2), *(event(2, claim_id="k1", status=status) for status in logged)]
    write_run(tmp_path / "outputs", out=output(claims=[claim(status=stated)]), events=log)
    balance = judged(tmp_path).report["conservation"]["claims"]
    assert {name for name in ("verified", "candidate", "retracted") if balance[name]} == {counted}


@pytest.mark.parametrize(
    ("stated", "logged", "right"),
    [
        ("NO_EVIDENCE", [], 1),
        ("NO_EVIDENCE", ["NO_EVIDENCE"], 1),
        ("NO_EVIDENCE", ["end_turn", "no_evidence"], 1),
        ("NO_EVIDENCE", ["BUDGET_EXCEEDED"], 0),
        ("NO_EVIDENCE", ["budget exceeded"], 0),
        ("OBJECTIVE_ACHIEVED", ["NO_EVIDENCE"], 0),
        ("BUDGET_EXCEEDED", ["NO_EVIDENCE"], 0),
        ("NO_EVIDENCE", ["BUDGET_EXCEEDED", "NO_EVIDENCE"], 0),  # the log contradicts itself: the worse counts
        ("NO_EVIDENCE", ["NO_EVIDENCE", "Budget-Exceeded", "NO_EVIDENCE", "no_evidence"], 0),
    ],
)
def test_a_run_abstained_only_if_both_say_so(tmp_path: Path, stated: str, logged: list[str], right: int) -> None:
    write_golden(tmp_path, INSUFFICIENT)
    out = output(objective="Who owned the ships?", stop_reason=stated, claims=[])
    log = [event(1), event(2), *(event(None, stop_reason=reason) for reason in logged)]
    write_run(tmp_path / "outputs", out=out, events=log)
    assert counts(judged(tmp_path), "abstention_accuracy") == (right, 1)


@pytest.mark.parametrize("order", [1, -1])
def test_two_stop_reasons_in_one_log_are_listed_and_the_worse_counts(tmp_path: Path, order: int) -> None:
    write_golden(tmp_path)
    ends = [event(None, stop_reason=reason) for reason in ("NO_EVIDENCE", "OBJECTIVE_ACHIEVED")][::order]
    write_run(tmp_path / "outputs", events=[event(1), event(2), *ends])
    evaluation = judged(tmp_path)
    assert counts(evaluation, "false_abstention_rate") == (1, 1)
    message = next(f["message"] for f in evaluation.report["findings"] if f["code"] == "contradiction")
    assert message.startswith("the log says 'OBJECTIVE" if order < 0 else "the log says 'NO_EVIDENCE")


def test_where_there_is_evidence_abstaining_is_the_worse_reading(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, events=[event(1), event(2), event(None, stop_reason="NO_EVIDENCE")])
    assert counts(evaluation, "false_abstention_rate") == (1, 1)
    assert {"contradiction", "false_abstention"} <= codes(evaluation)


@pytest.mark.parametrize("kept", ["", "{", None])
def test_what_the_log_shows_of_a_broken_run_is_uncovered(tmp_path: Path, kept: str | None) -> None:
    write_golden(tmp_path)
    log = [event(1), event(2)]
    log += [event(2, claim_id=f"k{k}", status=status) for k in range(3) for status in ("candidate", "verified")]
    log.append(event(2, claim_id="k2", status="retracted"))
    run = write_run(tmp_path / "outputs", events=log)
    path = run / "research_output.json"
    path.unlink()
    if kept is not None:
        path.write_text(kept)
    evaluation = judged(tmp_path)
    assert counts(evaluation, "evidence_coverage_rate") == (0, 2)
    assert run_entry(evaluation, "run_r1")["verified_claims"] == 2


def test_a_log_under_another_runs_name_is_still_this_runs_log(tmp_path: Path) -> None:
    write_golden(tmp_path, INSUFFICIENT)
    out = output("mine", objective="Who owned the ships?", stop_reason="NO_EVIDENCE", claims=[])
    log = [event(1, "other", claim_id="k1", status="verified"), event(None, "other", stop_reason="BUDGET_EXCEEDED")]
    write_run(tmp_path / "outputs", out=out, events=log)
    evaluation = judged(tmp_path)
    assert counts(evaluation, "abstention_accuracy") == (0, 1)
    assert counts(evaluation, "evidence_coverage_rate") == (0, 1)


def test_an_objective_that_only_the_output_shares_with_a_query_decides(tmp_path: Path) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs", "a", output("a"), events=[event(1, "a", objective="Not asked"), event(2, "a")])
    evaluation = judged(tmp_path)
    assert counts(evaluation, "golden_recall") == (1, 1)
    assert "contradiction" in codes(evaluation)


@pytest.mark.parametrize("first", [[], ["Not asked"]])
def test_an_objective_that_only_the_log_shares_with_a_query_is_a_failed_trial(tmp_path: Path, first: list[str]) -> None:
    """One line in a log must not turn a run of no query into one that answers it."""
    write_golden(tmp_path, query())
    log = [event(1, "a", objective=objective) for objective in (*first, "When did the harbour freeze?")]
    write_run(tmp_path / "outputs", "a", output("a", objective="Not asked"), events=[*log, event(2, "a")])
    evaluation = judged(tmp_path)
    assert run_entry(evaluation, "a")["query"] == 0
    assert broken(evaluation) == {"a": "conflicting_objective"}
    assert counts(evaluation, "golden_recall") == (0, 1)


def test_two_golden_objectives_break_a_run(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Other?", ("e1",)))
    write_run(tmp_path / "outputs", "a", output("a"), events=[event(1, "a", objective="Other?")])
    evaluation = judged(tmp_path)
    assert broken(evaluation) == {"a": "conflicting_objective"}
    assert counts(evaluation, "golden_recall") == (0, 2)
