"""One document scored: the answer read, aligned with gold leaf by leaf, checked, and every error named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import orjson

from goldgate.core.value_text import Normalize, NumberText, contained_values, first_values, normalize, normalizer
from goldgate.errors import ConfigError, Place
from goldgate.files.parsing import find_repeated_key
from goldgate.response import Method, Parsed, Status, Step, read_answer
from goldgate.response.parsed import JsonForm
from goldgate.suites.fields.alignment import Alignment, align_trees, name_errors
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
from goldgate.suites.fields.limits import MAX_SOUGHT, Beyond, CutAnswer
from goldgate.suites.fields.schema import MAX_DEPTH, FieldSchema, PathShape, step_text
from goldgate.suites.fields.spellings import key_places, number_of, value_keys
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


class SupportCheck(NamedTuple):
    """What a source text has of some leaves: distinct values at a path are counted once."""

    missing: frozenset[int]  # ids of leaves that the text does not have
    values: int  # that were looked for
    unsupported: int  # of these, the text does not have


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
    is_derived: bool = False  # the schema is the shape of gold
    repeated_keys: bool = False
    support: SupportCheck | None = None  # of predicted leaves; None without a text
    absent: tuple[int, int] = (0, 0)  # scalar paths that gold leaves absent: right, and all
    confidences: list[ScoredLeaf] = field(default_factory=list)
    beyond: Beyond = field(default_factory=Beyond)  # what of the answer is counted, and not compared
    answer: int = 0  # its digest, where the answer was stored
    hits: int = field(init=False)  # leaves

    def __post_init__(self) -> None:
        self.hits = sum([leaf.state == HIT for leaf in self.gold.leaves])

    @property
    def unsupported(self) -> frozenset[int]:
        """The ids of predicted leaves that the text does not have."""
        return frozenset() if self.support is None else self.support.missing

    @property
    def is_read(self) -> bool:
        """Whether there is an answer that could be read."""
        return self.parsed is not None and self.parsed.status != Status.ERROR

    @property
    def is_whole(self) -> bool:
        """Whether every leaf of both sides is a hit."""
        return self.hits == len(self.gold.leaves) == self.predicted_count

    @property
    def predicted_count(self) -> int:
        """How many leaves the answer has, with those beyond the limits."""
        return len(self.predicted.leaves) + self.beyond.leaves.total()

    @property
    def has_too_many(self) -> bool:
        """Whether a part of the answer lies beyond the limits."""
        return bool(self.beyond.leaves) or self.alignment.pairs_left_out > 0


class FieldsScorer:
    """Scores documents by one schema and one protocol. It holds no document and no sum."""

    def __init__(self, settings: FieldsSettings, schema: FieldSchema) -> None:
        self.settings = settings
        self.schema = schema
        null_words = frozenset(map(normalize, settings.null_words)) - {""}
        self.normalize = normalizer(settings.blanks)
        self._leave_out = leave_out = settings.outside_schema == "leave_out"
        self._gold_builder = TreeBuilder(null_words, leave_out=leave_out, normalize_key=self.normalize)
        self._builder = TreeBuilder(null_words, leave_out=False, normalize_key=self.normalize)
        self._form = _form_of(schema, settings)
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
        cut = CutAnswer(value, document.value, root, self._builder.is_absent, leave_out=self._leave_out)
        gold, predicted = self._gold_builder.build(document.value, root), self._builder.build(cut.value, root)
        facts = FieldFacts(
            document, parsed, gold, predicted, align_trees(gold, predicted), is_derived=self.schema.is_derived,
            beyond=cut.beyond(predicted),
        )  # fmt: skip
        if document.text:
            facts.support = check_support(document.text, predicted.leaves, self.normalize)
        if not facts.is_whole:
            name_errors(gold, predicted, facts.unsupported)
        # Objects that stand beside each other in no list.
        is_joined = parsed is not None and Step.JOINED_OBJECTS in parsed.repairs
        facts.alignment.shape_mended += is_joined
        if self.validator is not None:
            facts.compliant = facts.is_read and not (facts.has_too_many or is_joined) and self.validator.is_valid(value)
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
        predicted = facts.predicted
        leaves = (*(leaf.shape for leaf in predicted.leaves), *facts.beyond.leaves)
        present = {shape.name for shape in leaves}.union(predicted.other_shape)
        if "$" in predicted.scalar_parents:
            return 0, len(absent)
        parents = (*(f"{parent}." for parent in predicted.scalar_parents),)
        return sum(not path.startswith(parents) for path in absent - present), len(absent)


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


def check_support(text: str, leaves: list[Leaf], normalize: Normalize = normalize) -> SupportCheck:
    """Look for the values of leaves in a source text.

    Texts are looked for as they stand, numbers and dates by what they mean; booleans and values of enums are not.
    """
    checked = [leaf for leaf in leaves if not isinstance(leaf.value, bool) and not leaf.shape.is_choice]
    texts = {leaf.value: normalize(leaf.value) for leaf in checked if type(leaf.value) is str}
    present = contained_values(_sought(checked, texts), normalize(text))

    formats = tuple(sorted({each for leaf in checked for each in leaf.shape.settings.formats}))

    @cache
    def text_keys() -> set[object]:
        return {key for key, _ in key_places(text, formats)}

    missing, values, unsupported = list[int](), set[object](), set[object]()
    for leaf in checked:
        normalized, keys = texts.get(leaf.value), value_keys(leaf.value, leaf.shape.settings.formats)
        value = leaf.shape.name, keys or normalized or leaf.key
        values.add(value)
        if normalized not in present and (not keys or keys.isdisjoint(text_keys())):
            missing.append(id(leaf))
            unsupported.add(value)
    return SupportCheck(frozenset(missing), len(values), len(unsupported))


def _sought(leaves: list[Leaf], texts: Mapping[Any, str]) -> set[str]:
    """The texts to look for: of very many, those of hits, then the first ones."""
    hits = (texts[leaf.value] for leaf in leaves if leaf.state == HIT and leaf.value in texts)
    return first_values({*texts.values()}, hits, MAX_SOUGHT)


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


def _form_of(schema: FieldSchema, settings: FieldsSettings) -> JsonForm:
    kinds = schema.root.kinds
    keys = frozenset(child.parts[-1] for child in schema.root.listed_children() if child.declared)
    is_list = "array" in kinds and "object" not in kinds
    return JsonForm(is_list=is_list, keys=keys - {"*", "[]"}, next_example=settings.next_example)


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
    """Whether an object of the answer has a key twice; in a value that was decoded elsewhere, the last one counts."""
    source = answer.source
    if source is None:
        return Step.REPEATED_KEYS in parsed.repairs
    keys = sum(len(each) for level in containers_by_level(answer.record) for each in level if type(each) is dict)
    if source.count(b":") <= keys or len(_KEY.findall(source)) <= keys:
        return False
    return find_repeated_key(source) is not None


def document_record(facts: FieldFacts) -> dict[str, Any]:
    """The record of a document as plain values; its errors are listed, hits are not."""
    parsed = facts.parsed
    missing = (leaf for leaf in facts.predicted.leaves if id(leaf) in facts.unsupported)
    unsupported = dict.fromkeys((path_name(leaf), plain(leaf.value)) for leaf in missing)
    wrong = sum(leaf.state != HIT for leaf in facts.gold.leaves)
    errors = wrong + sum(leaf.partner is None for leaf in facts.predicted.leaves)
    beyond = facts.beyond.leaves.total()
    return {
        "id": facts.document.id,
        "parse": None if parsed is None else {name: getattr(parsed, name) for name in _READING},
        "compliant": facts.compliant,
        "leaves": {"gold": len(facts.gold.leaves), "predicted": facts.predicted_count, "hits": facts.hits},
        "errors": [*islice(_errors(facts), LISTED_ERRORS)],
        "errors_left_out": max(0, errors - LISTED_ERRORS) + beyond,
        "too_many": beyond + facts.alignment.pairs_left_out,
        "shape_mended": facts.alignment.shape_mended,
        "gold_left_out": sorted({*facts.gold.left_out})[:LISTED_ERRORS],
        "unsupported": [{"path": path, "value": value} for path, value in islice(unsupported, LISTED_ERRORS)],
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
