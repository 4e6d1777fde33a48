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

_FUNCTION = """
def fits(value):
    try:
        return {}
    except (KeyError, TypeError):
        return False
"""
_DECODED: dict[type, frozenset[type]] = {  # how a decoder may give a value of the kind
    **{kind: frozenset({kind}) for kind in (str, int, bool, types.NoneType)},
    float: frozenset({int, float}),
}


@cache
def fits(kind: Any) -> Fits:
    """A function that says whether a value is of this kind.

    It is compiled from one expression, as dataclasses do with their methods: a third of the time of nested calls,
    in a place where a run has a hundred records. A key that must be there is looked up without asking first.
    """
    names: dict[str, Any] = {}
    expression = _Expressions(names).of(kind, "value")
    exec(_FUNCTION.format(expression), names)  # made of our own type names and nothing else
    function: Fits = names["fits"]
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
            return self._typed(plain, variable)
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
                return "(" + " or ".join(self._option(option, variable) for option in options) + ")"
        raise TypeError(f"no rule to check {kind}")

    def _field(self, name: str, kind: Any, required: bool, variable: str) -> str:
        got = f"{variable}[{name!r}]"
        plain = _python_types(kind)
        if plain is not None:
            test = self._typed(plain, got)
        else:
            self.variables += 1
            inner = f"v{self.variables}"
            tested = self.of(kind, inner)
            # The first mention gives the variable its value: tests are read from the left.
            test = tested.replace(inner, f"({inner} := {got})", 1) if inner in tested else f"{name!r} in {variable}"
        return test if required else f"({name!r} not in {variable} or {test})"

    def _option(self, kind: Any, variable: str) -> str:
        """One of several kinds: a key that it lacks must not end the whole test, so an object gets one of its own."""
        parts = take_apart(kind)
        inner = take_apart(parts.base) if isinstance(parts, kinds.Ruled) else parts
        if isinstance(inner, kinds.Plain | kinds.Choice):
            return self.of(kind, variable)
        return f"{self._name(fits(kind))}({variable})"

    def _typed(self, plain: frozenset[type], value: str) -> str:
        if len(plain) == 1:
            return f"type({value}) is {self._name(next(iter(plain)))}"
        return f"type({value}) in {self._name(plain)}"

    def _all(self, kind: Any, items: str) -> str:
        if isinstance(take_apart(kind), kinds.Anything):
            return "True"
        plain = _python_types(kind)
        if plain == _DECODED[str]:
            return f"''.join({items}) is not None"  # a TypeError if one is none, in a quarter of the time
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
            case kinds.Matching(r"\S"):
                return f"{variable}.strip() != ''"  # the same, in half the time
            case kinds.Matching(pattern):
                return f"{self._name(re.compile(pattern).search)}({variable}) is not None"

    def _name(self, value: object) -> str:
        name = f"n{len(self.names)}"
        self.names[name] = value
        return name
