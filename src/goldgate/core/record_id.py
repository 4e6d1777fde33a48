"""The id of a stored record: what joins gold and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.errors import InputError, Place, describe

EXPECTED_ID = "a string that is not empty"
_SHOWN_KEYS = 8


def record_id(record: Mapping[str, Any]) -> str | None:
    """The record's id as text, an integer as its digits; None if it has none."""
    value = record.get("id")
    if type(value) is str:
        return value or None
    return str(value) if type(value) is int else None


def found_as_id(record: object) -> str:
    """What a record has in place of an id, in words: the keys that are there, where there is no id."""
    if not isinstance(record, Mapping):
        return describe(record)
    if "id" in record:
        return describe(record["id"])
    keys = ", ".join(list(map(str, record))[:_SHOWN_KEYS])
    return f"no id; the keys are {keys}" if keys else "an empty object"


def bad_id(record: object, kind: str, place: Place) -> InputError:
    """The error for a record of that kind without an id."""
    return InputError(
        f"{kind}.bad_id",
        f"a {kind} record needs an id",
        place=place,
        expected=EXPECTED_ID,
        found=found_as_id(record),
        advice=_advice(record),
    )


def _advice(record: object) -> str | None:
    """Other programs have names of their own for it: doc_id, doc_key, idx, guid."""
    if not isinstance(record, Mapping) or "id" in record:
        return None
    similar = [key for key in map(str, record) if key.lower().endswith(("id", "key", "idx"))]
    return f'rename "{similar[0]}" to "id", if it tells the records apart' if similar else None
