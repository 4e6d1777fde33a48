"""What each unit counted, in the line of its record: comparisons and checks read it from there."""

from __future__ import annotations

from typing import Any

import orjson

from goldgate.core.tally import Tally

UNITS, PARTS, TIMES, GROUP = "units", "parts", "times", "group"


def with_units(record: bytes, tally: Tally) -> bytes:
    """A record's line with what its unit counted."""
    counted, parts = tally.unit, tally.parts
    if parts is None or not counted or tally.times != 1 or tally.group is not None or max(map(len, counted)) > 1:
        return record[:-2] + b"," + orjson.dumps(unit_counts(tally), option=orjson.OPT_APPEND_NEWLINE)[1:]
    units = orjson.dumps({key[0]: counts for key, counts in counted.items()})
    listed = parts.json()
    named = b',"parts":[' + listed + b"]}\n" if listed else b"}\n"
    return record[:-2] + b',"units":' + units + named


def unit_values(tally: Tally) -> dict[str, Any]:
    """The same as it is when a record has been read: with lists."""
    found: dict[str, Any] = orjson.loads(orjson.dumps(unit_counts(tally)))
    return found


def unit_counts(tally: Tally) -> dict[str, Any]:
    """What the last unit counted: a list for each table, and for the parts of one.

    `units` is {"matching": [3, 4, 5, 6]}; `parts` has the names below a table, [["matching", "Attack"], [1, 1, 1, 2]];
    `times` says how many units these are, where they are not one, and `group` what they are part of.
    """
    counted = tally.unit or {}
    more: dict[str, Any] = {UNITS: {key[0]: counts for key, counts in counted.items() if len(key) == 1}}
    # Sorted: which part was counted first may depend on the order of a set.
    parts = [part for part in counted.items() if len(part[0]) > 1]
    if tally.parts is not None:
        parts += tally.parts.items()
    parts.sort()
    if parts:
        more[PARTS] = parts
    if tally.times != 1:
        more[TIMES] = tally.times
    if tally.group is not None:
        more[GROUP] = tally.group
    return more
