"""The fields suite: a model turned a document into JSON of a known shape, and every value is compared with gold."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from goldgate.core.suite import (
    GOLD,
    GOLD_ID_FIELD,
    ID_FIELD,
    PREDICTIONS,
    RESPONSE_FIELD,
    Ability,
    Input,
    Suite,
    deferred,
    word_input,
)
from goldgate.errors import GoldgateError
from goldgate.suites.fields.settings import FieldsSettings, is_json_schema

_FOLDER = "goldgate.suites.fields"
_VALUE_FIELD = word_input("value_field", "Where a gold record has its value, as a dotted path such as labels.invoice.")
_SCHEMA = Input(
    "schema",
    "The JSON Schema of the values. Without it, their shape is derived from gold.",
    required=False,
    example="schema.json",
)
_READ_SCHEMA = Input("schema", "Of fields: the JSON Schema, which says whether an answer is a list.", required=False)
_PROMPT = word_input("prompt", "en, or a file.", "NAME|FILE", "en")


def _recognize_schema(value: Any) -> bool:
    """Whether a value, a file or a class says what shape JSON has."""
    if isinstance(value, type):
        return hasattr(value, "model_json_schema")
    if isinstance(value, (str, Path)):
        try:
            value = json.loads(Path(value).read_bytes())
        except (OSError, ValueError, RecursionError):
            return False  # reading it says what is wrong with it
    return is_json_schema(value)


def _recognize_records(path: str) -> bool:
    """Whether the first record of a local file has a `value`, and nothing that another suite reads."""
    from goldgate.readers.gold_files import first_record
    from goldgate.readers.records import open_records

    if not Path(path).is_file():
        return False
    try:
        with closing(open_records(path, "records")) as file:
            record = first_record(file)
    except GoldgateError:
        return False  # reading it says what is wrong with it
    return isinstance(record, dict) and "value" in record and not {"events", "event_list", "response"} & record.keys()


class FieldsSuite(Suite):
    """Precision, recall and F1 over the leaves of JSON values, by path; items of lists, absent fields, confidence."""

    name = "fields"
    about = "Score stored answers that are JSON of a known shape, such as invoices or forms."
    unit = "document"
    inputs = (GOLD, PREDICTIONS, _SCHEMA, _VALUE_FIELD, ID_FIELD, RESPONSE_FIELD)
    section = "fields"
    settings = FieldsSettings
    metrics_version = "1.0"
    headline = ("field_f1", "field_precision", "field_recall")
    preload = f"{_FOLDER}.source"
    drawings = ("errors", "paths")
    abilities = (
        Ability(
            "check", f"{_FOLDER}.check:run_fields_check", (_SCHEMA, _VALUE_FIELD, GOLD_ID_FIELD), "gold",
            _recognize_records,
        ),
        Ability("convert", f"{_FOLDER}.convert:run_fields_convert", (_VALUE_FIELD, GOLD_ID_FIELD)),
        Ability("generate", f"{_FOLDER}.task:open_fields_task", (GOLD, _SCHEMA, _PROMPT, _VALUE_FIELD)),
        Ability("items", f"{_FOLDER}.explain:wrong_value_items", kind="wrong"),
        Ability("read", f"{_FOLDER}.explain:open_fields_reader", (_READ_SCHEMA,), recognizes=_recognize_records),
        Ability("schema", f"{_FOLDER}.convert:run_fields_schema", (_VALUE_FIELD,)),
        Ability("scorer", f"{_FOLDER}.api:load_fields_scorer", recognizes=_recognize_schema),
    )  # fmt: skip

    contracts = deferred(f"{_FOLDER}.contracts:CONTRACTS")
    check = deferred(f"{_FOLDER}.settings:check_settings_of_paths")
    measures = deferred(f"{_FOLDER}.measures:fields_measures")
    open = deferred(f"{_FOLDER}.source:open_fields_source")
    open_inputs = deferred(f"{_FOLDER}.source:open_fields_inputs")
    describe = deferred(f"{_FOLDER}.page:fields_page")
    pictures = deferred(f"{_FOLDER}.page:fields_pictures")
    stored = deferred(f"{_FOLDER}.page:fields_rates")
    summary = deferred(f"{_FOLDER}.explain:document_summary")
    unit_page = deferred(f"{_FOLDER}.explain:document_page")


SUITE = FieldsSuite()
