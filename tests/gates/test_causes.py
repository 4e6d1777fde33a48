"""A gate that does not pass says where, in every output: run and query, or the worst samples with their lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate import evaluate_outputs
from goldgate.cli.main import goldgate
from goldgate.core.evaluation import Evaluation
from goldgate.report import render
from tests.gates.stored import write_lines
from tests.research.trees import abstention, claim, event, evidence, manifest, output, query, write_golden, write_run

GATES = ("evidence_coverage_rate", "golden_recall", "abstention_accuracy", "manifest_integrity")


def failing_runs(folder: Path) -> Path:
    """One run for each gate that it keeps from passing, and a query without a run."""
    asked = {"a": ("How?", ("e1",), True), "b": ("What?", ("e1", "gone-7"), True), "c": ("Who?", (), False)}
    write_golden(folder, *(query(*each) for each in asked.values()), query("Where?", ("e1",)))
    outputs = folder / "outputs"
    write_run(outputs, "run_a", output("a", objective="How?", claims=[claim(), claim("k2", ("e9",))]))
    write_run(outputs, "run_b", output("b", objective="What?"), manifests=[manifest(1, "b")])
    write_run(outputs, "run_c", {**abstention("c", "Who?"), "stop_reason": "BUDGET_EXCEEDED"})
    return outputs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("causes")
    failing_runs(folder)
    return folder


@pytest.fixture(scope="module")
def evaluation(folder: Path) -> Evaluation:
    return evaluate_outputs(folder / "golden.json", folder / "outputs", records=True)


CAUSES = {
    "evidence_coverage_rate": ["query 'How?': the claim k2 is verified and not covered: e9 is not in the ledger"],
    "golden_recall": [
        "query 'What?': gone-7 is required, and not in the ledger",
        "no run answers the query 'Where?': it counts as failed",
    ],
    "abstention_accuracy": [
        "query 'Who?': the evidence is not sufficient, and the run stops with BUDGET_EXCEEDED in place of NO_EVIDENCE"
    ],
    "manifest_integrity": ["query 'What?': no manifest of step 2"],
}


def test_everything_that_keeps_a_gate_from_passing_is_a_finding(evaluation: Evaluation) -> None:
    report = evaluation.report
    causes = {each["metric"]: each for each in report["causes"]}
    assert {name: [cause["message"] for cause in each["first"]] for name, each in causes.items()} == CAUSES
    assert all(cause in report["findings"] for each in causes.values() for cause in each["first"])
    assert [cause["file"].partition("/")[0] for name in GATES for cause in causes[name]["first"]] == (
        ["run_a", "run_b", "golden.json", "run_c", "run_b"]
    )


@pytest.mark.parametrize("format", ["text", "markdown", "html", "junit", "github", "json"])
def test_every_output_says_so(evaluation: Evaluation, format: str) -> None:
    text = render(evaluation, format)  # type: ignore[arg-type]  # a name of a format
    text = " ".join(text.replace("&#58;", ":").replace("\\_", "_").replace("\\-", "-").split())
    for missing in ("gone-7", "e9 is not in the ledger", "run_c", "BUDGET_EXCEEDED in place", "step 2"):
        assert missing in text, missing


def test_the_record_of_a_run_has_all_that_is_missing(evaluation: Evaluation) -> None:
    records = {record["run"]: record for record in evaluation.samples or ()}
    assert records["run_b"]["missing_ids"] == ["gone-7"]
    assert records["run_a"]["uncovered_claims"] == ["k2"]
    assert records["run_c"]["missing_ids"] == records["run_c"]["uncovered_claims"] == []


def test_quiet_is_a_line_for_each_failed_gate(folder: Path) -> None:
    command = ["research", "--golden", str(folder / "golden.json"), "--outputs", str(folder / "outputs"), "--quiet"]
    result = CliRunner().invoke(goldgate, [*command, "--report", str(folder / "r.json")])
    text = " ".join(result.stderr.split())
    for name, causes in CAUSES.items():
        assert f"FAIL {name}:" in text
        assert all(cause in text for cause in causes)


def test_annotations_have_the_file(folder: Path) -> None:
    command = ["research", "--golden", str(folder / "golden.json"), "--outputs", str(folder / "outputs")]
    result = CliRunner().invoke(goldgate, [*command, "--report", str(folder / "r.json"), "--format", "github"])
    assert f"::error file={folder}/outputs/run_c/research_output.json,title=" in result.stdout


def test_the_first_three_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    write_golden(tmp_path, query())
    claims = [claim(f"k{number}", ()) for number in range(30)]  # 20 are findings of their own, 10 are counted
    write_run(tmp_path / "outputs", out=output(claims=claims))
    report = evaluate_outputs(tmp_path / "golden.json", tmp_path / "outputs").report
    causes = next(each for each in report["causes"] if each["metric"] == "evidence_coverage_rate")
    assert [cause["pointer"] for cause in causes["first"]] == ["/claims/0", "/claims/1", "/claims/2"]
    assert causes["more"] == 27


@pytest.mark.parametrize("broken", ["{", None])
def test_a_broken_run_is_the_cause_of_what_it_fails(tmp_path: Path, broken: str | None) -> None:
    write_golden(tmp_path, query("How?"), query("Who?", (), False))
    for name, objective in (("a", "How?"), ("c", "Who?")):
        log = [event(None, name, "start", objective=objective), event(1, name), event(2, name)]
        path = write_run(tmp_path / "outputs", f"run_{name}", output(name), events=log) / "research_output.json"
        path.unlink() if broken is None else path.write_text(broken)
    report = evaluate_outputs(tmp_path / "golden.json", tmp_path / "outputs").report
    causes = {each["metric"]: [cause["message"] for cause in each["first"]] for each in report["causes"]}
    assert [message.partition(":")[0] for message in causes["golden_recall"]] == ["query 'How?'"]
    assert [message.partition(":")[0] for message in causes["abstention_accuracy"]] == ["query 'Who?'"]
    assert len(causes["evidence_coverage_rate"]) == 3


def test_what_passes_has_no_cause(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), query("Who owned the ships?", (), False))
    write_run(tmp_path / "outputs")
    write_run(tmp_path / "outputs", "run_r2", abstention("r2"))
    assert evaluate_outputs(tmp_path / "golden.json", tmp_path / "outputs").report["causes"] == []


def test_a_gate_on_a_companion_names_the_runs_that_cost_it_most(tmp_path: Path) -> None:
    write_golden(tmp_path, query())
    write_run(tmp_path / "outputs", out=output(evidence=[evidence(), evidence("e2"), evidence("e3")]))
    protocol = tmp_path / "p.yaml"
    protocol.write_text("gates: {uncited_evidence_rate: {max: 0.1}}")
    evaluation = evaluate_outputs(tmp_path / "golden.json", tmp_path / "outputs", protocol)
    causes = next(each for each in evaluation.located_report()["causes"] if each["metric"] == "uncited_evidence_rate")
    assert [(cause["id"], cause["file"]) for cause in causes["first"]] == [
        ("run_r1, query 'When did the harbour freeze?'", "run_r1")
    ]


def causes_of(folder: Path, metric: str) -> list[tuple[str, str]]:
    report = evaluate_outputs(folder / "golden.json", folder / "outputs").report
    causes = {each["metric"]: each["first"] for each in report["causes"]}
    return [(cause["file"], cause["message"]) for cause in causes.get(metric, ())]


def test_a_log_that_cannot_be_read_is_the_cause_of_its_missing_steps(tmp_path: Path) -> None:
    write_golden(tmp_path, query("How?"))
    log = write_run(tmp_path / "outputs", out=output(objective="How?")) / "events.jsonl"
    log.unlink()
    log.mkdir()
    cause = ("run_r1/events.jsonl", "query 'How?': the event log is missing or unreadable: its steps are unknown")
    assert causes_of(tmp_path, "manifest_integrity") == [cause]


def test_where_nothing_is_verified_the_runs_and_the_missing_ones_are_named(tmp_path: Path) -> None:
    write_golden(tmp_path, query("How?"), query("Where?"))
    write_run(tmp_path / "outputs", out=output(objective="How?", claims=[]))
    assert causes_of(tmp_path, "evidence_coverage_rate") == [
        ("run_r1/research_output.json", "query 'How?': the run verifies no claim"),
        ("golden.json", "no run answers the query 'Where?': it counts as failed"),
    ]


def test_a_run_with_the_name_of_the_golden_file_hides_no_cause(tmp_path: Path) -> None:
    write_golden(tmp_path, query("How?"), query("Who?", (), False))
    write_run(tmp_path / "outputs", "golden.json", output(objective="Else?"))
    cause = ("golden.json", "no run answers the query 'Who?': it counts as failed")
    assert causes_of(tmp_path, "abstention_accuracy") == [cause]


GOLD = [{"id": f"d{n}", "value": {"a": n, "b": n, "c": n}} for n in range(6)]
ANSWERS = [{"id": f"d{n}", "value": {"a": n, "b": n, "c": n if n < 1 else -1}} for n in range(5)]
ANSWERS[3]["value"] = {"a": -1, "b": -1, "c": -1}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("order", [1, -1])
def test_the_worst_samples_are_named_with_file_and_line(tmp_path: Path, order: int, workers: int) -> None:
    """d3 lacks three values, d5 is missing, d1, d2 and d4 lack one each."""
    gold = write_lines(tmp_path / "gold.jsonl", GOLD[::order])
    answers = write_lines(tmp_path / "answers.jsonl", ANSWERS[::order])
    (tmp_path / "p.yaml").write_text("gates: {field_f1: {min: 0.9}}")
    command = ["fields", "--gold", gold, "--predictions", answers, "--protocol", str(tmp_path / "p.yaml")]
    command += ["--workers", str(workers)]
    result = CliRunner().invoke(goldgate, [*command, "--report", str(tmp_path / "r.json"), "--quiet"])
    text = " ".join(result.stderr.split())
    line = {name: n if order > 0 else 6 - n for n, name in enumerate(("d0", "d1", "d2", "d3", "d4"), 1)}
    assert f"answers.jsonl:{line['d3']} (d3)" in text
    assert f"gold.jsonl:{6 if order > 0 else 1} (d5)" in text  # it has no prediction
    assert text.endswith("and 2 more")
    report = json.loads((tmp_path / "r.json").read_text())
    (causes,) = report["causes"]
    assert [cause["id"] for cause in causes["first"]] == ["d3", "d5", "d1"]
    assert all(cause["line"] is None for cause in causes["first"])  # the order of lines changes nothing in a report


def test_a_judged_gate_names_the_items_that_failed(tmp_path: Path) -> None:
    labels = [{"id": f"i{n}", "by": "ann", "kind": "human", "label": int(n % 5 > 0)} for n in range(40)]
    path = write_lines(tmp_path / "labels.jsonl", labels)
    (tmp_path / "p.yaml").write_text("judged: {sampling: trusted}\ngates: {rate: {min: 0.95}}")
    command = ["judged", "--labels", path, "--protocol", str(tmp_path / "p.yaml"), "--quiet"]
    result = CliRunner().invoke(goldgate, command)
    text = " ".join(result.stderr.split())
    assert "labels.jsonl:1 (i0): people 0" in text
    assert "and 5 more" in text
