"""A unit of a suite that says no more about it: its record and its inputs, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from goldgate.core.excerpt import marked_text
from goldgate.core.unit_page import UnitPage, UnitSection


def plain_unit_page(record: Mapping[str, Any], given: Mapping[str, Any]) -> UnitPage:
    """The record and what it was made from, each under its name."""
    known = {**given, "record": record}
    sections = tuple(UnitSection(name, (marked_text(_as_json(value), ()),)) for name, value in known.items())
    return UnitPage(str(record["id"]), sections)


def _as_json(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2).decode()
