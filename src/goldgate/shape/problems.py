"""Where a decoded JSON value is not of the shape of a type, every place of it, with words for people."""

from __future__ import annotations

import types
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import chain, islice
from typing import Any

from goldgate.core.problem import Problem, below
from goldgate.errors import describe
from goldgate.shape import kinds
from goldgate.shape.fits import Fits, fits
from goldgate.shape.kinds import take_apart

_WORDS: dict[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    float: "a number",
    types.NoneType: "null",
    Decimal: "a number",
    kinds.Share: "a decimal from 0 to 1",
    kinds.Positive: "a number above 0",
}


def problems(kind: Any, value: object, pointer: str = "", most: int | None = None) -> Iterator[Problem]:
    """Every place where the value is not of this kind; of each list at most so many, where `most` is set."""
    if fits(kind)(value):
        return
    match take_apart(kind):
        case kinds.Record(_, fields, _) if isinstance(value, dict):
            for name, (hint, required) in fields.items():
                inner = below(pointer, name)
                if name in value:
                    yield from problems(hint, value[name], inner, most)
                elif required:
                    yield Problem(inner, expected(hint), "nothing: the field is missing")
        case kinds.ListOf(item) if isinstance(value, list):
            each = (problems(item, inside, below(pointer, number), most) for number, inside in enumerate(value))
            yield from islice(chain.from_iterable(each), most)
        case kinds.Row(items) if isinstance(value, list) and len(value) == len(items):
            for number, inside in enumerate(value):
                yield from problems(items[number], inside, below(pointer, number))
        case kinds.MappingOf(key, hint) if isinstance(value, dict):
            for name, inside in value.items():
                if not fits(key)(name):
                    yield Problem(below(pointer, name), f"{expected(key)} as the key", describe(name))
                yield from problems(hint, inside, below(pointer, name))
        case kinds.Ruled(base, _) if _inside(base, value) and not fits(base)(value):
            yield from problems(base, value, pointer, most)
        case kinds.Either(options) if any(_inside(option, value) for option in options):
            # The one that was meant: it knows the most of the value's keys, and has the least against it.
            meant = [option for option in options if _inside(option, value)]
            found = {option: [*problems(option, value, pointer)] for option in meant}
            yield from found[min(meant, key=lambda option: (-_known_keys(option, value), len(found[option])))]
        case _:
            yield Problem(pointer, expected(kind), describe(value))


def wrong_fields(kind: Any, value: dict[str, Any]) -> list[str]:
    """The fields of an object that are missing or not of their kind, without words about them: fast."""
    return [
        name
        for name, test, required in _field_tests(kind)
        if (required if name not in value else not test(value[name]))
    ]


@cache
def _field_tests(kind: Any) -> list[tuple[str, Fits, bool]]:
    parts = take_apart(kind)
    assert isinstance(parts, kinds.Record)
    return [(name, fits(hint), required) for name, (hint, required) in parts.fields.items()]


def expected(kind: Any) -> str:
    """A kind in words."""
    match take_apart(kind):
        case kinds.Plain(plain):
            return _WORDS[plain]
        case kinds.Anything():
            return "anything"
        case kinds.Ruled(_, rules):
            return rules[0].expected
        case kinds.Choice(values):
            return "one of " + ", ".join(values)
        case kinds.ListOf():
            return "a list"
        case kinds.Row(items):
            return f"a list of {len(items)}"
        case kinds.Either(options):
            return " or ".join(dict.fromkeys(expected(option) for option in options))
        case _:
            return "an object"


def _inside(kind: Any, value: object) -> bool:
    """Whether the value is the container that the kind asks for, so that what is wrong is inside it."""
    match take_apart(kind):
        case kinds.Ruled(base, _):
            return _inside(base, value)
        case kinds.ListOf() | kinds.Row():
            return isinstance(value, list)
        case kinds.Record() | kinds.MappingOf():
            return isinstance(value, dict)
    return False


def _known_keys(kind: Any, value: object) -> int:
    parts = take_apart(kind)
    known = parts.fields if isinstance(parts, kinds.Record) else ()
    return sum(name in value for name in known) if isinstance(value, dict) else 0
