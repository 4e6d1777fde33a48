"""The laws of repair on answers whose values look like structure: quotes, colons, brackets, marks of a chat.

A cut invents nothing, in every form of answers and in every wrapping; a whole answer is read whole.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldgate import parse_response
from goldgate.suites.extraction.events.answer_form import CANONICAL, Form
from tests.responses.damage import strings

TEXTS = [
    *('He said "stop" at once', '"quoted"', 'key": "value', '"a": b', 'x, "y": z', '"yes", "no"', "Mr. “X”: boss"),
    *("10:30, Monday", "1,200", "-7", "3.50", "2021年3月4日", "https://example.com/a?b=c&d=[1]", "C:\\dir\\file"),
    *(
        "rock 'n' roll",
        "O'Brien",
        "the workers'",
        "[sic]",
        "f(x) = {1, 2}",
        "a]",
        "b}",
        "},{",
        "甲，乙：丙；丁",
        "《报》「京」",
    ),
    *(
        "#1",
        "a // b",
        "/* c */",
        "line one\nline two",
        "tab\there",
        "🎉",
        "null",
        "None",
        "true",
        "user:",
        "corrected",
        ", ",
        ":",
    ),
]
KEYS = ["Employer", "质押方", "date/time", "place of event", "victim's name", "amount (USD)", "质押物:占比", "第一, 二"]
WRAPPINGS = [
    "{}",
    "```json\n{}\n```",
    "Here is the answer:\n{}",
    '<think>It says "strike", so [1].</think>\n{}',
    "[##JSON##]{}[##JSON##]",
    "assistant\n\n{}<|im_end|>",
]

values = st.one_of(
    st.sampled_from(TEXTS), st.sampled_from([1200, 3.5, None]), st.lists(st.sampled_from(TEXTS), max_size=3)
)
types = st.sampled_from(["Strike", "质押", "Life/Die", "Business: Merger", "Owner's move"])
roles = st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=4)
listed = roles.map(lambda said: [{"role": role, "argument": value} for role, value in said.items()])


def _events(arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    event = st.builds(lambda event_type, said: {"event_type": event_type, "arguments": said}, types, arguments)
    return st.lists(event, min_size=1, max_size=3)


answers: st.SearchStrategy[tuple[Form, Any]] = st.one_of(
    st.tuples(st.just(CANONICAL), _events(listed)),
    st.tuples(st.just(Form(mapping=True)), _events(roles)),
    st.tuples(st.just(Form(flat=True)), roles),
)
layouts = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}])


@given(answers, layouts, st.sampled_from(WRAPPINGS), st.data())
def test_no_cut_of_an_answer_full_of_marks_invents_text(
    answer: tuple[Form, Any], layout: dict[str, Any], wrapping: str, data: st.DataObject
) -> None:
    form, value = answer
    before = wrapping.split("{}")[0]
    text = before + json.dumps(value, ensure_ascii=False, **layout)
    cut = data.draw(st.integers(len(before) + 1, len(text)))
    assert strings(parse_response(text[:cut], form=form).value) <= strings(value)


@given(answers, layouts, st.sampled_from(WRAPPINGS))
def test_answer_full_of_marks_is_read_as_it_stands(
    answer: tuple[Form, Any], layout: dict[str, Any], wrapping: str
) -> None:
    form, value = answer
    parsed = parse_response(wrapping.replace("{}", json.dumps(value, ensure_ascii=False, **layout)), form=form)
    assert (parsed.status, parsed.value) == ("raw", value)
