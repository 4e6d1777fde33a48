"""Whether a decoded JSON value has the shape of a type, fast, for the millions of records that do."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from functools import cache
from typing import Any

from goldgate.shape import kinds
from goldgate.shape.kinds import take_apart

Fits = Callable[[object], bool]

_MISSING = object()
_DECODED: dict[type, frozenset[type]] = {  # how a decoder may give a value of the kind
    **{kind: frozenset({kind}) for kind in (str, int, bool, types.NoneType)},
    float: frozenset({int, float}),
}


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


def _python_types(kind: Any) -> frozenset[type] | None:
    """The Python types of a kind that needs no more than a look at the type; None if it does."""
    parts = take_apart(kind)
    if isinstance(parts, kinds.Plain):
        return _DECODED.get(parts.python)
    if isinstance(parts, kinds.Either):
        options = [_python_types(option) for option in parts.options]
        if None not in options:
            return frozenset().union(*(option for option in options if option is not None))
    return None


class _Expressions:
    """Python expressions that test a variable; `names` takes what they refer to."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self.variables = 0

    def of(self, kind: Any, variable: str) -> str:
        plain = _python_types(kind)
        if plain is not None:
            return f"type({variable}) in {self._name(plain)}"
        match take_apart(kind):
            case kinds.Anything():
                return "True"
            case kinds.Record(_, fields, _):
                tests = [f"type({variable}) is dict"]
                tests += [self._field(name, *field, variable) for name, field in fields.items()]
                return "(" + " and ".join(tests) + ")"
            case kinds.Ruled(base, rules):
                tests = [self.of(base, variable), *(self._rule(rule, variable) for rule in rules)]
                return "(" + " and ".join(tests) + ")"
            case kinds.Choice(values):
                return f"(type({variable}) is str and {variable} in {self._name(frozenset(values))})"
            case kinds.ListOf(item):
                return f"(type({variable}) is list and {self._all(item, variable)})"
            case kinds.Row(items):
                each = [self.of(item, f"{variable}[{number}]") for number, item in enumerate(items)]
                tests = [f"type({variable}) is list", f"len({variable}) == {len(items)}", *each]
                return "(" + " and ".join(tests) + ")"
            case kinds.MappingOf(key, value):
                tests = [f"type({variable}) is dict", self._all(value, f"{variable}.values()")]
                tests += [] if key is str else [self._all(key, variable)]
                return "(" + " and ".join(tests) + ")"
            case kinds.Either(options):
                return "(" + " or ".join(self.of(option, variable) for option in options) + ")"
        raise TypeError(f"no rule to check {kind}")

    def _field(self, name: str, kind: Any, required: bool, variable: str) -> str:
        plain = _python_types(kind)
        if plain is not None:
            allowed = self._name(plain if required else plain | {object})
            return f"type({variable}.get({name!r}, MISSING)) in {allowed}"
        self.variables += 1
        inner = f"v{self.variables}"
        test = self.of(kind, inner)
        got = f"({inner} := {variable}.get({name!r}, MISSING))"
        return f"({got} is not MISSING and {test})" if required else f"({got} is MISSING or {test})"

    def _all(self, kind: Any, items: str) -> str:
        if isinstance(take_apart(kind), kinds.Anything):
            return "True"
        plain = _python_types(kind)
        if plain is not None:
            return f"{self._name(plain)}.issuperset(map(type, {items}))"
        return f"all(map({self._name(fits(kind))}, {items}))"

    def _rule(self, rule: kinds.Rule, variable: str) -> str:
        match rule:
            case kinds.AtLeast(least):
                return f"{variable} >= {least}"
            case kinds.NotEmpty():
                return f"len({variable}) > 0"
            case kinds.Distinct():
                return f"len(set({variable})) == len({variable})"
            case kinds.Matching(pattern):
                return f"{self._name(re.compile(pattern).search)}({variable}) is not None"

    def _name(self, value: object) -> str:
        name = f"n{len(self.names)}"
        self.names[name] = value
        return name
