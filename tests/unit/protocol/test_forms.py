"""The form of answers in a protocol: what may be declared, and what contradicts itself."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError
from goldgate.protocol import Protocol
from goldgate.suites.extraction.settings import FlatSettings, KeySettings, ResponseSettings
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan, load_protocol
from tests.cases import cases

ALL_BUT_FLAT = """\
metrics:
  response:
    prefix: '[{"event_type":'
    keys: {event_type: [event_type, type], arguments: [args], events: [results]}
    arguments: mapping
    null_words: ["null", "n/a", 无]
"""


def response(text: str, tmp_path: Path) -> ResponseSettings:
    path = tmp_path / "protocol.yaml"
    path.write_text(text, encoding="utf-8")
    settings = load_plan(SUITE, path).settings.response
    assert isinstance(settings, ResponseSettings)
    return settings


def test_every_setting_is_read(tmp_path: Path) -> None:
    settings = response(ALL_BUT_FLAT, tmp_path)
    assert settings.prefix == '[{"event_type":'
    assert settings.keys == KeySettings(
        events=("results",), event_type=("event_type", "type"), arguments=("args",), role=("role",)
    )
    assert (settings.arguments, settings.flat, settings.null_words) == ("mapping", None, ("null", "n/a", "无"))


@cases(("written", "read"), [("{from: gold}", {"from": "gold"}), ("Attack", "Attack"), ("7", "7")])
def test_a_flat_answer_has_its_type_from_the_gold_or_a_fixed_one(written: str, read: Any, tmp_path: Path) -> None:
    flat = response(f"metrics: {{response: {{flat: {{event_type: {written}}}}}}}", tmp_path).flat
    assert isinstance(flat, FlatSettings)
    assert flat.event_type == read


def test_nothing_declared_is_our_own_form(tmp_path: Path) -> None:
    commented_out = response("metrics:\n  response:\n    flat:\n    keys:\n    prefix:\n", tmp_path)
    assert commented_out == ResponseSettings()


@cases("flat", [{"event_type": "Attack"}, {"event_type": {"from": "gold"}}, None])
def test_a_protocol_made_in_python_is_checked_like_a_file(flat: Any) -> None:
    loaded = load_protocol({"metrics": {"response": {"flat": flat, "null_words": ["none"]}}}).protocol
    again = load_protocol(loaded).protocol
    assert isinstance(again, Protocol)
    assert asdict(again) == asdict(loaded)


RESPONSE = "metrics.response"


@pytest.mark.parametrize(
    ("settings", "code", "field", "words"),
    [
        ("{arguments: dict}", "wrong_value", "arguments", "list or mapping"),
        ("{null_words: none}", "wrong_value", "null_words", "a list"),
        ("{null_words: [null]}", "wrong_value", "null_words.0", "a text"),
        ("{next_example: 'Article:'}", "wrong_value", "next_example", "a list"),
        ("{next_example: [Text, '## 2:']}", "wrong_value", "next_example.1", "words, such as"),
        ("{said_none: true}", "wrong_value", "said_none", "error or empty"),
        ("{prefix: [a]}", "wrong_value", "prefix", "a text"),
        ("{prefix: ''}", "wrong_value", "prefix", "a text"),
        ("{prefx: a}", "unknown_key", "prefx", "did you mean prefix?"),
        ("{keys: [type]}", "wrong_value", "keys", "a mapping"),
        ("{keys: {type: [type]}}", "unknown_key", "keys.type", "event_type"),
        ("{keys: {event_type: type}}", "wrong_value", "keys.event_type", "a list"),
        ("{keys: {event_type: []}}", "wrong_value", "keys.event_type", "one key or more"),
        ("{flat: 1}", "wrong_value", "flat", "true"),
        ("{flat: {}}", "wrong_value", "flat", "event_type"),
        ("{flat: {event_type: }}", "wrong_value", "flat.event_type", "a text"),
        ("{flat: {event_type: {}}}", "wrong_value", "flat.event_type", "from"),
        ("{flat: {event_type: {from: file}}}", "wrong_value", "flat.event_type.from", "gold"),
        ("{flat: {event_type: {form: gold}}}", "unknown_key", "flat.event_type.form", "did you mean from?"),
        ("{flat: {type: A}}", "unknown_key", "flat.type", "event_type"),
        # What excludes each other, or could do nothing.
        ("{flat: {event_type: A}, arguments: mapping}", "wrong_value", "arguments", "metrics.response.flat"),
        ("{flat: {event_type: A}, keys: {role: [name]}}", "wrong_value", "keys.role", "metrics.response.flat"),
        ("{arguments: mapping, keys: {argument: [text]}}", "wrong_value", "keys.argument", "arguments: mapping"),
        # One key that would say two things.
        ("{keys: {role: [name], argument: [name]}}", "wrong_value", "keys.role", "also read as argument"),
        ("{keys: {event_type: [arguments]}}", "wrong_value", "keys.event_type", "also read as arguments"),
        ("{keys: {arguments: [events]}}", "wrong_value", "keys.arguments", "also read as events"),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(
    settings: str, code: str, field: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        response(f"metrics: {{response: {settings}}}", tmp_path)
    error = caught.value
    assert (error.code, error.place.field, error.place.line) == (f"protocol.{code}", f"{RESPONSE}.{field}", 1)
    assert words in str(error)


def test_one_key_may_say_different_things_in_different_objects(tmp_path: Path) -> None:
    keys = response("metrics: {response: {keys: {event_type: [type], role: [type]}}}", tmp_path).keys
    assert (keys.event_type, keys.role) == (("type",), ("type",))
    same = "metrics: {response: {flat: {event_type: A}, keys: {role: [role]}, arguments: list}}"  # as they are anyway
    assert response(same, tmp_path).flat is not None
