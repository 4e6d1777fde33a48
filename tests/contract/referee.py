"""A JSON Schema validator that is not ours, as the referee of the schemas that are."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from goldgate.cli.prepare import all_schemas

SCHEMAS = all_schemas()


def accepts(schema: dict[str, Any], value: Any) -> bool:
    """Whether the value is valid."""
    return Draft202012Validator(schema).is_valid(value)


def objections(file: str, value: Any) -> list[str]:
    """What one of our schemas has against a value."""
    found = Draft202012Validator(SCHEMAS[file]).iter_errors(value)
    return [f"{error.json_path}: {error.message[:300]}" for error in found]
