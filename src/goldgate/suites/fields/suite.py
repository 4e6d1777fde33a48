"""The fields suite: a model turned a document into JSON of a known shape, and every value is compared with gold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from goldgate.core.plan import Plan
from goldgate.core.suite import (
    GOLD,
    PREDICTIONS,
    Ability,
    Contract,
    Input,
    Inputs,
    Mapper,
    Measure,
    StoredRates,
    Suite,
)
from goldgate.suites.fields.settings import FieldsSettings, check_settings_of_paths

if TYPE_CHECKING:  # nothing heavy before it is used: the help of the command line names every suite
    from goldgate.core.contracts import SuiteReport
    from goldgate.core.page import Page, Picture
    from goldgate.core.unit_page import InputLookup, UnitPage, UnitSummary
    from goldgate.readers.joined_suite import JoinedSource
    from goldgate.suites.fields.contracts import DocumentRecord, FieldsReport
    from goldgate.suites.fields.scorer import FieldFacts


def _word(name: str, help_text: str, metavar: str = "FIELD") -> Input:
    return Input(name, help_text, metavar=metavar, required=False, is_path=False)


_FOLDER = "goldgate.suites.fields"
_VALUE_FIELD = _word("value_field", "Where a gold record has its value, as a dotted path such as labels.invoice.")


_ID_FIELD = _word("id_field", "Where a record has its id, as a dotted path such as metadata.doc_id.")
_SCHEMA = Input(
    "schema", "The JSON Schema of the values. Without it, their shape is derived from gold.", required=False
)
_READ_SCHEMA = Input("schema", "Of fields: the JSON Schema, which says whether an answer is a list.", required=False)
_PROMPT = _word("prompt", "en, or a file.", "NAME|FILE")._replace(default="en")
_SCHEMA_WORDS = frozenset({"$schema", "$ref", "$defs", "type", "properties", "items", "anyOf", "oneOf", "allOf"})


def _is_json_schema(value: Any) -> bool:
    """Whether a value, a file or a class says what shape JSON has; an event schema has `event_types`."""
    if isinstance(value, type):
        return hasattr(value, "model_json_schema")
    if isinstance(value, (str, Path)):
        try:
            value = json.loads(Path(value).read_bytes())
        except (OSError, ValueError, RecursionError):
            return False  # reading it says what is wrong with it
    return isinstance(value, Mapping) and "event_types" not in value and not _SCHEMA_WORDS.isdisjoint(value)


def _has_values(path: str) -> bool:
    """Whether the first record of a local file has a `value`, and nothing that another suite reads."""
    from goldgate.errors import GoldgateError
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
    inputs = (
        GOLD,
        PREDICTIONS,
        _SCHEMA,
        _VALUE_FIELD,
        _ID_FIELD,
        _word(
            "response_field", "Where a prediction has what the model wrote, as a dotted path such as choices.0.text."
        ),
    )
    section = "fields"
    settings = FieldsSettings
    metrics_version = "1.0"
    headline = ("field_f1", "field_precision", "field_recall")
    preload = f"{_FOLDER}.source"
    drawings = ("errors", "paths")
    abilities = (
        Ability("check", f"{_FOLDER}.check:run_fields_check", (_SCHEMA, _VALUE_FIELD, _ID_FIELD), "gold", _has_values),
        Ability("convert", f"{_FOLDER}.convert:run_fields_convert", (_VALUE_FIELD, _ID_FIELD)),
        Ability("generate", f"{_FOLDER}.task:open_fields_task", (GOLD, _SCHEMA, _PROMPT, _VALUE_FIELD)),
        Ability("items", f"{_FOLDER}.explain:wrong_value_items", kind="wrong"),
        Ability("read", f"{_FOLDER}.explain:open_fields_reader", (_READ_SCHEMA,), recognizes=_has_values),
        Ability("schema", f"{_FOLDER}.source:derive_gold_schema", (_VALUE_FIELD,)),
        Ability("scorer", f"{_FOLDER}.api:load_fields_scorer", recognizes=_is_json_schema),
    )

    @property
    def contracts(self) -> Mapping[str, Contract]:
        from goldgate.suites.fields.contracts import CONTRACTS

        return CONTRACTS

    def check(self, plan: Plan) -> None:
        check_settings_of_paths(plan)

    def measures(self, settings: FieldsSettings) -> Sequence[Measure[FieldFacts]]:
        from goldgate.suites.fields.measures import fields_measures

        return fields_measures(settings)

    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[JoinedSource[FieldFacts]]:
        from goldgate.suites.fields.source import open_fields_source

        return open_fields_source(inputs, plan, engine)

    def open_inputs(self, inputs: Inputs, plan: Plan | None) -> AbstractContextManager[InputLookup]:
        from goldgate.suites.fields.source import open_fields_inputs

        return open_fields_inputs(inputs, plan)

    def describe(self, report: SuiteReport) -> Page:
        from goldgate.suites.fields.page import fields_page

        return fields_page(cast("FieldsReport", report))

    def pictures(self, report: SuiteReport) -> tuple[Picture, ...]:
        from goldgate.suites.fields.page import fields_pictures

        return fields_pictures(cast("FieldsReport", report))

    def summary(self, record: Mapping[str, object]) -> UnitSummary:
        from goldgate.suites.fields.explain import document_summary

        return document_summary(cast("DocumentRecord", record))

    def unit_page(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> UnitPage:
        from goldgate.suites.fields.explain import document_page

        return document_page(cast("DocumentRecord", record), inputs)

    def stored(self, report: SuiteReport) -> StoredRates:
        from goldgate.suites.fields.page import fields_rates

        return fields_rates(cast("FieldsReport", report))


SUITE = FieldsSuite()
