"""The files of a fields evaluation: schema, gold and predictions, joined by id and scored shard by shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from goldgate.core.finding import Finding
from goldgate.core.suite import Inputs, Mapper, Plan, single_input
from goldgate.core.tally import answer_digest
from goldgate.core.unit_page import InputLookup, SharedInputLookup
from goldgate.errors import ConfigError, InputError, Place, describe_value, did_you_mean
from goldgate.files.address import public_url
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_text_file
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_files import GoldOpener
from goldgate.readers.guess import describe_keys, no_answer_error
from goldgate.readers.id_index import open_store
from goldgate.readers.joined_suite import JoinedSource, JoinedWork, PairReader, open_joined_inputs, open_pairs
from goldgate.readers.layouts.chat import read_response
from goldgate.readers.layouts.layout import value_at
from goldgate.readers.pair_files import pair_opener
from goldgate.readers.records import LocatedRecord, RecordStore, record_group
from goldgate.response.reading_report import answer_findings
from goldgate.suites.fields.leaves import depth_of
from goldgate.suites.fields.measures import fields_measures
from goldgate.suites.fields.report import FieldsOutcome
from goldgate.suites.fields.schema import MAX_DEPTH, FieldSchema, ShapeDeriver
from goldgate.suites.fields.scorer import (
    FieldFacts,
    FieldsAnswer,
    FieldsScorer,
    GoldDocument,
    SchemaValidator,
    document_record,
)
from goldgate.suites.fields.suite import ANNOTATIONS, KEYWORDS, FieldsSettings, is_json_schema

VALUE_NAMES = ("value", "expected", "ground_truth", "label", "output", "gt")
JsonSchemaSource = str | Path | Mapping[str, Any] | type | None


def _require_json_schema(document: object, place: Place) -> None:
    """Refuse what only looks like a schema: an event schema, or an object without a keyword of JSON Schema."""
    is_event_schema = isinstance(document, Mapping) and "event_types" in document
    is_open = isinstance(document, Mapping) and (not document or bool(ANNOTATIONS & document.keys()))
    if is_json_schema(document) or (is_open and not is_event_schema):  # an empty one allows every value
        return
    raise ConfigError(
        "schema.wrong_value",
        "this is an event schema, not a JSON Schema" if is_event_schema else "not a JSON Schema",
        place=place,
        expected='an object such as {"type": "object", "properties": {…}}',
        found=describe_keys(document) if isinstance(document, Mapping) else describe_value(document),
        advice="goldgate extraction takes it; goldgate schema --suite fields --from GOLD derives a JSON Schema"
        if is_event_schema
        else _nearest_keyword(document),
    )


_FEW_KEYS = 20  # of an object that is no schema, among which a misspelt keyword is looked for


def _nearest_keyword(document: object) -> str | None:
    keys = islice(document, _FEW_KEYS) if isinstance(document, Mapping) else ()
    near = (did_you_mean(str(key), sorted(KEYWORDS)) for key in keys)
    return next(filter(None, near), None)


def obtain_schema(source: JsonSchemaSource, settings: FieldsSettings, **options: Any) -> FieldSchema:
    """A schema from a path, a decoded JSON Schema, or a Pydantic model class."""
    if isinstance(source, type):
        make = getattr(source, "model_json_schema", None)
        if make is None:
            raise TypeError(f"a schema is a path, a JSON Schema or a Pydantic model, not the class {source.__name__}")
        source = make()
    if isinstance(source, Mapping):
        _require_json_schema(source, Place())
        return _check_schema(FieldSchema(source, settings, **options))
    if not isinstance(source, (str, Path)):
        raise TypeError(f"a schema is a path, a JSON Schema or a Pydantic model, not {describe_value(source)}")
    text, sha256 = read_text_file(source, "schema")
    file = public_url(str(source))
    document = parse_json(text, file, "schema")
    _require_json_schema(document, Place(file))
    try:
        return _check_schema(FieldSchema(document, settings, sha256=sha256, **options))
    except ConfigError as error:
        if error.code.startswith("schema."):  # else it is of the protocol
            error.place = Place(file, None, error.place.field)
        raise


def _check_schema(schema: FieldSchema) -> FieldSchema:
    """Raise a ConfigError for a mistake in any part of a schema: its parts are else read when a value needs them."""
    for _ in schema.paths():
        pass
    SchemaValidator.of(schema.document)
    return schema


def parse_document(record: Mapping[str, Any], identity: str, value_field: str | None = None) -> GoldDocument:
    """A gold record; the first mistake in it is an InputError."""
    name, value = _gold_value(record, value_field)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)  # encoded once more
    if not isinstance(value, (dict, list)):
        raise _bad_gold(name, "a JSON object or array", describe_value(value))
    if depth_of(value) > MAX_DEPTH:
        raise _bad_gold(name, f"at most {MAX_DEPTH} levels of objects and lists", "more")
    text = record.get("text")
    if text is not None and not isinstance(text, str):
        raise _bad_gold("text", "a string", describe_value(text))
    return GoldDocument(identity, value, text or None, record_group(record) if "group" in record else None, name)


def _gold_value(record: Mapping[str, Any], value_field: str | None) -> tuple[str, Any]:
    if value_field is not None:
        return value_field, value_at(record, value_field, kind="gold", option="--value-field")
    for name in VALUE_NAMES:
        if name in record:
            return name, record[name]
    first = next((name for name in record if name not in ("id", "text", "group")), "total")
    raise InputError(
        "gold.no_value",
        "this gold record has no value",
        place=Place(field="value"),
        expected='"value": the JSON that an answer should have',
        found=describe_keys(record),
        advice=f'wrap the fields: {{"id": …, "value": {{"{first}": …}}}}; or --value-field names where they are',
    )


def _bad_gold(field: str, expected: str, found: str) -> InputError:
    return InputError(
        "gold.wrong_type", "this gold record is malformed", place=Place(field=field), expected=expected, found=found
    )


def parse_answer(record: Mapping[str, Any], source: bytes | None = None) -> FieldsAnswer:
    """A prediction record: its response, or a value that was decoded elsewhere; null means no answer."""
    text, value = None, record.get("value")
    if record.get("response") is not None:
        text, value = read_response(record["response"], lambda _: True, "decoded JSON")
    elif "value" not in record and "response" not in record:
        raise no_answer_error(record, '"value" (decoded JSON)')
    return FieldsAnswer(text) if value is None else FieldsAnswer(None, value, record.get("confidence"), source, record)


class FieldsWork(JoinedWork[FieldFacts]):
    """Scores the documents of a shard."""

    def __init__(self, scorer: FieldsScorer, reader: PairReader, value_field: str | None) -> None:
        super().__init__(reader, fields_measures(scorer.settings), scorer.settings)
        self.scorer = scorer
        self.value_field = value_field

    def __reduce__(self) -> tuple[object, ...]:
        return (FieldsWork, (self.scorer, self.reader, self.value_field))

    def read_gold(self, identity: str, record: LocatedRecord) -> GoldDocument:
        return parse_document(record.value, identity, self.value_field)

    def read_prediction(self, record: LocatedRecord) -> FieldsAnswer:
        return parse_answer(record.value, record.data)

    def read_group(self, gold: GoldDocument, record: LocatedRecord) -> str | None:
        return gold.group

    def compare(self, identity: str, gold: GoldDocument, prediction: FieldsAnswer | None) -> FieldFacts:
        facts = self.scorer.facts(gold, prediction)
        facts.answer = answer_digest(identity, *(prediction or (None,))[:3])
        return facts

    def record(self, facts: FieldFacts) -> Mapping[str, Any]:
        return document_record(facts)

    def unit_id(self, facts: FieldFacts) -> str:
        return facts.document.id

    def answer(self, facts: FieldFacts) -> int:
        return facts.answer

    def findings(self, facts: FieldFacts) -> Iterable[Finding]:
        return answer_findings(facts.parsed, facts.document.id)

    def lookup(self, records: InputLookup) -> InputLookup:
        return SharedInputLookup(records, lambda: {"scorer": self.scorer, "value_field": self.value_field})


@contextmanager
def open_fields_source(
    inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
) -> Iterator[JoinedSource[FieldFacts]]:
    """The inputs of the suite, opened. Mistakes in the schema come before any in the records."""
    settings: FieldsSettings = plan.settings
    source, value_field = single_input(inputs, "schema"), single_input(inputs, "value_field")
    given_schema = None if source is None else obtain_schema(source, settings)
    outcome, opener = FieldsOutcome(settings), pair_opener(inputs, OWN_FORM)

    def make_work(reader: PairReader) -> FieldsWork:
        def derive() -> FieldSchema:
            return derive_field_schema(_gold_values(reader.gold, value_field), settings)

        schema = derive() if given_schema is None else given_schema
        schema.require_paths(derive, plan.place)
        scorer = FieldsScorer(settings, schema)
        outcome.note_schema(schema, has_validator=schema.is_derived or scorer.validator is not None)
        return FieldsWork(scorer, reader, value_field)

    with open_pairs(inputs, make_work, outcome, opener, engine) as opened:
        outcome.note_opener(opener, opened.units, value_field=value_field)
        yield opened


@contextmanager
def open_fields_inputs(inputs: Inputs, plan: Plan | None) -> Iterator[InputLookup]:
    """The inputs, opened for looking up documents; without a plan they are not compared again."""
    schema, value_field = single_input(inputs, "schema"), single_input(inputs, "value_field")

    def make_scorer() -> FieldsScorer | None:
        if plan is None or (schema is None and not inputs.get("gold")):
            return None
        if schema is not None:
            return FieldsScorer(plan.settings, obtain_schema(schema, plan.settings))
        # Gold may be not there any more, or be another now.
        with suppress(InputError), closing(open_store(inputs["gold"], "gold", GoldOpener(OWN_FORM))) as store:
            return FieldsScorer(plan.settings, derive_field_schema(_gold_values(store, value_field), plan.settings))
        return None

    with open_joined_inputs(inputs, pair_opener(inputs, OWN_FORM)) as records:
        yield SharedInputLookup(records, lambda: {"scorer": make_scorer(), "value_field": value_field})


def _gold_values(store: RecordStore, value_field: str | None) -> Iterator[Any]:
    """The values of all gold records, with the place of the first that is malformed."""
    for record in store.records():
        with record.locate_errors():
            document = parse_document(record.value, "", value_field)
        yield document.value


def derive_shape(values: Iterable[Any]) -> dict[str, Any]:
    """The JSON Schema that describes all these values."""
    deriver = ShapeDeriver()
    for value in values:
        deriver.add(value)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **deriver.as_schema()}


def derive_field_schema(values: Iterable[Any], settings: FieldsSettings) -> FieldSchema:
    """The schema that these values have, for scoring where none was given."""
    return FieldSchema(derive_shape(values), settings, is_derived=True)


def derive_gold_schema(paths: Sequence[str], value_field: str | None) -> dict[str, Any]:
    """The JSON Schema that some gold files follow."""
    with closing(open_store(paths, "gold", GoldOpener(OWN_FORM))) as store:
        return derive_shape(_gold_values(store, value_field))
