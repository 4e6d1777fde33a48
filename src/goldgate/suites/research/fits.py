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
from goldgate.suites.research.contracts import AtLeast, Matching, NotEmpty

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
    """A function that says whether a value is of this kind.

    It is compiled from one expression, as dataclasses do with their methods: a third of the time of nested calls,
    in a place where a run has a hundred records.
    """
    names: dict[str, Any] = {"MISSING": _MISSING}
    expression = _Expressions(names).of(kind, "value")
    function: Fits = eval(f"lambda value: {expression}", names)  # made of our own type names and nothing else
    return function


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
    if origin is typing.Annotated and not fits(arguments[0])(value):
        base = arguments[0]
        if typing.get_origin(base) is list and isinstance(value, list):
            yield from problems(base, value, pointer)
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


class _Expressions:
    """Python expressions that test a variable; `names` takes what they refer to."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self.variables = 0

    def of(self, kind: Any, variable: str) -> str:
        plain = _plain_types(kind)
        if plain is not None:
            return f"type({variable}) in {self._name(plain)}"
        if is_typeddict(kind):
            tests = [f"type({variable}) is dict", *self._fields(kind, variable)]
            return "(" + " and ".join(tests) + ")"
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return f"({self.of(arguments[0], variable)} and {self._rule(arguments[1], variable)})"
        if origin is typing.Literal:
            return f"(type({variable}) is str and {variable} in {self._name(frozenset(arguments))})"
        if origin is list:
            return f"(type({variable}) is list and {self._items(arguments[0], variable)})"
        if origin is dict:
            return f"type({variable}) is dict"
        if origin in (types.UnionType, typing.Union):
            return "(" + " or ".join(self.of(option, variable) for option in arguments) + ")"
        raise TypeError(f"no rule to check {kind}")

    def _fields(self, kind: Any, variable: str) -> Iterator[str]:
        for name, hint in _hints(kind).items():
            optional = name not in kind.__required_keys__
            plain = _plain_types(hint)
            if plain is not None:
                allowed = self._name(plain | {object} if optional else plain)
                yield f"type({variable}.get({name!r}, MISSING)) in {allowed}"
                continue
            self.variables += 1
            inner = f"v{self.variables}"
            test = self.of(hint, inner)
            got = f"({inner} := {variable}.get({name!r}, MISSING))"
            yield f"({got} is MISSING or {test})" if optional else f"({got} is not MISSING and {test})"

    def _items(self, kind: Any, variable: str) -> str:
        plain = _plain_types(kind)
        if plain is not None:
            return f"{self._name(plain)}.issuperset(map(type, {variable}))"
        return f"all(map({self._name(fits(kind))}, {variable}))"

    def _rule(self, rule: object, variable: str) -> str:
        if isinstance(rule, AtLeast):
            return f"{variable} >= {rule.least}"
        if isinstance(rule, NotEmpty):
            return f"{variable} != []"
        assert isinstance(rule, Matching)
        return f"{self._name(re.compile(rule.pattern).search)}({variable}) is not None"

    def _name(self, value: object) -> str:
        name = f"n{len(self.names)}"
        self.names[name] = value
        return name


def _rule_words(rule: object) -> str | None:
    if isinstance(rule, (Matching, NotEmpty)):
        return rule.expected
    return f"an integer from {rule.least}" if isinstance(rule, AtLeast) else None


def _same_container(kind: Any, value: object) -> bool:
    if isinstance(value, dict):
        return is_typeddict(kind)
    base = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    return isinstance(value, list) and typing.get_origin(base) is list
