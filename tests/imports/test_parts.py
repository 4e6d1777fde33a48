"""Paths, messages, times, names and trees: the parts that an import is made of."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldgate.suites.research.imports.mapping import first_question, last_answer, last_answer_json, look_up
from goldgate.suites.research.imports.traces import TraceSpan, build_trace, folder_name, parse_time
from tests.cases import cases

FIELDS = {
    "attributes": {
        "gen_ai.tool.name": "search",
        "gen_ai.tool": {"name": "other"},
        "args": '{"query": "q", "n": [1, 2]}',
    },
    "documents": [{"id": "a"}, {"meta": {"id": "b"}}, {"id": "c"}],
    "empty": [],
    "nothing": None,
}


@cases(
    ("path", "found"),
    [
        (".", FIELDS),
        ("attributes.gen_ai.tool.name", "search"),  # the longest key first
        ("attributes.args.query", "q"),  # JSON in a text
        ("attributes.args.n.-1", 2),
        ("attributes.args.n.7", None),
        ("attributes.args.n.x", None),
        ("documents.*.id", ["a", None, "c"]),
        ("empty.*.id", []),
        ("nothing | attributes.args.query", "q"),
        ("documents.*.id | empty.*.id", []),  # a list without gaps before one with them
        ("absent | =word", "word"),
        ("attributes.gen_ai.tool.name.further", None),
    ],
)
def test_paths(path: str, found: Any) -> None:
    assert look_up(FIELDS, path) == found


HUMAN = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "HumanMessage"], "kwargs": {"content": "Why?"}}
AI = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "AIMessage"], "kwargs": {"content": "So."}}


@cases(
    "messages",
    [
        [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": "So."},
        ],
        [
            {"role": "user", "content": [{"type": "input_text", "text": "Why?"}, {"type": "input_image"}]},
            {"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": "So."}]},
            {"type": "function_call", "name": "f", "arguments": "{}"},
        ],
        [
            {"role": "user", "parts": [{"type": "text", "content": "Why?"}]},
            {"role": "assistant", "parts": [{"type": "text", "content": "So."}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": {}}]},
        ],
        [HUMAN, AI],
        [[HUMAN, AI]],
        {"messages": [["user", "Why?"], ["assistant", "So."]]},
        [{"type": "human", "data": {"content": "Why?"}}, {"type": "ai", "data": {"content": "So."}}],
        '[{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]',
    ],
)
def test_the_first_question_and_the_last_answer(messages: Any) -> None:
    assert first_question(messages) == "Why?"
    assert last_answer(messages) == "So."


@cases(
    ("text", "found"),
    [
        ('{"claims": []}', {"claims": []}),
        ('```json\n{"claims": []}\n```', {"claims": []}),
        ('Here it is: {"claims": []}', None),
        ("So.", None),
        ('{"claims": [', None),
        ("", None),
    ],
)
def test_the_json_of_an_answer(text: str, found: Any) -> None:
    assert last_answer_json([{"role": "assistant", "content": text}]) == found


def test_a_generation_is_an_answer() -> None:
    assert last_answer({"generations": [[{"text": "So.", "message": AI}]]}) == "So."


@cases(
    ("written", "time"),
    [
        ("1700000000000000000", 1_700_000_000_000_000_000),
        (1_700_000_000.5, 1_700_000_000.5),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000_000_000),  # a time without a zone is UTC
        ("2023-11-14T23:13:20.000001+01:00", 1_700_000_000_000_001),
        ("yesterday", None),
        (-1, None),
        (float("inf"), None),
        (None, None),
        ("9" * 30, None),
    ],
)
def test_times(written: object, time: float | None) -> None:
    assert parse_time(written) == time


@cases("plain", ["0a1b", "trace_0", "00000000-0000-4000-8000-000000000001"])
def test_a_plain_id_is_the_name_of_its_folder(plain: str) -> None:
    assert folder_name(plain) == f"run_{plain}"


HOSTILE = [
    "../../etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "con:",
    "x" * 5000,
    "A",
    "a",
    "日本",
    "a\x00b",
    " ",
    "a.",
    "\ud800",
]


def test_hostile_ids_are_safe_names_and_stay_apart() -> None:
    names = [folder_name(hostile) for hostile in HOSTILE]
    assert len({name.casefold() for name in names}) == len(HOSTILE)
    for name in names:
        assert name.isascii()
        assert len(name) < 100
        assert not set(name) & set('/\\:*?"<>|\x00 ')
        assert not name.endswith(".")


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_ids_have_two_folders(one: str, other: str) -> None:
    assert (folder_name(one) == folder_name(other)) == (one == other)


def span(name: str, parent: str | None = None, start: int | None = None, **fields: Any) -> TraceSpan:
    return TraceSpan(name, "t", parent, name, start, True, fields)


def test_spans_stand_as_they_began_whatever_their_order_was() -> None:
    spans = [span("root", None, 5), span("b", "root", 6), span("a", "root", 7), span("late", "a")]
    for order in permutations(spans):
        found = build_trace("t", order)
        assert [one.id for one in found.spans] == ["root", "b", "a", "late"]
        assert found.depths == {"root": 0, "a": 1, "b": 1, "late": 2}
        assert found.problems == ()


def test_a_circle_of_parents_and_an_orphan_are_named_and_kept() -> None:
    spans = [
        span("a", "b"),
        span("b", "c"),
        span("c", "a"),
        span("below", "a"),
        span("self", "self"),
        span("o", "gone"),
    ]
    for order in permutations(spans):
        found = build_trace("t", order)
        assert len(found.spans) == 6
        assert found.depths == {"a": 0, "b": 0, "c": 0, "below": 1, "self": 0, "o": 0}
        assert found.problems == (
            "1 span below a span that is not there",
            "4 spans below themselves: their parents are a circle",
        )
        assert [one.id for one in found.innermost(spans)] == ["b", "c", "o", "self", "below"]


def test_the_most_complete_of_several_is_taken_in_any_order() -> None:
    begun = TraceSpan("a", "t", None, "a", 1, False, {"x": 1, "long": "text"})
    ended, richer = span("a", None, 1, x=1), span("a", None, 1, x=1, y=2)
    for order in permutations([begun, ended, richer, richer]):
        found = build_trace("t", order)
        assert found.spans == (richer,)
        assert len(found.problems) == 1


def test_a_long_chain_is_no_problem() -> None:
    spans = [span(f"{n}", f"{n - 1}" if n else None) for n in range(20_000)]
    found = build_trace("t", reversed(spans))
    assert found.depths["19999"] == 19_999
    assert [one.id for one in found.innermost(found.spans)] == ["19999"]
