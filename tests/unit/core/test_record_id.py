"""What is an id, and what is said of a record that has none."""

from __future__ import annotations

from typing import Any

import pytest

from goldgate.core.record_id import bad_id, record_id
from goldgate.errors import Place


@pytest.mark.parametrize(("value", "identity"), [("a", "a"), (" ", " "), (7, "7"), (-1, "-1"), (2**80, str(2**80))])
def test_text_and_integers_are_ids(value: Any, identity: str) -> None:
    assert record_id({"id": value}) == identity


@pytest.mark.parametrize("value", ["", None, True, 1.0, ["a"], {}])
def test_all_else_is_none(value: Any) -> None:
    assert record_id({"id": value}) is None


@pytest.mark.parametrize(
    ("record", "found", "advice"),
    [
        ({"id": ""}, "an empty string", None),
        ({"text": "x", "events": []}, "no id; the keys are text, events", None),
        (
            {"text": "x", "doc_id": 3},
            "no id; the keys are text, doc_id",
            'rename "doc_id" to "id", if it tells the records apart',
        ),
        ({"idx": 3}, "no id; the keys are idx", 'rename "idx" to "id", if it tells the records apart'),
        ({}, "an empty object", None),
        (5, "the number 5", None),
    ],
)
def test_record_without_an_id_is_told_what_it_has(record: Any, found: str, advice: str | None) -> None:
    error = bad_id(record, "gold", Place("gold.jsonl", 2, "id"))
    assert (error.code, error.found, error.advice) == ("gold.bad_id", found, advice)
