"""Whether a decoded JSON value has the shape of a type, and if not, where it differs.

`fits` answers fast, for the millions of records that are right; `problems` explains the others.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, is_typeddict

from goldgate.errors import describe
from goldgate.research.contracts import AtLeast, Matching

Fits = Callable[[object], bool]

_MISSING = object()
_PLAIN = {str: "a string", int: "an integer", bool: "true or false", float: "a number", types.NoneType: "null"}


class Problem(NamedTuple):
    """A place in a value where it is not what it should be."""

    pointer: str  # RFC 6901
    expected: str
    found: str

    @property
    def message(self) -> str:
        return f"expected {self.expected}, found {self.found}"


@cache
def fits(kind: Any) -> Fits:
    """A function that says whether a value is of this kind."""
    plain = _plain_types(kind)
    if plain is not None:
        return lambda value: type(value) in plain
    if is_typeddict(kind):
        return _object_fits(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _ruled_fits(fits(arguments[0]), arguments[1:])
    if origin is typing.Literal:
        return lambda value: type(value) is str and value in arguments
    if origin is list:
        item_types = _plain_types(arguments[0])
        if item_types is not None:
            return lambda value: type(value) is list and item_types.issuperset(map(type, value))
        item = fits(arguments[0])
        return lambda value: type(value) is list and all(map(item, value))
    if origin is dict:
        return lambda value: type(value) is dict
    if origin in (types.UnionType, typing.Union):
        options = [fits(option) for option in arguments]
        return lambda value: any(option(value) for option in options)
    raise TypeError(f"no rule to check {kind}")


def problems(kind: Any, value: object, pointer: str = "") -> Iterator[Problem]:
    """Every place where the value is not of this kind."""
    if fits(kind)(value):
        return
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if is_typeddict(kind) and isinstance(value, dict):
        for name, hint in _hints(kind).items():
            inner = f"{pointer}/{escape(name)}"
            if name in value:
                yield from problems(hint, value[name], inner)
            elif name in kind.__required_keys__:
                yield Problem(inner, expected(hint), "nothing: the field is missing")
        return
    if origin is list and isinstance(value, list):
        for number, item in enumerate(value):
            yield from problems(arguments[0], item, f"{pointer}/{number}")
        return
    if origin in (types.UnionType, typing.Union):
        alike = [option for option in arguments if _same_container(option, value)]
        if len(alike) == 1:
            yield from problems(alike[0], value, pointer)
            return
    yield Problem(pointer, expected(kind), describe(value))


def expected(kind: Any) -> str:
    """A kind in words."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is typing.Annotated:
        rules = [_rule_words(rule) for rule in arguments[1:]]
        return next((words for words in rules if words), expected(arguments[0]))
    if origin is typing.Literal:
        return "one of " + ", ".join(arguments)
    if origin is list:
        return "a list"
    if origin in (types.UnionType, typing.Union):
        return " or ".join(expected(option) for option in arguments)
    return "an object"


def escape(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _plain_types(kind: Any) -> frozenset[type] | None:
    """The Python types of a kind that needs no more than a look at the type; None if it does."""
    if kind in _PLAIN:
        return frozenset({kind})
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        options = [_plain_types(option) for option in typing.get_args(kind)]
        if None not in options:
            return frozenset().union(*(option for option in options if option is not None))
    return None


def _hints(kind: Any) -> dict[str, Any]:
    """The fields of a TypedDict without NotRequired, but with the rules."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: _unwrapped(hint) for name, hint in hints.items()}


def _unwrapped(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.NotRequired, typing.Required) else hint


def _object_fits(kind: Any) -> Fits:
    plain: list[tuple[str, frozenset[type]]] = []
    nested: list[tuple[str, Fits, bool]] = []
    for name, hint in _hints(kind).items():
        optional = name not in kind.__required_keys__
        found = _plain_types(hint)
        if found is None:
            nested.append((name, fits(hint), optional))
        else:
            plain.append((name, found | {object} if optional else found))

    def check(value: object) -> bool:
        if type(value) is not dict:
            return False
        get = value.get
        for name, allowed in plain:
            if type(get(name, _MISSING)) not in allowed:
                return False
        for name, inner, optional in nested:
            item = get(name, _MISSING)
            if item is _MISSING:
                if not optional:
                    return False
            elif not inner(item):
                return False
        return True

    return check


def _ruled_fits(base: Fits, rules: tuple[Any, ...]) -> Fits:
    (rule,) = rules  # one rule a kind is all there is
    if isinstance(rule, AtLeast):
        least = rule.least
        return lambda value: base(value) and value >= least  # type: ignore[operator]
    match = re.compile(rule.pattern).fullmatch
    return lambda value: base(value) and match(value) is not None


def _rule_words(rule: object) -> str | None:
    if isinstance(rule, Matching):
        return rule.expected
    return f"an integer from {rule.least}" if isinstance(rule, AtLeast) else None


def _same_container(kind: Any, value: object) -> bool:
    if isinstance(value, dict):
        return is_typeddict(kind)
    return isinstance(value, list) and typing.get_origin(kind) is list
