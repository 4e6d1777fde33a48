"""What stands out on top of an extraction report: each remark where it is due, and nowhere else."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import goldgate
from goldgate.cli.prepare import check_command
from goldgate.core import tally
from goldgate.core.gate import Gate
from goldgate.suites.extraction import records
from tests.cases import cases

from ..helpers import SCHEMA, Json, event, gate, gold, judge

GOOD = event("质押", ("质押方", "甲公司"))


def codes(report: Json) -> list[str]:
    return [entry["code"] for entry in report["stands_out"]]


def remarks(golds: list[Json], predictions: list[Json], schema: Json | None = None, **settings: Any) -> dict[str, str]:
    settings.setdefault("gates", {"strict_f1": gate(min="0.001")})
    report = judge(golds, predictions, schema, **settings).report
    return {entry["code"]: entry["message"] for entry in report["stands_out"]}


def test_no_gates_is_never_a_pass_and_stands_out() -> None:
    report = judge([gold(GOOD)], [{"id": "1", "events": [GOOD]}]).report
    assert (report["status"], codes(report)) == ("NO_GATES", ["no_gates"])


def test_gates_that_only_warn_stand_out() -> None:
    warn = {"strict_f1": Gate(min=Decimal("0.1"), severity="warn")}
    report = judge([gold(GOOD)], [{"id": "1", "events": [GOOD]}], gates=warn)
    assert codes(report.report) == ["only_warnings"]


def test_gates_that_no_value_can_fail_stand_out() -> None:
    bounds = {"strict_f1": gate(min="0"), "parse_errors": gate(min="0"), "hallucination_rate": gate(max="1")}
    found = remarks([gold(GOOD)], [{"id": "1", "events": [GOOD]}], gates={**bounds, "type_f1": gate(min="0.1")})
    assert found["gate_cannot_fail"] == (
        "strict_f1 ≥ 0, parse_errors ≥ 0 and hallucination_rate ≤ 1 hold for every value: such a gate cannot fail"
    )
    for can_fail in (gate(max="1"), gate(equals="0"), gate(min="0", max="3")):
        assert "gate_cannot_fail" not in remarks([gold(GOOD)], [], gates={"parse_errors": can_fail})


def test_missing_and_unreadable_answers_and_what_share() -> None:
    golds = [gold(GOOD, identity=str(number)) for number in range(8)]
    predictions = [{"id": str(number), "events": [GOOD]} for number in range(5)] + [{"id": "5", "response": "no"}]
    found = remarks(golds, predictions)
    # 6 and 7 are missing: 2/8; 5 cannot be read: 1/8
    assert found["missing_answers"].startswith("2 of 8 answers are missing (25.0 %)")
    assert found["unreadable_answers"].startswith("1 of 8 answers could not be read (12.5 %)")
    one = remarks(golds[:6], predictions[:5])["missing_answers"]
    assert one == "1 of 6 answers is missing (16.7 %): everything in its gold counts as missed"


def test_most_answers_that_do_not_fit_the_schema() -> None:
    golds = [gold(GOOD, identity=name) for name in "abc"]
    unknown = event("Unheard-of", ("r", "x"))
    predictions: list[Json] = [{"id": "a", "events": [GOOD]}] + [{"id": name, "events": [unknown]} for name in "bc"]
    found = remarks(golds, predictions, SCHEMA, schema_mode="schema_strict")
    assert found["schema_misfits"].startswith(
        "2 of 3 samples fail schema compliance, 2 of them because of unknown_event_type"
    )


def test_half_of_the_answers_is_not_most() -> None:
    golds = [gold(GOOD, identity=name) for name in "ab"]
    predictions: list[Json] = [{"id": "a", "events": [GOOD]}, {"id": "b", "response": "no"}]
    assert "schema_misfits" not in remarks(golds, predictions)


def test_metrics_that_are_zero_or_undefined() -> None:
    found = remarks([gold(event("T"))], [{"id": "1", "events": []}])
    assert found["undefined"].startswith("strict_f1 and relaxed_f1 are undefined: nothing was predicted")
    assert found["zero"] == "type_f1 is 0"
    assert found["gold_without_arguments"].startswith("no gold event has an argument")


def test_arguments_that_are_the_word_null() -> None:
    spoken = event("T", ("r", "null"))
    found = remarks([gold(GOOD)], [{"id": "1", "response": json.dumps([spoken])}])
    assert found["null_words"].startswith("1 of 1 answers have a word such as null as a value")


def test_answers_of_another_form_with_the_setting_that_reads_them() -> None:
    mapping = [{"event_type": "T", "arguments": {"r": "x"}}]
    found = remarks([gold(GOOD)], [{"id": "1", "response": json.dumps(mapping)}])
    cure = "to read them, write in the protocol: metrics: {response: {arguments: mapping}}"
    assert found["zero"].startswith(
        "strict_f1, relaxed_f1 and type_f1 are 0: 1 of 1 answers have arguments as an object"
    )
    assert found["zero"].endswith(cure)
    assert "other_form" not in found
    half = remarks(
        [gold(GOOD), gold(GOOD, identity="2")],
        [{"id": "1", "response": json.dumps(mapping)}, {"id": "2", "events": [GOOD]}],
    )
    assert half["other_form"].endswith(cure)


@pytest.mark.parametrize("same", [True, False])
def test_gold_as_predictions_byte_for_byte(same: bool, tmp_path: Path) -> None:
    record = json.dumps(gold(GOOD))
    (tmp_path / "gold.jsonl").write_text(record + "\n")
    (tmp_path / "predictions.jsonl").write_text(record + ("\n" if same else "\n\n"))
    protocol = {"metrics": {"schema": {"mode": "syntax_only"}}}
    report = goldgate.evaluate_files(tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", None, protocol).report
    assert ("gold_as_predictions" in codes(report)) is same


@cases(("event_type", "given_away"), [({"from": "gold"}, True), ("质押", False)])
def test_a_type_that_the_gold_gives_away_stands_out_beside_its_perfect_score(event_type: Any, given_away: bool) -> None:
    protocol = {"metrics": {"schema": {"mode": "syntax_only"}, "response": {"flat": {"event_type": event_type}}}}
    answer = {"id": "1", "response": json.dumps({"质押方": "somebody else"})}
    evaluation = goldgate.evaluate([gold(GOOD)], [answer], None, protocol)
    assert evaluation["type_f1"] == 1
    assert ("type_from_gold" in codes(evaluation.report)) is given_away


def documents(texts: list[str], **more: str) -> list[Json]:
    return [{**gold(GOOD, identity=str(number)), "text": text, **more} for number, text in enumerate(texts)]


def test_texts_that_stand_in_several_samples() -> None:
    copied = ["甲公司质押。", "甲公司再质押。"] * 5
    found = remarks(documents(copied), [{"id": str(number), "events": [GOOD]} for number in range(10)])
    assert found["repeated_texts"] == (
        "texts that appear more than once: 2, in 10 documents; copies make confidence intervals too narrow: "
        "give them the same group in the gold"
    )
    mixed = [*copied[:5], "甲公司减持。", "甲公司增持。"]  # 3 and 2 copies, and two texts of their own
    assert "more than once: 2, in 5 documents;" in remarks(documents(mixed), [])["repeated_texts"]
    assert "repeated_texts" not in remarks(documents(copied, group="one article"), [])
    apart = [{**record, "group": record["id"]} for record in documents(copied)]
    assert "more than once: 2, in 10 documents;" in remarks(apart, [])["repeated_texts"]
    different = [f"甲公司质押 {number}。" for number in range(18)]
    assert "repeated_texts" not in remarks(documents([*different, different[0]]), [])  # 1 of 19 is less than a tenth
    assert "repeated_texts" in remarks(documents([*different, *different[:2]]), [])  # 2 of 20


def test_of_very_many_texts_the_counts_are_those_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MAX_KEPT", 8)
    monkeypatch.setattr(records, "MAX_KEPT", 8)
    found = remarks(documents(["甲公司质押。"] * 30), [])["repeated_texts"]
    assert found.startswith("texts that appear more than once: 1, in 8 of 8 documents that were sampled; ")


TWICE = event("T", ("r", "x"), ("r", "X "), ("s", "x"))


def test_gold_arguments_that_repeat_another_are_counted_and_told() -> None:
    golds = [gold(TWICE), gold(event("T", ("r", ["a", "b", "a", "A"])), identity="2"), gold(GOOD, identity="3")]
    evaluation = judge(golds, [])
    assert evaluation.report["reading"]["gold"]["merged"] == 3  # "X ", and "a" twice more
    note = "Not counted twice: 3 gold arguments with the same type, role and value as another in the record."
    assert note in " ".join(goldgate.render(evaluation).split())
    assert "counted twice" not in goldgate.render(judge(golds[2:], []))


@cases(
    ("texts", "predicted", "expected"),
    [
        (["x and y"] * 19 + ["?"], False, None),  # 1 of 20 is no more than 5 %
        (["x and y"] * 18 + ["?"], False, "1 of 19 gold arguments (5.3 %) are not in the text of their record"),
        (["?", "?", None, "x"], False, "2 of 3 gold arguments (66.7 %) are not in the text of their record"),
        (["?", "?", None, "x"], True, "2 of 3 gold arguments (66.7 %) are not in the text of their record"),
        ([None], False, None),
    ],
)
def test_gold_that_is_not_in_its_own_text_stands_out(
    texts: list[str | None], predicted: bool, expected: str | None, tmp_path: Path
) -> None:
    golds = [gold(event("T", ("r", "X")), identity=str(n)) | {"text": text} for n, text in enumerate(texts)]
    answers = [{"id": each["id"], "events": each["events"] if predicted else []} for each in golds]
    found = remarks(golds, answers).get("gold_not_in_text")
    assert found == (None if expected is None else f"{expected}: hallucination_rate then measures the gold; run "
        "goldgate check GOLD to see which")  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(each) + "\n" for each in golds))
    checked = CliRunner().invoke(check_command, [str(tmp_path / "gold.jsonl")])
    assert (expected or "are not in the text of their record") in " ".join(checked.stdout.split()) or expected is None


def test_copies_that_differ_in_what_is_not_seen_are_copies() -> None:
    text = "甲公司质押。A company pledged."
    copies = {
        "a blank": [text + " " * number for number in range(20)],
        "a zero-width space": [text[:3] + "\u200b" * number + text[3:] for number in range(20)],
        "marks": [text + "." * number for number in range(20)],
        "wide letters and case": [text, text.upper(), text.replace("A", "Ａ"), text.casefold()] * 5,
        "Hangul fillers": [text + "\u3164" * number for number in range(20)],
        "selectors of variants": [text + chr(0xFE00 + number % 16) * number for number in range(20)],
        "more selectors of variants": [text + chr(0xE0100 + number) for number in range(20)],
        "empty Braille": [text + "\u2800" * number for number in range(20)],
    }
    for name, texts in copies.items():
        assert "repeated_texts" in remarks(documents(texts), []), name
    assert "repeated_texts" not in remarks(documents([f"{text} {number}" for number in range(20)]), [])


def test_copies_of_gold_without_a_text_are_seen_by_their_arguments() -> None:
    def without_text(*values: str) -> list[Json]:
        arguments = [(f"r{number}", value) for number, value in enumerate(values)]
        return [{"id": str(number), "events": [event("T", *arguments)]} for number in range(20)]

    found = remarks(without_text("甲", "乙", "丙"), [])["repeated_texts"]
    assert found.startswith("sets of gold arguments that appear more than once: 1, in 20 documents;")
    assert "repeated_texts" not in remarks(without_text("positive"), [])  # documents may well agree in one
    assert "repeated_texts" in remarks([{**each, "text": " \u200b"} for each in without_text("甲", "乙", "丙")], [])


def test_gates_that_pass_for_want_of_a_value_and_averages_without_some_types() -> None:
    schema = {"event_types": {name: {"roles": ["r"]} for name in ("T", "Gone", "Missed")}}
    golds = [gold(event("T", ("r", "x"))), gold(event("Missed", ("r", "y")), identity="2")]
    gates = {
        "strict_f1[Gone]": {"min": 0.9, "on_not_evaluable": "pass"},
        "strict_precision_macro": {"min": 0.9},
        "strict_f1_macro": {"min": 0.5},
        "strict_f1_macro_roles": {"min": 0.5},
    }
    predictions: list[Json] = [{"id": "1", "events": [event("T", ("r", "x"))]}, {"id": "2", "events": []}]
    report = goldgate.evaluate(golds, predictions, schema, {"gates": gates}, allow_empty=True).report
    messages = [entry["message"] for entry in report["stands_out"]]
    assert report["status"] == "PASS"
    for start in (
        "strict_f1[Gone] has no value and passes only because of on_not_evaluable",
        "strict_precision_macro averages 1 of 3 event types",
        "strict_f1_macro averages 2 of 3 event types",
        "strict_f1_macro_roles averages 2 of 3 roles",
    ):
        assert any(message.startswith(start) for message in messages), (start, messages)


def test_answers_that_say_in_words_that_there_is_nothing() -> None:
    golds = [gold(identity=str(number)) for number in range(4)]
    answers = ["There are no events in this text.", "没有事件。", "Ann was hired.", "[]"]
    predictions: list[Json] = [{"id": str(number), "response": text} for number, text in enumerate(answers)]
    report = judge(golds, predictions).report
    main = report["metrics"]["main"]
    assert (main["said_none"]["value"], main["parse_errors"]["value"]) == (2, 3)
    message = {entry["code"]: entry["message"] for entry in report["stands_out"]}["said_none"]
    assert message.startswith("2 of 4 answers say in words that there are no events, which is a parse error")
    assert message.endswith("write in the protocol: metrics: {response: {said_none: empty}}")

    protocol = {"metrics": {"response": {"said_none": "empty"}, "schema": {"mode": "syntax_only"}}}
    read = goldgate.evaluate(golds, predictions, protocol=protocol)
    assert (read["said_none"], read["parse_errors"], read["parse_repair_success"]) == (2, 1, 2)
    assert read["schema_compliance_rate"] == 0.25  # the empty list alone
    assert "said_none" not in codes(read.report)
    assert read.report["reading"]["repairs"] == {"said_none": 2}
