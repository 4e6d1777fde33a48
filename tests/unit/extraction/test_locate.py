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


@cases(
    "mark",
    [
        "Text: Bob left.",
        "**Text:** Bob left.",
        "### Text: Bob left.",
        "> - *text* : Bob left.",
        "Text 2: Bob left.",
        "Input:",
        "DOCUMENT: Bob left.",
        "Passage:",
        "2. Sentence: Bob left.",
        "Question 2: Bob left.",
        "Question 2.",
        "### Example 2",
        "**Example 12:** Bob left.",
        "Example #2 - Bob left",
        "Example 2 Text: Bob left.",
        "问题2：文字：某公司",
        "问题2文字：某公司",
        "问题二：",
        "【问题3】",
        "文字：某公司",
        "文本： 某公司",
        "输入：",
        "句子:",
    ],
)
def test_next_example_of_a_prompt_ends_the_answer(mark: str) -> None:
    for own, value in ((LIST_A, [A]), (fenced(LIST_A), [A]), ("[]", []), (ONE_A, A), (f'{{"events": {LIST_A}}}', None)):
        for then in (LIST_B, ONE_B, fenced(LIST_B), f"Corrected answer: {LIST_B}", f"<think>?</think>{LIST_B}"):
            parsed = parse_response(f"{own}\n\n{mark}\nOutput: {then}")
            assert parsed.value == (value if value is not None else {"events": [A]}), then
            assert (parsed.status, {item.reason for item in parsed.left_out}) == ("raw", {"next_example"})


@cases(
    "mark",
    [
        "The text: Bob left.",
        "Textual: no",
        "Text",
        "Text 1: Bob left.",
        "Question 1: Bob left.",
        "问题1：",
        "Question 2 was about Bob.",
        "Example 2, which is harder:",
        "Example:",
        "Example 2nd:",
        "Context: Bob left.",
    ],
)
def test_other_lines_end_nothing(mark: str) -> None:
    assert parse_response(f"{LIST_A}\n{mark}\n{LIST_B}").value == [B]


@cases(
    ("text", "value"),
    [
        # The question repeated at the very beginning, and words about it before any answer.
        pytest.param(f"Question 2: Text: Ann was hired.\n{LIST_A}", [A], id="repeated-question"),
        pytest.param(f"<think>Well.</think>\n**Question 2**\n{fenced(LIST_A)}", [A], id="repeated-after-a-thought"),
        pytest.param(f"```\nText: Ann.\nAnswer: {LIST_A}\n```", [A], id="repeated-in-a-fence"),
        pytest.param(f"I read it.\nText: Ann was hired.\n{LIST_A}", [A], id="quoted-before-the-answer"),
        pytest.param(f"Format: {TEMPLATE}\nText: Ann was hired.\n{LIST_A}", [A], id="a-template-is-no-answer"),
        # A number ends the answer where any other text stands before it.
        pytest.param(f"事件：质押\n质押方：甲\n问题2：文字：某公司\n{LIST_B}", None, id="lines-before-a-number"),
        pytest.param(f"事件：质押\n质押方：甲\n问题2：文字：某公司\n{fenced(LIST_B)}", None, id="lines-before-a-fence"),
        pytest.param(f"质押方：甲\n### Example 2\n{ONE_B[1:]}", None, id="lines-before-an-unopened-object"),
        pytest.param(f"Question 2: Ann.\nHire: Ann\nQuestion 3: Bob.\n{LIST_B}", None, id="the-next-number"),
        pytest.param(
            f"{LIST_A[:-20]}\n\nQuestion 2: Bob.\n{LIST_B}",
            [{**event("质押"), "arguments": [{"role": "质押方"}]}],
            id="cut-before-a-number",
        ),
        # Headings of events on their own.
        pytest.param(f"Text: Ann.\n{ONE_A}\nText: Bob.\n{ONE_B}", [A, B], id="headings"),
        pytest.param(f"So:\nSentence 1: x\n{ONE_A}\nSentence 2: y\n{ONE_B}", [A, B], id="numbered-headings"),
        pytest.param(f"Example 1\n{fenced(ONE_A)}\nExample 2\n{fenced(ONE_B)}", [A, B], id="fenced-under-headings"),
        pytest.param(f"Text: x\n{ONE_A}\nText: y\n{LIST_B}", A, id="a-list-is-no-event-on-its-own"),
        pytest.param(f"Text: x\n{LIST_A}\nText: y\n{LIST_B}", [A], id="lists-under-headings"),
        pytest.param(f"Text: x\n{ONE_A}\nInput: y\n{ONE_B}", A, id="another-heading"),
        # Never inside a value.
        pytest.param(answer(event("T", ("r", "x\nText: y"))), [event("T", ("r", "x\nText: y"))], id="escaped-break"),
        pytest.param(
            f"See {answer(event('T', ('r', 'x_')))}".replace("x_", "x\nText: y"),
            [event("T", ("r", "x\nText: y"))],
            id="line-break-in-a-string",
        ),
        # An answer that lacks its last bracket does not take in another document's events.
        pytest.param(f"{LIST_A[:-1]}\nText: Bob.\n{LIST_B}", [A], id="unclosed-list"),
        pytest.param(f"{ONE_A[:-2]}\nQuestion 2: Bob.\n{LIST_B}", A, id="unclosed-object"),
    ],
)
def test_next_example_counts_only_where_it_is_one(text: str, value: Any) -> None:
    assert parse_response(text).value == value


def test_next_example_ends_an_answer_of_fields_without_events_too() -> None:
    empty = Form(flat=True)
    assert parse_response('{}\n\nText: Bob left.\n{"who": "Bob"}', form=empty).value == {}
    assert parse_response('{"who": "Ann"}\nText: Bob left.\nCorrected: {"who": "Bob"}', form=empty).value == {
        "who": "Ann"
    }


def test_thought_that_is_never_closed_in_the_next_example_is_not_of_the_answer() -> None:
    parsed = parse_response(f"{LIST_A}\n\nText: Bob left.\n<think>So {LIST_B}")
    assert (parsed.value, parsed.thought_state) == ([A], "none")


@cases(
    ("added", "mark", "ends"),
    [
        ("Article:", "**Article:** Bob", True),
        ("Article:", "Article", False),
        ("### Article :", "article 2: Bob", True),
        ("Aufgabe 2", "Aufgabe 7)", True),
        ("Aufgabe 2:", "Aufgabe 1: Bob", False),
        ("Ny text", "NY  TEXT om Bob", True),
        ("Ny text", "Ny textil", False),
        ("题目３", "题目5：", True),
        ("a.c", "abc", False),
    ],
)
def test_more_beginnings_of_an_example_can_be_declared(added: str, mark: str, ends: bool) -> None:
    form = Form(next_example=(added,))
    assert parse_response(f"{LIST_A}\n{mark}\n{LIST_B}", form=form).value == ([A] if ends else [B])
    assert parse_response(f"{LIST_A}\nText: Bob\n{LIST_B}", form=form).value == [A]


@cases(
    "text",
    [
        '[f(a="x", stops=["Santa Barbara","Monterey"])]',
        'f(opts={"a": 1, "b": 2})',
        f"extract(events={LIST_A})",
        f"[f(a='it\\'s (', b={ONE_A}), g.h(c=[{ONE_A}])]",
        'result = [f( a = ["x"] )]',
        '```python\nfor x in f(a=["x"]):\n    g(b=["y"])\n```',
        '[f(a=")", b=["x"',
    ],
)
def test_nothing_in_a_python_call_is_an_answer(text: str) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.method, parsed.value) == ("error", "no_json_found", None)


@cases(
    ("text", "value"),
    [
        ("result = []", []),
        (f"print({LIST_A})", [A]),
        (f"x = f(a=[1], b={LIST_B})\n{LIST_A}", [A]),
        (f"{LIST_A}\nf(events={LIST_B})", [A]),
        (f"if (a == 1) {LIST_A}", [A]),
        (f"As f(x=[ shows,\n\n{LIST_A}", [A]),
        (answer(event("T", ("r", 'f(a=["x"])'))), [event("T", ("r", 'f(a=["x"])'))]),
    ],
)
def test_answer_beside_a_python_call_is_read(text: str, value: Any) -> None:
    assert parse_response(text).value == value


SAID_NONE = Form(said_none=True)


@cases(
    "text",
    [
        "There are no events.",
        "there is no event in the given text",
        "<think>Who? Ann: nobody.</think>\n**No events found.**",
        '"None."',
        "> No relevant events in this document!",
        "没有事件。",
        "「无事件」",
        "No events.\n\nThe text (of 2019) is about the weather; nobody is hired.",
        "There are no events to extract. Sorry!",
        "没有事件。\n问题2：文字：某公司\n[]",
    ],
)
def test_words_that_say_that_there_is_nothing_are_an_empty_list_where_that_is_declared(text: str) -> None:
    parsed = parse_response(text, form=SAID_NONE)
    assert (parsed.status, parsed.value, parsed.repairs) == ("repaired", [], ("said_none",))
    assert parsed.method == "embedded"
    assert parsed.start is not None
    assert text[parsed.start : parsed.end].strip(".") in text
    assert parse_response(text).status == "error"


@cases(
    "text",
    [
        "",
        "There are no events of this type, but Ann was hired.",
        "There are no eventsin",
        "None of the events is certain.",
        "I think: there are no events.",
        "Ann was hired. There are no events beside.",
        "No events. Hire(person='Ann')",
        "No events.\nHire: Ann",
        "No events.\n<hire>Ann</hire>",
        "No events.\n| Hire | Ann |",
        "<think>There are no events.",
        'No events. [{"event_type": "Hire',
        "无锡",
    ],
)
def test_other_words_are_no_empty_list(text: str) -> None:
    assert parse_response(text, form=SAID_NONE) == parse_response(text)


def test_json_beside_words_that_say_that_there_is_nothing_is_the_answer() -> None:
    parsed = parse_response(f"There are no events. {answer(event('T'))}", form=SAID_NONE)
    assert (parsed.status, parsed.value) == ("raw", [event("T")])
