"""The id of a stored record: what joins gold and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def record_id(record: Mapping[str, Any]) -> str | None:
    """The record's id as text, an integer as its digits; None if it has none."""
    value = record.get("id")
    if type(value) is str:
        return value or None
    return str(value) if type(value) is int else None
