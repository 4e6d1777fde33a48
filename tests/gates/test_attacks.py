"""The cheapest ways around a gate with a confidence, and what stops each."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.suites.plan import load_plan
from goldgate.suites.research.suite import SUITE as RESEARCH
from tests.cases import error_from
from tests.toy.suite import SUITE as QA

from .stored import answers, documents, extraction, qa, questions, stored_run

SURE = "gates: {exact_match: {min: 0.5, confidence: 0.95}}"
NOT_WORSE = "gates: {exact_match: {min: 0.5, max_drop: 0.05, against: main/, confidence: 0.95}}"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_tiny_data_set_with_everything_right_passes_no_gate(tmp_path: Path, number: int) -> None:
    found = qa(tmp_path / "new", number, number, SURE)
    assert (found.status, found.exit_status) == ("INCONCLUSIVE", 1)


def test_a_tiny_data_set_that_comes_out_alike_is_not_shown_to_be_no_worse(tmp_path: Path) -> None:
    stored_run(tmp_path / "main", QA, questions(5), answers(5, 5))
    other = [{**answer, "citations": []} for answer in answers(5, 5)]
    found = stored_run(tmp_path / "new", QA, questions(5), other, NOT_WORSE)
    assert found.status == "INCONCLUSIVE"


def test_copies_of_a_document_are_another_gold_for_the_stored_run(tmp_path: Path) -> None:
    stored_run(tmp_path / "main", QA, questions(10), answers(10, 10))
    copies = [{**record, "id": f"{record['id']}-{n}"} for record in questions(10) for n in range(50)]
    told = [{**record, "id": f"{record['id']}-{n}"} for record in answers(10, 10) for n in range(50)]
    with pytest.raises(InputError, match="scored with the same settings and gold"):
        stored_run(tmp_path / "new", QA, copies, told, NOT_WORSE)


def test_copies_in_one_group_are_one_document(tmp_path: Path) -> None:
    copies = [{**record, "id": f"d{n}", "group": "one"} for n, record in enumerate(documents(200, "Hire"))]
    protocol = "gates: {strict_f1: {min: 0.5, confidence: 0.95}}"
    assert extraction(tmp_path / "new", copies, copies, protocol).status == "INCONCLUSIVE"


@pytest.mark.parametrize("confidence", ["0", "0.3", "0.5", "0.50000001", "0.79", "1", "95", "-1"])
def test_a_confidence_that_asks_next_to_nothing_or_too_much_is_refused(tmp_path: Path, confidence: str) -> None:
    error = error_from(ConfigError, qa, tmp_path / "new", 3, 3, SURE.replace("0.95", confidence))
    assert error.place.field == "gates.exact_match.confidence"


@pytest.mark.parametrize("allowed", ["warn", "pass"])
def test_letting_pass_what_is_open_lowers_a_default_gate(allowed: str) -> None:
    gate = {"min": 0.95, "confidence": 0.95, "on_inconclusive": allowed}
    error = error_from(ConfigError, load_plan, RESEARCH, {"gates": {"evidence_coverage_rate": gate}})
    assert error.code == "protocol.lowered_without_baseline"
    load_plan(RESEARCH, {"gates": {"evidence_coverage_rate": {**gate, "on_inconclusive": "fail"}}})


def test_a_comparison_does_not_take_the_place_of_a_default_gate() -> None:
    error = error_from(
        ConfigError, load_plan, RESEARCH, {"gates": {"golden_recall": {"max_drop": 0.5, "against": "main/"}}}
    )
    assert error.code == "protocol.lowered_without_baseline"


def test_the_same_run_is_said_to_be_the_same(tmp_path: Path) -> None:
    qa(tmp_path / "main", 100, 90)
    found = qa(tmp_path / "new", 100, 90, NOT_WORSE)
    assert found.gates[0].verdict == "PASS"
    assert "main/ has the same answers, so there is nothing to compare" in found.gates[0].reason


def test_a_run_is_not_compared_with_what_it_overwrites(tmp_path: Path) -> None:
    qa(tmp_path / "main", 20, 20)
    with pytest.raises(ConfigError, match="would overwrite the run"):
        qa(tmp_path / "main", 20, 10, NOT_WORSE)


@pytest.mark.parametrize(
    ("gate", "setting"),
    [
        ("{max_drop: 0.01}", "max_drop"),
        ("{min: 0.5, against: main/}", "against"),
        ("{max_drop: 1, against: main/}", "max_drop"),
        ("{max_drop: -0.1, against: main/}", "max_drop"),
        ("{equals: 1, confidence: 0.9}", "equals"),
        ("{min: 0.5, on_inconclusive: pass}", "on_inconclusive"),
    ],
)
def test_a_gate_that_does_not_say_what_it_means_is_refused(tmp_path: Path, gate: str, setting: str) -> None:
    error = error_from(ConfigError, qa, tmp_path / "new", 3, 3, f"gates: {{exact_match: {gate}}}")
    assert error.place.field == f"gates.exact_match.{setting}"
    assert error.place.line == 1
