"""Templates: what looks like an answer and only shows its form, `{"event_type": "string", …}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from goldgate.extraction.form import Form

# As whole values, blanks aside, in any case.
_BRACKETED = r"<(?:[a-z_ ./|-]*|[^<>]*(?:类型|角色|论元)[^<>]*)>|\{\{?[\w ]*\}?\}"
_PLACEHOLDER = re.compile(
    r"\s*(?:\.\.\.|…+|string|str|text|value|event_type|event type|eventtype|type|role|argument|role_name|"
    rf"类型|事件类型|角色|论元|{_BRACKETED})?\s*",
    re.IGNORECASE,
)
_TYPE = re.compile(
    rf"\s*(?:\.\.\.|…+|string|str|event_type|event type|eventtype|type|type_name|类型|事件类型|{_BRACKETED})?\s*",
    re.IGNORECASE,
)


def is_template(value: Any, form: Form) -> bool:
    """Whether an answer is only the form of one: every event's type, or all of its values, are placeholders."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, (dict, list)) and is_template(item, form) for item in value)
    if not isinstance(value, dict):
        return False
    names = form.names
    for key in names.events:
        if isinstance(value.get(key), list):
            return is_template(value[key], form)
    event_type = next((value[key] for key in names.event_type if key in value), None)
    if (form.flat and not form.is_event(value)) or not isinstance(event_type, str):
        return _are_placeholders(value.values())
    if _TYPE.fullmatch(event_type):
        return True
    arguments = next((value[key] for key in names.arguments if key in value), None)
    if isinstance(arguments, dict):
        return _are_placeholders(arguments.values())
    if not isinstance(arguments, list):
        return False
    return _are_placeholders(
        next((argument[key] for key in names.argument if key in argument), None)
        if isinstance(argument, dict)
        else argument
        for argument in arguments
    )


def is_blank(value: Any, form: Form) -> bool:
    """Whether a template says nothing at all, not even a placeholder: an answer with an empty type, perhaps."""
    events = value if isinstance(value, list) else [value]
    types = [event.get(key) for event in events if isinstance(event, dict) for key in form.names.event_type]
    return not any(isinstance(name, str) and name.strip() for name in types)


def _are_placeholders(values: Iterable[Any]) -> bool:
    """Whether all that is said are placeholders, and not all of them nothing."""
    speaks = False
    for value in values:
        for text in _texts(value):
            if text is None or not _PLACEHOLDER.fullmatch(text):
                return False
            speaks = speaks or text.strip() != ""
    return speaks


def _texts(value: Any) -> Iterator[str | None]:
    """What a value says; None for what is no placeholder."""
    if isinstance(value, list):
        for item in value:
            yield item if isinstance(item, str) else None
    else:
        yield value if isinstance(value, str) else None
