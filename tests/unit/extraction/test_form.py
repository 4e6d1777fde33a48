"""Other forms of answers: what they mean in our own form, and what they score."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldgate
from goldgate import Score
from goldgate.suites.extraction.events.event import event_list
from goldgate.suites.extraction.events.form import CANONICAL, NO_EVENT, Form, form_of
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan
from tests.laws import strategies
from tests.unit.helpers import SCHEMA, Json, event, gold, units_of

FLAT: Json = {"flat": {"event_type": {"from": "gold"}}}
FIXED: Json = {"flat": {"event_type": "Sue"}}
MAPPING: Json = {"arguments": "mapping"}
KEYS: Json = {
    "keys": {
        "events": ["results"],
        "event_type": ["event_type", "type"],
        "arguments": ["args", "arguments"],
        "role": ["name"],
        "argument": ["argument", "text", "span"],
    }
}
WORDS: Json = {"null_words": ["null", "None", "n/a", "无"]}
SUE = event("Sue", ("plaintiff", "Ann"), ("date", "May"))


def form(**settings: Any) -> Form:
    return form_of(load_plan(SUITE, {"metrics": {"response": settings}}).settings.response)


def score(response: Any, record: Any, strict: bool = False, **settings: Any) -> Score:
    mode = "schema_strict" if strict else "syntax_only"
    protocol = {"metrics": {"response": settings, "schema": {"mode": mode}}}
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    return goldgate.load_scorer(SCHEMA, protocol).score(text, record)


def predicted(found: Score) -> Any:
    return units_of(found.record["predicted"])


def violations(found: Score) -> list[tuple[str, str]]:
    return [(entry["violation"], entry["path"]) for entry in found.record["violations"]]


BOTH = {("Sue", "plaintiff", "ann"), ("Sue", "date", "may")}


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("settings", [FLAT, FIXED, MAPPING, KEYS, WORDS, {"prefix": "["}])
@pytest.mark.parametrize("response", [[SUE], {"events": [SUE]}, {"event_list": [SUE]}, SUE])
def test_our_own_form_reads_as_ever_beside_another(settings: Any, response: Any) -> None:
    found = score(response if settings != {"prefix": "["} else [SUE], gold(SUE), strict=True, **settings)
    assert (predicted(found), violations(found)) == (BOTH, [])


@pytest.mark.parametrize("response", [{"plaintiff": "Ann"}, [{"event_type": "Sue", "arguments": {"plaintiff": "Ann"}}]])
def test_no_form_is_read_that_was_not_declared(response: Any) -> None:
    found = score(response, gold(SUE))
    assert predicted(found) == set()
    assert found["schema_compliance_rate"] == 0.0


@pytest.mark.parametrize("settings", [FLAT, MAPPING, KEYS])
def test_predictions_that_came_as_events_are_in_our_own_form(settings: Any) -> None:
    protocol = {"metrics": {"response": settings | {"null_words": ["May"]}}}
    evaluation = goldgate.evaluate([gold(SUE)], [{"id": "1", "events": [SUE]}], SCHEMA, protocol)
    assert (evaluation["strict_f1"], evaluation["schema_compliance_rate"]) == (1.0, 1.0)
    assert goldgate.load_scorer(SCHEMA, protocol).score([SUE], gold(SUE))["strict_f1"] == 1.0


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
    response = {"event_type": "strike", "arguments": "loud", "events": ["first", "second"]}
    assert predicted(score(response, gold(event("Sue")), **FLAT)) == {
        ("Sue", "event_type", "strike"),
        ("Sue", "arguments", "loud"),
        ("Sue", "events", "first"),
        ("Sue", "events", "second"),
    }


def test_null_in_a_place_for_a_role_says_that_there_is_none() -> None:
    for settings, response in (
        (FLAT, {"plaintiff": "Ann", "date": None}),
        (MAPPING, {"event_type": "Sue", "arguments": {"plaintiff": ["Ann", None], "date": None}}),
    ):
        found = score(response, gold(SUE), strict=True, **settings)
        assert (predicted(found), violations(found)) == ({("Sue", "plaintiff", "ann")}, [])


# --- null words


@pytest.mark.parametrize("word", ["null", "NULL", " none ", "Ｎ／Ａ", "n / a", "无"])
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


@pytest.mark.parametrize("value", ["none of them", "nonexistent", "N", "无效"])
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


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        (FLAT, '{"date": ', "}"),
        (MAPPING, '[{"event_type": "Sue", "arguments": {"date": [', "]}}]"),
        (KEYS, '[{"type": "Sue", "args": [{"name": "date", "text": ', "}]}]"),
    ],
)
@pytest.mark.parametrize("number", ["1.10", "-0", "12345678901234567890123", "1E3"])
def test_numbers_keep_their_text(settings: Any, before: str, after: str, number: str) -> None:
    for end in ("", ","):  # as it stands, and repaired
        response = before + number + after[:-1] + end + after[-1]
        assert predicted(score(response, gold(SUE), **settings)) == {("Sue", "date", number.casefold())}


# --- prefix


PREFIX = '[{"event_type":'


@pytest.mark.parametrize(
    "response",
    [
        ' "Sue", "arguments": [{"role": "date", "argument": "May"}]}]',
        '"Sue", "arguments": [{"role": "date", "argument": "May"}]}]\nThat is all.',
        # The model began again: the prefix is not put twice.
        '[{"event_type": "Sue", "arguments": [{"role": "date", "argument": "May"}]}]',
        '\n[\n  {\n    "event_type": "Sue", "arguments": [{"role": "date", "argument": "May"}]}]',
        '```json\n[{"event_type": "Sue", "arguments": [{"role": "date", "argument": "May"}]}]\n```',
    ],
)
def test_the_prefix_is_put_before_a_response_that_does_not_begin_with_it(response: str) -> None:
    found = score(response, gold(SUE), strict=True, prefix=PREFIX)
    assert predicted(found) == {("Sue", "date", "may")}
    assert found["parse_raw_success"] == 1


@pytest.mark.parametrize("response", ["", " \n"])
def test_a_model_that_said_nothing_did_not_say_the_prefix(response: str) -> None:
    found = score(response, gold(SUE), prefix='[{"event_type": "Sue", "arguments": [')
    assert (found["parse_errors"], found["parse_extraction_failures"], found.record["predicted"]) == (1, 1, {})


def test_a_prefix_may_open_a_thought() -> None:
    parsed = score("No: [1]</think>[]", gold(), prefix="<think>\n").facts.parsed
    assert parsed is not None
    assert (parsed.value, parsed.thought_state, parsed.thought.strip()) == ([], "closed", "No: [1]")


# --- violations name what the model wrote


@pytest.mark.parametrize(
    ("settings", "response", "expected"),
    [
        (FLAT, {"date": {"a": 1}, "no such": "x"}, [("unknown_role", '$["no such"]'), ("value_invalid", "$.date")]),
        (FLAT, {"date": ["a", True]}, [("value_invalid", "$.date[1]")]),
        (
            FLAT,
            [{"date": "May"}, {"date": "June"}],
            [
                ("arguments_not_list", "$[0].arguments"),
                ("arguments_not_list", "$[1].arguments"),
                ("event_type_invalid", "$[0].event_type"),
                ("event_type_invalid", "$[1].event_type"),
            ],
        ),
        ({"flat": {"event_type": "Other"}}, {"date": "May"}, [("unknown_event_type", "$")]),
        (
            MAPPING,
            {"events": [SUE, {"event_type": "Sue", "arguments": {"date": [1, True]}}]},
            [("value_invalid", "$.events[1].arguments.date[1]"), ("value_number", "$.events[1].arguments.date[0]")],
        ),
        (
            KEYS,
            {"results": [{"type": "New", "args": [{"text": "x"}, 1]}]},
            [
                ("argument_not_object", "$.results[0].args[1]"),
                ("role_invalid", "$.results[0].args[0].name"),
                ("unknown_event_type", "$.results[0].type"),
            ],
        ),
        (WORDS, [event("none"), event("Sue", ("date", 1))], [("value_number", "$[1].arguments[0].argument")]),
        (KEYS, {"type": "Sue"}, [("arguments_not_list", "$.args")]),
        (KEYS, {"kind": "Sue"}, [("not_an_event_list", "$")]),
    ],
)
def test_paths_name_what_the_model_wrote(settings: Any, response: Any, expected: list[tuple[str, str]]) -> None:
    assert sorted(violations(score(response, gold(SUE), strict=True, **settings))) == expected


# --- what the reader of responses asks of a form


@pytest.mark.parametrize(
    ("settings", "value", "is_one_event", "is_whole"),
    [
        ({}, SUE, True, False),
        ({}, [SUE], False, True),
        ({}, [], False, True),
        ({}, {"events": []}, False, True),
        ({}, {"date": "May"}, False, False),
        ({}, [1], False, False),
        ({}, {"event_type": 1}, False, False),
        (MAPPING, {"event_type": "Sue", "arguments": {}}, True, False),
        (KEYS, {"type": "Sue"}, True, False),
        (KEYS, {"event_type": None, "type": "Sue"}, False, False),
        (KEYS, {"results": []}, False, True),
        (KEYS, [{"type": "Sue"}], False, True),
        (FLAT, {"date": "May", "place": None, "sum": 1.5, "who": ["A", None]}, False, True),
        (FLAT, {"date": {"a": 1}}, False, False),
        (FLAT, {"date": True}, False, False),
        (FLAT, {}, False, False),
        (FLAT, [], False, False),
        (FLAT, [{"date": "May"}], False, False),
        (FLAT, {"event_type": "strike", "place": "x"}, False, True),
        (FLAT, SUE, True, False),
        (FLAT, [SUE], False, True),
        (FLAT, {"events": [SUE]}, False, True),
        (FLAT, "May", False, False),
    ],
)
def test_what_is_an_event_and_what_a_whole_answer(
    settings: Any, value: Any, is_one_event: bool, is_whole: bool
) -> None:
    declared = form(**settings)
    assert (declared.is_event(value), declared.is_answer(value)) == (is_one_event, is_whole)


def test_the_keys_of_a_form_are_ours_and_those_declared() -> None:
    ours = {"events", "event_list", "event_type", "arguments", "role", "argument", "trigger", "start", "end"}
    assert ours <= CANONICAL.keys
    assert form(**KEYS).keys - CANONICAL.keys == {"results", "type", "args", "name", "text", "span"}


def test_a_form_can_be_compared_hashed_and_sent_to_another_process() -> None:
    for settings in ({}, FLAT, FIXED, MAPPING, KEYS, WORDS, {"prefix": "x"}):
        made = form(**settings)
        assert pickle.loads(pickle.dumps(made)) == made
        assert hash(made) == hash(form(**settings))
    assert form() == CANONICAL != form(**FLAT)


# --- in the signature


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({}, None),
        ({"null_words": [], "keys": {"role": ["role"]}, "arguments": "list", "flat": None}, None),
        (FLAT, 'flat:{"from":"gold"}'),
        ({"flat": {"event_type": "gold"}}, 'flat:"gold"'),
        (MAPPING, "arguments:mapping"),
        ({"keys": {"role": ["name"]}}, 'keys:{"role":["name","role"]}'),
        ({"keys": {"role": ["name", "role"]}}, 'keys:{"role":["name","role"]}'),
        ({"null_words": ["无", "N/A", "n / a"]}, 'null_words:["n/a","无"]'),
        ({"prefix": "a|b\n"}, r'prefix:"a\u007cb\n"'),
    ],
)
def test_a_form_is_in_the_signature_if_it_is_not_our_own(settings: Any, part: str | None) -> None:
    def signature(response: Any) -> list[str]:
        protocol = {"metrics": {"response": response, "schema": {"mode": "syntax_only"}}}
        return str(goldgate.evaluate([gold(SUE)], [], None, protocol).report["signature"]).split("|")

    usual = signature({})
    found = signature(settings)
    assert [entry for entry in found if entry not in usual] == ([] if part is None else [part])


# --- laws


def is_event(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("event_type"), str)


def reads_as_events(value: Any) -> bool:
    if isinstance(value, dict):
        listed = event_list(value)
        return listed is not None and (listed.path != "$" or is_event(value))
    return isinstance(value, list) and (not value or any(map(is_event, value)))


@given(strategies.odd_events)
def test_the_canonical_form_is_our_own(value: list[Any]) -> None:
    for decoded in (value, {"events": value}, *value):
        assert CANONICAL.to_canonical(decoded) is decoded
        assert CANONICAL.is_event(decoded) is is_event(decoded)
        assert (CANONICAL.is_answer(decoded) or CANONICAL.is_event(decoded)) is reads_as_events(decoded)


@given(strategies.odd_events, st.sampled_from([MAPPING, KEYS, FLAT, FIXED]))
def test_our_own_form_means_the_same_under_any_declaration(value: list[Any], settings: Any) -> None:
    ours = score(json.dumps(value), gold(SUE))
    other = score(json.dumps(value), gold(SUE), **settings)
    if settings != MAPPING:  # it reads one thing more
        assert other.record["predicted"] == ours.record["predicted"]
        assert [kind for kind, _ in violations(other)] == [kind for kind, _ in violations(ours)]


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(["null", "A", "", "Sue"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["event_type", "type", "args", "arguments", "name", "text", "x y"]), inner),
        st.dictionaries(st.sampled_from(["events", "results", "event_type", "argument", "role"]), inner, max_size=3),
    ),
    max_leaves=12,
)


@given(json_values, st.sampled_from([MAPPING, KEYS, FLAT, FIXED, MAPPING | {"keys": {"arguments": ["args"]}}]))
def test_no_value_is_too_odd_for_a_form(value: Any, settings: Any) -> None:
    declared = form(**(settings | WORDS))
    canonical = declared.to_canonical(value, ["Sue"])
    assert declared.is_event(value) in (True, False)
    assert declared.is_answer(value) in (True, False)
    if declared.is_event(value) or declared.is_answer(value):  # what is meant as events has a list of them
        assert event_list(canonical) is not None
    for response in (value, [value]):
        for _, path in violations(score(response, gold(SUE), strict=True, **(settings | WORDS))):
            assert path.startswith("$")


def test_a_form_gives_the_same_bytes_for_any_number_of_workers(tmp_path: Path) -> None:
    golds, answers = tmp_path / "gold.jsonl", tmp_path / "answers.jsonl"
    golds.write_text("".join(json.dumps(gold(SUE, identity=str(n))) + "\n" for n in range(600)))
    responses = ['{"plaintiff": "Ann", "date": "none"}', '{"date": 1.10}', "[]", json.dumps([SUE])]
    answers.write_text(
        "".join(json.dumps({"id": str(n), "response": responses[n % 4]}) + "\n" for n in range(600)), encoding="utf-8"
    )
    protocol = {"metrics": {"response": FLAT, "schema": {"mode": "syntax_only"}}}
    one, two = (goldgate.evaluate_files(golds, answers, None, protocol, workers=workers) for workers in (1, 2))
    assert one.to_json() == two.to_json()
    assert [hint["answers"] for hint in one.report["hints"]] == [150]  # the word for null


def test_an_empty_list_under_a_declared_key_in_an_unclosed_thought_is_no_answer() -> None:
    parsed = goldgate.parse_response('<think>perhaps {"results": []}, or else', form=form(**KEYS))
    assert (parsed.status, parsed.value) == ("error", None)


@pytest.mark.parametrize(
    ("response", "preamble"),
    [('{"event_type": "A", "arguments": []}]', ""), ('first some words: [{"event_type": "A"}]', "first some words: ")],
)
def test_words_of_the_prefix_are_no_preamble(response: str, preamble: str) -> None:
    parsed = goldgate.parse_response(response, form=form(prefix="These are the events: ["))
    assert parsed.preamble == preamble
