"""The shapes of the files that the judged suite reads and writes; the JSON Schemas are generated from these types."""

from typing import Any, Literal, NotRequired, TypedDict

from goldgate.core.contracts import CountedRecord, ErrorReport, EstimateValue, RateValue, SuiteReport
from goldgate.readers.draw import DrawHeader
from goldgate.readers.label_checks import LabelDraws
from goldgate.readers.labels import LabelDigest

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class LabelRecord(TypedDict):
    """A label: true, false, a number from 0 to 1, a word of the protocol, "unsure" (a person) or null (a judge)."""

    id: str | int
    label: bool | float | str | None
    by: str
    kind: Literal["human", "judge"]
    group: NotRequired[str | int | None]
    question: NotRequired[str | None]
    note: NotRequired[str | None]
    item_sha256: NotRequired[str | None]  # of what was shown
    drawn: NotRequired[int | None]  # items of the draw that a person labelled
    labels_sha256: NotRequired[str | None]  # of the judge's labels that the draw named then


class ItemRecord(TypedDict):
    """Something that is to be judged. Whatever else it has is shown."""

    id: str | int
    group: NotRequired[str | int | None]
    question: NotRequired[str | None]


class JudgedMetrics(TypedDict):
    """All metrics by name, with the version of their definitions."""

    version: str
    main: dict[str, RateValue | EstimateValue]


class ItemDigest(TypedDict):
    """A file of items."""

    sha256: str
    items: int


class JudgedInputs(TypedDict):
    """Digests of what the numbers come from."""

    labels: list[LabelDigest]
    items: list[ItemDigest]
    draw: str | None
    protocol: str | None
    baseline: str | None


class LabellingValue(TypedDict):
    """Who labelled what, and how it was chosen."""

    items: int
    human_steps: int
    judge_steps: int
    sampling: Literal["drawn", "complete", "trusted"]
    people: list[str]
    judges: list[str]
    labelled_by_several: int
    without_judge_label: int
    judge_labels_outside: int
    stretched: list[str]
    judge_is_older: bool
    label_draws: LabelDraws | None
    draw: DrawHeader | None


class RateDetails(TypedDict):
    """What a corrected rate was made from: with every unsure item 0, and with every one 1.

    `lambdas` has one number, or one for each stratum after small ones were merged.
    """

    value: float
    beta: float
    lambdas: list[float]
    variance: float
    effective_labels: float
    degrees_of_freedom: float


class RateEndsValue(TypedDict):
    all_0: RateDetails
    all_1: RateDetails


class QuestionRow(TypedDict):
    """One question: N items, n labelled by people, of the others drawn as many as `unsure`, m others."""

    question: str
    items: int
    labelled: int
    unsure: int
    others: int
    groups: int | None
    strata: int
    merged_strata: int
    judge_is_constant: bool
    ends: RateEndsValue | None
    metrics: dict[str, RateValue | EstimateValue]


class QuestionList(TypedDict):
    """The questions in the order of their names, and how many are not listed."""

    rows: list[QuestionRow]
    left_out: int


class JudgedDetails(TypedDict):
    """The suite's own parts of a report."""

    labelling: LabellingValue
    questions: QuestionList


class JudgedReport(SuiteReport, JudgedDetails):
    """A report with numbers; one that ended in SYSTEM_ERROR has `error` instead."""

    suite: Literal["judged"]
    inputs: JudgedInputs
    metrics: JudgedMetrics


class LabelEntry(TypedDict):
    by: str
    label: float | Literal["unsure"] | None


class ItemLabelsRecord(CountedRecord):
    """A line of samples.jsonl: an item of one question with its labels."""

    id: str
    item: str
    question: str
    stratum: str | None
    drawn: bool
    human: float | None
    judge: float | None
    people: list[LabelEntry]
    judges: list[LabelEntry]


CONTRACTS: dict[str, tuple[str, Any]] = {
    "judged_labels.schema.json": ("Label of the judged suite", LabelRecord),
    "judged_items.schema.json": ("Item of the judged suite", ItemRecord),
    "judged_draw.schema.json": ("First line of a draw of the judged suite", DrawHeader),
    "judged_report.schema.json": ("Report of the judged suite", JudgedReport | ErrorReport),
    "judged_sample.schema.json": ("Item, a line of samples.jsonl", ItemLabelsRecord),
}
