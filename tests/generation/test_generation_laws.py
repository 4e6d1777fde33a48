"""Laws: no reply makes its reader raise, a line of a journal is read or refused, no query of an address is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from goldgate.errors import InputError
from goldgate.files.address import redact_arguments
from goldgate.generation.journal import FIELD_TYPES, REQUIRED_FIELDS, JournalContents, line_usage, parse_line
from goldgate.generation.reply import LONGEST_RETRY_AFTER, read_reply, retry_after_header, retry_after_text
from goldgate.generation.request import MAX_ANSWER_TOKENS, ModelAnswer, Usage
from goldgate.generation.secret import Secret
from tests.generation.test_generation_limits import NOW

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)  # halves of surrogate pairs too
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
FIELDS = ("choices", "usage", "model", "error", "message", "content", "finish_reason", "code", "param", "text", "delta")
NAMED = st.recursive(
    VALUES,
    lambda inner: st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5) | st.lists(inner, max_size=2),
    max_leaves=12,
)


@given(st.integers(100, 599), TEXT, NAMED, st.sampled_from([b"", b"\xef\xbb\xbf", b"data: "]), st.binary(max_size=9))
def test_no_reply_makes_its_reader_raise(status: int, kind: str, value: Any, start: bytes, end: bytes) -> None:
    body = start + json.dumps(value).encode() + end
    outcome = read_reply(status, kind, body, Secret("sk-test-abcdefghij0123456789"))
    if isinstance(outcome, ModelAnswer):
        outcome.response.encode()
    else:
        outcome.detail.encode()
        assert len(outcome.detail) < 400
    used = outcome.usage or Usage()
    assert 0 <= used.total <= 2 * MAX_ANSWER_TOKENS


@given(st.integers(100, 599), st.binary(max_size=200))
def test_no_bytes_make_the_reader_raise(status: int, body: bytes) -> None:
    read_reply(status, "text/html", body, Secret(None))


@given(TEXT)
def test_no_text_asks_for_more_than_the_longest_pause(text: str) -> None:
    for words in (f"try again in {text}", f"retry after {text}s", f'"retryDelay": "{text}"'):
        assert 0 <= (retry_after_text(words) or 0) <= LONGEST_RETRY_AFTER
    for name in ("Retry-After", "retry-after-ms"):
        assert 0 <= (retry_after_header({name: text}, NOW) or 0) <= LONGEST_RETRY_AFTER


@given(
    st.sampled_from(sorted(REQUIRED_FIELDS)),
    st.dictionaries(st.sampled_from(["usage", "attempts", "seed", "x"]), VALUES),
    st.data(),
)
def test_a_line_of_a_journal_is_read_or_refused(kind: str, more: dict[str, Any], data: st.DataObject) -> None:
    fields = {
        name: data.draw(VALUES) if data.draw(st.booleans()) else _right(FIELD_TYPES[name])
        for name in REQUIRED_FIELDS[kind]
    }
    line = json.dumps({"kind": kind, **fields, **more}).encode() + b"\n"
    try:
        record = parse_line(line, Path("journal.jsonl"), 1)
    except InputError as error:
        assert error.code.startswith("journal.")  # noqa: PT017  # either is right
        return
    contents = JournalContents(Path())
    contents.note(record, len(line))
    orjson.dumps([line_usage(record).total, record.get("attempts")])


def _right(kind: Any) -> Any:
    return "x" if kind is str else 3 if kind is int else {}


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1).map(lambda text: f"SECRET{text}"))
def test_no_query_is_shown(hidden: str) -> None:
    for start in ("http://h/v1?", "https://h?a=", "h/v1?", f"http://u:{hidden}@h/v1#", "?", "http://h/v1?x=http://b/?"):
        for words in (["--base-url", start + hidden], [f"--base-url={start}{hidden}"]):
            assert "SECRET" not in "".join(redact_arguments(words))
