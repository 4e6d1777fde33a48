"""JSON Schemas of the artifacts, generated from the types that read them."""

from __future__ import annotations

import dataclasses
import types
import typing
from decimal import Decimal
from typing import Any, is_typeddict

from goldgate.protocol.model import Protocol
from goldgate.protocol.shape import Positive, Share
from goldgate.suites.research.contracts import (
    AtLeast,
    Chunk,
    Event,
    GoldenQueries,
    Manifest,
    Matching,
    NotEmpty,
    ResearchOutput,
)
from goldgate.suites.research.report_contract import Report

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# File name → title and type. A new artifact is a line here.
CONTRACTS: dict[str, tuple[str, Any]] = {
    "golden_queries.schema.json": ("Golden queries", GoldenQueries),
    "research_output.schema.json": ("ResearchOutput", ResearchOutput),
    "event.schema.json": ("Event, a line of events.jsonl", Event),
    "manifest.schema.json": ("Context manifest", Manifest),
    "chunk.schema.json": ("Chunk, a line of chunks.jsonl", Chunk),
    "report.schema.json": ("Report of the research suite", Report),
    "protocol.schema.json": ("Protocol", Protocol),
}

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    None: {"type": "null"},
    object: {},
    Decimal: {"type": "number"},
    Share: {"type": "number", "minimum": 0, "maximum": 1},
    Positive: {"type": "number", "exclusiveMinimum": 0},
}


def all_schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    return {file: schema_of(kind, title) for file, (title, kind) in CONTRACTS.items()}


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
    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions

    def schema(self, kind: Any) -> dict[str, Any]:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if is_typeddict(kind) or dataclasses.is_dataclass(kind):
            return self._named(kind)
        if origin in (typing.NotRequired, typing.Required):
            return self.schema(arguments[0])
        if origin is typing.Annotated:
            return {**self.schema(arguments[0]), **_rule(arguments[1])}
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in (list, tuple):
            return {"type": "array", "items": self.schema(arguments[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.schema(arguments[1])}
        if origin in (types.UnionType, typing.Union):
            return self._union(arguments)
        raise TypeError(f"no schema for {kind}")

    def _union(self, options: tuple[Any, ...]) -> dict[str, Any]:
        schemas = [self.schema(option) for option in options]
        if all(schema.keys() == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}

    def _named(self, kind: Any) -> dict[str, Any]:
        name = kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # for types that hold themselves
            self.definitions[name] = self._object(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, kind: Any) -> dict[str, Any]:
        hints = typing.get_type_hints(kind, include_extras=True)
        schema: dict[str, Any] = {"type": "object"}
        if kind.__doc__:
            schema["description"] = " ".join(kind.__doc__.split())
        schema["properties"] = {name: self.schema(hint) for name, hint in hints.items()}
        if is_typeddict(kind):
            schema["required"] = [name for name in hints if name in kind.__required_keys__]
        else:
            required = [field.name for field in dataclasses.fields(kind) if not _has_default(field)]
            schema |= {"required": required} if required else {}
            schema["additionalProperties"] = False  # a protocol with an unknown key is refused
        return schema


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _rule(rule: object) -> dict[str, Any]:
    if isinstance(rule, Matching):
        return {"pattern": rule.pattern}
    if isinstance(rule, NotEmpty):
        return {"minItems": 1}
    assert isinstance(rule, AtLeast)
    return {"minimum": rule.least}
