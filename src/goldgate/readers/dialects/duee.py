"""DuEE 1.0 and DuEE-Fin: texts with events under `event_list`.

DuEE 1.0 gives only the beginning of a trigger or argument. In DuEE-Fin the source text is the title, a line
break, and the text; a document without events has no `event_list`.
https://www.luge.ai, data sets DuEE1.0 and DuEE-fin
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node


def _recognizes(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("event_list"), list) and "events" not in record


def _convert(record: Any) -> JsonObject:
    converted = dict(Node(record).as_object())
    if isinstance(converted.get("event_list"), list) and converted.get("events") is None:
        converted["events"] = [_event(event) for event in converted.pop("event_list")]
    return converted


def _event(event: Any) -> Any:
    """An event with the offsets of its trigger and arguments; what is not as it should be stays as it is."""
    converted = _with_offsets(event, "trigger", "trigger_start_index")
    if isinstance(converted, dict) and isinstance(arguments := converted.get("arguments"), list):
        converted["arguments"] = [_with_offsets(each, "argument", "argument_start_index") for each in arguments]
    return converted


def _with_offsets(part: Any, name: str, start_name: str) -> Any:
    if not isinstance(part, dict):
        return part
    converted = dict(part)
    start, text = converted.get(start_name), converted.get(name)
    if type(start) is int and start >= 0 and isinstance(text, str) and text and converted.get("start") is None:
        del converted[start_name]
        converted |= {"start": start, "end": start + len(text)}
    return converted


DUEE = Dialect(
    "duee", "DuEE 1.0: texts with event_list, triggers and beginnings", _recognizes, _convert, ("event_list",)
)


def _recognizes_fin(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("title"), str)
        and isinstance(record.get("text"), str)
        and "events" not in record
        and ("event_list" not in record or isinstance(record["event_list"], list))
    )


def _convert_fin(record: Any) -> JsonObject:
    converted = _convert(record)
    title, text = converted.get("title"), converted.get("text")
    if isinstance(title, str) and isinstance(text, str):
        del converted["title"]
        converted["text"] = f"{title}\n{text}"
    if isinstance(title, str) and converted.get("events") is None and converted.get("event_list") is None:
        converted.pop("event_list", None)
        converted["events"] = []
    return converted


DUEE_FIN = Dialect(
    "duee-fin",
    "DuEE-Fin: announcements with title, text and event_list",
    _recognizes_fin,
    _convert_fin,
    ("title", "text"),
)
