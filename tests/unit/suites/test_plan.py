"""Plans: a protocol's gates are checked against the suite that is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.errors import ConfigError
from goldgate.suites import load_suite
from goldgate.suites.plan import load_plan


def refused(suite: str, tmp_path: Path, text: str) -> ConfigError:
    path = tmp_path / "protocol.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_plan(load_suite(suite), path)
    return caught.value


def test_unknown_metric_is_a_mistake_in_the_protocol_with_a_suggestion(tmp_path: Path) -> None:
    error = refused("extraction", tmp_path, "gates:\n  strict_f: {min: 0.5}\n")
    assert (error.code, error.place.line, error.place.field) == ("protocol.unknown_metric", 2, "gates.strict_f")
    assert error.message == "there is no metric strict_f"
    assert error.advice == "did you mean strict_f1?"


def test_a_part_of_what_has_none_is_told_apart(tmp_path: Path) -> None:
    error = refused("extraction", tmp_path, "gates:\n  type_f1[Hire]: {min: 0.9}\n")
    assert (error.code, error.message) == ("protocol.unknown_metric", "type_f1 is not counted by part")
    assert "strict_f1" in str(error.expected)


@pytest.mark.parametrize(
    ("suite", "metric", "home"),
    [("extraction", "golden_recall", "research"), ("research", "strict_f1", "extraction")],
)
def test_metric_of_another_suite_is_said_to_be_one(suite: str, metric: str, home: str, tmp_path: Path) -> None:
    error = refused(suite, tmp_path, f"gates: {{{metric}: {{min: 0.5}}}}\n")
    assert error.message == f"{metric} is a metric of the {home} suite"
    assert error.advice == f"judge it with goldgate {home}, under a protocol of its own"


def test_default_gates_stay_under_those_of_the_protocol() -> None:
    plan = load_plan(load_suite("research"), {"gates": {"golden_recall": {"min": 0.9}}})
    assert {name: gate.bounds() for name, gate in plan.gates.items()} == {
        "evidence_coverage_rate": "≥ 0.95",
        "golden_recall": "≥ 0.9",
        "abstention_accuracy": "≥ 0.90",
        "manifest_integrity": "= 1.00",
    }


def test_agent_that_keeps_no_manifests_is_not_judged_by_them() -> None:
    plan = load_plan(load_suite("research"), {"research": {"manifests": "not_kept"}})
    assert "manifest_integrity" not in plan.gates
