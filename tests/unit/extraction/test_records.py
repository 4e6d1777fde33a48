"""Gold and prediction records: DuEE files as published, and every mistake with its field."""

from __future__ import annotations

from typing import Any

import pytest

import goldgate
from goldgate.errors import InputError
from tests.cases import cases

from ..helpers import Json, UnitSet, event, protocol, score, units_of


def gold_units(record: Json) -> UnitSet:
    return units_of(score([], record).record["gold"])


@cases(
    ("record", "units"),
    [
        pytest.param({"events": [event("T", ("r", "x"))]}, {("T", "r", "x")}, id="events"),
        pytest.param({"event_list": [event("T", ("r", "x"))]}, {("T", "r", "x")}, id="event-list"),
        pytest.param({"events": [event("T", ("r", 1.5), ("s", None))]}, {("T", "r", "1.5")}, id="number-and-null"),
        pytest.param({"events": [event("T", ("r", ["x", "y"]))]}, {("T", "r", "x"), ("T", "r", "y")}, id="list"),
        pytest.param(
            {
                "text": "甲公司质押",
                "event_list": [
                    {
                        "event_type": "质押",
                        "trigger": "质押",
                        "trigger_start_index": 3,
                        "class": "财经",
                        "arguments": [{"argument_start_index": 0, "role": "质押方", "argument": "甲公司", "alias": []}],
                    }
                ],
            },
            {("质押", "质押方", "甲公司")},
            id="duee",
        ),
        pytest.param({"title": "t", "text": "x"}, set(), id="duee-fin-without-events"),
        pytest.param({"title": "t", "text": "x", "event_list": [event("T", ("r", "x"))]}, {("T", "r", "x")}, id="fin"),
    ],
)
def test_gold_gives_units(record: Json, units: UnitSet) -> None:
    assert gold_units({"id": "1", **record}) == units


def test_offset_of_a_duee_argument_is_a_span() -> None:
    record = {
        "id": "1",
        "event_list": [
            {"event_type": "T", "arguments": [{"argument_start_index": 2, "role": "r", "argument": "abcd"}]}
        ],
    }
    predicted = {"role": "r", "argument": "xyz", "start": 3, "end": 7}  # [2,6) and [3,7): 3 of 5
    result = score([{"event_type": "T", "arguments": [predicted]}], record, relaxed="span_iou")
    assert result["relaxed_f1"] == 1


def argument(**fields: Any) -> list[Json]:
    return [{"event_type": "T", "arguments": [{"role": "r", "argument": "x", **fields}]}]


@cases(
    ("record", "code", "field"),
    [
        pytest.param({}, "gold.events_not_list", "events", id="no-events"),
        pytest.param({"events": None}, "gold.events_not_list", "events", id="null"),
        pytest.param({"events": {}}, "gold.events_not_list", "events", id="object"),
        pytest.param({"event_list": "x"}, "gold.events_not_list", "event_list", id="event-list"),
        pytest.param({"events": 1, "event_list": []}, "gold.events_not_list", "events", id="events-is-what-counts"),
        pytest.param({"events": ["x"]}, "gold.event_not_object", "events[0]", id="event"),
        pytest.param({"events": [event("")]}, "gold.event_type_invalid", "events[0].event_type", id="type"),
        pytest.param(
            {"events": [{"event_type": "T"}]}, "gold.arguments_not_list", "events[0].arguments", id="arguments"
        ),
        pytest.param(
            {"event_list": [event("T"), {"event_type": "T", "arguments": [1]}]},
            "gold.argument_not_object",
            "event_list[1].arguments[0]",
            id="argument",
        ),
        pytest.param({"events": argument(role=None)}, "gold.role_invalid", "events[0].arguments[0].role", id="role"),
        pytest.param(
            {"events": [{"event_type": "T", "arguments": [{"role": "r"}]}]},
            "gold.value_missing",
            "events[0].arguments[0].argument",
            id="no-value",
        ),
        pytest.param(
            {"events": argument(argument=True)}, "gold.value_invalid", "events[0].arguments[0].argument", id="boolean"
        ),
        pytest.param(
            {"events": argument(start=3, end=3)}, "gold.offsets_invalid", "events[0].arguments[0]", id="empty-span"
        ),
        pytest.param(
            {"events": argument(start=-1, end=3)}, "gold.offsets_invalid", "events[0].arguments[0]", id="negative"
        ),
        pytest.param({"events": argument(start=0)}, "gold.offsets_invalid", "events[0].arguments[0]", id="half-a-span"),
        pytest.param(
            {"events": argument(start="0", end=1)}, "gold.offsets_invalid", "events[0].arguments[0]", id="text"
        ),
        pytest.param({"events": [], "text": 5}, "gold.wrong_type", "text", id="text-no-string"),
    ],
)
def test_malformed_gold_stops_the_evaluation(record: Json, code: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        goldgate.evaluate([{"id": "ok", "events": []}, {"id": "1", **record}], [], None, protocol())
    error = caught.value
    assert (error.code, error.place.field, error.place.file) == (code, field, "gold record 2")
    assert error.expected is not None


@cases(
    ("prediction", "code", "field"),
    [
        pytest.param({}, "predictions.no_answer", "response", id="nothing"),
        pytest.param({"answer": "[]"}, "predictions.no_answer", "response", id="other-key"),
        pytest.param({"response": [{"role": "user"}]}, "predictions.wrong_type", "response", id="no-assistant"),
        pytest.param({"response": 5, "events": []}, "predictions.wrong_type", "response", id="response-counts"),
        pytest.param({"events": {}}, "predictions.wrong_type", "events", id="events-object"),
        pytest.param({"events": "[]"}, "predictions.wrong_type", "events", id="events-text"),
    ],
)
def test_malformed_prediction_stops_the_evaluation(prediction: Json, code: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        goldgate.evaluate([{"id": "1", "events": []}], [{"id": "1", **prediction}], None, protocol())
    assert (caught.value.code, caught.value.place.field) == (code, field)
    assert caught.value.place.file == "predictions record 1"
