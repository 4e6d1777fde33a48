"""Paths, messages and times: the parts that an import is made of."""

from __future__ import annotations

from typing import Any

from goldgate.suites.research.imports.mapping import first_question, last_answer, look_up
from goldgate.suites.research.imports.traces import parse_time
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
