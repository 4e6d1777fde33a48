"""The fields suite: JSON of a known shape against gold; what it reads, and its section of a protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from goldgate.core.suite import (
    ALLOW_EMPTY,
    GOLD,
    GOLD_ID_FIELD,
    ID_FIELD,
    PREDICTIONS,
    RESPONSE_FIELD,
    Ability,
    Input,
    Plan,
    Suite,
    deferred,
    word_input,
)
from goldgate.core.value_text import Blanks
from goldgate.errors import ConfigError, GoldgateError
from goldgate.shape import Share

Compare = Literal["text", "exact", "number", "date", "boolean", "enum", "fuzzy", "contains", "ignore"]
ListOrder = Literal["any_order", "ordered"]
WEIGHT_DECIMALS = 3  # of a weight, at most: counts of weighted leaves are whole numbers


@dataclass(frozen=True, slots=True)
class PathSettings:
    """How the values at one path are compared, what they weigh, and how the items of a list are paired."""

    compare: Compare | None = None
    abs: Decimal | None = None  # number: how far from gold a value may be
    rel: Decimal | None = None  # number: the same as a share of gold
    decimal: Literal[",", "."] | None = None  # number: the decimal mark, where a text has two readings
    formats: tuple[str, ...] = ()  # date: as for Python's strptime
    threshold: Share | None = None  # fuzzy: the least similarity
    share: Share | None = None  # contains: the least part of the longer text
    weight: Decimal | None = None
    list: ListOrder | None = None
    key: tuple[str, ...] = ()  # paths inside an item: items pair where these are alike
    pair_share: Share | None = None  # of the smaller item's leaves: the least hits of a pair

    def with_defaults(self, other: PathSettings) -> PathSettings:
        """These settings, completed from `other` where they set nothing."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(other, **{name: value for name, value in own.items() if value not in (None, ())})


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """What need not be looked at: leaves above a confidence at which at most this share is wrong."""

    max_error: Share = Share("0.01")


@dataclass(frozen=True, slots=True)
class FieldsSettings:
    """The section `fields` of a protocol: everything that can change a number."""

    version: Literal["1.0"] = "1.0"
    normalization: Literal["nfkc-cjk-casefold.v1"] = "nfkc-cjk-casefold.v1"
    blanks: Blanks = "remove"
    paths: dict[str, PathSettings] = field(default_factory=dict)
    outside_schema: Literal["leave_out", "count"] = "leave_out"
    pair_share: Share = Share("0.5")
    null_words: tuple[str, ...] = ()
    thought_tags: tuple[str, ...] = ("thought", "think", "thinking")
    next_example: tuple[str, ...] = ()  # how a line begins that begins the next example of a prompt
    review: ReviewSettings = ReviewSettings()


NOT_SET = PathSettings()

# Any of these makes an object a JSON Schema; the annotations alone do so where nothing else is expected.
ANNOTATIONS = frozenset("$comment default description examples title".split())
KEYWORDS = frozenset(
    "$anchor $defs $dynamicRef $id $ref $schema additionalItems additionalProperties allOf anyOf const contains "
    "definitions dependentRequired dependentSchemas else enum exclusiveMaximum exclusiveMinimum format if items "
    "maxItems maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not oneOf "
    "pattern patternProperties prefixItems properties propertyNames required then type unevaluatedItems "
    "unevaluatedProperties uniqueItems x-goldgate".split()
)


def is_json_schema(document: Any) -> bool:
    """Whether an object has a keyword of JSON Schema; an event schema has `event_types` instead."""
    return isinstance(document, Mapping) and "event_types" not in document and bool(KEYWORDS & document.keys())


_OF_COMPARATORS = {  # a setting → the comparator that reads it
    "abs": "number",
    "rel": "number",
    "decimal": "number",
    "formats": "date",
    "threshold": "fuzzy",
    "share": "contains",
}


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
    inputs = (GOLD, PREDICTIONS, _SCHEMA, _VALUE_FIELD, ID_FIELD, RESPONSE_FIELD, ALLOW_EMPTY)
    section = "fields"
    settings = FieldsSettings
    metrics_version = "1.1"
    headline = ("field_f1", "field_precision", "field_recall")
    preload = f"{_FOLDER}.source"
    drawings = ("errors", "paths")
    abilities = (
        Ability(
            "check", f"{_FOLDER}.gold:run_fields_check", (_SCHEMA, _VALUE_FIELD, GOLD_ID_FIELD), "gold",
            _recognize_records,
        ),
        Ability("convert", f"{_FOLDER}.gold:run_fields_convert", (_VALUE_FIELD, GOLD_ID_FIELD)),
        Ability("generate", f"{_FOLDER}.task:open_fields_task", (GOLD, _SCHEMA, _PROMPT, _VALUE_FIELD)),
        Ability("items", f"{_FOLDER}.explain:wrong_value_items", kind="wrong"),
        Ability("read", f"{_FOLDER}.explain:open_fields_reader", (_READ_SCHEMA,), recognizes=_recognize_records),
        Ability("schema", f"{_FOLDER}.gold:run_fields_schema", (_VALUE_FIELD,)),
        Ability("scorer", f"{_FOLDER}.api:load_fields_scorer", recognizes=_recognize_schema),
    )  # fmt: skip

    contracts = deferred(f"{_FOLDER}.contracts:CONTRACTS")
    measures = deferred(f"{_FOLDER}.measures:fields_measures")
    open = deferred(f"{_FOLDER}.source:open_fields_source")
    open_inputs = deferred(f"{_FOLDER}.source:open_fields_inputs")
    describe = deferred(f"{_FOLDER}.page:fields_page")
    pictures = deferred(f"{_FOLDER}.page:fields_pictures")
    stored_rates = deferred(f"{_FOLDER}.page:fields_rates")
    summary = deferred(f"{_FOLDER}.explain:document_summary")
    unit_page = deferred(f"{_FOLDER}.explain:document_page")

    def check(self, plan: Plan) -> None:
        """Raise a ConfigError for a setting of a path that could do nothing, or that no number can have."""
        settings: FieldsSettings = plan.settings
        for number, text in enumerate(settings.next_example):
            if not any(map(str.isalpha, text)):
                place, expected = plan.place(f"fields.next_example.{number}"), "words, such as Article: or Task 2"
                raise ConfigError(
                    "protocol.wrong_value", "the beginning has no words", place=place, expected=expected, found=text
                )
        for path, entry in settings.paths.items():
            for name, comparator in _OF_COMPARATORS.items():
                if getattr(entry, name) not in (None, ()) and entry.compare not in (None, comparator):
                    raise _wrong_setting(plan, path, name, f"compare: {comparator}", f"compare: {entry.compare}")
            for name in ("abs", "rel", "weight"):
                number = getattr(entry, name)
                if number is not None and number < 0:
                    raise _wrong_setting(plan, path, name, "a number from 0 on", str(number))
            weight = entry.weight
            if weight is not None and weight != round(weight, WEIGHT_DECIMALS):
                raise _wrong_setting(plan, path, "weight", f"at most {WEIGHT_DECIMALS} decimals", str(weight))


def _wrong_setting(plan: Plan, path: str, name: str, expected: str, found: str) -> ConfigError:
    place = plan.place(f"fields.paths.{path}.{name}")
    return ConfigError(
        "protocol.wrong_value", f"{name} is not allowed here", place=place, expected=expected, found=found
    )


SUITE = FieldsSuite()
