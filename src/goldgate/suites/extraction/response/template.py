"""Templates: what looks like an answer and only shows its form, `{"event_type": "string", …}`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from goldgate.suites.extraction.events.form import Form

# As whole values, blanks aside, in any case. An empty string is one too.
TYPE_PLACEHOLDERS = frozenset("... … string str event_type eventtype type type_name 类型 事件类型".split()) | {
    "event type"
}
VALUE_PLACEHOLDERS = TYPE_PLACEHOLDERS | frozenset("text value role role_name argument 角色 论元".split())
# So are some of these with a number, as in {"argument1": "description1"}; a "type 2" may be meant.
_NUMBERED = re.compile(r"(?:argument|role|value|description|event_type|string|论元|角色)_?\d{1,2}")
# So is what stands in angle brackets and is no name: <type>, <the role>, <事件类型>.
_BRACKETED = re.compile(r"<([^<>]*)>")
_NO_NAME = re.compile(r"[a-z_ ./|-]*")
_NO_NAMES = ("类型", "角色", "论元")


def is_template(value: Any, form: Form) -> bool:
    """Whether an answer is only the form of one: every event's type, or all of its values, are placeholders."""
    if isinstance(value, dict):
        key = form.events_key(value)
        if key is None:
            return _is_one(value, form)
        value = value[key]
    if not isinstance(value, list):
        return False
    for item in value:
        if not isinstance(item, dict) or not _is_one(item, form):
            return False
    return bool(value)


def _is_one(value: dict[str, Any], form: Form) -> bool:
    """Whether an object that should be an event, or a flat answer, is a template."""
    names = form.names
    event_type = _first(value, names.event_type)
    if not isinstance(event_type, str) or (form.flat and not form.is_event(value)):
        return _are_placeholders(value.values())
    if _is_placeholder(event_type, TYPE_PLACEHOLDERS):
        return True
    arguments = _first(value, names.arguments)
    if isinstance(arguments, dict):
        return _are_placeholders(arguments.values())
    if not isinstance(arguments, list):
        return False
    return _are_placeholders(arguments, names.argument)


def is_blank(value: Any, form: Form) -> bool:
    """Whether a template says nothing at all, not even a placeholder: an answer with an empty type, perhaps."""
    events = value if isinstance(value, list) else [value]
    types = [event.get(key) for event in events if isinstance(event, dict) for key in form.names.event_type]
    return not any(isinstance(name, str) and name.strip() for name in types)


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in value:
            return value[key]
    return None


def _are_placeholders(values: Iterable[Any], keys: tuple[str, ...] = ()) -> bool:
    """Whether all that is said (by objects under one of the keys) are placeholders, and not all of them nothing."""
    speaks = False
    for value in values:
        said = _first(value, keys) if keys and isinstance(value, dict) else value
        for text in said if isinstance(said, list) else (said,):
            if not isinstance(text, str) or not _is_placeholder(text, VALUE_PLACEHOLDERS):
                return False
            speaks = speaks or text.strip() != ""
    return speaks


def _is_placeholder(text: str, words: frozenset[str]) -> bool:
    folded = text.strip().casefold()
    if not folded or folded in words:
        return True
    if folded[0] == "<":
        return _is_bracketed_placeholder(folded)
    return folded[-1].isdigit() and _NUMBERED.fullmatch(folded) is not None


def _is_bracketed_placeholder(folded: str) -> bool:
    bracketed = _BRACKETED.fullmatch(folded)
    if bracketed is None:
        return False
    inside = bracketed.group(1)
    return _NO_NAME.fullmatch(inside) is not None or any(word in inside for word in _NO_NAMES)
