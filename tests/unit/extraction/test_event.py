"""Shape and unit rules: which decoded values are events, and what each argument counts as."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from tests.cases import cases

from ..helpers import UnitSet, event, gold, predicted_units, protocol, score, units_of

A = event("质押", ("质押方", "甲"))
UNIT_A = {("质押", "质押方", "甲")}


@cases(
    ("value", "units"),
    [
        pytest.param([A], UNIT_A, id="list"),
        pytest.param({"events": [A]}, UNIT_A, id="events"),
        pytest.param({"event_list": [A], "note": 1}, UNIT_A, id="event-list"),
        pytest.param({"events": [A], "event_list": []}, UNIT_A, id="events-before-event-list"),
        pytest.param({"events": None, "event_list": [A]}, UNIT_A, id="events-that-are-no-list"),
        pytest.param(A, UNIT_A, id="one-event"),
        pytest.param({**A, "events": []}, set(), id="list-before-type"),
        pytest.param([], set(), id="empty-list"),
        pytest.param({"events": []}, set(), id="empty-events"),
    ],
)
def test_shapes_that_are_event_lists(value: Any, units: UnitSet) -> None:
    record = score(json.dumps(value, ensure_ascii=False), gold()).record
    assert units_of(record["predicted"]) == units
    assert "not_an_event_list" not in [found["violation"] for found in record["violations"]]


@cases(
    "value",
    [
        pytest.param({"result": [A]}, id="other-key"),
        pytest.param({"events": A}, id="events-no-list"),
        pytest.param({"arguments": []}, id="no-type"),
        pytest.param({}, id="empty-object"),
    ],
)
def test_anything_else_decoded_has_no_events_and_one_violation(value: Any) -> None:
    result = score(json.dumps(value, ensure_ascii=False), gold())
    assert result.record["predicted"] == {}
    assert result.record["violations"] == [{"violation": "not_an_event_list", "path": "$"}]
    assert result["parse_raw_success"] == 1


def one_argument(written: str) -> str:
    return '[{"event_type": "T", "arguments": [{"role": "r", "argument": ' + written + "}]}]"


VALUES = [
    pytest.param('"甲"', {"甲"}, id="string"),
    pytest.param("12", {"12"}, id="integer"),
    pytest.param("1.10", {"1.10"}, id="fraction-keeps-its-zero"),
    pytest.param("1e3", {"1e3"}, id="exponent"),
    pytest.param("1E+3", {"1e+3"}, id="exponent-is-casefolded-like-any-text"),
    pytest.param("12345678901234567890123", {"12345678901234567890123"}, id="longer-than-64-bits"),
    pytest.param("123456789012345678", {"123456789012345678"}, id="eighteen-digits"),
    pytest.param("1234567890123456789", {"1234567890123456789"}, id="nineteen-digits"),
    pytest.param("0.1", {"0.1"}, id="tenth"),
    pytest.param("-5", {"-5"}, id="negative"),
    pytest.param("100000000000000000000.0", {"100000000000000000000.0"}, id="large-fraction"),
    pytest.param("1e400", {"1e400"}, id="beyond-a-double"),
    pytest.param('["甲", "乙"]', {"甲", "乙"}, id="list"),
    pytest.param('["甲", 1.50, 7]', {"甲", "1.50", "7"}, id="list-with-numbers"),
    pytest.param('["甲", null, "", true, {"a": "b"}, ["c"]]', {"甲"}, id="list-with-what-gives-nothing"),
    pytest.param("[]", set(), id="empty-list"),
    pytest.param("null", set(), id="null"),
    pytest.param('""', set(), id="empty-string"),
    pytest.param('" \\n\\u3000\\u200b"', set(), id="blank-string"),
    pytest.param("true", set(), id="boolean"),
    pytest.param('{"text": "甲"}', set(), id="object"),
    pytest.param('" 甲 "', {"甲"}, id="blanks-around"),
]


@cases(("written", "arguments"), VALUES)
def test_argument_values_give_units(written: str, arguments: set[str]) -> None:
    expected = {("T", "r", argument) for argument in arguments}
    assert predicted_units(one_argument(written)) == expected
    assert predicted_units(f"Answer: {one_argument(written)} Done.") == expected  # embedded
    assert predicted_units(one_argument(written)[:-1]) == expected  # repaired


@cases(("written", "arguments"), VALUES)
def test_values_in_an_answer_encoded_twice_give_the_same_units(written: str, arguments: set[str]) -> None:
    assert predicted_units(json.dumps(one_argument(written))) == {("T", "r", argument) for argument in arguments}


def test_minus_zero_keeps_its_text() -> None:
    assert predicted_units(one_argument("-0")) == {("T", "r", "-0")}


def test_numbers_of_joined_objects_keep_their_text() -> None:
    row = '{"event_type": "T", "arguments": [{"role": "r", "argument": 1.10}]}'
    assert predicted_units(f"{row}\n{row.replace('1.10', '2.50')}") == {("T", "r", "1.10"), ("T", "r", "2.50")}


@cases(
    ("events", "units"),
    [
        pytest.param([event(" T ", (" r ", "x"))], {("T", "r", "x")}, id="blanks-around-names-are-stripped"),
        pytest.param([event("T", ("R", "x"))], {("T", "R", "x")}, id="names-keep-their-case"),
        pytest.param([event("Ｔ", ("r", "x"))], {("Ｔ", "r", "x")}, id="names-are-not-normalized"),
        pytest.param([event("T", ("r", "x"), ("r", "x"))], {("T", "r", "x")}, id="twice-is-once"),
        pytest.param([event("T", ("r", "X")), event("T", ("r", " x"))], {("T", "r", "x")}, id="twice-in-two-events"),
        pytest.param(
            [event("T", ("r", "x")), event("T", ("s", "y"))], {("T", "r", "x"), ("T", "s", "y")}, id="events-of-a-type"
        ),
        pytest.param([event("", ("r", "x")), event("  ", ("r", "x"))], set(), id="empty-type"),
        pytest.param([event(None, ("r", "x")), event(5, ("r", "x"))], set(), id="type-that-is-no-string"),
        pytest.param([event("T", ("", "x"), ("  ", "x"), (None, "x"), (1, "x"))], set(), id="role-that-is-none"),
        pytest.param([{"event_type": "T"}], set(), id="no-arguments"),
        pytest.param([{"event_type": "T", "arguments": {"r": "x"}}], set(), id="arguments-as-object"),
        pytest.param([{"event_type": "T", "arguments": ["x", {"role": "r"}, None]}], set(), id="malformed-arguments"),
        pytest.param(["x", None, 5, event("T", ("r", "x"))], {("T", "r", "x")}, id="malformed-events-beside-a-good"),
        pytest.param(
            [{"event_type": "T", "arguments": ["x", {"role": "r", "argument": "y", "start": "a"}]}],
            {("T", "r", "y")},
            id="good-argument-beside-malformed",
        ),
    ],
)
def test_only_well_formed_parts_give_units(events: list[Any], units: UnitSet) -> None:
    assert predicted_units(json.dumps(events, ensure_ascii=False)) == units
    assert predicted_units(events) == units  # the same, decoded already


def test_type_counts_even_where_its_arguments_give_nothing() -> None:
    result = score('[{"event_type": "T", "arguments": null}]', gold(event("T")))
    assert result["type_f1"] == 1
    assert result["strict_f1"] is None


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param("\\ud83d\\ude00", id="escaped-emoji"),
        pytest.param("\\uD83D\\uDE00", id="in-capitals"),
        pytest.param("\\ud83d", id="half-of-one"),
        pytest.param("\\\\ud83d", id="escaped-backslash"),
    ],
)
def test_number_keeps_its_text_whatever_is_escaped_elsewhere_in_the_record(tmp_path: Path, beside: str) -> None:
    events = '[{"event_type": "T", "arguments": [{"role": "r", "argument": 1.10}]}]'
    (tmp_path / "gold.jsonl").write_text(
        f'{{"id": "1", "text": "so {beside}", "events": {events}}}\n', encoding="utf-8"
    )
    said = [event("T", ("r", "1.10"))]
    (tmp_path / "predictions.jsonl").write_text(json.dumps({"id": "1", "events": said}) + "\n", encoding="utf-8")
    paths = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    assert goldgate.evaluate_files(*paths, None, protocol())["strict_f1"] == 1
