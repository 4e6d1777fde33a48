"""Where the answer is found, and which of several candidates wins."""

from __future__ import annotations

from typing import Any

import pytest

from goldgate import parse_response
from goldgate.core.value_text import NumberText
from goldgate.suites.extraction.events.answer_form import Form
from tests.cases import cases

from ..helpers import answer, event

A, B = event("质押", ("质押方", "甲")), event("Sue", ("plaintiff", "乙"))
LIST_A, LIST_B = answer(A), answer(B)
ONE_A, ONE_B = LIST_A[1:-1], LIST_B[1:-1]
NO_EVENTS, NOR_THIS = '{"a": 1}', '{"b": 2}'
CODE = 'x = [{"event_type": "Z"}]'


def fenced(content: str, language: str = "json") -> str:
    return f"```{language}\n{content}\n```"


@cases(
    ("text", "method", "value"),
    [
        # --- the whole text
        pytest.param(LIST_A, "whole", [A], id="whole"),
        pytest.param(f" \n{LIST_A}\t\n", "whole", [A], id="whole-with-blanks-around"),
        pytest.param(f"\ufeff{LIST_A}", "embedded", [A], id="byte-order-mark-is-prose"),
        pytest.param(f'{{"events": {LIST_A}}}', "whole", {"events": [A]}, id="whole-object"),
        pytest.param("[]", "whole", [], id="whole-empty-list"),
        pytest.param('{"a": 1}', "whole", {"a": 1}, id="whole-no-events"),
        # --- fenced
        pytest.param(fenced(LIST_A), "fenced", [A], id="fence"),
        pytest.param(fenced(LIST_A, ""), "fenced", [A], id="fence-without-language"),
        pytest.param(fenced(LIST_A, "JSON"), "fenced", [A], id="fence-in-capitals"),
        pytest.param(f"~~~\n{LIST_A}\n~~~", "fenced", [A], id="tildes"),
        pytest.param(f"````json\n{LIST_A}\n````", "fenced", [A], id="four-marks"),
        pytest.param(f"Here:\n{fenced(LIST_A)}\nDone.", "fenced", [A], id="fence-in-prose"),
        pytest.param(f"```json\n{LIST_A}", "fenced", [A], id="fence-never-closed"),
        pytest.param(f"```json {LIST_A}```", "fenced", [A], id="fence-on-one-line"),
        pytest.param(f"```{LIST_A}```", "fenced", [A], id="fence-without-blank"),
        pytest.param(f"1. x\n   ```json\n   {LIST_A}\n   ```", "fenced", [A], id="indented-fence"),
        # --- embedded
        pytest.param(f"The events are {LIST_A}.", "embedded", [A], id="embedded"),
        pytest.param(f"##JSON##\n{LIST_A}\n##JSON##", "embedded", [A], id="marked-with-hashes"),
        pytest.param(f"As [1] and [2, 3] say: {LIST_A} (see [4])", "embedded", [A], id="prose-brackets"),
        pytest.param(f"For {{x}} in {{a, b}}: {LIST_A}", "embedded", [A], id="prose-braces"),
        pytest.param(f"{LIST_A}\n\nI used the roles of the schema.", "embedded", [A], id="prose-after"),
        pytest.param(f"Answer: {ONE_A}", "embedded", A, id="one-event"),
        pytest.param("No events: [].", "embedded", [], id="empty-list-in-prose"),
    ],
)
def test_answer_is_located_and_decoded_as_it_stands(text: str, method: str, value: Any) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.method, parsed.value, parsed.repairs) == ("raw", method, value, ())


@cases(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t", id="blank"),
        pytest.param("There are no events.", id="prose"),
        pytest.param("As [1] and [a, b] say, see (3).", id="prose-brackets"),
        pytest.param("f(x) = {x | x > 0}", id="prose-braces"),
        pytest.param("12", id="number"),
        pytest.param("null", id="null"),
        pytest.param('"text"', id="string"),
        pytest.param("```\nnothing\n```", id="fence-with-prose"),
        pytest.param("】】]}", id="closing-brackets"),
    ],
)
def test_nothing_that_looks_like_json_is_no_json_found(text: str) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.method, parsed.value) == ("error", "no_json_found", None)


@cases(
    ("text", "method", "value"),
    [
        pytest.param(f"{fenced(LIST_A)}\nNo, better:\n{fenced(LIST_B)}", "fenced", [B], id="fence-corrected"),
        pytest.param(f"First {LIST_A}, no: {LIST_B}!", "embedded", [B], id="prose-corrected"),
        pytest.param(f"{fenced(LIST_A)}\nSchema:\n{fenced(NO_EVENTS)}", "fenced", [A], id="last-fence-is-no-events"),
        pytest.param(f'{LIST_A}\nwhere {{"a": 1}} is config', "embedded", [A], id="last-value-is-no-events"),
        pytest.param(f"{fenced(LIST_A)}\nThe role {{x}} and [1].", "fenced", [A], id="prose-brackets-after-fence"),
        pytest.param(f"{fenced(LIST_A)}\nNo: {LIST_B}.", "embedded", [B], id="prose-after-fence-corrects"),
        pytest.param(f"Draft {LIST_B}.\n{fenced(LIST_A)}", "fenced", [A], id="fence-after-prose"),
        pytest.param(f"{fenced(LIST_A)}\n{fenced('[')}", "fenced", [A], id="broken-fence-after"),
        pytest.param(f"```json\n{LIST_B}\n```json\n{LIST_A}\n```", "fenced", [A], id="language-opens-again"),
        pytest.param(f"{LIST_A}\nSome would say [] here, but no.", "embedded", [A], id="empty-list-in-passing"),
        pytest.param(f"{fenced(LIST_A)}\nThen none:\n{fenced('[]')}", "fenced", [A], id="fenced-empty-list"),
        pytest.param(f"{fenced(LIST_A)}\nCorrected:\n{fenced('[]')}", "fenced", [], id="fenced-empty-list-corrects"),
        pytest.param(f"{fenced(LIST_A)}\n{fenced(CODE, 'python')}", "fenced", [A], id="code-after-answer"),
        pytest.param(f"{fenced('import json', 'python')}\n{fenced(LIST_A)}", "fenced", [A], id="code-before-answer"),
        pytest.param(f"{fenced(LIST_A, 'python')}", "fenced", [A], id="code-only"),
    ],
)
def test_last_candidate_that_reads_as_events_wins(text: str, method: str, value: Any) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.method, parsed.value) == ("raw", method, value)


@cases(
    ("text", "method", "value"),
    [
        pytest.param(f'{fenced(NO_EVENTS)}\n{fenced(NOR_THIS)}\n{{"c": 3}}', "fenced", {"b": 2}, id="last-fence-first"),
        pytest.param('See {"a": 1} and {"b": 2}.', "embedded", {"b": 2}, id="else-last-embedded"),
        pytest.param('See [["a"]] here.', "embedded", [["a"]], id="list-of-lists"),
        pytest.param(f"{fenced('[1, 2]')}", "fenced", [1, 2], id="fenced-numbers"),
    ],
)
def test_if_none_reads_as_events_the_last_of_the_first_kind_is_taken(text: str, method: str, value: Any) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.method, parsed.value) == ("raw", method, value)


def test_located_but_unreadable_is_an_error_and_no_extraction_failure() -> None:
    parsed = parse_response("```json\n{\n```")
    assert (parsed.status, parsed.method, parsed.value) == ("error", "fenced", None)


@cases(
    "text",
    [
        pytest.param(f"{ONE_A}\n{ONE_B}", id="lines"),
        pytest.param(f"{ONE_A} {ONE_B}", id="blank"),
        pytest.param(f"{ONE_A}{ONE_B}", id="nothing-between"),
        pytest.param(f"{ONE_A},\n{ONE_B}", id="comma"),
        pytest.param(f"{ONE_A}；{ONE_B}", id="full-width-semicolon"),
        pytest.param(f"1. {ONE_A}\n2. {ONE_B}", id="numbered"),
        pytest.param(f"- {ONE_A}\n- {ONE_B}", id="bullets"),
        pytest.param(f"{ONE_A} // first\n{ONE_B} // second", id="line-comments"),
        pytest.param(f"{ONE_A} /* and */ {ONE_B}", id="block-comment"),
        pytest.param(f"```json\n{ONE_A}\n{ONE_B}\n```", id="in-a-fence"),
        pytest.param(f"First {ONE_A} and second {ONE_B}", id="prose"),
        pytest.param(f"Event 1: {ONE_A}\nEvent 2: {ONE_B}", id="labels"),
        pytest.param(f"```json\n{ONE_A}\n```\nand\n```json\n{ONE_B}\n```", id="in-two-fences"),
        pytest.param(f"{ONE_A}\n{ONE_B}\n{ONE_A}", id="equal-ones-once"),
    ],
)
def test_events_in_a_row_are_joined(text: str) -> None:
    parsed = parse_response(text)
    assert parsed.value == [A, B]
    assert (parsed.status, parsed.repairs) == ("repaired", ("joined_objects",))


UNQUOTED = '{"event_type": "C", "arguments": [{"role": "r", "argument": oops}]}'
HALF_QUOTED = '{"event_type": "C", "arguments": [{"role": "r", "argument": "x" oops}]}'


@cases(
    "text",
    [
        pytest.param(f"[{ONE_A}, {UNQUOTED}, {ONE_B}]", id="unquoted-value"),
        pytest.param(f"[{ONE_A}, {HALF_QUOTED}, {ONE_B}]", id="word-after-a-string"),
        pytest.param(f"[{ONE_A}, oops, {ONE_B}]", id="stray-word"),
        pytest.param(f"[{ONE_A}, and then {ONE_B}]", id="prose-between"),
        pytest.param(f"[{ONE_A[:-1]}, {ONE_B}]", id="missing-brace"),
    ],
)
def test_error_in_the_middle_of_a_list_does_not_lose_the_events_before_it(text: str) -> None:
    parsed = parse_response(text)
    assert isinstance(parsed.value, list)
    assert A in parsed.value


@pytest.mark.parametrize("broken", [HALF_QUOTED, "oops", "and then"], ids=["word-after-a-string", "word", "prose"])
def test_list_with_an_error_in_it_is_not_said_to_decode_as_it_stands(broken: str) -> None:
    assert parse_response(f"[{ONE_A}, {broken}, {ONE_B}]").status == "repaired"


def test_quoted_bracket_in_prose_does_not_hide_the_answer() -> None:
    assert parse_response(f'It begins with "[" as asked. {LIST_A}').value == [A]


TEMPLATE = '[{"event_type": ..., "arguments": [{"role": ..., "argument": ...}]}]'


def test_template_before_the_answer_does_not_win() -> None:
    assert parse_response(f"I use the form {TEMPLATE} as asked: {LIST_A}").value == [A]


def test_template_after_the_answer_does_not_win() -> None:
    assert parse_response(f"{LIST_A}\nNote: the form is {TEMPLATE}.").value == [A]


@cases("remark", ["If none, I would answer [].", "参考[]", "Note: had there been none, I return []"])
def test_empty_list_in_a_closing_remark_takes_nothing_back(remark: str) -> None:
    assert parse_response(f"{LIST_A}\n{remark}").value == [A]


@cases("correction", ["Final answer: []", "更正：[]", "Instead:\n[]", "**Corrected:** []."])
def test_empty_list_that_ends_the_text_as_an_answer_corrects_the_one_before(correction: str) -> None:
    assert parse_response(f"{LIST_A}\n{correction}").value == []


@cases("end", ["So:\n[]", "**Answer:** []."])
def test_empty_list_without_words_of_correction_takes_nothing_back(end: str) -> None:
    assert parse_response(f"{LIST_A}\n{end}").value == [A]


def test_flat_answer_in_a_list_of_one_is_that_answer() -> None:
    parsed = parse_response('[{"buyer": "Alta", "price": 1.10}]', form=Form(flat=True))
    assert (parsed.status, parsed.repairs) == ("repaired", ("flattened_list",))
    assert parsed.value == {"buyer": "Alta", "price": NumberText("1.10")}


@cases("text", ["[[]]", '[[{"event_type": "A"}]]', "[1]", "[[1], {}]"])
def test_list_in_a_list_is_no_flat_answer(text: str) -> None:
    assert parse_response(text, form=Form(flat=True)).status in ("raw", "repaired")


def test_first_flat_object_that_says_something_wins() -> None:
    form = Form(flat=True, null_words=frozenset({"none"}))
    cases = {  # response: the value of `who`, and why the rest is left out
        '{"who": "Ann"} {"who": "Bob"}': ("Ann", ["aside"]),
        '{"who": "Ann"}\nCorrected: {"who": "Bob"}': ("Bob", ["replaced"]),
        '{"who": "Ann"} {"who": "Ann"}': ("Ann", []),
        '{"who": "Ann"} {"who": "None"}': ("Ann", ["aside"]),
        '{"who": null} {"who": "Ann"}': ("Ann", ["replaced"]),
        '{"who": ["none", ""]} {"who": "Ann"} {"who": "Bob"}': ("Ann", ["replaced", "aside"]),
        '{"argument1": "description1"}\n{"who": "Ann"}': ("Ann", ["template"]),
        '{"who": "Ann"}\nFormat: {"argument1": "description1"}': ("Ann", ["template"]),
        '{"who": "Ann"}<eos>{"who": "Bob"}': ("Ann", ["another_turn"]),
        '{"who": "type 2"}': ("type 2", []),
    }
    for response, (who, reasons) in cases.items():
        parsed = parse_response(response, form=form)
        assert (parsed.value["who"], [item.reason for item in parsed.left_out]) == (who, reasons), response
