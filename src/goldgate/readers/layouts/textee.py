"""Predictions as TextEE's trainers hand them to its scorer: windows with triggers and arguments by token.

A trigger is [start, end, event type], an argument [start, end, role], either with its words behind it or not; ends are
exclusive. A window has `events` (end to end), `triggers` (detection only), or a `trigger` and its `arguments`: then
every event is a record of its own, and those of a window belong together. An argument without a role is none.
https://github.com/ej0cl6/TextEE, TextEE/scorer.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.finding import record_id
from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.layouts.layout import LayoutAnswer, RecordLayout

_LISTS = ("events", "triggers")
_FOREIGN_KEYS = ("id", "response", "event_mentions")


def _recognizes(record: Any) -> bool:
    if not isinstance(record, dict) or "wnd_id" not in record or any(name in record for name in _FOREIGN_KEYS):
        return False
    if isinstance(record.get("events"), list):
        return all(isinstance(event, dict) and isinstance(event.get("trigger"), list) for event in record["events"])
    return isinstance(record.get("triggers"), list) or _is_one_event(record)


def _answer(record: Mapping[str, Any]) -> LayoutAnswer:
    if isinstance(record.get("events"), list):
        events = [_event(event, f"events[{number}]") for number, event in enumerate(record["events"])]
    elif isinstance(record.get("triggers"), list):
        events = [
            {**_part(trigger, f"triggers[{number}]", "event_type", "trigger"), "arguments": []}
            for number, trigger in enumerate(record["triggers"])
        ]
    else:
        events = [_event(record, "")]
    return LayoutAnswer(record_id({"id": record.get("wnd_id")}), {"events": events}, part=_is_one_event(record))


def _is_one_event(record: Mapping[str, Any]) -> bool:
    if any(isinstance(record.get(name), list) for name in _LISTS):
        return False
    return isinstance(record.get("trigger"), list) and isinstance(record.get("arguments"), list)


def _event(event: Any, path: str) -> dict[str, Any]:
    inner = f"{path}." if path else ""
    if not isinstance(event, Mapping):
        raise _format_error(path, "an object with a trigger and arguments", event)
    arguments = event.get("arguments")
    if not isinstance(arguments, list):
        raise _format_error(f"{inner}arguments", "a list", arguments)
    return {
        **_part(event.get("trigger"), f"{inner}trigger", "event_type", "trigger"),
        "arguments": [
            _part(argument, f"{inner}arguments[{number}]", "role", "argument")
            for number, argument in enumerate(arguments)
            if not (isinstance(argument, list) and len(argument) > 2 and argument[2] is None)
        ],
    }


def _part(value: Any, path: str, label: str, name: str) -> dict[str, Any]:
    """A trigger or an argument: its label, its words if they are there, and its tokens."""
    if not isinstance(value, list) or len(value) < 3 or not isinstance(value[2], str):
        raise _format_error(path, f"[start, end, {label.replace('_', ' ')}]", value)
    start, end, text = value[:3]
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise _format_error(path, "0 <= start < end, counted in tokens", value)
    words = {name: value[3]} if len(value) > 3 and isinstance(value[3], str) else {}
    return {label: text, **words, "token_start": start, "token_end": end}


def _format_error(path: str, expected: str, found: Any) -> InputError:
    return InputError(
        "predictions.not_in_layout",
        "this prediction does not have the form of TextEE's",
        place=Place(field=path),
        expected=expected,
        found=describe_value(found),
    )


TEXTEE = RecordLayout(
    "textee", "what TextEE's trainers predict, window by window", _recognizes, _answer, in_tokens=True
)
