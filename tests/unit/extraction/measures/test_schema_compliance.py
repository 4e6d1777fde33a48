"""Schema compliance: every violation by name and path, in both modes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import ConfigError
from goldgate.suites.extraction.events import Violation
from tests.cases import cases

from ...helpers import SCHEMA, Json, answer, event, gold, judge, score, scorer

GOOD = event("质押", ("质押方", "甲"), ("数量", ["1", "2"]))


def arguments(*items: Any) -> Json:
    return {"event_type": "质押", "arguments": list(items)}


def argument(**fields: Any) -> Json:
    return {"role": "质押方", "argument": "甲", **fields}


SYNTAX = [
    pytest.param([1], [("event_not_object", "$[0]")], id="number-for-event"),
    pytest.param([GOOD, "x"], [("event_not_object", "$[1]")], id="string-for-event"),
    pytest.param([{"arguments": []}, GOOD], [("event_type_invalid", "$[0].event_type")], id="no-type"),
    pytest.param(
        [event(""), event(" "), event(7)], [("event_type_invalid", f"$[{n}].event_type") for n in range(3)], id="type"
    ),
    pytest.param([{"event_type": "质押"}], [("arguments_not_list", "$[0].arguments")], id="no-arguments"),
    pytest.param([{"event_type": "质押", "arguments": {}}], [("arguments_not_list", "$[0].arguments")], id="object"),
    pytest.param([arguments("x")], [("argument_not_object", "$[0].arguments[0]")], id="argument-string"),
    pytest.param([arguments({"argument": "x"})], [("role_invalid", "$[0].arguments[0].role")], id="no-role"),
    pytest.param([arguments(argument(role=" "))], [("role_invalid", "$[0].arguments[0].role")], id="blank-role"),
    pytest.param([arguments({"role": "质押方"})], [("value_missing", "$[0].arguments[0].argument")], id="no-argument"),
    pytest.param([arguments(argument(argument=1))], [("value_number", "$[0].arguments[0].argument")], id="integer"),
    pytest.param([arguments(argument(argument=1.5))], [("value_number", "$[0].arguments[0].argument")], id="fraction"),
    pytest.param([arguments(argument(argument=None))], [("value_null", "$[0].arguments[0].argument")], id="null"),
    pytest.param([arguments(argument(argument=True))], [("value_invalid", "$[0].arguments[0].argument")], id="boolean"),
    pytest.param([arguments(argument(argument={}))], [("value_invalid", "$[0].arguments[0].argument")], id="nested"),
    pytest.param(
        [arguments(argument(argument=["a", 1, ["b"]]))],
        [("value_number", "$[0].arguments[0].argument[1]"), ("value_invalid", "$[0].arguments[0].argument[2]")],
        id="items-of-a-list",
    ),
    pytest.param({"events": [1]}, [("event_not_object", "$.events[0]")], id="path-under-events"),
    pytest.param({"event_list": [1]}, [("event_not_object", "$.event_list[0]")], id="path-under-event-list"),
    pytest.param({"event_type": "质押"}, [("arguments_not_list", "$.arguments")], id="path-of-one-event"),
    pytest.param({"a": 1}, [("not_an_event_list", "$")], id="no-event-list"),
    pytest.param(
        [arguments("x", {"argument": 1}, argument()), 5],
        [
            ("argument_not_object", "$[0].arguments[0]"),
            ("role_invalid", "$[0].arguments[1].role"),
            ("value_number", "$[0].arguments[1].argument"),
            ("event_not_object", "$[1]"),
        ],
        id="all-not-only-the-first",
    ),
]
SCHEMA_ONLY = [
    pytest.param([event("增持")], [("unknown_event_type", "$[0].event_type")], id="unknown-type"),
    pytest.param([event("质押", ("原告", "甲"))], [("unknown_role", "$[0].arguments[0].role")], id="unknown-role"),
    pytest.param(
        [event("解除质押", ("质权方", "甲"))], [("unknown_role", "$[0].arguments[0].role")], id="role-of-another-type"
    ),
    pytest.param([event("sue")], [("unknown_event_type", "$[0].event_type")], id="case-of-a-type-matters"),
    pytest.param(
        [event("增持", ("x", 1))],
        [("unknown_event_type", "$[0].event_type"), ("value_number", "$[0].arguments[0].argument")],
        id="roles-of-an-unknown-type-are-not-judged",
    ),
]
COMPLIANT = [
    pytest.param([], id="empty-list"),
    pytest.param({"events": []}, id="empty-events"),
    pytest.param([GOOD], id="good"),
    pytest.param(GOOD, id="one-event"),
    pytest.param([event("质押")], id="no-arguments"),
    pytest.param([event("质押", ("质押方", ""))], id="empty-value-is-a-string"),
    pytest.param([event("质押", ("质押方", []))], id="empty-list-of-strings"),
    pytest.param([event(" 质押 ", (" 质押方 ", "甲"))], id="blanks-around-names"),
    pytest.param([{**GOOD, "trigger": 5, "more": None}], id="other-keys"),
    pytest.param([arguments(argument(start=0, end=1))], id="offsets"),
    pytest.param([GOOD, GOOD], id="repeated"),
]


def violations(value: Any, mode: str) -> list[tuple[str, str]]:
    record = score(json.dumps(value, ensure_ascii=False), gold(), SCHEMA, schema_mode=mode).record
    return [(str(found["violation"]), found["path"]) for found in record["violations"]]


@cases(("value", "expected"), SYNTAX)
@cases("mode", ["syntax_only", "schema_strict"])
def test_violations_of_the_form_count_in_both_modes(value: Any, expected: list[tuple[str, str]], mode: str) -> None:
    assert violations(value, mode) == expected


@cases(("value", "expected"), SCHEMA_ONLY)
def test_violations_of_the_event_schema_count_in_strict_mode(value: Any, expected: list[tuple[str, str]]) -> None:
    assert violations(value, "schema_strict") == expected
    names = {"unknown_event_type", "unknown_role"}
    assert violations(value, "syntax_only") == [found for found in expected if found[0] not in names]


@cases("value", COMPLIANT)
@cases("mode", ["syntax_only", "schema_strict"])
def test_compliant_answers_have_no_violation(value: Any, mode: str) -> None:
    assert violations(value, mode) == []


@cases("mode", ["syntax_only", "schema_strict"])
def test_what_did_not_parse_fails(mode: str) -> None:
    for response in ("nothing", "", None):
        result = score(response, gold(), SCHEMA, schema_mode=mode)
        assert result.record["violations"] == [{"violation": "not_parsed", "path": "$"}]
        assert result["schema_compliance_rate"] == 0


def test_every_violation_has_its_row() -> None:
    rows: list[Any] = [row.values[1] for row in SYNTAX + SCHEMA_ONLY]
    named = {name for expected in rows for name, _ in expected}
    assert named | {"not_parsed", "said_none", "too_many"} == {violation.value for violation in Violation}


def test_repaired_answer_can_comply() -> None:
    result = score(answer(GOOD)[:-1], gold(), SCHEMA, schema_mode="schema_strict")
    assert (result["parse_repair_success"], result["schema_compliance_rate"]) == (1, 1)


def test_rate_is_over_all_samples_and_the_report_counts_samples_and_occurrences() -> None:
    responses = [answer(GOOD), "[]", '[1, 2, {"event_type": "质押"}]', "none", None]
    golds = [gold(identity=str(number)) for number in range(5)]
    predictions = [{"id": str(n), "response": text} for n, text in enumerate(responses) if text is not None]
    evaluation = judge(golds, predictions, SCHEMA, schema_mode="schema_strict")
    rate = evaluation.report["metrics"]["main"]["schema_compliance_rate"]
    assert (rate["value"], rate["numerator"], rate["denominator"]) == (0.4, 2, 5)
    assert (rate["interval"]["unit"], rate["interval"]["units"]) == ("sample", 5)
    assert evaluation.report["reading"]["violations"] == {
        "not_parsed": {"samples": 2, "occurrences": 2},
        "event_not_object": {"samples": 1, "occurrences": 2},
        "arguments_not_list": {"samples": 1, "occurrences": 1},
    }


def test_strict_mode_without_an_event_schema_is_an_error_not_a_pass() -> None:
    with pytest.raises(ConfigError) as caught:
        scorer(None, schema_mode="schema_strict")
    assert caught.value.code == "schema.required"


@pytest.mark.parametrize("value", [1, 1.5], ids=["integer", "fraction"])
def test_path_of_a_structured_prediction_does_not_depend_on_its_numbers(value: float) -> None:
    record = score([event("质押", ("数量", value))], gold()).record
    assert record["violations"] == [{"violation": "value_number", "path": "$[0].arguments[0].argument"}]


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ({"events": [1]}, "$.events[0]"),
        ({"event_list": [1]}, "$.event_list[0]"),  # the record has no `events`
        ({"events": None, "event_list": [1]}, "$.event_list[0]"),
        ({"response": [{"arguments": []}]}, "$[0].event_type"),  # nor has a list
        ({"response": {"event_list": [1]}}, "$.event_list[0]"),
        ({"response": "[1]"}, "$[0]"),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [{}, {"null_words": ["none"]}, {"arguments": "mapping"}], ids=str)
def test_a_violation_is_where_the_prediction_has_it(answer: Json, place: str, form: Json) -> None:
    protocol = {"metrics": {"response": form}}
    evaluation = goldgate.evaluate([gold()], [{"id": "1", **answer}], SCHEMA, protocol, records=True)
    assert [each["path"] for each in (evaluation.samples or [{}])[0]["violations"]] == [place]


@pytest.mark.parametrize("form", [{}, {"arguments": "mapping"}, {"flat": {"event_type": {"from": "gold"}}}], ids=str)
def test_numbers_of_decoded_answers_are_as_they_were_written(tmp_path: Path, form: Json) -> None:
    (tmp_path / "gold.jsonl").write_text(json.dumps({**gold(GOOD), "id": "1"}))
    arguments = '[{"role": "数量", "argument": 1.10}, {"role": "质押方"}]'
    for key in ("response", "events", "event_list"):
        answer = f'{{"id": "1", "{key}": [{{"event_type": "质押", "arguments": {arguments}}}]}}'
        (tmp_path / "answers.jsonl").write_text(answer)
        paths = tmp_path / "gold.jsonl", tmp_path / "answers.jsonl"
        evaluation = goldgate.evaluate_files(*paths, SCHEMA, {"metrics": {"response": form}}, records=True)
        assert (evaluation.samples or [{}])[0]["predicted"] == {"质押": [["数量", "1.10"]]}, key
