"""Other forms of answers: what they mean in our own form, and what they score."""

from __future__ import annotations

import json
from typing import Any

import pytest

import goldgate
from goldgate.suites.extraction.events.answer_form import NO_EVENT, Form
from tests.cases import cases
from tests.unit.helpers import SCHEMA, Json, event, gold

from .forms import FIXED, FLAT, KEYS, MAPPING, SUE, WORDS, form, predicted, score, violations

BOTH = {("Sue", "plaintiff", "ann"), ("Sue", "date", "may")}


@cases(
    ("settings", "response"),
    [
        (FLAT, {"plaintiff": "Ann", "date": "May"}),
        (FLAT, {"plaintiff": ["Ann"], "date": ["May", "may "]}),
        (FIXED, {"plaintiff": "Ann", "date": "May"}),
        (MAPPING, [{"event_type": "Sue", "arguments": {"plaintiff": "Ann", "date": ["May"]}}]),
        (MAPPING, {"events": [{"event_type": "Sue", "arguments": {"plaintiff": "Ann", "date": "May"}}]}),
        (MAPPING, {"event_type": "Sue", "arguments": {"plaintiff": "Ann", "date": "May"}}),
        (KEYS, {"type": "Sue", "args": [{"name": "plaintiff", "text": "Ann"}, {"name": "date", "span": "May"}]}),
        (KEYS, {"results": [{"type": "Sue", "args": [{"name": "plaintiff", "text": "Ann"}]}, SUE]}),
        (KEYS | {"arguments": "list"}, [SUE]),
        (
            {"keys": {"event_type": ["type"]}} | MAPPING,
            {"type": "Sue", "arguments": {"plaintiff": "Ann", "date": "May"}},
        ),
    ],
)
def test_a_declared_form_is_read_without_a_violation(settings: Any, response: Any) -> None:
    found = score(response, gold(SUE), strict=True, **settings)
    assert predicted(found) == BOTH
    assert (found["strict_f1"], found["schema_compliance_rate"]) == (1.0, 1.0)
    assert found["parse_raw_success"] == 1


@cases("settings", [FLAT, FIXED, MAPPING, KEYS, WORDS, {"prefix": "["}])
@cases("response", [[SUE], {"events": [SUE]}, {"event_list": [SUE]}, SUE])
def test_our_own_form_reads_as_ever_beside_another(settings: Any, response: Any) -> None:
    found = score(response if settings != {"prefix": "["} else [SUE], gold(SUE), strict=True, **settings)
    assert (predicted(found), violations(found)) == (BOTH, [])


@cases("response", [{"plaintiff": "Ann"}, [{"event_type": "Sue", "arguments": {"plaintiff": "Ann"}}]])
def test_no_form_is_read_that_was_not_declared(response: Any) -> None:
    found = score(response, gold(SUE))
    assert predicted(found) == set()
    assert found["schema_compliance_rate"] == 0.0


DECODED: list[tuple[Any, Any]] = [
    (FLAT, {"plaintiff": "Ann", "date": None}),
    (FLAT, {"plaintiff": "Ann", "date": "None"}),
    (FLAT, {"plaintiff": True}),
    (MAPPING, {"event_type": "Sue", "arguments": {"plaintiff": ["Ann"], "date": "May"}}),
    (MAPPING, {"event_type": "Sue", "arguments": {"plaintiff": 1.10, "date": True}}),
    (KEYS, {"type": "Sue", "args": [{"name": "plaintiff", "text": "Ann"}]}),
    *((settings, SUE) for settings in (FLAT, MAPPING, KEYS)),
]


@cases(("settings", "event"), DECODED)
def test_decoded_events_are_read_in_the_declared_form_as_responses_are(settings: Any, event: Any) -> None:
    protocol = {"metrics": {"response": settings | {"null_words": ["none"]}}}
    answers: list[Json] = [{"response": json.dumps([event])}, {"events": [event]}]
    of_response, of_events = (
        goldgate.evaluate([gold(SUE)], [{"id": "1", **answer}], SCHEMA, protocol, records=True) for answer in answers
    )
    assert of_events["strict_f1"] == of_response["strict_f1"]
    assert of_events.report["hints"] == of_response.report["hints"]
    paths = [
        [entry["path"].replace("$.events[0]", "$[0]") for entry in (evaluation.samples or [{}])[0]["violations"]]
        for evaluation in (of_events, of_response)
    ]
    assert paths[0] == paths[1]
    assert goldgate.load_scorer(SCHEMA, protocol).score([event], gold(SUE))["strict_f1"] == of_response["strict_f1"]


# --- keys


def test_of_two_keys_for_one_thing_the_first_listed_counts() -> None:
    both = {
        "type": "质押",
        "event_type": "Sue",
        "arguments": [],
        "args": [{"role": "date", "name": "plaintiff", "text": "A"}],
    }
    assert predicted(score(both, gold(SUE), **KEYS)) == {("Sue", "plaintiff", "a")}


def test_offsets_stay_with_an_argument_under_other_keys() -> None:
    response = {"type": "Sue", "args": [{"name": "date", "text": "May", "start": 4, "end": 7}]}
    found = score(response, gold(SUE), **KEYS).facts.predicted
    assert [value.span for value in found.values()] == [(4, 7)]


# --- flat


def test_a_flat_answer_has_the_type_of_the_first_gold_event() -> None:
    record = gold(event("质押", ("质押方", "甲")), SUE)
    assert predicted(score({"质押方": "甲"}, record, **FLAT)) == {("质押", "质押方", "甲")}


def test_what_a_flat_answer_says_where_the_gold_has_no_event_is_false() -> None:
    found = score({"plaintiff": "Ann", "date": None}, gold(), **FLAT)
    assert predicted(found) == {(NO_EVENT, "plaintiff", "ann")}
    assert found["strict_precision"] == 0.0
    assert score({"plaintiff": None, "date": ""}, gold(), **FLAT)["type_precision"] is None


def test_a_type_from_the_gold_is_given_whatever_the_values_and_a_fixed_one_only_with_a_value() -> None:
    empty: Json = {"plaintiff": None, "date": []}
    without_arguments = gold(event("Sue"))
    assert score(empty, without_arguments, **FLAT)["type_f1"] == 1.0
    assert score({}, without_arguments, **FLAT)["type_f1"] == 1.0
    assert score(empty, gold(), **FIXED)["type_precision"] is None  # it says that there is none
    assert score({"date": 5}, gold(), **FIXED)["type_precision"] == 0.0


def test_a_role_may_have_the_name_of_a_key_of_ours() -> None:
    response = {"arguments": "loud", "events": ["first", "second"]}
    assert predicted(score(response, gold(event("Sue")), **FLAT)) == {
        ("Sue", "arguments", "loud"),
        ("Sue", "events", "first"),
        ("Sue", "events", "second"),
    }


FLAT_EVENTS: Json = {"flat": True}
INLINE = {"event_type": "Sue", "plaintiff": "Ann", "date": ["May", None], "trigger": "sued"}
INLINE_UNITS = {("Sue", "plaintiff", "ann"), ("Sue", "date", "may")}


@cases("settings", [FLAT_EVENTS, FLAT, FIXED])
@cases("layout", [lambda e: [e], lambda e: e, lambda e: {"events": [e]}, lambda e: [[e]], lambda e: [e, e]])
def test_flat_events_carry_their_type(settings: Json, layout: Any) -> None:
    for answer in (layout(INLINE), json.dumps(layout(INLINE))):
        found = score(answer, gold(SUE), strict=True, **settings)
        assert (predicted(found), violations(found)) == (INLINE_UNITS, [])


@cases("settings", [FLAT_EVENTS, FLAT])
def test_flat_events_are_read_in_structured_predictions(settings: Json) -> None:
    protocol = {"metrics": {"response": settings, "schema": {"mode": "syntax_only"}}}
    evaluation = goldgate.evaluate([gold(SUE)], [{"id": "1", "events": [INLINE, SUE]}], None, protocol)
    assert (evaluation["strict_f1"], evaluation["schema_compliance_rate"]) == (1.0, 1.0)


def test_flat_events_on_their_own_are_joined() -> None:
    text = f"{json.dumps(INLINE)}\nand\n{json.dumps({'event_type': 'Buy', 'buyer': 'Bo'})}"
    found = score(text, gold(SUE), **FLAT_EVENTS)
    assert predicted(found) == {*INLINE_UNITS, ("Buy", "buyer", "bo")}
    corrected = score(
        f"{json.dumps(INLINE)}\nCorrected:\n{json.dumps({'event_type': 'Buy', 'buyer': 'Bo'})}",
        gold(SUE),
        **FLAT_EVENTS,
    )
    assert predicted(corrected) == {("Buy", "buyer", "bo")}


def test_what_flat_events_lack_is_a_violation_with_its_place() -> None:
    found = score([{"plaintiff": "Ann"}], gold(SUE), **FLAT_EVENTS)
    assert (predicted(found), [kind for kind, _ in violations(found)]) == (
        set(),
        ["event_type_invalid", "arguments_not_list"],
    )
    found = score([{"type": "Sue", "plaintiff": True}], gold(SUE), flat=True, keys={"event_type": ["type"]})
    assert violations(found) == [("value_invalid", "$[0].plaintiff")]
    assert violations(score([{"event_type": "Sue"}], gold(SUE), **FLAT_EVENTS)) == []  # an event without arguments
    assert predicted(score([SUE], gold(SUE), **FLAT_EVENTS)) == {("Sue", "plaintiff", "ann"), ("Sue", "date", "may")}


def test_roles_of_an_event_are_listed_once_for_the_places_of_all_violations(monkeypatch: pytest.MonkeyPatch) -> None:
    read, calls = Form.inline_values, list[Json]()

    def counted(self: Form, event: Json) -> Json:
        calls.append(event)
        return read(self, event)

    monkeypatch.setattr(Form, "inline_values", counted)
    looked_at = []
    for count in (2, 100):
        calls.clear()
        answer = [{"event_type": "Sue", **dict.fromkeys([f"r{n}" for n in range(count)], True)}]
        record = score(answer, gold(SUE), flat=True).record
        looked_at.append(len(calls))
    assert looked_at[0] == looked_at[1]
    assert record["violations"][-1]["path"] == "$[0].r99"


def test_null_in_a_place_for_a_role_says_that_there_is_none() -> None:
    for settings, response in (
        (FLAT, {"plaintiff": "Ann", "date": None}),
        (MAPPING, {"event_type": "Sue", "arguments": {"plaintiff": ["Ann", None], "date": None}}),
    ):
        found = score(response, gold(SUE), strict=True, **settings)
        assert (predicted(found), violations(found)) == ({("Sue", "plaintiff", "ann")}, [])


# --- null words


@cases("word", ["null", "NULL", " none ", "Ｎ／Ａ", "n / a", "无"])
def test_a_null_word_gives_no_unit_and_no_violation(word: str) -> None:
    answers: list[tuple[Any, Any]] = [
        ({}, [event("Sue", ("plaintiff", "Ann"), ("date", word))]),
        ({}, [event("Sue", ("plaintiff", ["Ann", word]), ("date", [word]))]),
        (MAPPING, [{"event_type": "Sue", "arguments": {"plaintiff": "Ann", "date": word}}]),
        (FLAT, {"plaintiff": "Ann", "date": word}),
        (FLAT, {"plaintiff": "Ann", "date": [word, word]}),
    ]
    for settings, response in answers:
        found = score(response, gold(SUE), strict=True, **(settings | WORDS))
        assert (predicted(found), violations(found)) == ({("Sue", "plaintiff", "ann")}, [])


@cases("value", ["none of them", "nonexistent", "N", "无效"])
def test_a_null_word_counts_only_as_a_whole_value(value: str) -> None:
    assert len(predicted(score([event("Sue", ("date", value))], gold(SUE), **WORDS))) == 1


def test_without_a_declaration_a_null_word_is_a_value() -> None:
    assert predicted(score([event("Sue", ("date", "null"))], gold(SUE))) == {("Sue", "date", "null")}


def test_an_event_whose_type_is_a_null_word_is_none_unless_it_has_values() -> None:
    for nothing in ({"event_type": "None"}, event("none"), event("N/A", ("date", "null")), [event("null")]):
        found = score(nothing, gold(), **WORDS)
        assert (found.record["predicted"], violations(found)) == ({}, [])
    hidden = score([event("none", ("date", "May"))], gold(), **WORDS)  # not a way to say things unpunished
    assert hidden["strict_precision"] == 0.0


def test_a_null_in_a_list_of_our_own_form_stays_a_violation() -> None:
    found = score([event("Sue", ("date", None), ("plaintiff", [None]))], gold(SUE), **WORDS)
    assert violations(found) == [
        ("value_null", "$[0].arguments[0].argument"),
        ("value_invalid", "$[0].arguments[1].argument[0]"),
    ]


# --- numbers


@cases(
    ("settings", "before", "after"),
    [
        (FLAT, '{"date": ', "}"),
        (MAPPING, '[{"event_type": "Sue", "arguments": {"date": [', "]}}]"),
        (KEYS, '[{"type": "Sue", "args": [{"name": "date", "text": ', "}]}]"),
    ],
)
@cases("number", ["1.10", "-0", "12345678901234567890123", "1E3"])
def test_numbers_keep_their_text(settings: Any, before: str, after: str, number: str) -> None:
    for end in ("", ","):  # as it stands, and repaired
        response = before + number + after[:-1] + end + after[-1]
        assert predicted(score(response, gold(SUE), **settings)) == {("Sue", "date", number.casefold())}


def test_an_empty_list_under_a_declared_key_in_an_unclosed_thought_is_no_answer() -> None:
    parsed = goldgate.parse_response('<think>perhaps {"results": []}, or else', form=form(**KEYS))
    assert (parsed.status, parsed.value) == ("error", None)
