"""Templates: what looks like an answer and only shows its form, `{"event_type": "string", …}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

# As whole values, blanks aside, in any case. `<…>` and `{…}` are placeholders whatever they enclose.
_PLACEHOLDER = re.compile(
    r"\s*(?:\.\.\.|…+|string|str|text|value|event_type|event type|eventtype|type|role|argument|role_name|"
    r"类型|事件类型|角色|论元|<[^<>]*>|\{\{?[^{}]*\}?\}|\[[^\[\]]*\])?\s*",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"\s*(?:\.\.\.|…+|string|str|event_type|event type|eventtype|type|type_name|类型|事件类型|<[^<>]*>|\{\{?[^{}]*\}?\})?\s*",
    re.IGNORECASE,
)


def is_template(value: Any) -> bool:
    """Whether an answer is only the form of one: every event's type, or all of its values, are placeholders."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, (dict, list)) and is_template(item) for item in value)
    if not isinstance(value, dict):
        return False
    for key in ("events", "event_list"):
        if isinstance(value.get(key), list):
            return is_template(value[key])
    event_type = value.get("event_type")
    if not isinstance(event_type, str):
        return _are_placeholders(value.values())
    if _TYPE.fullmatch(event_type):
        return True
    arguments = value.get("arguments")
    return isinstance(arguments, list) and _are_placeholders(arguments)


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
    """What a value says; None for what is no placeholder. An argument object says its argument."""
    if isinstance(value, dict):
        value = value.get("argument")
    if isinstance(value, list):
        for item in value:
            yield item if isinstance(item, str) else None
    else:
        yield value if isinstance(value, str) else None
