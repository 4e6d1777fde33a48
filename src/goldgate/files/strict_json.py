"""JSON read strictly: whatever two programs could read differently is a flaw, with its place.

Flaws are a key that stands twice in one object, NaN and Infinity, a number that no float holds, half of a surrogate
pair, and nesting that has no end.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from goldgate.core.problem import Problem, below
from goldgate.errors import ConfigError, Place
from goldgate.files.storable import is_storable, storable

DEEPEST = 100  # levels; our own files have fewer than ten
_SHALLOW = f"at most {DEEPEST} levels"


class Flaw(NamedTuple):
    """What is wrong, in a word, where, and in words for people."""

    code: Literal["duplicate_key", "not_json", "bad_text"]
    problem: Problem
    message: str


class Decoded(NamedTuple):
    """The value, of duplicate keys the last, and every flaw of the text. Text that is not JSON has no value."""

    value: Any
    flaws: list[Flaw]
    broken: json.JSONDecodeError | None = None  # where the text stops being JSON


def decode_strictly(text: str) -> Decoded:
    """The value of a JSON text, with all that is wrong with it."""
    try:
        value = json.loads(text, object_pairs_hook=_marked, parse_constant=_Constant)
    except json.JSONDecodeError as problem:
        where = f"{problem.msg} at line {problem.lineno} column {problem.colno}"
        return Decoded(None, [_not_json(where if text.strip() else "an empty file")], problem)
    except RecursionError:
        return Decoded(None, [_too_deep("")])
    except ValueError as problem:  # an integer of thousands of digits
        return Decoded(None, [_not_json(str(problem))])
    return Decoded(value, list(_flaws(value, "", 0)))


def parse_json(text: str, file: str, code: str, first_line: int = 1) -> Any:
    """The value of a JSON text; its first flaw is a ConfigError. The text begins in line `first_line` of the file."""
    value, flaws, broken = decode_strictly(text)
    if not flaws:
        return value
    first = flaws[0]
    error = ConfigError(f"{code}.{first.code}", first.message, place=Place(file, None, _dotted(first.problem.pointer)))
    error.found = first.problem.found
    if broken is not None:
        error.place = Place(file, broken.lineno + first_line - 1)
        error.found = f"{broken.msg} at column {broken.colno}" if text.strip() else error.found
    raise error


def repeated_key(data: bytes | str) -> str | None:
    """A key that stands twice in one object, the innermost; None if there is none. RecursionError if it is too deep."""
    found: list[str] = []
    # Numbers as text: one of five thousand digits must not end the search.
    json.loads(data, object_pairs_hook=lambda pairs: found.extend(_twice(pairs)), parse_int=str, parse_float=str)
    return found[0] if found else None


def _dotted(pointer: str) -> str | None:
    """A pointer as the fields of a file are named in errors."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    return storable(".".join(keys)) or None


class _TwiceKeyed(dict[str, Any]):
    """An object in which keys stood twice."""

    twice: list[str]


class _Constant(str):
    """NaN, Infinity or -Infinity."""


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    marked = _TwiceKeyed(value)
    marked.twice = sorted(_twice(pairs))
    return marked


def _twice(pairs: list[tuple[str, Any]]) -> list[str]:
    times = Counter(key for key, _ in pairs)
    return [key for key, count in times.items() if count > 1]


def _flaws(value: Any, pointer: str, depth: int) -> Iterator[Flaw]:
    if depth > DEEPEST:
        yield _too_deep(pointer)
    elif isinstance(value, dict):
        for key in getattr(value, "twice", ()):
            problem = Problem(below(pointer, key), "every key once", f'the key "{key}" twice')
            yield Flaw("duplicate_key", problem, f'duplicate key "{storable(key)}"')
        for key, item in value.items():
            if not is_storable(key):
                yield _half_pair(below(pointer, key))
            yield from _flaws(item, below(pointer, key), depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _flaws(item, below(pointer, number), depth + 1)
    elif isinstance(value, _Constant) or (isinstance(value, float) and math.isinf(value)):
        yield Flaw("not_json", Problem(pointer, "a number that JSON has", str(value)), f"{value} is not JSON")
    elif isinstance(value, str) and not is_storable(value):
        yield _half_pair(pointer)


def _half_pair(pointer: str) -> Flaw:
    found = "half of a surrogate pair"
    return Flaw("bad_text", Problem(pointer, "text", found), f"{found} is not text")


def _not_json(found: str) -> Flaw:
    return Flaw("not_json", Problem("", "JSON", found), "this is not JSON")


def _too_deep(pointer: str) -> Flaw:
    problem = Problem(pointer, _SHALLOW, "JSON that is nested too deeply")
    return Flaw("not_json", problem, "the JSON is nested too deeply")
