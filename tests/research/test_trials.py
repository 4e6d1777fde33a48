"""Trials: every query owes the same number, equal runs are one, and nobody picks the best."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate.cli.main import goldgate
from goldgate.core.evaluation import Evaluation
from goldgate.errors import ConfigError
from goldgate.report import render
from goldgate.suites.research.report import recount_report
from tests.cases import error_from

from .judged import broken, codes, counts, finding, judged, judged_run, run_entry, unbalanced
from .trees import abstention, claim, event, evidence, manifest, output, query, write_golden, write_run

INSUFFICIENT = query("Who owned the ships?", (), False)
OTHER = query("What did the mayor do?", ("e1", "e2"))


def say(run_id: str, statement: str, **more: Any) -> dict[str, Any]:
    """A run with a statement of its own."""
    return output(run_id, claims=[{**claim(), "statement": statement}], **more)


def test_a_trial_that_is_owed_and_not_there_counts_as_failed(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), OTHER, INSUFFICIENT)
    for number, words in enumerate(("It froze.", "Ice came.", "There was ice.")):
        write_run(tmp_path / "outputs", f"a{number}", say(f"a{number}", words))
    both = [evidence("e1"), evidence("e2", "c2", "eleven days")]
    write_run(tmp_path / "outputs", "b", output("b", objective=OTHER["objective"], evidence=both))
    write_run(tmp_path / "outputs", "c", abstention("c"))
    evaluation = judged(tmp_path)
    assert counts(evaluation, "golden_recall") == (3 + 2, 3 + 6)  # three trials of one id, three owed of two
    assert counts(evaluation, "abstention_accuracy") == (1, 3)
    assert counts(evaluation, "run_completion_rate") == (5, 9)
    assert counts(evaluation, "evidence_coverage_rate") == (4, 4)  # a trial that is not there has no claims
    assert evaluation.report["conservation"]["trials"] == {"total": 9, "runs": 5, "missing": 4}
    said = [entry["message"] for entry in evaluation.report["findings"] if entry["code"] == "too_few_trials"]
    assert said == [
        f"the query {OTHER['objective']!r} has 1 of the 3 trials that every query owes: 2 count as failed",
        "the query 'Who owned the ships?' has 1 of the 3 trials that every query owes: 2 count as failed",
    ]
    shown = evaluation.report["queries"]
    assert [entry["owed_trials"] for entry in shown] == [3, 3, 3]
    assert shown[1]["recall"]["best"]["value"] == 1.0
    assert shown[1]["recall"]["worst"]["value"] == 0.0
    assert shown[1]["recall"]["mean"] == {"value": 1 / 3, "averaged": 3, "undefined": 0}
    assert shown[2]["abstention"]["mean"]["value"] == 1 / 3
    assert not list(unbalanced(evaluation))


def test_the_protocol_may_say_how_many_trials_there_must_be(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    write_run(tmp_path / "outputs", "a", output("a"))
    write_run(tmp_path / "outputs", "b", abstention("b"))
    assert counts(judged(tmp_path, "research: {trials: 1}"), "golden_recall") == (1, 1)
    three = judged(tmp_path, "research: {trials: 3}")
    assert counts(three, "golden_recall") == (1, 3)
    assert counts(three, "abstention_accuracy") == (1, 3)
    assert "|trials:3|" in three.report["signature"]
    assert not three.passed


def test_a_surplus_fails_until_it_is_taken_away(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    write_run(tmp_path / "outputs", "a", output("a"))
    write_run(tmp_path / "outputs", "bad", say("bad", "Nothing.", evidence=[]))
    write_run(tmp_path / "outputs", "c", abstention("c"))
    evaluation = judged(tmp_path, "research: {trials: 1}")
    assert broken(evaluation) == {"a": "too_many_trials", "bad": "too_many_trials"}  # nobody picks the best
    assert counts(evaluation, "golden_recall") == (0, 2)
    said = [entry["message"] for entry in evaluation.report["findings"] if entry["code"] == "too_many_trials"]
    assert len(said) == 2
    assert "has 2 trials, and research.trials is 1" in said[0]
    assert judged(tmp_path, "research: {trials: 2}").report["status"] == "FAIL"


@pytest.mark.parametrize("trials", ["0", "-1", "1.5", "100000", "two", "true"])
def test_a_number_of_trials_that_is_none(tmp_path: Path, trials: str) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs")
    assert error_from(ConfigError, judged, tmp_path, f"research: {{trials: {trials}}}").place.field == "research.trials"


def test_clones_are_one_run(tmp_path: Path) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs", "a", output("a"))
    write_run(tmp_path / "outputs", "b", output("b", seed=17, finished_at="2024-01-01T00:00:00Z"))
    evaluation = judged(tmp_path)
    assert counts(evaluation, "golden_recall") == (1, 1)
    assert finding(evaluation, "cloned_run")["file"] == "b"
    assert evaluation.report["conservation"]["directories"] == {"total": 2, "runs": 1, "ignored": 1}
    assert [entry["path"] for entry in evaluation.report["ignored"]] == ["b/"]


@pytest.mark.parametrize(
    "change",
    [
        {"claims": [{**claim(), "statement": "Another statement."}]},
        {"claims": [claim(), claim("k2")]},
        {"claims": [claim(status="candidate")]},
        {"evidence": [evidence(quote="The harbour")]},
        {"stop_reason": "BUDGET_EXCEEDED"},
    ],
)
def test_runs_that_differ_in_what_is_judged_are_two(tmp_path: Path, change: dict[str, Any]) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs", "a", output("a"))
    write_run(tmp_path / "outputs", "b", output("b", **change))
    evaluation = judged(tmp_path)
    assert evaluation.report["conservation"]["runs"]["total"] == 2
    assert "cloned_run" not in codes(evaluation)


def test_the_same_answer_by_another_way_is_another_run_and_pointed_out(tmp_path: Path) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs", "a", output("a"))
    write_run(
        tmp_path / "outputs", "b", output("b"), manifests=[manifest(1, "b", retrieval_query="x"), manifest(2, "b")]
    )
    evaluation = judged(tmp_path)
    assert evaluation.report["conservation"]["runs"]["total"] == 2
    assert finding(evaluation, "alike_runs")["file"] == "b/research_output.json"


def test_abstentions_differ_by_what_they_recorded(tmp_path: Path) -> None:
    write_golden(tmp_path, INSUFFICIENT)
    for name, thought in (("a", "No owner is named."), ("b", "The annals are silent."), ("c", "no owner is  named")):
        log = [event(1, name, thought=thought, at="2024"), event(2, name)]
        write_run(tmp_path / "outputs", name, abstention(name), events=log)
    evaluation = judged(tmp_path)
    assert [run["run"] for run in evaluation.report["runs"]] == ["a", "b"]  # c is a, but for its time


def test_a_run_that_failed_does_not_vanish_as_a_copy_of_one_that_did_not(tmp_path: Path) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs", "a", output("a"))
    log = [event(step, "b") for step in (1, 2, 3)]  # and no manifest of step 3
    write_run(tmp_path / "outputs", "b", output("b"), events=log)
    torn = write_run(tmp_path / "outputs", "c", output("c"))
    with (torn / "events.jsonl").open("a") as stream:
        stream.write('{"run_id": "c", "st')
    evaluation = judged(tmp_path)
    assert counts(evaluation, "manifest_integrity") == (6, 8)
    assert "cloned_run" not in codes(evaluation)


def test_a_broken_run_is_never_merged(tmp_path: Path) -> None:
    write_golden(tmp_path)
    for name in ("a", "b"):
        write_run(tmp_path / "outputs", name, output(name, stop_reason="DONE"))
    assert counts(judged(tmp_path), "evidence_coverage_rate") == (0, 2)


def test_a_few_runs_that_carry_the_gate_are_pointed_out(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), OTHER)
    many = [{**claim(f"k{k}"), "statement": "xy"[k % 2] * k} for k in range(100)]
    write_run(tmp_path / "outputs", "a", output("a", claims=many))
    write_run(tmp_path / "outputs", "b", output("b", objective=OTHER["objective"], claims=[claim(ids=())]))
    evaluation = judged(tmp_path)
    assert evaluation.report["gates"][0]["verdict"] == "PASS"
    assert "is 0.9901 over all verified claims, and 0.5000 on" in finding(evaluation, "uneven_runs")["message"]
    assert "uneven_runs" in [entry["code"] for entry in evaluation.report["stands_out"]]


def test_a_run_that_lies_deeper_is_named_and_not_judged(tmp_path: Path) -> None:
    write_golden(tmp_path)
    outputs = tmp_path / "outputs"
    write_run(outputs, "a", output("a"))
    write_run(outputs / "deep" / "er", "b", output("b", claims=[claim(ids=())]))
    write_run(outputs / "a" / "old", "c", output("c", claims=[claim(ids=())]))
    evaluation = judged(tmp_path)
    assert {entry["path"]: entry["reason"] for entry in evaluation.report["ignored"]} == {
        "a/old": "a run lies deeper: a/old/c",
        "deep/": "a run lies deeper: deep/er/b",
    }
    (remark,) = (entry for entry in evaluation.report["stands_out"] if entry["code"] == "deeper_runs")
    assert remark["message"] == "a run lies deeper: a/old/c, and 1 more: it is not judged"


def test_runs_of_no_query_cannot_carry_a_gate(tmp_path: Path) -> None:
    write_golden(tmp_path, query())
    write_run(tmp_path / "outputs", "a", output("a", claims=[claim(), claim("k2", ())]))
    claims = [{**claim(f"k{k}"), "statement": "xy"[k % 2] * k} for k in range(100)]
    write_run(tmp_path / "outputs", "b", output("b", objective="Anything?", claims=claims))
    evaluation = judged(tmp_path)
    gate = evaluation.report["gates"][0]
    assert (gate["measured"]["numerator"], gate["measured"]["denominator"]) == (1, 2)  # the value that decides
    assert counts(evaluation, "evidence_coverage_rate") == (1, 2)
    assert gate["verdict"] == "FAIL"
    other = "without runs that match no query; with runs that match no query it is 101/102"
    assert gate["reason"] == f"1/2 is not ≥ 0.95 {other}"
    for format in ("text", "markdown", "html", "junit"):
        text = " ".join(render(evaluation, format).split())
        assert "101/102" in text, format
        assert "0.5000" in text, format
    assert recount_report(evaluation.report).rates["evidence_coverage_rate"] == (1, 2)


@pytest.mark.parametrize("bad", [True, False])
def test_runs_of_no_query_count_where_that_is_worse(tmp_path: Path, bad: bool) -> None:
    """Queries 2/2, and with a run of none 2/4 where it is bad and 4/4 where it is good."""
    write_golden(tmp_path, query(), INSUFFICIENT)
    write_run(tmp_path / "outputs", "a", output("a", claims=[claim(), claim("k2")]))
    write_run(tmp_path / "outputs", "n", abstention("n"))
    cited = () if bad else ("e1",)
    write_run(
        tmp_path / "outputs", "b", output("b", objective="Anything?", claims=[claim("k1", cited), claim("k3", cited)])
    )
    evaluation = judged(tmp_path)
    assert counts(evaluation, "evidence_coverage_rate") == ((2, 4) if bad else (4, 4))  # alike: with all runs
    reason = "2/4 is not ≥ 0.95 with runs that match no query; without runs that match no query it is 2/2"
    assert evaluation.report["gates"][0]["reason"] == (reason if bad else "4/4 is ≥ 0.95")
    assert ("worse_reading" in codes(evaluation)) == bad


def test_where_only_runs_of_no_query_have_claims_there_is_no_coverage(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    write_run(tmp_path / "outputs", "a", output("a", claims=[]))
    write_run(tmp_path / "outputs", "n", abstention("n"))
    write_run(tmp_path / "outputs", "b", output("b", objective="Anything?"))
    evaluation = judged(tmp_path)
    assert evaluation.report["metrics"]["main"]["evidence_coverage_rate"]["value"] is None
    gate = evaluation.report["gates"][0]
    assert gate["verdict"] == "FAIL"
    assert gate["reason"].endswith("without runs that match no query; with runs that match no query it is 1/1")
    assert recount_report(evaluation.report).rates["evidence_coverage_rate"] == (0, 0)
    lenient = judged(tmp_path, "gates: {evidence_coverage_rate: {min: 0.95, on_not_evaluable: pass}}")
    assert lenient.report["gates"][0]["verdict"] == "PASS"  # 1/1 passes as well


def test_the_worst_of_four_readings_decides_and_the_best_stands_beside_it(tmp_path: Path) -> None:
    """Claims 1/2 in a run with a copy, 2/2 in another, 2/2 of no query: 3/4, 4/6, 5/6, 6/8; the worst is 4/6."""
    write_golden(tmp_path, query())
    for name in ("a", "copy"):
        write_run(tmp_path / "outputs", name, output(name, claims=[claim(), claim("k2", ())]))
    different = [claim("k1"), {**claim("k2"), "statement": "Ships waited."}]
    write_run(tmp_path / "outputs", "c", output("c", claims=different))
    write_run(tmp_path / "outputs", "x", output("x", objective="Anything?", claims=different))
    evaluation = judged(tmp_path)
    words = "with every copy counted and without runs that match no query; "
    words += "with copies merged and with runs that match no query it is 5/6"
    assert evaluation.report["gates"][0]["reason"] == f"4/6 is not ≥ 0.95 {words}"
    assert recount_report(evaluation.report).rates["evidence_coverage_rate"] == (4, 6)


def test_claims_that_state_the_same_are_pointed_out(tmp_path: Path) -> None:
    write_golden(tmp_path)
    claims = [{**claim(f"k{k}"), "statement": f"See evidence no. {k}!"} for k in range(20)]
    write_run(tmp_path / "outputs", out=output(claims=claims))
    evaluation = judged(tmp_path)
    assert "20 of 20 verified claims" in finding(evaluation, "repeated_statement")["message"]
    (remark,) = (entry for entry in evaluation.report["stands_out"] if entry["code"] == "repeated_statement")
    assert "20 of 20 verified claims state the same" in remark["message"]


@pytest.mark.parametrize(
    ("claims", "rate", "code"),
    [
        ([claim(), claim()], (1, 1), "repeated_claim"),
        ([claim(), claim(), claim(ids=())], (0, 3), "conflicting_claim"),
        ([claim(), claim(status="candidate")], (0, 2), "conflicting_claim"),
        ([claim(status="candidate"), claim(status="retracted")], (0, 0), "conflicting_claim"),
        ([claim(), {**claim(), "statement": "Other."}], (0, 2), "conflicting_claim"),
        ([{**claim(), "claim_id": ""}], (0, 1), "claim_not_covered"),
        ([{**claim(), "claim_id": None}], (0, 1), "claim_not_covered"),
    ],
)
def test_one_claim_id_is_one_claim(tmp_path: Path, claims: list[Any], rate: tuple[int, int], code: str) -> None:
    evaluation = judged_run(tmp_path, out=output(claims=claims))
    assert counts(evaluation, "evidence_coverage_rate") == rate
    assert code in codes(evaluation)
    assert not list(unbalanced(evaluation))
    assert run_entry(evaluation, "run_r1")["status"] == "evaluated"


WORDS = ("one", "two", "three", "four", "five")


def write_ten_queries(
    folder: Path, trials: int = 5, *, equal: bool = True, bad_trials: int = 5, copies: int = 0
) -> None:
    """Ten queries: eight with ten covered claims a run, one with twenty uncovered ones, and one to abstain from.

    The trials of the bad query are equal or not; all others differ, and each has so many copies.
    """
    questions = [query(f"Winter {number}?") for number in range(9)]
    write_golden(folder, *questions, INSUFFICIENT)
    for trial in range(max(trials, bad_trials)):
        for number in range(10 if trial < trials else 0):
            for copy in range(copies + 1):
                run_id = f"q{number}-{trial}-{copy}"
                if number == 9:
                    log = [event(1, run_id, thought=WORDS[trial]), event(2, run_id)]
                    write_run(folder / "outputs", run_id, abstention(run_id), events=log)
                elif number:
                    claims = [{**claim(f"k{k}"), "statement": f"{WORDS[trial]} {k}"} for k in range(10)]
                    found = {"objective": f"Winter {number}?", "claims": claims}
                    write_run(folder / "outputs", run_id, output(run_id, **found))
        if trial < bad_trials:
            run_id, words = f"bad{trial}", WORDS[0] if equal else WORDS[trial]
            claims = [{**claim(f"k{k}", ()), "statement": f"{words} {k}"} for k in range(20)]
            write_run(folder / "outputs", run_id, output(run_id, objective="Winter 0?", claims=claims))


def verdicts(evaluation: Evaluation) -> dict[str, str]:
    return {gate["metric"]: gate["verdict"] for gate in evaluation.report["gates"]}


@pytest.mark.parametrize("protocol", [None, "research: {trials: 5}"])
def test_equal_runs_that_fail_cost_as_much_as_different_ones(tmp_path: Path, protocol: str | None) -> None:
    for name, equal in (("different", False), ("equal", True)):
        (tmp_path / name).mkdir()
        write_ten_queries(tmp_path / name, equal=equal)
        evaluation = judged(tmp_path / name, protocol)
        # 8 queries x 5 trials x 10 claims are covered, 1 x 5 x 20 are not
        assert counts(evaluation, "evidence_coverage_rate") == (400, 500), name
        assert verdicts(evaluation)["evidence_coverage_rate"] == "FAIL", name
        assert evaluation.report["status"] == "FAIL", name
        assert not list(unbalanced(evaluation)), name
    assert counts(evaluation, "golden_recall") == (41, 45)  # copies are not the trials that are owed
    assert run_entry(evaluation, "bad0")["copies"] == 4
    (gate,) = (gate for gate in evaluation.report["gates"] if gate["metric"] == "evidence_coverage_rate")
    assert gate["reason"] == "400/500 is not \u2265 0.95 with every copy counted; with copies merged it is 400/420"
    messages = [entry["message"] for entry in evaluation.report["findings"] if entry["code"] == "worse_reading"]
    assert messages[0] == (
        "evidence_coverage_rate is 400/500 with every copy counted; with copies merged it is 400/420: the worse counts"
    )
    (remark,) = (entry for entry in evaluation.report["stands_out"] if entry["code"] == "worse_reading")
    assert remark["counts"] == {"metrics": 4}  # two are worse merged: the bad runs have their query to themselves


def test_honest_runs_that_are_equal_still_pass(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    for number in range(5):
        write_run(tmp_path / "outputs", f"a{number}", output(f"a{number}"))
        write_run(tmp_path / "outputs", f"n{number}", abstention(f"n{number}"))
    evaluation = judged(tmp_path)
    assert evaluation.passed
    assert counts(evaluation, "golden_recall") == (1, 1)  # of two readings that are alike the one with fewer runs
    assert evaluation.report["metrics"]["main"]["golden_recall"]["interval"]["units"] == 1
    assert "worse_reading" not in codes(evaluation)


def test_copies_do_not_stand_for_trials_that_are_missing(tmp_path: Path) -> None:
    """What is missing counts as failed where copies are trials, and where they are not."""
    write_golden(tmp_path, query(), query("Winter 1?"), INSUFFICIENT)
    write_run(tmp_path / "outputs", "b", output("b", objective="Winter 1?"))
    for number in range(5):
        write_run(tmp_path / "outputs", f"a{number}", output(f"a{number}"))
        write_run(tmp_path / "outputs", f"n{number}", abstention(f"n{number}"))
    evaluation = judged(tmp_path)
    assert counts(evaluation, "golden_recall") == (6, 10)  # merged 2/2
    assert counts(evaluation, "run_completion_rate") == (11, 15)
    assert "has 1 of the 5 trials" in finding(evaluation, "too_few_trials")["message"]
    for number in range(4):  # and copies of the trial that is there do not fill up
        write_run(tmp_path / "outputs", f"b{number}", output(f"b{number}", objective="Winter 1?"))
    assert judged(tmp_path).passed
    write_run(tmp_path / "outputs", "a5", say("a5", "Another."))
    assert counts(judged(tmp_path), "golden_recall") == (3, 4)


def test_a_surplus_of_copies_fails_where_the_number_of_trials_is_set(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    for name in ("a", "copy"):
        write_run(tmp_path / "outputs", name, output(name))
    write_run(tmp_path / "outputs", "n", abstention("n"))
    evaluation = judged(tmp_path, "research: {trials: 1}")
    assert broken(evaluation) == {"a": "too_many_trials"}
    assert (
        "has 2 trials (1 of them a copy), and research.trials is 1" in finding(evaluation, "too_many_trials")["message"]
    )


@pytest.mark.parametrize("copies", [0, 4])
def test_more_runs_of_easy_queries_do_not_raise_coverage(tmp_path: Path, copies: int) -> None:
    """Copies of good runs dilute where every copy counts, and copies of bad ones vanish where they are merged."""
    write_ten_queries(tmp_path, copies=copies, bad_trials=5 if copies else 1)
    evaluation = judged(tmp_path)
    passed = {name for name, verdict in verdicts(evaluation).items() if verdict == "PASS"}
    assert passed == {"golden_recall", "abstention_accuracy", "manifest_integrity"}
    (gate,) = (gate for gate in evaluation.report["gates"] if gate["verdict"] == "FAIL")
    assert gate["reason"].startswith(
        "4/5 is not \u2265 0.95 with the same weight for every query; with the same for every"
    )
    assert gate["measured"]["value"] == 0.8  # the value that decides
    inputs = ["--golden", tmp_path / "golden.json", "--outputs", tmp_path / "outputs", "--out", tmp_path / "stored"]
    assert CliRunner().invoke(goldgate, ["research", *map(str, inputs)]).exit_code == 1
    for command in (("trend",), ("verify", "--records"), ("verify",)):  # nobody edited it
        done = CliRunner().invoke(goldgate, [command[0], str(tmp_path / "stored"), *command[1:]])
        assert done.exit_code == 0, done.output


def test_the_worse_reading_is_taken_metric_by_metric(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Winter 1?"))
    for number in range(3):  # covered, and the required id is not found
        bad = output(f"a{number}", evidence=[evidence("e9")], claims=[claim(ids=("e9",))])
        write_run(tmp_path / "outputs", f"a{number}", bad)
        good = output(f"b{number}", objective="Winter 1?", claims=[claim(), claim("k2", ())])
        write_run(tmp_path / "outputs", f"b{number}", good)
    write_run(tmp_path / "outputs", "c", say("c", "Ice.", objective="Winter 1?"))
    write_run(tmp_path / "outputs", "d", say("d", "Frost."))
    evaluation = judged(tmp_path)
    # a: 1/1 claims, 0/1 ids; b: 1/2 claims, 1/1 ids; c, d: 1/1 and 1/1. Merged 4/5 and 3/4, with copies 8/11 and 5/8.
    assert counts(evaluation, "evidence_coverage_rate") == (8, 11)
    assert counts(evaluation, "golden_recall") == (5, 8)
    assert evaluation.report["metrics"]["main"]["golden_recall"]["interval"]["units"] == 4
    # ledgers: every run files one record, and a's is not required: merged 3/4, with copies 5/8
    assert counts(evaluation, "ledger_precision") == (5, 8)
    assert counts(evaluation, "uncited_evidence_rate") == (0, 4)


def test_stored_results_with_copies_add_up(tmp_path: Path) -> None:
    write_ten_queries(tmp_path)
    outputs = ("--golden", str(tmp_path / "golden.json"), "--outputs", str(tmp_path / "outputs"))
    run = CliRunner().invoke(goldgate, ["research", *outputs, "--out", str(tmp_path / "out"), "--quiet"])
    assert run.exit_code == 1, run.output
    for command in (
        ["verify", str(tmp_path / "out"), "--records"],
        ["verify", str(tmp_path / "out")],
        ["power", str(tmp_path / "out"), "--detect", "0.1"],
        ["baseline", str(tmp_path / "out"), "--out", str(tmp_path / "base")],
        ["compare", str(tmp_path / "out"), str(tmp_path / "out")],
        ["trend", str(tmp_path / "out"), str(tmp_path / "out")],
    ):
        result = CliRunner().invoke(goldgate, command)
        assert result.exit_code == 0, (command, result.output)
    record = json.loads((tmp_path / "base" / "baseline.json").read_text())
    assert record["metrics"]["evidence_coverage_rate"]["by_report"] == ["400/500"]


RATES = ("evidence_coverage_rate", "golden_recall", "abstention_accuracy", "manifest_integrity")


@pytest.mark.parametrize("seed", range(12))
def test_equal_runs_never_fare_better_than_different_ones(tmp_path: Path, seed: int) -> None:
    """Trees of random runs: once their statements differ, once those with the same counts are copies of each other."""
    choose = Random(seed)
    kinds = [[choose.randrange(4) for _ in range(choose.choice((1, 3, 3, 5)))] for _ in range(4)]
    evaluations = []
    for folder in (tmp_path / "different", tmp_path / "equal"):
        folder.mkdir()
        write_golden(folder, *(query(f"Winter {number}?") for number in range(3)), INSUFFICIENT)
        for number, trials in enumerate(kinds):
            for trial, kind in enumerate(trials):
                run_id, words = f"r{number}-{trial}", "same" if folder.name == "equal" else WORDS[trial]
                objective = f"Winter {number}?" if number < 3 else INSUFFICIENT["objective"]
                claims = [
                    {**claim(f"k{k}", () if k < kind else ("e1",)), "statement": f"{words} {k}"} for k in range(3)
                ]
                filed = [evidence("e9" if kind == 2 else "e1")]
                manifests = [manifest(step, run_id, retrieval_query=words) for step in (1, 2)][: 2 if kind < 3 else 1]
                out = output(run_id, objective=objective, claims=claims, evidence=filed)
                if number == 3 and kind < 3:
                    out = abstention(run_id)
                write_run(folder / "outputs", run_id, out, manifests=manifests)
        evaluations.append(judged(folder))
    different, equal = evaluations
    for rate in RATES:
        (hits, of), (hits_if_equal, of_if_equal) = counts(different, rate), counts(equal, rate)
        assert hits_if_equal * of <= hits * of_if_equal, rate
        if verdicts(equal)[rate] == "PASS":
            assert verdicts(different)[rate] == "PASS", rate
    for evaluation in evaluations:
        assert not list(unbalanced(evaluation))
        assert recount_report(evaluation.report).rates == {rate: counts(evaluation, rate) for rate in RATES}
