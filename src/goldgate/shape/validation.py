"""Values checked against types: a fast test, every problem with its place, and dataclasses built from settings."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import chain, islice
from types import NoneType
from typing import Any, TypeVar

from goldgate import shape
from goldgate.core.finding import Problem, child_pointer
from goldgate.errors import ConfigError, describe_value, did_you_mean
from goldgate.files.parsing import YamlTree, is_long
from goldgate.shape import Plain, kind_of

TypeTest = Callable[[object], bool]

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
def type_test(kind: Any) -> TypeTest:
    """A function that says whether a value is of this kind.

    It is compiled from one expression, as dataclasses do with their methods: a third of the time of nested calls,
    in a place where a run has a hundred records. A key that must be there is looked up without asking first.
    """
    names: dict[str, Any] = {}
    expression = _Expressions(names).of(kind, "value")
    exec(_FUNCTION.format(expression), names)  # made of our own type names and nothing else
    function: TypeTest = names["fits"]
    return function


def _python_types(kind: Any) -> frozenset[type] | None:
    """The Python types of a kind that needs no more than a look at the type; None if it does."""
    parts = kind_of(kind)
    if isinstance(parts, Plain):
        return _DECODED.get(parts.python)
    if isinstance(parts, shape.Either):
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
        match kind_of(kind):
            case Plain(python) if python is object:
                return "True"
            case shape.ObjectOf(_, fields, _):
                tests = [f"type({variable}) is dict"]
                tests += [self._field(name, *field, variable) for name, field in fields.items()]
                return "(" + " and ".join(tests) + ")"
            case shape.WithRules(base, rules):
                tests = [self.of(base, variable), *(self._rule(rule, variable) for rule in rules)]
                return "(" + " and ".join(tests) + ")"
            case shape.OneOf(values):
                return f"(type({variable}) is str and {variable} in {self._name(frozenset(values))})"
            case shape.ListOf(item):
                return f"(type({variable}) is list and {self._all(item, variable)})"
            case shape.TupleOf(items):
                each = [self.of(item, f"{variable}[{number}]") for number, item in enumerate(items)]
                tests = [f"type({variable}) is list", f"len({variable}) == {len(items)}", *each]
                return "(" + " and ".join(tests) + ")"
            case shape.MappingOf(key, value):
                tests = [f"type({variable}) is dict", self._all(value, f"{variable}.values()")]
                tests += [] if key is str else [self._all(key, variable)]
                return "(" + " and ".join(tests) + ")"
            case shape.Either(options):
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
        parts = kind_of(kind)
        inner = kind_of(parts.base) if isinstance(parts, shape.WithRules) else parts
        if isinstance(inner, Plain | shape.OneOf):
            return self.of(kind, variable)
        return f"{self._name(type_test(kind))}({variable})"

    def _typed(self, plain: frozenset[type], value: str) -> str:
        if len(plain) == 1:
            return f"type({value}) is {self._name(next(iter(plain)))}"
        return f"type({value}) in {self._name(plain)}"

    def _all(self, kind: Any, items: str) -> str:
        if kind is object:
            return "True"
        plain = _python_types(kind)
        if plain == _DECODED[str]:
            return f"''.join({items}) is not None"  # a TypeError if one is none, in a quarter of the time
        if plain is not None:
            return f"{self._name(plain)}.issuperset(map(type, {items}))"
        return f"all(map({self._name(type_test(kind))}, {items}))"

    def _rule(self, rule: shape.Rule, variable: str) -> str:
        match rule:
            case shape.AtLeast(least):
                return f"{variable} >= {least}"
            case shape.NotEmpty():
                return f"len({variable}) > 0"
            case shape.Distinct():
                return f"len(set({variable})) == len({variable})"
            case shape.Matching(r"\S"):
                return f"{variable}.strip() != ''"  # the same, in half the time
            case shape.Matching(pattern):
                return f"{self._name(re.compile(pattern).search)}({variable}) is not None"

    def _name(self, value: object) -> str:
        name = f"n{len(self.names)}"
        self.names[name] = value
        return name


_WORDS: dict[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    float: "a number",
    types.NoneType: "null",
    object: "anything",
    Decimal: "a number",
    shape.Share: "a decimal from 0 to 1",
    shape.Positive: "a number above 0",
}


def problems(kind: Any, value: object, pointer: str = "", most: int | None = None) -> Iterator[Problem]:
    """Every place where the value is not of this kind; at most `most` places of each list."""
    if type_test(kind)(value):
        return
    match kind_of(kind):
        case shape.ObjectOf(_, fields, _) if isinstance(value, dict):
            for name, (hint, required) in fields.items():
                inner = child_pointer(pointer, name)
                if name in value:
                    yield from problems(hint, value[name], inner, most)
                elif required:
                    yield Problem(inner, expected_text(hint), "nothing: the field is missing")
        case shape.ListOf(item) if isinstance(value, list):
            each = (problems(item, inside, child_pointer(pointer, number), most) for number, inside in enumerate(value))
            yield from islice(chain.from_iterable(each), most)
        case shape.TupleOf(items) if isinstance(value, list) and len(value) == len(items):
            for number, inside in enumerate(value):
                yield from problems(items[number], inside, child_pointer(pointer, number))
        case shape.MappingOf(key, hint) if isinstance(value, dict):
            for name, inside in value.items():
                if not type_test(key)(name):
                    yield Problem(
                        child_pointer(pointer, name), f"{expected_text(key)} as the key", describe_value(name)
                    )
                yield from problems(hint, inside, child_pointer(pointer, name))
        case shape.WithRules(base, _) if _inside(base, value) and not type_test(base)(value):
            yield from problems(base, value, pointer, most)
        case shape.Either(options) if any(_inside(option, value) for option in options):
            # The likely one: it knows the most of the value's keys, and has the fewest problems.
            likely = [(option, [*problems(option, value, pointer)]) for option in options if _inside(option, value)]
            yield from min(likely, key=lambda each: (-_known_keys(each[0], value), len(each[1])))[1]
        case _:
            yield Problem(pointer, expected_text(kind), describe_value(value))


def wrong_fields(kind: Any, value: dict[str, Any]) -> list[str]:
    """The fields of an object that are missing or not of their kind, without words about them: fast."""
    return [
        name
        for name, test, required in _field_tests(kind)
        if (required if name not in value else not test(value[name]))
    ]


@cache
def _field_tests(kind: Any) -> list[tuple[str, TypeTest, bool]]:
    parts = kind_of(kind)
    assert isinstance(parts, shape.ObjectOf)
    return [(name, type_test(hint), required) for name, (hint, required) in parts.fields.items()]


def expected_text(kind: Any) -> str:
    """A kind in words."""
    match kind_of(kind):
        case Plain(plain):
            return _WORDS[plain]
        case shape.WithRules(_, rules):
            return rules[0].expected
        case shape.OneOf(values):
            return "one of " + ", ".join(values)
        case shape.ListOf():
            return "a list"
        case shape.TupleOf(items):
            return f"a list of {len(items)}"
        case shape.Either(options):
            return " or ".join(dict.fromkeys(expected_text(option) for option in options))
        case _:
            return "an object"


def _inside(kind: Any, value: object) -> bool:
    """Whether the value is the container that the kind asks for, so that what is wrong is inside it."""
    match kind_of(kind):
        case shape.WithRules(base, _):
            return _inside(base, value)
        case shape.ListOf() | shape.TupleOf():
            return isinstance(value, list)
        case shape.ObjectOf() | shape.MappingOf():
            return isinstance(value, dict)
    return False


def _known_keys(kind: Any, value: object) -> int:
    parts = kind_of(kind)
    fields = parts.fields if isinstance(parts, shape.ObjectOf) else ()
    return sum(name in value for name in fields) if isinstance(value, dict) else 0


T = TypeVar("T")

_BOUNDS = {"min", "max", "equals"}  # settings of what compares
_SIGNS = {">=": "min", "≥": "min", ">": "min", "<=": "max", "≤": "max", "<": "max", "==": "equals", "=": "equals"}
_SHOWN_IN_EXAMPLE = 40  # characters of the value that an example repeats


def build_dataclass(kind: type[T], tree: YamlTree, code: str) -> T:
    """The document as an instance of `kind`; whatever it leaves out keeps its default."""
    return typing.cast(T, _Builder(tree, code).build(kind, tree.value, ""))


class _Builder:
    def __init__(self, tree: YamlTree, code: str) -> None:
        self.tree = tree
        self.code = code

    def build(self, kind: Any, value: Any, path: str) -> Any:
        match kind_of(kind):
            case shape.ObjectOf(python, fields, closed):
                # None: a section whose lines are all commented out
                return self._record(python, fields, {} if value is None and closed else value, path)
            case shape.MappingOf(_, inner):
                is_gates = getattr(kind_of(inner), "fields", {}).keys() >= _BOUNDS
                expected = "a mapping, such as {METRIC: {min: 0.8}}" if is_gates else "a mapping"
                settings = self._mapping({} if value is None else value, path, expected)
                return {key: self.build(inner, item, _join(path, key)) for key, item in settings.items()}
            case shape.ListOf(inner):
                if not isinstance(value, list):
                    self._refuse(path, "a list", value)
                return tuple(self.build(inner, item, _join(path, str(number))) for number, item in enumerate(value))
            case shape.Either(options):
                return self._union(options, value, path)
            case shape.OneOf(allowed):
                text = str(value) if isinstance(value, Decimal) else value  # version: 2.0, without quotation marks
                return text if text in allowed else self._refuse(path, " or ".join(allowed), value, allowed)
            case Plain(python):
                return self._scalar(python, value, path)
            case shape.WithRules(_, (shape.AtLeast(least) as rule,)):
                is_whole = isinstance(value, Decimal) and not is_long(value) and value == int(value)
                return int(value) if is_whole and value >= least else self._refuse(path, rule.expected, value)
        raise TypeError(f"no rule to read {kind}")  # a setting of a kind that has no rule here

    def _union(self, options: tuple[Any, ...], value: Any, path: str) -> Any:
        """`X | None`, or a plain value that may also be a mapping."""
        if value is None and NoneType in options:
            return None
        kinds = [option for option in options if option is not NoneType]
        fitting = [kind for kind in kinds if isinstance(kind_of(kind), shape.ObjectOf) == isinstance(value, dict)]
        return self.build((fitting or kinds)[0], value, path)

    def _record(self, python: Any, fields: Mapping[str, shape.Field], value: Any, path: str) -> Any:
        settings = self._mapping(value, path, f"a mapping{self._example(fields, value)}")
        for key in settings:
            if key not in fields:
                inner = _join(path, key)
                raise ConfigError(
                    f"{self.code}.unknown_key",
                    f"there is no setting {inner}",
                    place=self.tree.place(inner),
                    expected="one of " + ", ".join(fields),
                    found=key,
                    advice=_home(fields, key, settings[key]) or did_you_mean(_SIGNS.get(key, key), fields),
                )
        for key, field in fields.items():
            if field.required and key not in settings:
                raise ConfigError(
                    f"{self.code}.wrong_value",
                    f"{path or 'it'} needs the setting {key}",
                    place=self.tree.place(path),
                    expected=key,
                    found="nothing",
                )
        return python(**{key: self.build(fields[key].kind, item, _join(path, key)) for key, item in settings.items()})

    def _example(self, fields: Mapping[str, shape.Field], value: Any) -> str:
        """For a plain value where a mapping must stand: the first setting of it that would take the value."""
        if isinstance(value, str) and fields.keys() >= _BOUNDS:
            sign, number = _comparison(value)
            example = "0.8" if number is None or is_long(number) else f"{number:f}"
            return f", such as {{{_SIGNS.get(sign, 'min')}: {example}}}"
        if isinstance(value, str | bool | Decimal) and len(str(value)) <= _SHOWN_IN_EXAMPLE:
            for key, field in fields.items():
                try:
                    self.build(field.kind, value, "")
                except ConfigError:
                    continue
                return f", such as {{{key}: {str(value).lower() if isinstance(value, bool) else value}}}"
        return ""

    def _mapping(self, value: Any, path: str, expected: str) -> dict[str, Any]:
        return value if isinstance(value, dict) else self._refuse(path, expected, value)

    def _scalar(self, python: type, value: Any, path: str) -> Any:
        if python is str:
            if isinstance(value, Decimal):
                return str(value)  # version: 2.0, without the quotation marks
            return value if isinstance(value, str) and value.strip() else self._refuse(path, "a text", value)
        number = isinstance(value, Decimal) and not is_long(value)
        if python is shape.Share and number and 0 <= value <= 1:
            return shape.Share(value)
        if python is shape.Positive and number and value > 0:
            return shape.Positive(value)
        if (python is Decimal and number) or (python is bool and isinstance(value, bool)):
            return value
        nearly = isinstance(value, str) or (isinstance(value, Decimal) and is_long(value))
        advice = _as_number(str(value)) if python is not bool and nearly else None
        return self._refuse(path, expected_text(python), value, advice=advice)

    def _refuse(
        self, path: str, expected: str, value: Any, words: tuple[str, ...] = (), advice: str | None = None
    ) -> typing.NoReturn:
        raise ConfigError(
            f"{self.code}.wrong_value",
            "this value is not allowed",
            place=self.tree.place(path),
            expected=expected,
            found=describe_value(value),
            advice=advice or (did_you_mean(value, words) if isinstance(value, str) else None),
        )


def _as_number(text: str) -> str | None:
    """Advice for a string that is nearly a number: in quotation marks, with an exponent, a percent sign or `>=`."""
    _, number = _comparison(text)
    if number is None:
        return None
    if is_long(number):
        return "write a number of fewer digits"
    plain = f"{number:f}"
    return f"write it {'without quotation marks' if plain == text else 'in digits'}: {plain}"


def _comparison(text: str) -> tuple[str, Decimal | None]:
    """The sign before a number, if any, and the number, of which a percent sign is part; None where it is not one."""
    rest = text.strip()
    sign = next((sign for sign in _SIGNS if rest.startswith(sign)), "")
    rest = rest.removeprefix(sign).strip()
    try:
        number = Decimal(rest.removesuffix("%"))
    except InvalidOperation:
        return sign, None
    if not number.is_finite():
        return sign, None
    return sign, number if is_long(number) or not rest.endswith("%") else number / 100


def _home(fields: Mapping[str, shape.Field], key: str, value: Any) -> str | None:
    """Advice for a setting that stands a level too high: the section that it belongs to."""
    for name, field in fields.items():
        match kind_of(field.kind):
            case shape.ObjectOf(_, inner, _) if key in inner:
                return f"it belongs under {name}: {name}: {{{key}: …}}"
            case shape.MappingOf(_, inner) if isinstance(value, dict) and value and _fits(kind_of(inner), value):
                return f"it belongs under {name}: {name}: {{{key}: …}}"
    return None


def _fits(kind: Any, value: Mapping[str, Any]) -> bool:
    return isinstance(kind, shape.ObjectOf) and value.keys() <= kind.fields.keys()


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
