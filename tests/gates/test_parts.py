"""Gates on one event type, on one role, and on a macro average."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.core.gate import MetricName, parse_metric_name
from goldgate.errors import ConfigError
from goldgate.pipeline import evaluate_suite
from goldgate.suites.extraction.suite import SUITE as EXTRACTION
from tests.cases import error_from

from .stored import documents, event, extraction, write_lines

GOLD = [{"id": f"d{n}", "events": [event("Hire", Who="Ann"), event("Buy/Sell", **{"a]b": "x"})]} for n in range(40)]
# Of the trades, 30 of 40 are found.
FOUND = [{**record, "events": record["events"][: 2 if n < 30 else 1]} for n, record in enumerate(GOLD)]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("f[Attack]", ("Attack",)),
        ("f[Attack/target]", ("Attack", "target")),
        ('f["Buy/Sell"]', ("Buy/Sell",)),
        ('f["Buy/Sell"/"a]b"]', ("Buy/Sell", "a]b")),
        ("f[x]y]", ("x]y",)),
        ("f[质押/数量]", ("质押", "数量")),
        ('f["\\"q\\""]', ('"q"',)),
    ],
)
def test_names_of_parts(name: str, part: tuple[str, ...]) -> None:
    assert parse_metric_name(name) == MetricName("f", part)
    assert parse_metric_name(str(MetricName("f", part))) == MetricName("f", part)


@pytest.mark.parametrize(
    ("name", "bound", "verdict", "reason"),
    [
        ("strict_recall[Hire]", "min: 1", "PASS", "40/40 is ≥ 1"),
        ("strict_recall['Buy/Sell']", "min: 0.76", "FAIL", "30/40 is not ≥ 0.76"),
        ("strict_recall['Buy/Sell'/'a]b']", "min: 0.75", "PASS", "30/40 is ≥ 0.75"),
        # (1 + 3/4) / 2
        ("strict_recall_macro", "min: 0.875", "PASS", "0.8750 is ≥ 0.875"),
        ("strict_recall_macro", "min: 0.8751", "FAIL", "0.8750 is not ≥ 0.8751"),
        ("strict_recall_macro_roles", "equals: 0.875", "PASS", "0.8750 is = 0.875"),
    ],
)
def test_parts_are_judged_exactly(tmp_path: Path, name: str, bound: str, verdict: str, reason: str) -> None:
    quoted = name.replace("'", '"')
    found = extraction(tmp_path / "new", GOLD, FOUND, f"gates:\n  '{quoted}': {{{bound}}}\n")
    assert [(gate.metric, gate.verdict, gate.reason) for gate in found.gates] == [(quoted, verdict, reason)]
    assert repr(found).startswith(f"<Evaluation: extraction {verdict}; {quoted} ")


def test_a_part_may_have_a_confidence(tmp_path: Path) -> None:
    protocol = "gates:\n  strict_recall[Hire]: {min: 0.8, confidence: 0.95}\n"
    assert extraction(tmp_path / "new", GOLD, FOUND, protocol).status == "PASS"
    assert extraction(tmp_path / "few", GOLD[:2], FOUND[:2], protocol).status == "INCONCLUSIVE"


def test_the_mean_over_roles_says_why_it_has_no_interval(tmp_path: Path) -> None:
    protocol = "gates:\n  strict_recall_macro_roles: {min: 0.8, confidence: 0.95}\n"
    found = extraction(tmp_path / "new", GOLD, FOUND, protocol)
    gate = found.report["gates"][0]
    assert (gate["measured"]["value"], gate["measured"]["interval"]) == (0.875, None)
    assert gate["measured"]["interval_reason"] == "how its rates vary together is not summed"
    assert (found.gates[0].verdict, found.status) == ("INCONCLUSIVE", "INCONCLUSIVE")


def test_a_part_can_be_compared_with_a_stored_run(tmp_path: Path) -> None:
    extraction(tmp_path / "main", GOLD, GOLD)
    protocol = "gates:\n  '{}': {{max_drop: 0.1, against: main/}}\n"
    whole = extraction(tmp_path / "new", GOLD, FOUND, protocol.format("strict_recall[Hire]"))
    assert whole.gates[0].reason == "a drop of 0.0000 from main/ is ≤ 0.1"
    part = extraction(tmp_path / "new", GOLD, FOUND, protocol.format('strict_recall["Buy/Sell"]'))
    assert part.gates[0].reason == "a drop of 0.2500 from main/ is not ≤ 0.1"


def test_a_type_that_nobody_knows_is_an_error_with_a_guess(tmp_path: Path) -> None:
    refused_with = error_from(
        ConfigError, extraction, tmp_path / "new", GOLD, FOUND, "gates:\n  strict_f1[Hires]: {min: 0.5}\n"
    )
    error = refused_with
    assert (error.code, error.place.line, error.advice) == ("protocol.unknown_part", 3, "did you mean strict_f1[Hire]?")
    assert error.expected == 'strict_f1["Buy/Sell"], strict_f1[Hire]'


def test_a_type_of_the_schema_that_does_not_occur_is_not_evaluable(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"event_types": {"Hire": {"roles": ["Who"]}, "Fire": {"roles": ["Who"]}}}')
    gold = write_lines(tmp_path / "gold.jsonl", documents(3, "Hire"))
    inputs = {"gold": [gold], "predictions": [gold], "schema": [str(tmp_path / "schema.json")]}
    found = evaluate_suite(EXTRACTION, inputs, {"gates": {"strict_f1[Fire/Who]": {"min": 0.5}}})
    assert found.gates[0].reason == "not_evaluable: nothing was predicted and nothing is in the gold"


@pytest.mark.parametrize("name", ["parse_errors[Hire]", "strict_f1[a/b/c]", "strict_f1_macros", "strict_f1[]"])
def test_a_metric_without_such_parts_is_unknown(tmp_path: Path, name: str) -> None:
    error = error_from(ConfigError, extraction, tmp_path / "new", GOLD, FOUND, f"gates:\n  '{name}': {{min: 0.5}}\n")
    assert error.code == "protocol.unknown_metric"


@pytest.mark.parametrize("name", ["strict_f1_macro", "parse_errors"])
def test_what_is_no_rate_over_units_is_not_compared(tmp_path: Path, name: str) -> None:
    error = error_from(
        ConfigError, extraction, tmp_path / "new", GOLD, FOUND, f"gates: {{{name}: {{max_drop: 0.1, against: main/}}}}"
    )
    assert error.code == "protocol.not_paired"


def test_a_bound_that_no_part_can_meet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a rate"):
        extraction(tmp_path / "new", GOLD, FOUND, "gates:\n  strict_f1[Hire]: {min: 95}\n")
