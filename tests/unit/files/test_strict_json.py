"""Strict JSON: what two programs could read differently is named with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.errors import ConfigError
from goldgate.files.parsing import decode_strictly, find_repeated_key, parse_json
from tests.cases import cases, error_from

FLAWS = [
    pytest.param('{"a": {"b/c": 1, "b/c": 2}}', "duplicate_key", "/a/b~1c", "a.b/c", id="twice"),
    pytest.param("[1, NaN]", "not_json", "/1", "1", id="not-a-number"),
    pytest.param('{"a": -Infinity}', "not_json", "/a", "a", id="infinity"),
    pytest.param('{"a": 1e999}', "not_json", "/a", "a", id="beyond-floats"),
    pytest.param('{"a": ["\\ud800"]}', "bad_text", "/a/0", "a.0", id="half-a-pair"),
    pytest.param('{"\\ud800": 1}', "bad_text", "/\ud800", "\\ud800", id="half-a-pair-as-key"),
    pytest.param("[" * 100_000, "not_json", "", None, id="too-deep"),
    pytest.param("[" * 150 + "]" * 150, "not_json", "/0" * 101, ".".join("0" * 101), id="deep"),
    pytest.param("1" * 5_000, "not_json", "", None, id="too-many-digits"),
    pytest.param("", "not_json", "", None, id="empty"),
    pytest.param("{oops", "not_json", "", None, id="not-json"),
]


@cases(("text", "code", "pointer", "field"), FLAWS)
def test_flaw_is_named_with_its_place(text: str, code: str, pointer: str, field: str | None) -> None:
    assert [(flaw.code, flaw.problem.pointer) for flaw in decode_strictly(text).flaws] == [(code, pointer)]
    error = error_from(ConfigError, parse_json, text, "f.json", "report")
    assert (error.code, error.place.field) == (f"report.{code}", field)
    assert error.found


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_plain_json_has_no_flaw(value: Any) -> None:
    text = json.dumps(value)
    assert decode_strictly(text) == (value, [], None)
    assert find_repeated_key(text) is None


def test_repeated_key_is_found_at_any_depth_and_beside_long_numbers() -> None:
    assert find_repeated_key(b'[{"a": ' + b"1" * 5_000 + b', "b": {"c": 1, "\\u0063": 2}}]') == "c"
