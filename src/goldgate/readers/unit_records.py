"""What each unit counted, in the line of its record: comparisons and checks read it from there."""

from __future__ import annotations

from typing import Any

import orjson

from goldgate.core.counted_unit import CountedUnit

UNITS, PARTS, TIMES, GROUP = "units", "parts", "times", "group"


def with_units(record: bytes, unit: CountedUnit) -> bytes:
    """A record's line with what its unit counted."""
    counted, parts = unit.counts, unit.parts
    if parts is None or not counted or unit.times != 1 or unit.group is not None or max(map(len, counted)) > 1:
        return record[:-2] + b"," + orjson.dumps(unit_counts(unit), option=orjson.OPT_APPEND_NEWLINE)[1:]
    units = orjson.dumps({key[0]: counts for key, counts in counted.items()})
    listed = parts.json()
    named = b',"parts":[' + listed + b"]}\n" if listed else b"}\n"
    return record[:-2] + b',"units":' + units + named


def unit_values(unit: CountedUnit) -> dict[str, Any]:
    """The same as it is when a record has been read: with lists."""
    found: dict[str, Any] = orjson.loads(orjson.dumps(unit_counts(unit)))
    return found


def unit_counts(unit: CountedUnit) -> dict[str, Any]:
    """What a unit counted: a list for each table, and for the parts of one.

    `units` is {"matching": [3, 4, 5, 6]}; `parts` has the names below a table, [["matching", "Attack"], [1, 1, 1, 2]];
    `times` says how many units these are, where they are not one, and `group` what they are part of.
    """
    counted = unit.counts or {}
    more: dict[str, Any] = {UNITS: {key[0]: counts for key, counts in counted.items() if len(key) == 1}}
    # Sorted: which part was counted first may depend on the order of a set.
    parts = [part for part in counted.items() if len(part[0]) > 1]
    if unit.parts is not None:
        parts += unit.parts.items()
    parts.sort()
    if parts:
        more[PARTS] = parts
    if unit.times != 1:
        more[TIMES] = unit.times
    if unit.group is not None:
        more[GROUP] = unit.group
    return more
