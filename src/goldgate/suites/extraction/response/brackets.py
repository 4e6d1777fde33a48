"""Brackets that are missing or too many: what the open containers and the text ahead say of one.

Each rule is for one damage in one place; where two readings fit, the one with a missing bracket is taken.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from goldgate.core.late_pattern import LatePattern
from goldgate.suites.extraction.response.quoted import KEY_AHEAD, QUOTES

# Structure in its ASCII form. 、 separates items in Chinese; 【】 are brackets to some models.
STRUCTURE = {
    **{c: c for c in "{}[],:"},
    "｛": "{",
    "｝": "}",
    "［": "[",
    "］": "]",
    "【": "[",
    "】": "]",
    "，": ",",
    "、": ",",
    "：": ":",
    ";": ",",
    "；": ",",
}


class Open:
    """A container whose closing bracket has not come yet."""

    __slots__ = ("key", "last", "value")

    def __init__(self, value: Any) -> None:
        self.value = value  # a list or a dict
        self.key: str | None = None  # for a dict: the key whose value is being read
        self.last: str | None = None  # for a dict: the key whose value was read last

    def put(self, item: Any) -> None:
        """Add an item, or the value of the key that is due one."""
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is not None:
            self.value[self.key] = item
            self.key, self.last = None, self.key

    @property
    def last_value(self) -> Any:
        """The value of a dict that was read last; None for a list."""
        return self.value.get(self.last) if isinstance(self.value, dict) else None

    def wrap_last(self) -> None:
        """Make the value that was read last a list of one."""
        self.value[self.last] = [self.value[self.last]]


class Ahead(NamedTuple):
    """A text, from a place on."""

    text: str
    at: int
    limit: int

    def match(self, pattern: re.Pattern[str] | LatePattern) -> re.Match[str] | None:
        return pattern.match(self.text, self.at, self.limit)


_OBJECT = re.compile(rf"[\s,，]*[{{｛]\s*({KEY_AHEAD.pattern})")
_KEY_AFTER_COMMA = LatePattern(rf"\s*[,，]\s*({KEY_AHEAD.pattern})")
_OBJECT_GOES_ON = LatePattern(rf"\s*(?:[}}｝]|[,，]\s*{KEY_AHEAD.pattern})")
_CLOSERS = re.compile(r"(?:\s*[}\]]){1,20}")


def is_stray(stack: list[Open], bracket: str, depth: int, ahead: Ahead) -> bool:
    """Whether a closing bracket is one too many: what follows goes on with what it would close, down to `depth`."""
    top = stack[-1].value
    if bracket == "}" and depth < len(stack) - 1 and isinstance(top, list):
        # [{"role": …}}, {"role": …}]: the next object is of the kind that this list holds
        following = ahead.match(_OBJECT)
        if following is not None and _is_one_more(top, key_name(following.group(1))):
            return True
        return _closers_fit(stack, ahead) and not _closers_fit(stack[:depth], ahead)
    if len(stack) > 1:
        return False
    if bracket == "}":  # {"event_type": "A"}, "arguments": […]}
        following = ahead.match(_KEY_AFTER_COMMA)
        return following is not None and key_name(following.group(1)) not in top
    following = ahead.match(_OBJECT)  # [{…}], {…}]
    if following is None or following.group().lstrip()[0] not in ",，":
        return False
    return _is_one_more(top, key_name(following.group(1)))


def begins_another(top: Open, ahead: Ahead) -> bool:
    """Whether the object ahead is of the same kind as the one that is open: its first key is one of that one's."""
    following = ahead.match(_OBJECT)
    return following is not None and key_name(following.group(1)) in top.value


def closes_unopened_list(top: Open, ahead: Ahead) -> bool:
    """Whether `]` ends a list of one object that was not opened: `"arguments": {…}]}`."""
    return isinstance(top.last_value, dict) and top.key is None and ahead.match(_OBJECT_GOES_ON) is not None


def key_name(written: str) -> str:
    """The name in `"key":`."""
    return written.rstrip(":：=> \t\r\n").strip(QUOTES + "\\")


def _is_one_more(items: Any, key: str) -> bool:
    """Whether an object that begins with this key is one of the kind that the list holds."""
    return bool(items) and isinstance(items[-1], dict) and key in items[-1]


def _closers_fit(stack: list[Open], ahead: Ahead) -> bool:
    """Whether the closing brackets that follow close just what is open, innermost first."""
    run = ahead.match(_CLOSERS)
    brackets = "" if run is None else "".join(run.group().split())
    wanted = ["}" if isinstance(part.value, dict) else "]" for part in reversed(stack)]
    return list(brackets) == wanted[: len(brackets)]
