"""Thoughts are cut out first: JSON inside one is never the answer."""

from __future__ import annotations

import pytest

from goldgate import parse_response
from tests.cases import cases

from ..helpers import answer, event

ANSWER = answer(event("质押", ("质押方", "甲公司")))
DRAFT = answer(event("质押", ("质押方", "乙公司")))
VALUE = [event("质押", ("质押方", "甲公司"))]


@cases("tag", ["thought", "think", "thinking", "THINK", "Thought", "tHiNkInG"])
def test_each_tag_in_any_case_is_a_thought(tag: str) -> None:
    parsed = parse_response(f"<{tag}>because {DRAFT}</{tag}>\n{ANSWER}")
    assert parsed.value == VALUE
    assert (parsed.status, parsed.method, parsed.thought_state) == ("raw", "whole", "closed")
    assert parsed.thought == f"because {DRAFT}"


@cases(
    ("text", "thought"),
    [
        pytest.param(f"<think>a</think>{ANSWER}<think>{DRAFT}</think>", f"a{DRAFT}", id="before-and-after"),
        pytest.param(f"<think>a</think>b<thought>{DRAFT}</thought>{ANSWER}", f"a{DRAFT}", id="two-kinds"),
        pytest.param(f"<think>a</thought>{ANSWER}", "a", id="closed-by-another-tag"),
        pytest.param(f"<think >a</think\n>{ANSWER}", "a", id="blanks-in-the-tag"),
        pytest.param(f"<think>a<think>b {DRAFT}</think>{ANSWER}", f"a<think>b {DRAFT}", id="opened-twice"),
        pytest.param(f"{DRAFT} so\n</think>\n{ANSWER}", f"{DRAFT} so\n", id="only-a-closing-tag"),
        pytest.param(f"<think>{DRAFT}</think>more {DRAFT}</think>{ANSWER}", f"{DRAFT}more {DRAFT}", id="closed-twice"),
        pytest.param(f"<think></think>{ANSWER}", "", id="empty"),
        pytest.param(f"<think>a < b, <b>{DRAFT}</b></think>{ANSWER}", f"a < b, <b>{DRAFT}</b>", id="other-tags"),
        pytest.param(
            f"<think>```json\n{DRAFT}\n```</think>\n```json\n{ANSWER}\n```", f"```json\n{DRAFT}\n```", id="fences"
        ),
    ],
)
def test_json_in_a_closed_thought_is_never_the_answer(text: str, thought: str) -> None:
    parsed = parse_response(text)
    assert parsed.value == VALUE
    assert (parsed.status, parsed.thought_state, parsed.thought) == ("raw", "closed", thought)


@cases(
    "text",
    [
        pytest.param(f"<think>{DRAFT}</think>", id="nothing-else"),
        pytest.param(f"<think>{DRAFT}</think> I am done.", id="prose"),
        pytest.param(f"<think>```json\n{DRAFT}\n```</think>", id="fence"),
        pytest.param(f"{DRAFT}</think>", id="only-a-closing-tag"),
    ],
)
def test_answer_only_in_a_closed_thought_is_no_answer(text: str) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.method, parsed.value) == ("error", "no_json_found", None)
    assert parsed.thought_state == "closed"


@cases(
    ("text", "method"),
    [
        pytest.param(f"<think>so it is\n```json\n{ANSWER}\n```", "fenced", id="fence"),
        pytest.param(f"<think>first {DRAFT} but then {ANSWER}", "embedded", id="last-bracket"),
        pytest.param(f"<think>{ANSWER} or [1] and {{x}}", "embedded", id="last-that-yields-events"),
        pytest.param(f"{ANSWER}<think>was that right?", "whole", id="answer-before-it"),
    ],
)
def test_thought_never_closed_is_recorded_and_searched_from_its_end(text: str, method: str) -> None:
    parsed = parse_response(text)
    assert parsed.value == VALUE
    assert (parsed.method, parsed.thought_state) == (method, "unclosed")


@cases("tail", ["I am not sure", "maybe [1]", '{"a": 1}', '```json\n{"a": 1}\n```'])
def test_thought_never_closed_without_events_in_it_leaves_no_answer(tail: str) -> None:
    parsed = parse_response(f"<think>{tail}")
    assert (parsed.status, parsed.method, parsed.thought_state) == ("error", "no_json_found", "unclosed")
    assert parsed.thought == tail


def test_empty_list_in_an_unclosed_thought_does_not_hide_the_answer_before_it() -> None:
    assert parse_response(f"{ANSWER}\n<think>or should it be [] instead?").value == VALUE


def test_tags_are_those_of_the_protocol() -> None:
    text = f"<reason>{DRAFT}</reason>{ANSWER}<think>{DRAFT}</think>"
    assert parse_response(text, ("reason",)).value == [event("质押", ("质押方", "乙公司"))]  # <think> is plain text
    assert parse_response(text, ("reason", "think")).value == VALUE
    assert parse_response(f"<think>{ANSWER}", ()).thought_state == "none"


def test_tag_inside_a_string_of_an_answer_that_is_json_as_a_whole_is_text() -> None:
    value = [event("质押", ("质押方", "a <think> b"))]
    assert parse_response(answer(*value)).value == value
    assert parse_response(f"```json\n{answer(*value)}\n```").value == value


@pytest.mark.parametrize("form", ["```json\n{}\n```\nDone.", "The answer: {}"], ids=["fence", "prose"])
def test_tag_inside_a_string_of_a_sound_answer_is_text(form: str) -> None:
    value = [event("质押", ("质押方", "a <think> b"))]
    assert parse_response(form.replace("{}", answer(*value))).value == value


def test_preamble_is_what_stands_before_the_answer_outside_thoughts() -> None:
    parsed = parse_response(f"<think>a</think>Here it is:\n```json\n{ANSWER}\n```\nDone.")
    assert parsed.preamble.strip() == "Here it is:"
    assert parse_response(f"So: {ANSWER}").preamble == "So: "
    assert parse_response(ANSWER).preamble == ""
