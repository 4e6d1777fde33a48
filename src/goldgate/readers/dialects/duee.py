"""DuEE 1.0 and DuEE-Fin: texts with events under `event_list`.

DuEE 1.0 gives only the beginning of a trigger or argument. In DuEE-Fin the source text is the title, a line
break, and the text; a document without events has no `event_list`.
https://www.luge.ai, data sets DuEE1.0 and DuEE-fin
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, JsonObject, require_object


def _recognizes(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("event_list"), list) and "events" not in record


def _convert(record: Any) -> JsonObject:
    found = dict(require_object(record, ""))
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


def _with_offsets(part: dict[str, Any], name: str, start_name: str) -> JsonObject:
    found = dict(part)
    start, text = found.get(start_name), found.get(name)
    if type(start) is int and start >= 0 and isinstance(text, str) and text and found.get("start") is None:
        del found[start_name]
        found |= {"start": start, "end": start + len(text)}
    return found


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
    found = _convert(require_object(record, ""))
    title, text = found.get("title"), found.get("text")
    if isinstance(title, str) and isinstance(text, str):
        del found["title"]
        found["text"] = f"{title}\n{text}"
    if isinstance(title, str) and found.get("events") is None and found.get("event_list") is None:
        found.pop("event_list", None)
        found["events"] = []
    return found


DUEE_FIN = Dialect(
    "duee-fin",
    "DuEE-Fin: announcements with title, text and event_list",
    _recognizes_fin,
    _convert_fin,
    ("title", "text"),
)
