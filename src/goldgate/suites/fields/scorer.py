"""One document scored: the answer read, aligned with gold leaf by leaf, checked, and every error named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import orjson

from goldgate.core.value_text import NumberText, contained_values, normalize
from goldgate.errors import ConfigError, Place
from goldgate.files.parsing import find_repeated_key
from goldgate.response import Method, Parsed, Status, Step, read_answer
from goldgate.response.parsed import JsonForm
from goldgate.suites.fields.alignment import Alignment, align_trees, name_errors
from goldgate.suites.fields.comparators import (
    DateComparator,
    DateReading,
    NumberComparator,
    date_places,
    magnitude,
    number_of,
    number_places,
    read_number,
)
from goldgate.suites.fields.leaves import (
    HIT,
    WRONG,
    Leaf,
    LeafTree,
    TreeBuilder,
    containers_by_level,
    depth_of,
    location,
    path_name,
    plain,
    steps_to,
)
from goldgate.suites.fields.schema import MAX_DEPTH, FieldSchema, PathShape, step_text
from goldgate.suites.fields.suite import FieldsSettings

SCALE = 10_000  # steps of a confidence between 0 and 1: sums over documents then add up in any order
LISTED_ERRORS = 1_000  # in a record
_MESSAGE_CHARACTERS = 120  # of the validator, which quotes the value
_READING = ("status", "method", "repairs", "start", "end")  # of an answer, in its record
_WRAPPED = frozenset({"value", "confidence"})
_KEY = re.compile(rb'"\s*+:')


@dataclass(slots=True)
class GoldDocument:
    """A gold record: its id, the value that an answer should have, its source text, its group."""

    id: str
    value: Any
    text: str | None = None
    group: str | None = None
    value_field: str = "value"  # under which the record has the value


class FieldsAnswer(NamedTuple):
    """A prediction: the raw response, or a decoded value with the confidences beside it."""

    response: str | None
    value: Any = None
    confidence: Any = None
    source: bytes | None = None  # the line that it was decoded from
    record: Any = None


class ScoredLeaf(NamedTuple):
    """How confident an answer is of a leaf, in steps of 1/10,000, and whether it is a hit."""

    level: int
    is_hit: bool


@dataclass(slots=True)
class FieldFacts:
    """Computed once for a document, read by every measure, its record and its page.

    Every leaf of `gold` and `predicted` has its state, and the leaf of the other side that it is paired with.
    """

    document: GoldDocument
    parsed: Parsed | None  # None where there is no prediction
    gold: LeafTree
    predicted: LeafTree
    alignment: Alignment
    compliant: bool | None = None  # None where there is nothing to check against
    repeated_keys: bool = False
    checked: int | None = None  # predicted leaves that were looked for in the text; None without a text
    unsupported: frozenset[int] = frozenset()  # ids of those that it does not have
    absent: tuple[int, int] = (0, 0)  # scalar paths that gold leaves absent: right, and all
    confidences: list[ScoredLeaf] = field(default_factory=list)
    hits: int = field(init=False)  # leaves

    def __post_init__(self) -> None:
        self.hits = sum([leaf.state == HIT for leaf in self.gold.leaves])

    @property
    def is_read(self) -> bool:
        """Whether there is an answer that could be read."""
        return self.parsed is not None and self.parsed.status != Status.ERROR

    @property
    def is_whole(self) -> bool:
        """Whether every leaf of both sides is a hit."""
        return self.hits == len(self.gold.leaves) == len(self.predicted.leaves)


class FieldsScorer:
    """Scores documents by one schema and one protocol. It holds no document and no sum."""

    def __init__(self, settings: FieldsSettings, schema: FieldSchema) -> None:
        self.settings = settings
        self.schema = schema
        null_words = frozenset(map(normalize, settings.null_words)) - {""}
        self._gold_builder = TreeBuilder(null_words, leave_out=settings.outside_schema == "leave_out")
        self._builder = TreeBuilder(null_words, leave_out=False)
        self._form = _form_of(schema)
        self.validator = None if schema.is_derived else SchemaValidator.of(schema.document)
        self._scalar_paths = frozenset() if schema.is_derived else frozenset(_plain_scalars(schema))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.settings, self.schema))

    def facts(self, document: GoldDocument, answer: FieldsAnswer | None) -> FieldFacts:
        """Everything that can be said of a document."""
        parsed, root = self._read(answer), self.schema.root
        value, confidences = None, dict[tuple[Any, ...], float]()
        if parsed is not None and parsed.status != Status.ERROR:
            value, confidences = unwrap_confidences(parsed.value, root)
        gold, predicted = self._gold_builder.build(document.value, root), self._builder.build(value, root)
        facts = FieldFacts(document, parsed, gold, predicted, align_trees(gold, predicted))
        if document.text:
            facts.unsupported, facts.checked = unsupported_leaves(document.text, predicted.leaves)
        if not facts.is_whole:
            name_errors(gold, predicted, facts.unsupported)
        if self.validator is not None:
            facts.compliant = facts.is_read and self.validator.is_valid(value)
        if facts.is_read and answer is not None and parsed is not None:
            facts.repeated_keys = _has_repeated_key(answer, parsed)
            beside = answer.confidence if answer.response is None else None
            if confidences or beside:
                facts.confidences = locate_confidences(predicted.leaves, confidences, beside)
        facts.absent = self._absent(facts)
        return facts

    def _read(self, answer: FieldsAnswer | None) -> Parsed | None:
        """The answer as it was read; None where there is none."""
        if answer is None or (answer.response is None and answer.value is None):
            return None
        if answer.response is None:
            return Parsed(Status.RAW, Method.STRUCTURED, answer.value)
        parsed = read_answer(answer.response, self.settings.thought_tags, self._form)
        return _read_scalar(answer.response, parsed) if parsed.status == Status.ERROR else parsed

    def _absent(self, facts: FieldFacts) -> tuple[int, int]:
        if not self._scalar_paths:
            return 0, 0
        absent = self._scalar_paths - {leaf.shape.name for leaf in facts.gold.leaves}
        if not facts.is_read:
            return 0, len(absent)
        present = {leaf.shape.name for leaf in facts.predicted.leaves}.union(facts.predicted.other_shape)
        return len(absent - present), len(absent)


def unwrap_confidences(value: Any, shape: PathShape) -> tuple[Any, dict[tuple[Any, ...], float]]:
    """The value with x for every `{"value": x, "confidence": 0.9}` for a scalar, and the confidences by place."""
    confidences: dict[tuple[Any, ...], float] = {}
    if not _may_have_confidence(value):
        return value, confidences
    return _unwrap(value, shape, (), confidences), confidences


def _may_have_confidence(value: Any) -> bool:
    return any(
        len(entry) == len(_WRAPPED) and type(entry) is dict and entry.keys() == _WRAPPED
        for level in containers_by_level(value)
        for entry in level
    )


def _unwrap(value: Any, shape: PathShape, steps: tuple[Any, ...], confidences: dict[tuple[Any, ...], float]) -> Any:
    if len(steps) >= MAX_DEPTH:
        return value
    if type(value) is list:
        below = shape if shape.kinds == {"scalar"} else shape.item
        return [_unwrap(entry, below, (*steps, number), confidences) for number, entry in enumerate(value)]
    if type(value) is not dict:
        return value
    kinds = (shape.item if shape.kinds == {"array"} else shape).kinds
    if value.keys() == _WRAPPED and "scalar" in kinds and "object" not in kinds:  # elsewhere, it may be data
        level = confidence_of(value["confidence"])
        if level is not None and type(value["value"]) not in (dict, list):
            confidences[steps] = level
            return value["value"]
    return {key: _unwrap(entry, shape.child(key), (*steps, key), confidences) for key, entry in value.items()}


def confidence_of(value: Any) -> float | None:
    """A confidence from 0 to 1; None for anything else."""
    number = number_of(value)
    return float(number) if number is not None and 0 <= number <= 1 else None


def locate_confidences(leaves: list[Leaf], wrapped: Mapping[tuple[Any, ...], float], beside: Any) -> list[ScoredLeaf]:
    """The leaves that have a confidence, wrapped around them or beside the value by their location."""
    scored = []
    confidences = beside if isinstance(beside, Mapping) else {}
    for leaf in leaves:
        confidence = wrapped.get(tuple(steps_to(leaf)))
        if confidence is None and confidences:
            confidence = confidence_of(confidences.get(location(leaf)))
        if confidence is not None:
            scored.append(ScoredLeaf(round(confidence * SCALE), leaf.state == HIT))
    return scored


def unsupported_leaves(text: str, leaves: list[Leaf]) -> tuple[frozenset[int], int]:
    """The ids of leaves that a source text does not have, and how many were looked for.

    Texts are looked for as they stand, numbers and dates by what they mean; booleans and values of enums are not.
    """
    checked = [leaf for leaf in leaves if not isinstance(leaf.value, bool) and not leaf.shape.is_choice]
    texts = {leaf.value: normalize(leaf.value) for leaf in checked if type(leaf.value) is str}
    present = contained_values({*texts.values()}, normalize(text))

    @cache
    def numbers() -> set[object]:
        return {number for number, _ in number_places(text)}

    @cache
    def dates(formats: tuple[str, ...]) -> set[tuple[int, ...]]:
        return {reading.written for reading, _ in date_places(text, formats)}

    def has_meaning(leaf: Leaf) -> bool:
        number, comparator = number_of(leaf.value), leaf.shape.comparator
        if isinstance(leaf.key, DateReading) and isinstance(comparator, DateComparator) and number is None:
            written = leaf.key.written
            return any(each[: len(written)] == written for each in dates(comparator.formats))
        if isinstance(comparator, NumberComparator) and isinstance(leaf.value, str):
            number = read_number(leaf.value, comparator.decimal)
        return number is not None and magnitude(number) in numbers()

    missing = [leaf for leaf in checked if texts.get(leaf.value) not in present and not has_meaning(leaf)]
    return frozenset(map(id, missing)), len(checked)


class SchemaError(NamedTuple):
    """A part of a value that is not valid by the schema."""

    path: str  # below the value, such as .items[0].price
    message: str


class SchemaValidator:
    """A compiled JSON Schema, draft 2020-12 unless it says otherwise. Nothing is fetched for it."""

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> SchemaValidator | None:
        """The validator of a schema; None where the extra is not installed, a ConfigError if it is not a schema."""
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

    def first_error(self, value: Any) -> SchemaError:
        """Where a value that is not valid first breaks the schema, and how."""
        try:
            error = next(iter(self._validator.iter_errors(_plain_numbers(value))), None)
        except ValueError:  # a number that Python does not have
            error = None
        if error is None:
            return SchemaError("", "the value is not valid by the schema")
        steps = (f"[{step}]" if isinstance(step, int) else f".{step_text(step)}" for step in error.instance_path)
        return SchemaError("".join(steps), f"not valid by the schema: {error.message[:_MESSAGE_CHARACTERS]}")


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


def _form_of(schema: FieldSchema) -> JsonForm:
    kinds = schema.root.kinds
    keys = frozenset(child.parts[-1] for child in schema.root.listed_children() if child.declared)
    return JsonForm("array" in kinds and "object" not in kinds, keys - {"*", "[]"})


def _plain_scalars(schema: FieldSchema) -> Iterator[str]:
    """Scalar paths outside lists, maps and recursion."""
    waiting = [(schema.root, frozenset[frozenset[int]]())]
    while waiting:
        shape, above = waiting.pop()
        own = shape.branch_ids()
        if own in above or shape.is_ignored:
            continue
        if shape.kinds == {"scalar"}:
            yield shape.name
        waiting += [
            (child, above | {own})
            for child in shape.listed_children()
            if child.declared and child.parts[-1] not in ("*", "[]")
        ]


def _read_scalar(text: str, unread: Parsed) -> Parsed:
    """A response that is one JSON scalar, which the reader does not look for; else what it read."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return unread
    return Parsed(Status.RAW, Method.WHOLE, value, text, start=0, end=len(text)) if value is not None else unread


def _has_repeated_key(answer: FieldsAnswer, parsed: Parsed) -> bool:
    """Whether an object of the answer has a key twice: the last one counts."""
    if Step.REPEATED_KEYS in parsed.repairs:
        return True
    if answer.response is None:
        source, value = answer.source, answer.record
    else:
        source, value = (parsed.source or "").encode("utf-8", "replace"), parsed.value
    if not source:
        return False
    keys = sum(len(each) for level in containers_by_level(value) for each in level if type(each) is dict)
    if source.count(b":") <= keys or len(_KEY.findall(source)) <= keys:
        return False
    return find_repeated_key(source) is not None


def document_record(facts: FieldFacts) -> dict[str, Any]:
    """The record of a document as plain values; its errors are listed, hits are not."""
    parsed = facts.parsed
    unsupported = islice((leaf for leaf in facts.predicted.leaves if id(leaf) in facts.unsupported), LISTED_ERRORS)
    wrong = sum(leaf.state != HIT for leaf in facts.gold.leaves)
    errors = wrong + sum(leaf.partner is None for leaf in facts.predicted.leaves)
    return {
        "id": facts.document.id,
        "parse": None if parsed is None else {name: getattr(parsed, name) for name in _READING},
        "compliant": facts.compliant,
        "leaves": {"gold": len(facts.gold.leaves), "predicted": len(facts.predicted.leaves), "hits": facts.hits},
        "errors": [*islice(_errors(facts), LISTED_ERRORS)],
        "errors_left_out": max(0, errors - LISTED_ERRORS),
        "shape_mended": facts.alignment.shape_mended,
        "gold_left_out": sorted({*facts.gold.left_out})[:LISTED_ERRORS],
        "unsupported": [{"path": path_name(leaf), "value": plain(leaf.value)} for leaf in unsupported],
    }


def _errors(facts: FieldFacts) -> Iterator[dict[str, Any]]:
    """Every leaf that is not a hit; a pair once, with both sides."""
    for leaf in facts.gold.leaves:
        if leaf.state != HIT:
            yield _error(leaf, leaf, leaf.partner)
    for leaf in facts.predicted.leaves:
        if leaf.partner is None:
            yield _error(leaf, None, leaf)


def _error(named: Leaf, gold: Leaf | None, predicted: Leaf | None) -> dict[str, Any]:
    is_confused = named.state == WRONG and named.shape.is_enum
    return {
        "error": named.state,
        "kind": named.detail or None,
        "path": path_name(named),
        **({"enum": True} if is_confused else {}),
        "gold": None if gold is None else {"at": location(gold), "value": plain(gold.value)},
        "predicted": None if predicted is None else {"at": location(predicted), "value": plain(predicted.value)},
    }
