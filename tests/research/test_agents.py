"""The examples, and degenerate agents: each a directory of runs that must not pass."""

from __future__ import annotations

import filecmp
import importlib.util
from pathlib import Path

from goldgate import evaluate_outputs
from goldgate.core.evaluation import Evaluation
from goldgate.report import render
from tests.cases import cases

ROOT = Path(__file__).resolve().parents[2]
AGENTS = Path(__file__).parent / "agents"
PROTOCOL = ROOT / "examples" / "research" / "protocol.yaml"

# Which gate stops which agent, with the default protocol.
STOPPED_BY = {
    "dumps_the_corpus": {"abstention_accuracy"},
    "always_abstains": {"evidence_coverage_rate", "golden_recall"},
    "verifies_nothing": {"evidence_coverage_rate"},
    "quotes_what_is_not_there": {"evidence_coverage_rate", "golden_recall"},
    "manifests_without_steps": {"manifest_integrity"},
    "another_runs_evidence": {"evidence_coverage_rate", "golden_recall"},
    # The log shows what a broken run had verified: that counts, uncovered.
    "crashes_half_way": {"evidence_coverage_rate", "golden_recall", "abstention_accuracy", "manifest_integrity"},
}


def judge_agent(name: str, protocol: Path | None = None) -> Evaluation:
    return evaluate_outputs(AGENTS / "golden_queries.json", AGENTS / name, protocol)


def failed(evaluation: Evaluation) -> set[str]:
    return {gate["metric"] for gate in evaluation.report["gates"] if gate["verdict"] == "FAIL"}


@cases("name", STOPPED_BY)
def test_a_degenerate_agent_does_not_pass(name: str) -> None:
    evaluation = judge_agent(name)
    assert evaluation.exit_status == 1
    assert failed(evaluation) == STOPPED_BY[name]


def test_one_that_files_the_corpus_and_knows_when_to_abstain_is_stopped_by_companions() -> None:
    evaluation = judge_agent("dumps_the_corpus_and_abstains", PROTOCOL)
    assert failed(evaluation) == {"ledger_precision", "uncited_evidence_rate"}
    assert evaluation.exit_status == 1


# Agents that pass the four gates and are of no use: the report of each must say so.
SHOWN_BY = {
    "dumps_the_corpus_and_abstains": {"uncited_ledger", "heaped_ledger"},
    "dumps_the_corpus_and_cites_it": {"claim_cites_all", "heaped_ledger"},
    "dumps_the_corpus_claim_by_claim": {"heaped_ledger", "empty_evidence"},
    "abstains_and_files_what_is_asked": {"false_abstention", "nothing_verified"},
}


@cases("name", SHOWN_BY)
def test_an_agent_that_passes_the_four_and_is_of_no_use_is_shown(name: str) -> None:
    evaluation = judge_agent(name)
    assert evaluation.passed
    assert {finding["code"] for finding in evaluation.report["findings"]} == SHOWN_BY[name]
    assert evaluation.report["stands_out"]
    assert not judge_agent(name, PROTOCOL).passed  # companions as gates stop it


# Agents that pass all gates and companions: only a finding, and a line above everything, says what they do.
UNSEEN_BY_GATES = {
    "quotes_function_words": "empty_evidence",
    "quotes_whole_chunks": "empty_evidence",
    "claims_nothing": "empty_evidence",
    "dilutes_evenly": "uniform_dilution",
}


@cases("name", UNSEEN_BY_GATES)
def test_an_agent_that_no_gate_stops_stands_out(name: str) -> None:
    evaluation, code = judge_agent(name), UNSEEN_BY_GATES[name]
    assert evaluation.passed
    assert judge_agent(name, PROTOCOL).passed
    assert {finding["code"] for finding in evaluation.report["findings"]} - {"claim_not_covered"} == {code}
    (entry,) = (entry for entry in evaluation.report["stands_out"] if entry["code"] == code)
    for form in ("text", "markdown", "html"):
        assert entry["message"][:40] in render(evaluation, form), form


def test_the_honest_agent_passes_the_same_queries() -> None:
    assert judge_agent("honest").passed
    assert judge_agent("honest").report["findings"] == []
    assert judge_agent("honest", PROTOCOL).passed


def test_every_agent_directory_is_judged() -> None:
    known = {*STOPPED_BY, *SHOWN_BY, *UNSEEN_BY_GATES, "honest"}
    assert {path.name for path in AGENTS.iterdir() if path.is_dir()} == known


def test_the_passing_example_passes_and_the_failing_one_fails_every_gate() -> None:
    golden, examples = ROOT / "eval" / "golden_queries.json", ROOT / "examples" / "research"
    assert evaluate_outputs(golden, examples / "passing").passed
    assert evaluate_outputs(golden, examples / "passing", PROTOCOL).passed
    evaluation = evaluate_outputs(golden, examples / "failing")
    assert [gate["verdict"] for gate in evaluation.report["gates"]] == ["FAIL"] * 4


def test_the_stored_examples_are_what_the_script_writes(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make", ROOT / "examples" / "research" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write_all(tmp_path)
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) > 100
    _, different, missing = filecmp.cmpfiles(tmp_path, ROOT, [str(path) for path in written], shallow=False)
    assert (different, missing) == ([], [])
