"""No cheat turns a FAIL into a PASS, and each leaves a finding."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from goldgate import evaluate_outputs
from goldgate.core.evaluation import Evaluation

from .cheats import CHEATS
from .cheats import evidence as _evidence  # noqa: F401  # importing them registers their cheats
from .cheats import files as _files  # noqa: F401
from .cheats import trials as _trials  # noqa: F401
from .judged import codes, counts, unbalanced

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "eval" / "golden_queries.json"
LOGS = Path(__file__).parent / "cheats" / "logs"
RATES = ("evidence_coverage_rate", "golden_recall", "abstention_accuracy", "manifest_integrity")
FAILING = ("run_a0", "run_a1", "run_a4", "run_n1", "run_n2", "run_n3")


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    """Runs that fail every gate."""
    shutil.copytree(ROOT / "examples" / "research" / "failing", tmp_path / "outputs")
    return tmp_path / "outputs"


def judge(outputs: Path, protocol: str | None = None, corpus: Path | None = None) -> Evaluation:
    path = None
    if protocol is not None:
        path = outputs.parent / "protocol.yaml"
        path.write_text(protocol)
    return evaluate_outputs(GOLDEN, outputs, path, corpus=corpus)


def turned(evaluation: Evaluation) -> set[str]:
    return {gate["metric"] for gate in evaluation.report["gates"] if gate["verdict"] == "PASS"}


def test_without_a_cheat_no_gate_passes(outputs: Path) -> None:
    assert turned(judge(outputs)) == set()


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_turns_a_gate(outputs: Path, name: str) -> None:
    cheat = CHEATS[name]
    cheat.change(outputs)
    evaluation = judge(outputs)
    assert turned(evaluation) <= {cheat.lifts}
    assert evaluation.report["status"] == "FAIL"
    assert cheat.finding in codes(evaluation)
    assert not list(unbalanced(evaluation))


@pytest.mark.parametrize("log", sorted(path.name for path in LOGS.iterdir()))
def test_no_lines_in_a_log_raise_a_rate(outputs: Path, log: str) -> None:
    before = judge(outputs)
    lines = (LOGS / log).read_text()
    for name in FAILING:
        with (outputs / name / "events.jsonl").open("a") as stream:
            stream.write("\n" + lines.replace('"RUN"', f'"{name[4:]}"') * 25)
    after = judge(outputs)
    for rate in RATES:
        (hits, of), (hits_before, of_before) = counts(after, rate), counts(before, rate)
        assert hits * of_before <= hits_before * of, rate
    assert turned(after) == set()
