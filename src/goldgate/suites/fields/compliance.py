"""Whether a value is valid by a JSON Schema, by a validator that is an extra of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.value_text import NumberText
from goldgate.errors import ConfigError, Place
from goldgate.suites.fields.leaves import depth_of
from goldgate.suites.fields.schema import MAX_DEPTH


class SchemaValidator:
    """A compiled JSON Schema, draft 2020-12 unless it says otherwise. Nothing is fetched for it."""

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> SchemaValidator | None:
        """The validator of a schema; None where the extra is not installed, a ConfigError if the schema is none."""
        try:
            import jsonschema_rs
        except ImportError:
            return None
        try:
            return cls(jsonschema_rs.validator_for(dict(document), retriever=_refuse))
        except ValueError as problem:  # ValidationError and ReferencingError are too
            raise ConfigError(
                "schema.wrong_value",
                "not a JSON Schema that can be read",
                place=Place(field=str(getattr(problem, "instance_path", "") or "$")),
                expected="a JSON Schema, draft 2020-12, with references inside itself only",
                found=str(problem).splitlines()[0][:200],
            ) from None

    def is_valid(self, value: Any) -> bool:
        """Whether a value is valid; one that is deeper than any gold is not."""
        if depth_of(value) > MAX_DEPTH:
            return False
        try:
            return bool(self._validator.is_valid(value))
        except ValueError:  # numbers that were kept as their text
            try:
                return bool(self._validator.is_valid(_plain_numbers(value)))
            except ValueError:  # a number that Python does not have
                return False


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside this schema, and nothing is fetched")


def _plain_numbers(value: Any) -> Any:
    """A value whose numbers are numbers again: the reader keeps some as the text that they were written in."""
    if isinstance(value, NumberText):
        try:
            return int(value.text)
        except ValueError:
            return float(value.text)
    if type(value) is dict:
        return {key: _plain_numbers(entry) for key, entry in value.items()}
    return [_plain_numbers(entry) for entry in value] if type(value) is list else value
