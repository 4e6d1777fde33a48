"""What the fields suite asks a model: each gold document, with a prompt and the JSON Schema of the answer.

The gold is checked once before anything is paid for, then read again document by document.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

import orjson

from goldgate.core.suite import Options, Plan
from goldgate.core.task import AnswerFormat, AnswerSchema, Question
from goldgate.generation.gold_task import GoldTask, open_documents
from goldgate.generation.prompt import find_template, prompt_messages, require_room
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_files import GoldOpener, require_stored_gold
from goldgate.suites.fields.schema import EXTENSION, KEEP_SCHEMA, FieldSchema
from goldgate.suites.fields.scorer import GoldDocument
from goldgate.suites.fields.source import derive_shape, obtain_schema, parse_document

_DERIVED = f"no schema given: the model is asked for the keys and types that gold has; {KEEP_SCHEMA}"


@dataclass(frozen=True)
class FieldsTask(GoldTask[GoldDocument]):
    """Asks for the JSON value of each document."""

    headline = "field_f1"
    schema: FieldSchema
    options: Options

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "prompt": self.prompt,
            "schema": self.schema.sha256 or hashlib.sha256(self._schema_text.encode()).hexdigest(),
        }

    @property
    def answer_schema(self) -> AnswerSchema | None:
        """None where an answer is not an object: strict structured output has no other."""
        return AnswerSchema("answer", strict_schema(self.schema.document)) if self._is_object else None

    @property
    def first_format(self) -> AnswerFormat:
        return "text" if self.template.wants_thought or not self._is_object else "json_schema"

    def question(self, position: int, seed: int | None) -> Question:
        document = self.documents[position]
        shared = {"schema": self._schema_text, "json_schema": self._schema_text}
        return Question(document.id, prompt_messages(self.template, shared, document.text or ""))

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        document = self.documents[position]
        return {"id": document.id, "value": document.value}

    def scored_inputs(self) -> dict[str, list[str]]:
        options = {
            name: [self.options[name]] for name in ("schema", "value_field") if self.options.get(name) is not None
        }
        return {"gold": [*self.options["gold"]], **options}

    @property
    def _is_object(self) -> bool:
        return self.schema.root.kinds == {"object"}

    @cached_property
    def _schema_text(self) -> str:
        """The schema without what only says how values are compared."""
        return orjson.dumps(_without_extensions(self.schema.document), option=orjson.OPT_INDENT_2).decode()


def open_fields_task(plan: Plan, seeds: Sequence[int | None], response_format: str, options: Options) -> FieldsTask:
    """`goldgate generate --suite fields`: everything that questions are made of, read and checked."""
    template = find_template(options["prompt"], ("en",), resources.files("goldgate.suites.fields") / "prompts")
    require_room(template, response_format)
    require_stored_gold(options["gold"])
    schema = None if options.get("schema") is None else obtain_schema(options["schema"], plan.settings)
    value_field = options.get("value_field")
    documents = open_documents(
        options["gold"], GoldOpener(OWN_FORM), lambda record, name: parse_document(record.value, name, value_field)
    )
    if schema is None:
        try:
            shape = derive_shape(document.value for document in documents)
            schema = FieldSchema(shape, plan.settings, is_derived=True)
        except BaseException:
            documents.close()
            raise
        logging.getLogger("goldgate").warning("%s", _DERIVED)
    return FieldsTask(documents, schema, template, options)


def strict_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema as strict structured output wants it: every property is required, what was not may be null."""
    strict: dict[str, Any] = _strict(_without_extensions(document))
    return {key: value for key, value in strict.items() if key != "$schema"}


def _strict(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if not isinstance(value, dict):
        return value
    strict = {key: _strict(item) for key, item in value.items()}
    properties = strict.get("properties")
    if isinstance(properties, dict) and not isinstance(value["properties"].get("type"), str):
        needed = set(value.get("required") or ())
        strict["properties"] = {key: each if key in needed else _nullable(each) for key, each in properties.items()}
        strict["required"] = [*properties]
        strict["additionalProperties"] = False
    return strict


def _nullable(schema: Any) -> Any:
    if not isinstance(schema, dict) or {"type": "null"} in (schema.get("anyOf") or ()):
        return schema
    types = schema.get("type")
    if "enum" not in schema and isinstance(types, (str, list)):
        type_list = [types] if isinstance(types, str) else types
        return {**schema, "type": type_list if "null" in type_list else [*type_list, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _without_extensions(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_extensions(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _without_extensions(item) for key, item in value.items() if key != EXTENSION}
