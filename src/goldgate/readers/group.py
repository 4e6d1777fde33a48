"""The group of a gold record: records that belong together, such as the passages of one document, are one unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.errors import InputError, Place, describe


def record_group(record: Mapping[str, Any]) -> str | None:
    """What a record belongs to, an integer as its digits; None if it stands by itself."""
    group = record.get("group")
    if group is None or (type(group) is str and group):
        return group
    if type(group) is int:
        return str(group)
    raise InputError(
        "gold.wrong_type",
        "a group is named by a string",
        place=Place(field="group"),
        expected="a string that is not empty, or an integer, or none at all",
        found=describe(group),
    )
