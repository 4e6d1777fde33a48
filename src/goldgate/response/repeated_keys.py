"""Keys that come twice in an object: a new part begins there, or their values are joined, so that none is lost."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson

from goldgate.core.value_text import NumberText, number_text
from goldgate.response.parsed import AnswerForm

Pair = tuple[str, Any]


class Parts(list[Any]):
    """The objects that one object with repeated keys is; as an item of a list, each is one."""


def join_repeated_keys(text: str, value: Any, form: AnswerForm) -> Any:
    """The value of a JSON text with its repeated keys joined, numbers as their text; None if no key comes twice.

    A decoder keeps the last value of a key and says nothing. The text then has colons that the value has not.
    """
    colons = text.count(":")
    if isinstance(value, dict) and colons == len(value):
        return None
    try:
        kept = orjson.dumps(value, default=str, option=orjson.OPT_PASSTHROUGH_DATACLASS).count(b":")
    except orjson.JSONEncodeError:
        kept = -1  # too deep: its pairs will tell
    if colons <= kept and ("\\" not in text or "\\u003" not in text):
        return None
    has_repeats = has_parts = False

    def make_object(pairs: list[Pair]) -> Any:
        nonlocal has_repeats, has_parts
        if has_parts:
            pairs = [(key, _spliced(inner)) for key, inner in pairs]
        joined = join_pairs(pairs, form)
        has_repeats = has_repeats or len(joined) < len(pairs)
        has_parts = has_parts or type(joined) is Parts
        return joined

    decoder = json.JSONDecoder(object_pairs_hook=make_object, parse_float=NumberText, parse_int=number_text)
    try:
        joined = _spliced(decoder.decode(text))
    except (ValueError, RecursionError):
        return None  # far deeper than any answer
    return joined if has_repeats else None


def _spliced(value: Any) -> Any:
    """A list with the parts of its items in place of them, lists in it too; anything else as it is."""
    if not isinstance(value, list):
        return value
    items: list[Any] = []
    for item in value:
        put_parts(items, item if isinstance(item, Parts) else _spliced(item))
    return items


def put_parts(items: list[Any], value: Any) -> None:
    """Add an item to a list, or each part of it."""
    if isinstance(value, Parts):
        items += value
    else:
        items.append(value)


def join_pairs(pairs: list[Pair], form: AnswerForm, *, cut: bool = False) -> Any:
    """The object of these pairs, its repeated keys joined; `Parts`, where a key that begins a part comes again.

    `cut`: the object breaks off, and such a key might have come again.
    """
    whole = dict(pairs)
    if len(whole) == len(pairs):
        return whole
    starts, counts = form.part_starts, Counter(key for key, _ in pairs)
    splits = any(counts[key] > (not cut) for key in starts)
    parts = Parts([{}])
    for key, value in pairs:
        # Where the key that begins a part is not its first one, any key that comes again shows that it has ended.
        if splits and key in parts[-1] and (key in starts or next(iter(parts[-1])) not in starts):
            parts.append({})
        _add(parts[-1], key, value, form)
    return parts if len(parts) > 1 else parts[0]


def _add(part: dict[str, Any], key: str, value: Any, form: AnswerForm) -> None:
    part[key] = _joined(part[key], value, key, form) if key in part else value


def _joined(first: Any, second: Any, key: str, form: AnswerForm) -> Any:
    """What both values of a key say together; null says nothing."""
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, dict) and isinstance(second, dict):
        if not form.part_starts.isdisjoint(first.keys() & second.keys()):
            return [first, second]
        for inner, value in second.items():
            _add(first, inner, value, form)
        return first
    if isinstance(first, list) or isinstance(second, list) or form.joins_values(key):
        items = first if isinstance(first, list) else [first]
        items += second if isinstance(second, list) else [second]
        return items
    return second
