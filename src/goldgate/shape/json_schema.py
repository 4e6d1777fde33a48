"""Types as JSON Schemas, for other programs that read or write our files."""

from __future__ import annotations

import types
from decimal import Decimal
from typing import Any

from goldgate.shape import kinds
from goldgate.shape.kinds import kind_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_PLAIN: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    Decimal: {"type": "number"},
    kinds.Share: {"type": "number", "minimum": 0, "maximum": 1},
    kinds.Positive: {"type": "number", "exclusiveMinimum": 0},
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
            case kinds.Plain(plain):
                return {"type": ["string", "number"]} if settings and plain is str else dict(_PLAIN[plain])
            case kinds.Anything():
                return {}
            case kinds.ObjectOf() as record:
                return self._reference(record, settings or record.closed)
            case kinds.WithRules(base, rules):
                schema = self.schema(base, settings)
                for rule in rules:
                    schema |= _rule(rule, base)
                return schema
            case kinds.OneOf(values):
                return {"enum": [*values, *(_numbers(values) if settings else ())]}
            case kinds.ListOf(item):
                return {"type": "array", "items": self.schema(item, settings)}
            case kinds.TupleOf(items):
                each = [self.schema(item, settings) for item in items]
                return {"type": "array", "prefixItems": each, "minItems": len(each), "items": False}
            case kinds.MappingOf(key, value):
                names = {} if key is str else {"propertyNames": self.schema(key)}
                kind_of_object = ["object", "null"] if settings else "object"
                return {"type": kind_of_object, **names, "additionalProperties": self.schema(value, settings)}
            case kinds.Either(options):
                return self._union([self.schema(option, settings) for option in options])

    def _union(self, schemas: list[dict[str, Any]]) -> dict[str, Any]:
        """One of some schemas. What has nothing but types is one of these types."""
        if all(schema.keys() == {"type"} for schema in schemas):
            types_of = [schema["type"] if isinstance(schema["type"], list) else [schema["type"]] for schema in schemas]
            return {"type": list(dict.fromkeys(name for names in types_of for name in names))}
        return {"anyOf": schemas}

    def _reference(self, record: kinds.ObjectOf, settings: bool) -> dict[str, Any]:
        name = record.python.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # for types that hold themselves
            self.definitions[name] = self._object(record, settings)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, record: kinds.ObjectOf, settings: bool) -> dict[str, Any]:
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
    """Those of some texts that are numbers: version: 2.0, without quotation marks."""
    return [float(value) for value in values if value.replace(".", "", 1).isdecimal()]


def _rule(rule: kinds.Rule, base: Any) -> dict[str, Any]:
    match rule:
        case kinds.Matching(pattern):
            return {"pattern": pattern}
        case kinds.AtLeast(least):
            return {"minimum": least}
        case kinds.Distinct():
            return {"uniqueItems": True}
        case kinds.NotEmpty():
            return {"minProperties" if isinstance(kind_of(base), kinds.MappingOf) else "minItems": 1}
