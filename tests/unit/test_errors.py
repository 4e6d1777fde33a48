"""Errors carry place, expectation and advice; they survive the way from a worker process."""

from __future__ import annotations

import pickle

import yaml

from goldgate.errors import (
    InputError,
    Place,
    as_yaml,
    describe_value,
    did_you_mean,
)
from tests.cases import cases


@cases(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("", "an empty string"),
        ("yes", 'the string "yes"'),
        ("x" * 81, 'the string "' + "x" * 80 + '…"'),
        ("x" * 80, 'the string "' + "x" * 80 + '"'),
        ([], "an empty list"),
        ([1], "a list"),
        ({}, "an empty object"),
        ({"a": 1}, "an object"),
        (3, "the number 3"),
    ],
)
def test_values_are_described_in_the_words_of_json(value: object, words: str) -> None:
    assert describe_value(value) == words


@cases(
    ("place", "shown"),
    [
        (Place("a.jsonl", 3, "id"), "a.jsonl:3: id"),
        (Place("a.jsonl"), "a.jsonl"),
        (Place(None, None, "id"), "id"),
        (Place(), ""),
    ],
)
def test_place_reads_like_a_compiler_message(place: Place, shown: str) -> None:
    assert str(place) == shown


def test_message_says_where_what_was_expected_what_was_found_and_what_to_do() -> None:
    error = InputError("gold.bad_id", "it needs an id", place=Place("g", 2), expected="a", found="b", advice="c")
    assert str(error) == "g:2: it needs an id\n  expected: a\n  found:    b\n  do:       c"


def test_error_from_a_worker_keeps_its_place() -> None:
    error = InputError("gold.x", "m", place=Place("g", 2, "f"), expected="a", found="b", advice="c")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is InputError
    assert copy.as_json() == error.as_json()


def test_report_of_an_error_has_every_field_and_no_absolute_path() -> None:
    nothing = dict.fromkeys(("field", "expected", "found", "advice"))
    report = {"code": "c", "message": "m", "file": "gold.jsonl", "line": 1, **nothing}
    assert InputError("c", "m", place=Place("/secret/place/gold.jsonl", 1)).as_json() == report
    assert InputError("c", "m", place=Place("data/gold.jsonl")).as_json()["file"] == "data/gold.jsonl"


def test_advice_names_the_nearest_word_or_nothing() -> None:
    assert did_you_mean("strict_f", ["strict_f1", "parse_errors"]) == "did you mean strict_f1?"
    assert did_you_mean("zzz", ["strict_f1"]) is None


@cases("name", ["strict-f1", "strictF1", "StrictF1", "strict f1"])
def test_another_spelling_of_a_name_beats_names_that_are_like_it(name: str) -> None:
    assert did_you_mean(name, ["strict-f12", "strictF", "strict_f1"]) == "did you mean strict_f1?"


@cases(("key", "value"), [("gates", "{}"), ("metrics.cot.enabled", "true"), ("metrics.response.prefix", '"["')])
def test_setting_in_advice_can_be_pasted_as_yaml(key: str, value: str) -> None:
    assert "\n" not in as_yaml(key, value)
    pasted = yaml.safe_load(as_yaml(key, value))
    for name in key.split("."):
        pasted = pasted[name]
    assert pasted == yaml.safe_load(value)
