"""Event schemas in our own form and as DuEE publishes them; every mistake has its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldgate import EventSchema, load_event_schema
from goldgate.errors import ConfigError, InputError
from goldgate.suites.extraction.events.event_schema import parse_event_schema

from ..helpers import SCHEMA

DUEE_LINES = (
    '{"event_type": "质押", "role_list": [{"role": "质押方"}, {"role": "数量", "enum_items": []}], "class": "x"}\n'
    '{"event_type": "被约谈", "role_list": [{"role": "公司名称"}]}\n'
)


def load(tmp_path: Path, text: str) -> EventSchema:
    path = tmp_path / "schema.json"
    path.write_text(text, encoding="utf-8")
    return load_event_schema(path)


def refused(tmp_path: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert caught.value.place.file == str(tmp_path / "schema.json")
    return caught.value


@pytest.mark.parametrize("indent", [None, 2], ids=["one-line", "pretty"])
def test_own_form_is_read_in_order(tmp_path: Path, indent: int | None) -> None:
    schema = load(tmp_path, json.dumps(SCHEMA, ensure_ascii=False, indent=indent))
    assert schema.event_types == ("质押", "解除质押", "Sue")
    assert schema.role_order["质押"] == ("质押方", "质权方", "数量")
    assert schema.roles["Sue"] == frozenset({"plaintiff", "date"})
    assert schema.sha256 is not None


@pytest.mark.parametrize("lines", [1, 2])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n"], ids=["lf", "crlf", "blank-lines"])
def test_published_lines_are_read(tmp_path: Path, lines: int, ending: str) -> None:
    text = ending.join(DUEE_LINES.splitlines()[:lines]) + ending
    schema = load(tmp_path, text)
    assert schema.event_types == ("质押", "被约谈")[:lines]
    assert schema.role_order["质押"] == ("质押方", "数量")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("[]", "event_types", id="list"),
        pytest.param("5", "event_types", id="number"),
        pytest.param("{}", "event_types", id="no-types"),
        pytest.param('{"event_types": {}}', "event_types", id="empty"),
        pytest.param('{"event_types": ["质押"]}', "event_types", id="types-as-list"),
        pytest.param('{"event_types": {"质押": ["r"]}}', "event_types.质押", id="roles-without-key"),
        pytest.param('{"event_types": {"质押": {"role": []}}}', "event_types.质押", id="wrong-key"),
        pytest.param('{"event_types": {"质押": {"roles": "r"}}}', "event_types.质押.roles", id="roles-no-list"),
        pytest.param('{"event_types": {"质押": {"roles": [1]}}}', "event_types.质押.roles", id="role-no-string"),
        pytest.param('{"event_types": {"质押": {"roles": [""]}}}', "event_types.质押.roles", id="empty-role"),
        pytest.param('{"event_types": {"质押": {"roles": [" r"]}}}', "event_types.质押.roles", id="blank-around-role"),
        pytest.param('{"event_types": {"质押": {"roles": ["r", "r"]}}}', "event_types.质押.roles", id="role-twice"),
        pytest.param('{"event_types": {" ": {"roles": []}}}', "event_types. ", id="blank-type"),
        pytest.param('{"event_types": {"质押 ": {"roles": []}}}', "event_types.质押 ", id="blank-around-type"),
        pytest.param('{"event_type": "质押"}', "role_list", id="line-without-roles"),
        pytest.param('{"event_type": 5, "role_list": []}', "event_type", id="line-type-no-string"),
        pytest.param('{"event_type": "质押", "role_list": [{"name": "r"}]}', "event_type.role_list", id="line-role"),
    ],
)
def test_mistakes_are_errors_that_name_the_field(tmp_path: Path, text: str, field: str) -> None:
    error = refused(tmp_path, text)
    assert error.code == "schema.wrong_value"
    assert error.place.field == field
    assert error.expected is not None


def test_mistake_in_published_lines_has_its_line(tmp_path: Path) -> None:
    twice = DUEE_LINES + "\n" + DUEE_LINES.splitlines()[0]
    error = refused(tmp_path, twice)
    assert (error.expected, error.place.line) == ("every event type once", 4)


def test_published_line_that_is_not_json_has_its_line(tmp_path: Path) -> None:
    error = refused(tmp_path, DUEE_LINES + '{"event_type": "x", "role_list": [}\n')
    assert (error.code, error.place.line) == ("schema.not_json", 3)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        pytest.param('{"event_types":\n {"质押"}}', "schema.not_json", 2, id="not-json"),
        pytest.param("", "schema.not_json", 1, id="empty-file"),
        pytest.param(
            '{"event_types": {"a": {"roles": []}, "a": {"roles": []}}}', "schema.duplicate_key", None, id="twice"
        ),
        pytest.param('{"event_types": NaN}', "schema.not_json", None, id="not-a-number"),
        pytest.param("[" * 100_000, "schema.not_json", None, id="too-deep"),
        pytest.param(
            '{"event_types": {"\\ud800": {"roles": []}}}', "schema.bad_text", None, id="half-a-surrogate-pair"
        ),
    ],
)
def test_text_that_is_no_sound_json(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    error = refused(tmp_path, text)
    assert (error.code, error.place.line) == (code, line)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_event_schema(tmp_path / "none.json")
    assert caught.value.code == "schema.missing"


def test_json_schema_lists_every_type_with_its_roles() -> None:
    document: Any = parse_event_schema(SCHEMA).json_schema()
    events = document["properties"]["events"]["items"]["anyOf"]
    assert [one["properties"]["event_type"]["const"] for one in events] == ["质押", "解除质押", "Sue"]
    roles = events[0]["properties"]["arguments"]["items"]["properties"]["role"]["enum"]
    assert roles == ["质押方", "质权方", "数量"]
    assert document["required"] == ["events"]
