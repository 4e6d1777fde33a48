"""Plans: a protocol's gates are checked against the suite that is judged."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

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


def test_a_mistake_in_a_gate_gets_the_advice_that_helps(tmp_path: Path) -> None:
    f1 = "did you mean strict_f1 or relaxed_f1 or type_f1?"
    cases: list[tuple[str, str, str | None]] = [  # a gate, what the error expects or says, and its advice
        ("strict_F1: {min: 0.8}", "there is no metric strict_F1", "did you mean strict_f1?"),
        ("strict_F1: 0.8", "there is no metric strict_F1", "did you mean strict_f1?"),
        ("f1: 0.8", "there is no metric f1", f1),
        ("F1: {min: 0.8}", "there is no metric F1", f1),
        ("strict-f1: {minimum: 0.8}", "there is no metric strict-f1", "did you mean strict_f1?"),
        ('strict_f1: ">= 0.8"', "a mapping, such as {min: 0.8}", None),
        ("strict_f1: ≤ 80%", "a mapping, such as {max: 0.8}", None),
        ("strict_f1: == 1", "a mapping, such as {equals: 1}", None),
        ("strict_f1: high", "a mapping, such as {min: 0.8}", None),
        ('strict_f1: ">= 1e99999999"', "a mapping, such as {min: 0.8}", None),
        ('strict_f1: {min: ">= 0.8"}', "a number", "write it in digits: 0.8"),
        ('strict_f1: {">=": 0.8}', "there is no setting gates.strict_f1.>=", "did you mean min?"),
        ("textee_ac_f1: 0.8", "a mapping, such as {min: 0.8}", None),  # of a profile that the protocol may have
    ]
    for gate, words, advice in cases:
        error = refused("extraction", tmp_path, f"gates:\n  {gate}\n")
        assert words in (error.message, error.expected), gate
        assert error.advice == advice, gate
        assert error.place.line == 2, gate


def test_numbers_that_cannot_be_computed_with_are_refused_with_their_place() -> None:
    endless = (Decimal("1e-999999999"), Decimal("9" * 60))  # exact arithmetic with them takes hours, or is no use
    for number in (float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), *endless):
        for protocol, field in (
            ({"gates": {"strict_f1": {"min": number}}}, "gates.strict_f1.min"),
            ({"gates": {"strict_f1": number}}, "gates.strict_f1"),
            ({"gates": {"strict_f1": {"min": 0.5, "confidence": number}}}, "gates.strict_f1.confidence"),
            ({"metrics": {"relaxed": {"span_iou_threshold": number}}}, "metrics.relaxed.span_iou_threshold"),
        ):
            with pytest.raises(ConfigError) as caught:
                load_plan(load_suite("extraction"), protocol)
            assert (caught.value.code, caught.value.place.field) == ("protocol.wrong_value", field), number


def test_names_of_settings_that_are_not_text_are_refused() -> None:
    keys: tuple[Any, ...] = (5, None, float("nan"), ("a",))
    for key in keys:
        for protocol in ({key: 1}, {"gates": {key: {"min": 1}}}, {"metrics": {"response": {"keys": {key: ["a"]}}}}):
            with pytest.raises(ConfigError) as caught:
                load_plan(load_suite("extraction"), protocol)
            assert caught.value.message == "this cannot be the name of a setting", (key, protocol)


def test_a_part_of_what_has_none_is_told_apart(tmp_path: Path) -> None:
    error = refused("extraction", tmp_path, "gates:\n  type_f1[Hire]: {min: 0.9}\n")
    assert (error.code, error.message) == ("protocol.unknown_metric", "type_f1 is not counted by part")
    assert "strict_f1" in str(error.expected)


def test_default_gates_stay_under_those_of_the_protocol() -> None:
    plan = load_plan(load_suite("research"), {"gates": {"golden_recall": {"min": 0.9}}})
    assert {name: gate.bounds() for name, gate in plan.gates.items()} == {
        "evidence_coverage_rate": "≥ 0.95",
        "golden_recall": "≥ 0.9",
        "abstention_accuracy": "≥ 0.90",
        "manifest_integrity": "= 1.00",
    }
    kept_none = load_plan(load_suite("research"), {"research": {"manifests": "not_kept"}})
    assert "manifest_integrity" not in kept_none.gates
