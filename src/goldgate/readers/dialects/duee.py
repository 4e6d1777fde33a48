"""DuEE 1.0: a text a line, its events under `event_list`; only the beginning of a trigger or argument is given.

https://www.luge.ai, data set DuEE1.0
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, Record, mapped


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("event_list"), list) and "events" not in record


def convert(record: Any) -> Record:
    found = dict(mapped(record, ""))
    if isinstance(found.get("event_list"), list) and found.get("events") is None:
        found["events"] = [_event(event) for event in found.pop("event_list")]
    return found


def _event(event: Any) -> Any:
    """An event with the offsets of its trigger and arguments; what is not as it should be stays as it is."""
    if not isinstance(event, dict):
        return event
    found = _with_offsets(event, "trigger", "trigger_start_index")
    arguments = event.get("arguments")
    if isinstance(arguments, list):
        found["arguments"] = [_argument(argument) for argument in arguments]
    return found


def _argument(argument: Any) -> Any:
    return _with_offsets(argument, "argument", "argument_start_index") if isinstance(argument, dict) else argument


def _with_offsets(part: dict[str, Any], name: str, start_name: str) -> Record:
    found = dict(part)
    start, text = found.get(start_name), found.get(name)
    if type(start) is int and start >= 0 and isinstance(text, str) and text and found.get("start") is None:
        del found[start_name]
        found |= {"start": start, "end": start + len(text)}
    return found


DIALECT = Dialect(
    "duee", "DuEE 1.0: texts with event_list, triggers and beginnings", recognizes, convert, ("event_list",)
)
