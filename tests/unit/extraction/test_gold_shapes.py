"""Gold in other shapes than our own: arguments as an object, type for event_type, roles as keys of the event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import InputError
from goldgate.readers.gold_files import GoldCheck, GoldOpener, check_gold_files
from goldgate.rewards import event_reward
from goldgate.suites.extraction.events.event_schema import EventSchema, parse_event_schema
from goldgate.suites.extraction.gold_commands import EventCheck, convert_gold, derive_event_schema
from tests.cases import cases

ROLES_OF = {"Buy": ["acquirer", "target", "price", "type"], "Sue": ["start", "who"]}
SCHEMA = {"event_types": {name: {"roles": roles} for name, roles in ROLES_OF.items()}}
TEXT = "Apple bought Beats and Emagic for 1.10 billion."
OWN = {
    "event_type": "Buy",
    "trigger": "bought",
    "start": 6,
    "end": 12,
    "arguments": [{"role": "acquirer", "argument": "Apple"}, {"role": "target", "argument": ["Beats", "Emagic"]}],
}
ROLES = {"acquirer": "Apple", "target": ["Beats", None, "Emagic"], "price": None}
TRIGGER = {"trigger": "bought", "start": 6, "end": 12}
# The shapes by the name that the signature has, each an event that says what OWN says.
EVENTS: dict[str, dict[str, Any]] = {
    "mapping": {"event_type": "Buy", **TRIGGER, "arguments": ROLES},
    "type": {**{key: value for key, value in OWN.items() if key != "event_type"}, "type": "Buy"},
    "mapping+type": {"type": "Buy", **TRIGGER, "arguments": ROLES},
    "flat": {"event_type": "Buy", **TRIGGER, **ROLES},
    "flat+type": {"type": "Buy", **TRIGGER, **ROLES},
}
ANSWERS = [{"id": "1", "response": json.dumps([OWN])}, {"id": "2", "response": json.dumps([OWN])}]


def check_gold(path: Path, schema: EventSchema | None, dialect: str | None = None) -> GoldCheck:
    return check_gold_files([path], GoldOpener(dialect), EventCheck(schema))


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def gold_of(shape: str, identity: str = "1", key: str = "events") -> dict[str, Any]:
    return {"id": identity, "text": TEXT, key: [EVENTS[shape] if shape != "own" else OWN]}


@pytest.mark.parametrize("shape", EVENTS)
def test_gold_of_each_shape_is_scored_as_our_own_and_the_report_names_it(shape: str, tmp_path: Path) -> None:
    protocol = {"metrics": {"profile": "textee"}}
    for key in ("events", "event_list"):
        mixed = [gold_of("own"), gold_of(shape, "2", key)]
        path = write(tmp_path / "gold.jsonl", *mixed)
        predictions = write(tmp_path / "answers.jsonl", *ANSWERS)
        own = goldgate.evaluate([gold_of("own"), gold_of("own", "2")], ANSWERS, SCHEMA, protocol)
        for evaluation in (
            goldgate.evaluate(mixed, ANSWERS, SCHEMA, protocol),
            goldgate.evaluate_files(path, predictions, SCHEMA, protocol),
        ):
            assert evaluation.report["metrics"] == own.report["metrics"]
            assert f"|gold_shape:{shape}" in evaluation.report["signature"], shape
            remarks = [each for each in evaluation.report["stands_out"] if each["code"] == "gold_shape"]
            assert [each["counts"] for each in remarks] == [{"records": 1}] * len(shape.split("+"))
    assert "gold_shape" not in own.report["signature"]


def test_a_score_a_reward_and_a_gold_check_read_them_too(tmp_path: Path) -> None:
    scorer, reward = goldgate.load_scorer(SCHEMA), event_reward(SCHEMA, "strict_f1")
    for shape, event in EVENTS.items():
        record = gold_of(shape)
        assert scorer.score(json.dumps([OWN]), record)["strict_f1"] == 1.0, shape
        assert reward([json.dumps([OWN])], events=[[event]], text=[TEXT]) == [1.0], shape
        check = check_gold(write(tmp_path / "gold.jsonl", record), parse_event_schema(SCHEMA))
        assert check.findings == [], shape
    columns = {"event_type": "Buy", "arguments": {"acquirer": ["Apple"], "target": ["Beats", "Emagic"]}}
    assert reward([json.dumps([OWN])], events=[[columns]]) == [1.0]


@pytest.mark.parametrize("shape", EVENTS)
def test_converted_gold_is_in_our_own_form_with_all_its_keys_and_digits(shape: str, tmp_path: Path) -> None:
    schema = parse_event_schema(SCHEMA) if "flat" in shape else None
    event = {**EVENTS[shape], "note": "x", "score": 7}
    data = json.dumps({"id": "1", "text": TEXT, "events": [event]}).replace("7", "1.10")
    path = tmp_path / "gold.jsonl"
    path.write_text(data, encoding="utf-8")
    with open(tmp_path / "out.jsonl", "wb") as out:
        conversion = convert_gold([path], out, schema=schema)
    converted = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert json.loads(converted)["events"] == [{**OWN, "note": "x", "score": 1.1}]
    assert '"score":1.10' in converted
    assert (conversion.dialects, conversion.arguments) == (shape.split("+"), 2)


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    for event in ('"arguments": {"price": 1.10}', '"price": 1.10'):
        path = tmp_path / "gold.jsonl"
        path.write_text('{"id": "1", "events": [{"type": "Buy", ' + event + "}]}", encoding="utf-8")
        answer = '[{"event_type": "Buy", "arguments": [{"role": "price", "argument": "1.10"}]}]'
        predictions = write(tmp_path / "answers.jsonl", {"id": "1", "response": answer})
        assert goldgate.evaluate_files(path, predictions, SCHEMA)["strict_f1"] == 1.0, event


NO_ARGUMENTS = "arguments_not_list", "events[0].arguments"
BAD: list[tuple[Any, Any, tuple[str, str], str | None]] = [
    (EVENTS["flat"], None, NO_ARGUMENTS, "(acquirer, target, price)? then name the"),
    ({"event_type": "Sell", "seller": "X"}, SCHEMA, NO_ARGUMENTS, "then add Sell"),
    ({"event_type": "Sell", "args": {"seller": "X"}}, SCHEMA, NO_ARGUMENTS, 'rename it to "arguments"'),
    ({"event_type": "Buy", "aquirer": "X"}, SCHEMA, NO_ARGUMENTS, "(aquirer) none is"),
    # `start` is an offset and a role of Sue: it could be either
    ({"event_type": "Sue", "start": "May", "who": "Ann"}, SCHEMA, NO_ARGUMENTS, 'write them as "arguments": {"who"'),
    ({"event_type": "Buy"}, SCHEMA, NO_ARGUMENTS, '"arguments": []'),
    ({"event_type": "Buy", "trigger": "bought"}, SCHEMA, NO_ARGUMENTS, '"arguments": []'),
    ({"event_type": "Buy", "target": {"text": "x"}}, SCHEMA, ("value_invalid", "events[0].target"), None),
    ({"type": "Buy", "arguments": {"a b": [True]}}, None, ("value_invalid", 'events[0].arguments["a b"][0]'), None),
    ({"type": "Buy", "arguments": {" ": "x"}}, None, ("role_invalid", 'events[0].arguments[" "]'), None),
    ({"type": 5, "arguments": {"a": "x"}}, None, ("event_type_invalid", "events[0].type"), None),
]


def test_a_key_under_another_name_is_an_error_with_the_keys_there_are() -> None:
    record = {"id": "1", "event": []}
    cases: list[tuple[dict[str, Any], str]] = [
        (record, "no events; the keys are id, event"),
        ({"id": "1", "events": [{"name": "Buy", "arguments": []}]}, "no event_type; the keys are name, arguments"),
        ({"id": "1", "events": [{"event_type": "Buy", "args": {}}]}, "no arguments; the keys are event_type, args"),
        (
            {"id": "1", "events": [{"event_type": "Buy", "arguments": [{"role": "acquirer", "text": "X"}]}]},
            "no argument; the keys are role, text",
        ),
    ]
    for gold, found in cases:
        with pytest.raises(InputError) as caught:
            goldgate.evaluate([gold], [], SCHEMA)
        assert caught.value.found == found


def test_an_event_schema_is_not_derived_from_flat_events(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", {"id": "1", "events": [EVENTS["flat"]]})
    with pytest.raises(InputError) as caught:
        derive_event_schema([gold])
    assert caught.value.advice is not None
    assert "--schema" not in caught.value.advice  # an option that goldgate schema does not have


@cases(("event", "schema", "expected", "advice"), BAD)
def test_what_cannot_be_read_is_an_error_with_its_place_and_advice(
    event: Any, schema: Any, expected: tuple[str, str], advice: str | None
) -> None:
    protocol = None if schema else {"metrics": {"schema": {"mode": "syntax_only"}}}
    with pytest.raises(InputError) as caught:
        goldgate.evaluate([{"id": "1", "events": [event]}], [], schema, protocol)
    assert (caught.value.code.removeprefix("gold."), caught.value.place.field) == expected
    assert advice is None or (caught.value.advice is not None and advice in caught.value.advice)


def test_gold_check_names_places_in_the_record_as_it_stands_and_keys_that_are_not_read(tmp_path: Path) -> None:
    events = [
        {"event_type": "Buy", "acquirer": "Aple", "aquirer": "Apple", "trigger": "sold", "start": 6, "end": 12},
        {"type": "Buy", "arguments": {"aquirer": "Apple", "target": "Beats"}},
        {"event_type": "Buy", "target": "Beats"},
    ]
    path = write(tmp_path / "gold.jsonl", {"id": "1", "text": TEXT, "events": events})
    check = check_gold(path, parse_event_schema(SCHEMA))
    assert [(finding.code, finding.field) for finding in check.findings] == [
        ("gold.wrong_offsets", "events[0]"),
        ("gold.unread_key", "events[0]"),
        ("gold.argument_not_in_text", "events[0].acquirer"),
        ("gold.unknown_role", "events[1].arguments.aquirer"),
        ("gold.duplicate_unit", "events[2].target"),
    ]
    assert "did you mean acquirer?" in check.findings[1].message
    assert "events[1].arguments.target" in check.findings[4].message


def test_an_event_schema_is_derived_from_objects_and_not_from_flat_events(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.jsonl", gold_of("mapping+type"))
    assert derive_event_schema([path]).role_order == {"Buy": ("acquirer", "target")}
    with pytest.raises(InputError, match=r"acquirer, target, price"):
        derive_event_schema([write(tmp_path / "flat.jsonl", gold_of("flat"))])
