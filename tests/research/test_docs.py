"""The worked example of docs/research.md, and the codes that it explains, are what the code does."""

from __future__ import annotations

from pathlib import Path

from goldgate.core.gate import Gate
from goldgate.core.metric import Rate
from goldgate.core.sums import pair_sums
from goldgate.stats.gates import support
from goldgate.suites.research.run.evidence import FAILURES
from goldgate.suites.research.suite import DEFAULT_GATES, SUITE

from .judged import counts, judged
from .trees import abstention, claim, event, evidence, manifest, output, query, write_golden, write_run

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "research.md").read_text(encoding="utf-8")


def test_the_worked_example(tmp_path: Path) -> None:
    freeze, mayor = query("freeze", ("e1", "e2")), query("mayor", ("e3",))
    write_golden(tmp_path, freeze, mayor, query("owner", (), False))
    e1, e2 = evidence("e1"), evidence("e2", "c2", "eleven days")
    bad = evidence("e2", "c2", "twelve days")
    claims = [claim("k1", ("e1",)), claim("k2", ("e9",))]
    steps = [event(number, "r1") for number in (1, 2, 3)]
    manifests = [manifest(number, "r1") for number in (1, 2, 3)]
    r1 = output("r1", objective="freeze", claims=claims, evidence=[e1, bad])
    write_run(tmp_path / "outputs", "r1", r1, events=steps, manifests=manifests)
    steps = [event(number, "r2") for number in (1, 2, 4)]
    manifests = [manifest(number, "r2") for number in (1, 2, 4)]
    r2 = output("r2", objective="freeze", claims=claims[:1], evidence=[e1, e2])
    write_run(tmp_path / "outputs", "r2", r2, events=steps, manifests=manifests)
    r3 = abstention("r3", "owner")
    write_run(tmp_path / "outputs", "r3", r3, events=[event(1, "r3")], manifests=[manifest(1, "r3")])
    evaluation = judged(tmp_path)
    worked = {
        "evidence_coverage_rate": (2, 3),
        "golden_recall": (3, 6),
        "abstention_accuracy": (1, 2),
        "manifest_integrity": (7, 8),
        "false_abstention_rate": (0, 2),
        "cited_golden_recall": (2, 6),
        "ledger_precision": (3, 4),
        "run_completion_rate": (3, 6),
        "uncited_evidence_rate": (2, 4),
    }
    assert {name: counts(evaluation, name) for name in worked} == worked
    for numerator, denominator in worked.values():
        assert f"{numerator}/{denominator}" in DOCUMENT


def test_every_name_is_explained() -> None:
    for name in (*FAILURES, "dangling_ref", *SUITE.known_metrics(SUITE.settings())):
        assert f"`{name}`" in DOCUMENT, name
    for name, gate in DEFAULT_GATES.items():
        assert f"| `{name}` | {gate.bounds()} |" in DOCUMENT


def test_how_many_runs_without_a_miss_support_the_default() -> None:
    def supported(gate: Gate, claims: int, runs: int) -> bool:
        sums = pair_sums({(claims, claims): runs})
        return support(gate, Rate(sums.a, sums.b, sums=sums)) == "supported"

    gate = DEFAULT_GATES["evidence_coverage_rate"]
    assert [supported(gate, 1, runs) for runs in (53, 54)] == [False, True]
    assert [supported(gate, 10, runs) for runs in (53, 54)] == [False, True]
    assert "54 runs without a miss support 0.95" in DOCUMENT
