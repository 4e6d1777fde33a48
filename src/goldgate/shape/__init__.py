"""One type language for all files: a type says what a stored value may be.

The language: str, int, float (any number), bool, None, object (anything), Decimal, Share and Positive; Literal of
texts; list[X], tuple[X, ...] and dict[str, X]; tuple[X, Y] for a list of that length; unions; Annotated with the
rules below; and TypedDicts and dataclasses. An object may have keys that its TypedDict does not name: the
program that wrote the file may record more. A dataclass is settings, and there an unknown key is a mistake.

`kind_of` takes a type apart, `schema_of` writes it as a JSON Schema for other programs. `goldgate.shape.validation`
tests a decoded value, lists its problems, and builds dataclasses from settings.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Matching:
    """A rule for a string: a pattern that must be found in it, and what to call a string that has it."""

    pattern: str  # understood alike by Python and by JSON Schema
    expected: str


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A rule for a number."""

    least: int

    @property
    def expected(self) -> str:
        return f"an integer from {self.least}"


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """A rule for a list or an object."""

    expected: str


@dataclass(frozen=True, slots=True)
class Distinct:
    """A rule for a list of texts: every one once."""

    expected: str


Rule = Matching | AtLeast | NotEmpty | Distinct


class Share(Decimal):
    """A decimal from 0 to 1, as it was written."""


class Positive(Decimal):
    """A decimal above 0, as it was written."""


class Plain(NamedTuple):
    """A value that a look at its Python type tells; `object` is every value."""

    python: type


class OneOf(NamedTuple):
    """One of some texts."""

    values: tuple[str, ...]


class ListOf(NamedTuple):
    """A list, all items of one kind."""

    item: Any


class TupleOf(NamedTuple):
    """A list of just these, in this order."""

    items: tuple[Any, ...]


class MappingOf(NamedTuple):
    """An object with keys of its own choice and values of one kind; `key` is text, or text under a rule."""

    key: Any
    value: Any


class Either(NamedTuple):
    """A value of one of these kinds."""

    options: tuple[Any, ...]


class WithRules(NamedTuple):
    """A value of a kind that also keeps to rules."""

    base: Any
    rules: tuple[Rule, ...]


class Field(NamedTuple):
    """A key of an object: the kind of its value, and whether it must be there."""

    kind: Any
    required: bool


class ObjectOf(NamedTuple):
    """An object with known keys; `closed` if it may have no others."""

    python: Any
    fields: Mapping[str, Field]
    closed: bool


Kind = Plain | OneOf | ListOf | TupleOf | MappingOf | Either | WithRules | ObjectOf

_PLAIN = (str, int, float, bool, types.NoneType, object, Decimal, Share, Positive)


def kind_of(kind: Any) -> Kind:
    """What a type is made of. TypeError for one that the language does not have.

    It is not cached: `str | int` and `int | str` are equal, and messages name the options in the order they have.
    """
    if kind is None or kind in _PLAIN:
        return Plain(kind or types.NoneType)
    if typing.is_typeddict(kind) or dataclasses.is_dataclass(kind):
        return ObjectOf(kind, _fields(kind), not typing.is_typeddict(kind))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return WithRules(arguments[0], arguments[1:])
    if origin is typing.Literal:
        return OneOf(arguments)
    if origin is tuple and arguments[1:] != (...,):
        return TupleOf(arguments)
    if origin in (list, tuple):
        return ListOf(arguments[0])
    if origin in (dict, Mapping):
        return MappingOf(*arguments)
    if origin in (types.UnionType, typing.Union):
        return Either(arguments)
    raise TypeError(f"no rule for {kind}")


@lru_cache(512)  # some types are made anew for every protocol
def _fields(kind: Any) -> Mapping[str, Field]:
    hints = typing.get_type_hints(kind, include_extras=True)
    required = kind.__required_keys__ if typing.is_typeddict(kind) else _without_default(kind)
    return {name: Field(_unwrapped(hint), name in required) for name, hint in hints.items()}


def _unwrapped(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.NotRequired, typing.Required) else hint


def _without_default(kind: Any) -> frozenset[str]:
    missing = dataclasses.MISSING
    return frozenset(f.name for f in dataclasses.fields(kind) if f.default is missing and f.default_factory is missing)


DIALECT = "https://json-schema.org/draft/2020-12/schema"

_PLAIN_SCHEMAS: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    object: {},
    Decimal: {"type": "number"},
    Share: {"type": "number", "minimum": 0, "maximum": 1},
    Positive: {"type": "number", "exclusiveMinimum": 0},
}


def schema_of(kind: Any, title: str) -> dict[str, Any]:
    """The schema of a type, with the types inside it under `$defs`."""
    definitions: dict[str, Any] = {}
    body = _Generator(definitions).schema(kind)
    return {
        "$schema": DIALECT,
        "title": title,
        **body,
        **({"$defs": {name: definitions[name] for name in sorted(definitions)}} if definitions else {}),
    }


class _Generator:
    """Settings are read from YAML that people write: there a number without quotation marks is a text, and a section
    whose lines are all commented out is null."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions

    def schema(self, kind: Any, settings: bool = False) -> dict[str, Any]:
        match kind_of(kind):
            case Plain(plain):
                return {"type": ["string", "number"]} if settings and plain is str else dict(_PLAIN_SCHEMAS[plain])
            case ObjectOf() as record:
                return self._reference(record, settings or record.closed)
            case WithRules(base, rules):
                schema = self.schema(base, settings)
                for rule in rules:
                    schema |= _rule(rule, base)
                return schema
            case OneOf(values):
                return {"enum": [*values, *(_numbers(values) if settings else ())]}
            case ListOf(item):
                return {"type": "array", "items": self.schema(item, settings)}
            case TupleOf(items):
                each = [self.schema(item, settings) for item in items]
                return {"type": "array", "prefixItems": each, "minItems": len(each), "items": False}
            case MappingOf(key, value):
                names = {} if key is str else {"propertyNames": self.schema(key)}
                kind_of_object = ["object", "null"] if settings else "object"
                return {"type": kind_of_object, **names, "additionalProperties": self.schema(value, settings)}
            case Either(options):
                return self._union([self.schema(option, settings) for option in options])

    def _union(self, schemas: list[dict[str, Any]]) -> dict[str, Any]:
        """One of some schemas. What has nothing but types is one of these types."""
        if all(schema.keys() == {"type"} for schema in schemas):
            types_of = [schema["type"] if isinstance(schema["type"], list) else [schema["type"]] for schema in schemas]
            return {"type": list(dict.fromkeys(name for names in types_of for name in names))}
        return {"anyOf": schemas}

    def _reference(self, record: ObjectOf, settings: bool) -> dict[str, Any]:
        name = record.python.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # for types that hold themselves
            self.definitions[name] = self._object(record, settings)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, record: ObjectOf, settings: bool) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": ["object", "null"] if record.closed else "object"}
        if record.python.__doc__:
            schema["description"] = " ".join(record.python.__doc__.split())
        schema["properties"] = {name: self.schema(field.kind, settings) for name, field in record.fields.items()}
        required = [name for name, field in record.fields.items() if field.required]
        if required or not record.closed:
            schema["required"] = required
        if record.closed:
            schema["additionalProperties"] = False  # a protocol with an unknown key is refused
        return schema


def _numbers(values: tuple[str, ...]) -> list[float]:
    """The texts that YAML reads as numbers without quotation marks, such as 2.0, as numbers."""
    return [float(value) for value in values if value.replace(".", "", 1).isdecimal()]


def _rule(rule: Rule, base: Any) -> dict[str, Any]:
    match rule:
        case Matching(pattern):
            return {"pattern": pattern}
        case AtLeast(least):
            return {"minimum": least}
        case Distinct():
            return {"uniqueItems": True}
        case NotEmpty():
            return {"minProperties" if isinstance(kind_of(base), MappingOf) else "minItems": 1}
