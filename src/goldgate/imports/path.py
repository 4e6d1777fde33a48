"""Paths into what a tool recorded: `attributes.gen_ai.output.messages`, `outputs.documents.*.id`.

Keys may have dots of their own: the longest key that fits is taken. A number is a place in a list, from the end if it
is negative; `*` is every item. Text that holds JSON is read as JSON where the path goes on, for that is how attributes
carry objects. Several paths with ` | ` between them: the first that gives something. `=word` is the word itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

EACH = "*"
_OR = " | "
_DEEP = 200  # levels; orjson writes 254


def look_up(value: Any, paths: str) -> Any:
    """What stands at the first of the paths that leads somewhere; None if none does.

    With `*` it is a list, in which None stands for an item that lacks the rest of the path. The first path whose list
    has no such gap is taken before one with gaps.
    """
    with_gaps: Any = None
    for path, parts in _alternatives(paths):
        if path.startswith("="):
            return path[1:]
        found = _at(value, parts)
        if isinstance(found, list) and None in found and EACH in path:
            with_gaps = found if with_gaps is None else with_gaps
        elif found is not None:
            return found
    return with_gaps


@lru_cache(maxsize=1024)  # a mapping has some dozens, and each is looked up in every span
def _alternatives(paths: str) -> list[tuple[str, tuple[str, ...]]]:
    listed = [path.strip() for path in paths.split(_OR)]
    return [(path, tuple(path.split(".")) if path not in ("", ".") else ()) for path in listed]


@lru_cache(maxsize=4096)
def _keys(parts: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Every key that a path may begin with, the longest first, and the path behind it."""
    return [(".".join(parts[:length]), parts[length:]) for length in range(len(parts), 0, -1)]


def _at(value: Any, parts: tuple[str, ...]) -> Any:
    if not parts:
        return value
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, dict):
        for key, rest in _keys(parts):
            if key in value and (found := _at(value[key], rest)) is not None:
                return found
        return None
    if not isinstance(value, list):
        return None
    if parts[0] == EACH:
        return [_at(item, parts[1:]) for item in value]
    try:
        return _at(value[int(parts[0])], parts[1:])
    except (ValueError, IndexError):
        return None


def parsed(text: str) -> Any:
    """The object or list that a text is, as JSON; None if it is other text."""
    plain = text.strip()
    if plain[:1] not in ("{", "["):
        return None
    try:
        value = orjson.loads(plain)
        if plain.count("[") + plain.count("{") > _DEEP:
            orjson.dumps([[[[value]]]])  # it reads deeper than it writes, and what is found is to be written
    except (orjson.JSONDecodeError, TypeError):
        return None
    return value
