"""The shapes of the files that the fields suite reads and writes; the JSON Schemas are generated from these types."""

from typing import Any, Literal, NotRequired, TypedDict

from goldgate.core.contracts import (
    CountedRecord,
    CountValue,
    ErrorReport,
    InputDigests,
    LeftOutPairs,
    MeanValue,
    ParseCounts,
    RateValue,
    SuiteReport,
)

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class FieldsGold(TypedDict):
    """A gold record: the value that an answer should have, and the text that it was taken from."""

    id: str | int
    value: dict[str, object] | list[object]
    text: NotRequired[str | None]
    group: NotRequired[str | int | None]


class RawFields(TypedDict):
    """What the model wrote, as it stands; null for no answer. Chat messages and replies are read too."""

    id: str | int
    response: str | list[object] | dict[str, object] | None


class DecodedFields(TypedDict):
    """A value that was decoded elsewhere, and how confident it is of each leaf, by location: items[0].price."""

    id: str | int
    value: object
    confidence: NotRequired[dict[str, float | None] | None]


class FieldsMetrics(TypedDict):
    """All metrics by name, with the version of their definitions."""

    version: str
    main: dict[str, RateValue | CountValue]
    confidence: dict[str, RateValue | CountValue]


class GoldShapes(TypedDict):
    """How gold fits the schema: leaves at undeclared paths, and places of another shape, by path."""

    schema: Literal["given", "derived"]
    outside_schema: Literal["leave_out", "count"]
    undeclared_paths: dict[str, int]
    other_shapes: dict[str, int]
    value_fields: dict[str, int]


class LeafErrors(TypedDict):
    leaves: int
    hit: int
    wrong: int
    misplaced: int


class GoldLeafErrors(LeafErrors):
    """leaves = hit + wrong + misplaced + missing."""

    missing: int


class PredictedLeafErrors(LeafErrors):
    """leaves = hit + wrong + misplaced + hallucinated + spurious."""

    hallucinated: int
    spurious: int


class FieldErrors(TypedDict):
    """What became of the leaves of both sides, and in which way wrong values are wrong."""

    gold: GoldLeafErrors
    predicted: PredictedLeafErrors
    wrong: dict[str, int]


class EnumConfusion(TypedDict):
    """How often one value of an enum was predicted where gold has another."""

    path: str
    gold: str
    predicted: str
    count: int


class EnumConfusions(TypedDict):
    """Values of enums that were taken for others, the most frequent first."""

    pairs: list[EnumConfusion]
    left_out: LeftOutPairs


class FieldsReading(ParseCounts):
    """How answers were found and mended, and what alignment did beside pairing."""

    repeated_keys: int
    too_many: int  # leaves beyond the limits of answers, and pairs of items that were not compared
    shape_mended: int
    pair_share_cost: int
    equal_only_lists: dict[str, int]
    respelled_keys: dict[str, int]  # `Vendor for vendor` → leaves under a key that the schema spells otherwise


class PathCounts(TypedDict):
    path: str
    predicted: int
    gold: int
    hits: int


class ItemRow(PathCounts):
    """Items at one path that are right as a whole."""

    item_precision: RateValue
    item_recall: RateValue
    item_f1: RateValue


class PathErrors(TypedDict):
    """Leaves of one path by the name of their error."""

    gold: dict[str, int]
    predicted: dict[str, int]


class PathRow(PathCounts):
    """Leaves at one path; what wrong values would be under another comparator."""

    field_precision: RateValue
    field_recall: RateValue
    field_f1: RateValue
    errors: PathErrors
    would_hit: dict[str, int]


class PathBreakdown(TypedDict):
    """Every path, every list of objects, and averages over paths."""

    paths: list[PathRow]
    items: list[ItemRow]
    macro: dict[str, MeanValue]


class ReviewValue(TypedDict):
    """Leaves with a confidence, how many of them are wrong, and how many need no review, from which threshold on."""

    leaves: int
    wrong: int
    straight_through: int
    threshold: float | None


class FieldsReport(SuiteReport):
    """A report with numbers; one that ended in SYSTEM_ERROR has `error` instead."""

    suite: Literal["fields"]
    inputs: InputDigests
    metrics: FieldsMetrics
    gold: GoldShapes
    errors: FieldErrors
    confusions: EnumConfusions
    reading: FieldsReading
    breakdown: PathBreakdown
    review: ReviewValue


class AnswerReading(TypedDict):
    """How an answer was read."""

    status: Literal["raw", "repaired", "error"]
    method: str
    repairs: list[str]
    start: int | None
    end: int | None


class LeafCounts(TypedDict):
    gold: int
    predicted: int
    hits: int


class LeafPlace(TypedDict):
    """Where a leaf is in its value, and the leaf."""

    at: str
    value: str | float | bool


class LeafError(TypedDict):
    """A leaf that is not a hit, with the leaf of the other side where it has one."""

    error: Literal["wrong", "misplaced", "missing", "hallucinated", "spurious"]
    kind: str | None
    path: str
    enum: NotRequired[Literal[True]]  # one of its values was taken for another
    gold: LeafPlace | None
    predicted: LeafPlace | None


class UnsupportedLeaf(TypedDict):
    path: str
    value: str | float | bool


class DocumentRecord(CountedRecord):
    """A line of samples.jsonl. Of very many errors the first are listed."""

    id: str
    parse: AnswerReading | None
    compliant: bool | None
    leaves: LeafCounts
    errors: list[LeafError]
    errors_left_out: int
    too_many: int  # leaves beyond the limits of an answer, and pairs of items that were not compared
    shape_mended: int
    gold_left_out: list[str]
    unsupported: list[UnsupportedLeaf]


CONTRACTS: dict[str, tuple[str, Any]] = {
    "fields_gold.schema.json": ("Gold record of the fields suite", FieldsGold),
    "fields_predictions.schema.json": ("Prediction record of the fields suite", RawFields | DecodedFields),
    "fields_report.schema.json": ("Report of the fields suite", FieldsReport | ErrorReport),
    "fields_sample.schema.json": ("Document, a line of samples.jsonl", DocumentRecord),
}
