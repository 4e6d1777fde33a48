"""Extraction's contracts and its loaders: what a loader accepts its schema accepts, and bad records neither does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.finding import record_id
from goldgate.errors import GoldgateError, InputError, Place
from goldgate.shape.validation import problems, type_test
from goldgate.suites.extraction.contracts import EventSchema, Gold, Prediction
from goldgate.suites.extraction.events.event_schema import load_event_schema
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from tests.cases import cases
from tests.spoiling import spoiled

from .referee import SCHEMAS, accepts


def with_argument(argument: dict[str, Any]) -> dict[str, Any]:
    return {"id": "1", "events": [{"event_type": "A", "arguments": [argument]}]}


ARGUMENT = {"role": "Person", "argument": "Lena Ortiz", "start": 0, "end": 10}
EVENT = {"event_type": "Hire", "trigger": "joined", "arguments": [ARGUMENT, {"role": "Age", "argument": [41, "old"]}]}
GOLD: list[Any] = [
    {"id": "1", "text": "Lena Ortiz joined.", "events": [EVENT]},
    {"id": 1, "events": []},
    {**with_argument({"role": "R", "argument": None}), "text": None},
    {"id": "1", "title": "t", "text": "x", "event_list": [EVENT], "class": 4},
    {"id": "1", "events": [{"type": "Hire", "arguments": {"Person": "Lena Ortiz", "Age": [41, None], "Place": None}}]},
    {"id": "1", "title": "t", "text": "x"},
    with_argument({"role": "R", "argument": "x", "argument_start_index": 3}),
]
PREDICTIONS: list[Any] = [
    {"id": "1", "response": ""},
    {"id": 7, "response": "[]", "events": 5, "seed": 1},
    {"id": "1", "events": [1, None, {"event_type": "A"}]},
    {"id": "1", "event_list": []},
    {"id": "1", "response": None},
    {"id": "1", "response": {"events": []}},
    {"id": "1", "response": [{"role": "assistant", "content": "[]"}]},
    {"id": "1", "events": None},
]
EVENT_SCHEMAS: list[Any] = [
    {"event_types": {"质押": {"roles": ["质押方", "所属公司"]}, "中标": {"roles": []}}, "name": "x"},
    {"event_type": "质押", "role_list": [{"role": "质押方"}, "所属公司"], "id": "1"},
]


def gold_loads(record: Any) -> bool:
    return _loads(lambda: parse_gold(record, _id(record)))


def prediction_loads(record: Any) -> bool:
    return _loads(lambda: (_id(record), parse_prediction(record)))


def _id(record: Any) -> str:
    identity = record_id(record) if isinstance(record, dict) else None
    if identity is None:
        raise InputError("gold.bad_id", "no id", place=Place())
    return identity


def _loads(load: Callable[[], object]) -> bool:
    try:
        load()
    except GoldgateError:
        return False
    return True


def agree(kind: Any, file: str, value: Any, loads: bool) -> None:
    """The three ways to look at a value say the same of it, and a loader may refuse more, never accept more."""
    assert type_test(kind)(value) == accepts(SCHEMAS[file], value) == (not list(problems(kind, value))), value
    assert type_test(kind)(value) or not loads, value


@cases("record", GOLD)
def test_gold(record: Any) -> None:
    assert type_test(Gold)(record)
    assert gold_loads(record)
    for case in [record, *spoiled(record)]:
        agree(Gold, "extraction_gold.schema.json", case, gold_loads(case))


@cases("record", PREDICTIONS)
def test_predictions(record: Any) -> None:
    assert type_test(Prediction)(record)
    assert prediction_loads(record)
    for case in [record, *spoiled(record)]:
        agree(Prediction, "extraction_predictions.schema.json", case, prediction_loads(case))


@pytest.mark.parametrize("schema", EVENT_SCHEMAS)
def test_event_schema(tmp_path: Path, schema: Any) -> None:
    path = tmp_path / "schema.json"

    def loads(value: Any) -> bool:
        path.write_text(json.dumps(value), encoding="utf-8")
        return _loads(lambda: load_event_schema(path))

    assert loads(schema)
    assert type_test(EventSchema)(schema)
    for case in [schema, *spoiled(schema)]:
        agree(EventSchema, "extraction_event_schema.schema.json", case, loads(case))


BAD: dict[str, list[Any]] = {
    "extraction_gold.schema.json": [
        {"events": []},
        {"id": "", "events": []},
        {"id": True, "events": []},
        {"id": 1.5, "events": []},
        {"id": "1"},
        {"id": "1", "events": {}},
        {"id": "1", "text": 5, "events": []},
        {"id": "1", "events": [{"event_type": " ", "arguments": []}]},
        {"id": "1", "events": [{"event_type": "A"}]},
        with_argument({"role": "R"}),
        with_argument({"role": "R", "argument": True}),
        with_argument({"role": "R", "argument": [None]}),
        with_argument({"role": "R", "argument": "x", "start": -1, "end": 2}),
        [],
        "gold",
    ],
    "extraction_predictions.schema.json": [
        {"response": ""},
        {"id": "1"},
        {"id": "1", "response": 5},
        {"id": "1", "events": "[]"},
        {"id": None, "response": ""},
    ],
}


@cases(("file", "record"), [(file, record) for file, records in BAD.items() for record in records])
def test_bad_record_is_refused_by_schema_and_loader(file: str, record: Any) -> None:
    loads = gold_loads if "gold" in file else prediction_loads
    assert not accepts(SCHEMAS[file], record)
    assert not loads(record)


PLAIN = st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from([0.5, "", " ", "x", "events"])
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2))
ARGUMENTS = st.dictionaries(st.sampled_from(["role", "argument", "start", "end", "argument_start_index"]), VALUES)
EVENTS = st.dictionaries(
    st.sampled_from(["event_type", "type", "arguments"]), VALUES | ARGUMENTS | st.lists(ARGUMENTS, max_size=2)
)
KEYS = st.sampled_from(["id", "text", "title", "events", "event_list", "response"])
RECORDS = st.dictionaries(KEYS, VALUES | st.lists(EVENTS | VALUES, max_size=2))


@given(RECORDS)
def test_whatever_a_loader_accepts_its_schema_accepts(record: dict[str, Any]) -> None:
    agree(Gold, "extraction_gold.schema.json", record, gold_loads(record))
    agree(Prediction, "extraction_predictions.schema.json", record, prediction_loads(record))
