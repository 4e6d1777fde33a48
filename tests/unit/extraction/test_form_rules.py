"""The rules of a form: paths into what the model wrote, what is an event, the signature, and its laws."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldgate
from goldgate.suites.extraction.events import event_list
from goldgate.suites.extraction.events.answer_form import CANONICAL
from tests.cases import cases
from tests.laws import strategies
from tests.unit.helpers import event, gold

from .forms import FIXED, FLAT, KEYS, MAPPING, SUE, WORDS, form, score, violations

# --- violations name what the model wrote


@cases(
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


@cases(
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
        (FLAT, {"event_type": "strike", "place": "x"}, True, False),
        ({"flat": True}, {"event_type": "strike", "place": "x"}, True, False),
        ({"flat": True}, {"date": "May"}, False, False),
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


@cases(
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
        ({"next_example": ["问题2", "Article:"]}, 'next_example:["Article:","问题2"]'),
        ({"said_none": "empty"}, "said_none:empty"),
        ({"said_none": "error"}, None),
        ({"prefix": "a|b\n"}, r'prefix:"a\u007cb\n"'),
    ],
)
def test_a_form_is_in_the_signature_if_it_is_not_our_own(settings: Any, part: str | None) -> None:
    def signature(response: Any) -> list[str]:
        protocol = {"metrics": {"response": response, "schema": {"mode": "syntax_only"}}}
        return str(goldgate.evaluate([gold(SUE)], [], None, protocol, allow_empty=True).report["signature"]).split("|")

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
    if settings == KEYS:  # a flat event needs no arguments
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


@pytest.mark.slow  # of the form itself, only pickling matters: see above
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
