"""The event schema (the ontology): which event types there are, and which roles each has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from goldgate.core.page import count_text
from goldgate.errors import ConfigError, InputError, Place, describe_value
from goldgate.files.address import public_url
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_text_file
from goldgate.suites.extraction.events import Events


@dataclass(frozen=True, slots=True)
class EventSchema:
    """Event types with their roles, in the order of the file."""

    roles: Mapping[str, frozenset[str]]
    role_order: Mapping[str, tuple[str, ...]]
    sha256: str | None = None  # digest of the schema file
    is_derived: bool = False  # from gold

    @property
    def digest(self) -> str:
        """A digest of the types and roles, independent of the file's layout."""
        return hashlib.sha256(orjson.dumps(dict(sorted(self.role_order.items())))).hexdigest()

    @property
    def event_types(self) -> tuple[str, ...]:
        return tuple(self.role_order)

    def json_schema(self, *, strict: bool = False) -> dict[str, Any]:
        """A JSON Schema that an answer must satisfy to be compliant under `schema_strict`.

        Its root is an object, `{"events": […]}`, because structured output asks for one; the
        same list without the wrapper is compliant too. `strict`: as strict structured output wants it, every property
        is a required one; what may be left out otherwise, the trigger, is left out.
        """
        events = [self._event(name, strict) for name in self.role_order]
        root = _object({"events": {"type": "array", "items": {"anyOf": events}}})
        return root if strict else {"$schema": "https://json-schema.org/draft/2020-12/schema", **root}

    def _event(self, name: str, strict: bool) -> dict[str, Any]:
        argument = {
            "role": {"type": "string", "enum": [*self.role_order[name]]},
            "argument": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        }
        event = {
            "event_type": {"type": "string", "const": name},
            "trigger": {"type": "string"},
            "arguments": {"type": "array", "items": _object(argument)},
        }
        if strict:
            del event["trigger"]
        return _object(event)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object in which all properties but a trigger are required."""
    required = [name for name in properties if name != "trigger"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_SHOWN_KEYS = 5
NO_SCHEMA_SETTINGS = "give one, or set metrics: {schema: {mode: syntax_only}, cot: {enabled: false}}"

SchemaSource = str | Path | EventSchema | Mapping[str, Any] | None


def obtain_event_schema(source: SchemaSource) -> EventSchema | None:
    """The event schema from wherever it is given: a path, plain values, or itself."""
    if source is None or isinstance(source, EventSchema):
        return source
    return load_event_schema(source) if isinstance(source, (str, Path)) else parse_event_schema(source)


def load_event_schema(path: str | Path) -> EventSchema:
    """Read an event schema file: our own form, or the published DuEE form with one line per type."""
    file = public_url(str(path))
    text, sha256 = read_text_file(path, "schema")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith('{"') and line.rstrip().endswith("}") for _, line in lines):
        return _from_lines([(number, parse_json(line, file, "schema", number)) for number, line in lines], file, sha256)
    value = parse_json(text, file, "schema")
    if isinstance(value, dict) and "event_types" not in value and "event_type" in value:
        return _from_lines([(1, value)], file, sha256)
    return parse_event_schema(value, file, sha256)


def parse_event_schema(value: Any, file: str | None = None, sha256: str | None = None) -> EventSchema:
    """An event schema from a decoded `{"event_types": {"质押": {"roles": […]}}}`."""
    types = value.get("event_types") if isinstance(value, dict) else None
    if not isinstance(types, dict) or not types:
        actual = describe_value(types if isinstance(value, dict) and "event_types" in value else value)
        if isinstance(value, dict) and "event_types" not in value:
            keys = ", ".join(list(map(str, value))[:_SHOWN_KEYS])
            actual = f'no "event_types"; the keys are {keys}' if keys else "an empty object"
        raise _wrong(file, None, "event_types", "an object with an entry for each event type", actual)
    order: dict[str, tuple[str, ...]] = {}
    for name, entry in types.items():
        field = f"event_types.{name}"
        if not isinstance(entry, dict) or "roles" not in entry:
            raise _wrong(file, None, field, 'an object with "roles"', describe_value(entry))
        _add(order, name, entry["roles"], file, None, field, "roles")
    return _schema(order, sha256)


def derive_from_events(events: Iterable[Events]) -> EventSchema:
    """The event types and roles that gold uses, in alphabetical order; gold without any event is an InputError."""
    roles: dict[str, set[str]] = {}
    for of_record in events:
        for event_type, names, *_ in of_record.columns:
            roles.setdefault(event_type, set()).update(names)
    if not roles:
        raise InputError(
            "gold.no_events",
            "no gold record has an event: no event schema can be derived",
            expected="gold with events, or an event schema (--schema)",
            advice=NO_SCHEMA_SETTINGS,
        )
    order = {name: tuple(sorted(roles[name])) for name in sorted(roles)}
    return EventSchema({name: frozenset(names) for name, names in order.items()}, order, is_derived=True)


def derived_note(schema: EventSchema) -> str:
    """What a derived schema means for schema compliance, and the command that keeps it."""
    types, roles = len(schema.roles), sum(map(len, schema.roles.values()))
    return (
        f"no schema given: derived from gold ({count_text(types, 'event type')}, {count_text(roles, 'role')}), so any "
        "other type or role in an answer is a violation; to keep it: goldgate schema --from GOLD --out schema.json"
    )


def _from_lines(entries: list[tuple[int, Any]], file: str, sha256: str) -> EventSchema:
    order: dict[str, tuple[str, ...]] = {}
    for line, entry in entries:
        name = entry.get("event_type") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise _wrong(file, line, "event_type", "the name of an event type", describe_value(name))
        role_list = entry.get("role_list")
        if not isinstance(role_list, list):
            raise _wrong(file, line, "role_list", "a list of roles", describe_value(role_list))
        roles = [item.get("role") if isinstance(item, dict) else item for item in role_list]
        _add(order, name, roles, file, line, "event_type", "role_list")
    return _schema(order, sha256)


def _add(
    order: dict[str, tuple[str, ...]], name: str, roles: Any, file: str | None, line: int | None, field: str, key: str
) -> None:
    if not name.strip() or name != name.strip():
        raise _wrong(file, line, field, "a name without spaces around it", describe_value(name))
    if name in order:
        raise _wrong(file, line, field, "every event type once", describe_value(name))
    if not isinstance(roles, list):
        raise _wrong(file, line, f"{field}.{key}", "a list of names", describe_value(roles))
    for role in roles:
        if not isinstance(role, str) or not role.strip() or role != role.strip():
            raise _wrong(file, line, f"{field}.{key}", "names without spaces around them", describe_value(role))
    if len(set(roles)) < len(roles):
        raise _wrong(file, line, f"{field}.{key}", "every role once", "a role twice")
    order[name] = tuple(roles)


def _schema(order: dict[str, tuple[str, ...]], sha256: str | None) -> EventSchema:
    return EventSchema({name: frozenset(roles) for name, roles in order.items()}, order, sha256)


def _wrong(file: str | None, line: int | None, field: str, expected: str, found: str) -> ConfigError:
    return ConfigError(
        "schema.wrong_value",
        "not an event schema",
        place=Place(file, line, field),
        expected=expected,
        found=found,
        advice='an event schema is {"event_types": {"Type": {"roles": ["Role"]}}}',
    )
