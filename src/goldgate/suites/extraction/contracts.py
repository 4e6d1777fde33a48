"""The shapes of the files that extraction reads and writes; the JSON Schemas are generated from these types.

Gold, predictions and the event schema come first, then report.json and the lines of samples.jsonl.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from goldgate.core.contracts import (
    CountedRecord,
    CountValue,
    ErrorReport,
    InputDigests,
    LeftOutPairs,
    MeanValue,
    ParseCounts,
    RateValue,
    SuiteMetrics,
    SuiteReport,
)
from goldgate.shape import AtLeast, Distinct, Matching, NotEmpty

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class MetricsValue(SuiteMetrics):
    """All metrics by name, with the version of their definitions."""

    main: dict[str, RateValue | CountValue]
    companions: dict[str, RateValue | CountValue]
    diagnostics: dict[str, RateValue | CountValue]
    papers: NotRequired[dict[str, RateValue | CountValue]]  # where the protocol sets a profile


class ErrorCount(TypedDict):
    """value = false_positives + false_negatives."""

    value: int
    false_positives: int
    false_negatives: int


class ConfusedPair(TypedDict):
    """This name of the gold was predicted as that one: an event type, in `count` samples; or a role within an event
    type, of `count` arguments."""

    event_type: NotRequired[str]
    gold: str
    predicted: str
    count: int


class ConfusedPairs(TypedDict):
    """The most frequent pairs."""

    pairs: list[ConfusedPair]
    left_out: LeftOutPairs


class Confusions(TypedDict):
    """Who was taken for whom, by the errors wrong_type and wrong_role."""

    event_types: ConfusedPairs
    roles: ConfusedPairs


class ViolationCount(TypedDict):
    """How many answers have a violation, and how often it was found."""

    samples: int
    occurrences: int


class DistinctCounts(TypedDict):
    """How many different values were checked for hallucination, and how many units they give."""

    distinct: int
    units: int


class TextCounts(DistinctCounts):
    """How many different texts there are, and how many samples or groups have them, each counted once for a text; how
    many texts are in more than one, and in how many these are. Of very many texts these are the counts of a sample."""

    repeated: int
    repeated_units: int
    is_sample: bool


class GoldCounts(TypedDict):
    """How many gold arguments are beside a source text, how many of them are not in it; and how many arguments of all
    gold repeat another of their record, and count once."""

    values: int
    not_in_text: int
    merged: int


class Reading(ParseCounts):
    """How the answers were found and mended, and which violations they had."""

    violations: dict[str, ViolationCount]
    null_words: int
    values: DistinctCounts
    texts: TextCounts
    gold: GoldCounts


class Hint(TypedDict):
    """What some answers have, and the setting that would read it, or what else to do where no setting would."""

    answers: int
    of: int
    have: str
    setting: str | None
    advice: str | None


class HintSection(TypedDict):
    """Hints, and one setting for all of them, with what the protocol sets already."""

    hints: list[Hint]
    hints_setting: str | None


class UnitScores(TypedDict):
    """Counts and rates of one event type, or of one role of it."""

    event_type: str
    role: NotRequired[str]
    predicted: int
    gold: int
    strict_hits: int
    relaxed_hits: int
    strict_precision: RateValue
    strict_recall: RateValue
    strict_f1: RateValue
    relaxed_precision: RateValue
    relaxed_recall: RateValue
    relaxed_f1: RateValue


class MacroScores(TypedDict):
    """Plain averages over event types, or over roles."""

    strict_precision: MeanValue
    strict_recall: MeanValue
    strict_f1: MeanValue
    relaxed_precision: MeanValue
    relaxed_recall: MeanValue
    relaxed_f1: MeanValue


class MacroValue(TypedDict):
    event_types: MacroScores
    roles: MacroScores
    papers: NotRequired[dict[str, MeanValue]]  # over event types, where a profile counts them


class PaperRole(TypedDict):
    """What a profile counts for one role of an event type."""

    role: str
    metrics: dict[str, RateValue]


class PaperScores(TypedDict):
    """What a profile counts for one event type."""

    event_type: str
    metrics: dict[str, RateValue]
    roles: NotRequired[list[PaperRole]]


class LeftOutParts(TypedDict):
    """Event types and roles that only answers have, beyond those that are listed, and the units of these types."""

    event_types: int
    roles: int
    predicted: int


class Breakdown(TypedDict):
    """Where the score comes from: the parts that gold has, and of the others the 500 with most predictions."""

    event_types: list[UnitScores]
    roles: list[UnitScores]
    left_out: NotRequired[LeftOutParts]
    papers: NotRequired[list[PaperScores]]  # where a profile counts them
    macro: MacroValue


class ExtractionDetails(HintSection):
    """The parts of a report that only this suite has."""

    errors: dict[str, ErrorCount]
    confusions: Confusions
    reading: Reading
    breakdown: Breakdown


class ExtractionReport(SuiteReport, ExtractionDetails):
    """A report with numbers; one that ended in SYSTEM_ERROR has `error` instead."""

    suite: Literal["extraction"]
    inputs: InputDigests
    metrics: MetricsValue


Report = ExtractionReport | ErrorReport

RoleArgument = tuple[str, str]
Unit = tuple[str, str, str]  # event type, role, argument


class LeftOut(TypedDict):
    """A piece of the response that could have been the answer and was not taken."""

    start: int
    end: int
    reason: str


class ParseRecord(TypedDict):
    """How the response was read; start and end are code points of it."""

    status: str
    method: str
    repairs: list[str]
    thought: str
    start: int | None
    end: int | None
    left_out: list[LeftOut]


class RelaxedPair(TypedDict):
    """Two units that only relaxed matching pairs."""

    predicted: Unit
    gold: Unit


class NamedError(TypedDict):
    """A unit that one side lacks, the name of the mistake, and the unit of the other side that explains it."""

    error: str
    side: Literal["predicted", "gold"]
    unit: Unit
    paired_with: Unit | None


class FoundViolation(TypedDict):
    violation: str
    path: str


class HallucinationRecord(TypedDict):
    """How many values were checked, and those that the text does not support, as they were written."""

    checked: int
    unsupported: list[Unit]


class CotRecord(TypedDict):
    """How the thought compares with the answer; `missing` is the first unit that it does not name."""

    bucket: str
    type_consistent: bool
    argument_consistent: bool
    mentioned: list[str] | None
    missing: Unit | None
    copied: bool


class BeyondLimits(TypedDict):
    """What an answer has beyond the limits of one: distinct values, and event types; neither is listed anywhere."""

    values: int
    event_types: int


class ComparedSample(TypedDict):
    """A sample without what it counted. Missing predictions have no `parse`.

    Of violations with the same name the first 100 are listed; where there are more, `violation_counts` has them all.
    """

    id: str
    parse: ParseRecord | None
    gold: dict[str, list[RoleArgument]]
    predicted: dict[str, list[RoleArgument]]
    relaxed_pairs: list[RelaxedPair]
    errors: list[NamedError]
    violations: list[FoundViolation]
    hallucination: HallucinationRecord | None
    cot: CotRecord | None
    violation_counts: NotRequired[dict[str, int]]
    beyond_limits: NotRequired[BeyondLimits]


class SampleRecord(CountedRecord, ComparedSample):
    """A line of samples.jsonl; every number of the report is a sum over these. Missing predictions have no `parse`."""


Words = Annotated[str, Matching(r"\S", "a text that is not blank")]
Name = Annotated[str, Matching(r"^\S([\s\S]*\S)?(?![\s\S])", "a name without blanks around it")]
RecordId = Annotated[str, Matching(r"[\s\S]", "a string that is not empty")] | int
Group = RecordId  # records of one group, the passages of a document for example, count as one in intervals
Offset = Annotated[int, AtLeast(0)]
Value = str | float  # in gold, a number is its text


class GoldArgument(TypedDict):
    """A role and what fills it; null gives no unit. Offsets are code points of the text, the end exclusive."""

    role: Words
    argument: Value | list[Value] | None
    start: NotRequired[Offset | None]
    end: NotRequired[Offset | None]


# From a role to its values; null is none.
GoldRoles = dict[Name, Value | list[Value | None] | None]


class NamedGoldEvent(TypedDict):
    """An event of the gold. Profiles read `trigger`, with `start` and `end`; other keys are not read."""

    event_type: Words
    arguments: list[GoldArgument] | GoldRoles


class TypedGoldEvent(TypedDict):
    """A gold event with `type` for `event_type`. Flat events, read by an event schema, are not described here."""

    type: Words
    arguments: list[GoldArgument] | GoldRoles


GoldEvent = NamedGoldEvent | TypedGoldEvent


class GoldRecord(TypedDict):
    """A gold record: an id, the source text, and the events in it, in an empty list if there are none."""

    id: RecordId
    text: NotRequired[str | None]
    events: list[GoldEvent]
    group: NotRequired[Group | None]


class DueeGoldRecord(TypedDict):
    """The same as DuEE publishes it; the source text is the title, where there is one, a line break, and the text."""

    id: RecordId
    text: NotRequired[str | None]
    event_list: list[GoldEvent]
    events: NotRequired[None]
    group: NotRequired[Group | None]


class DueeGoldWithoutEvents(TypedDict):
    """DuEE-Fin has no list at all for a document without events."""

    id: RecordId
    title: str
    text: NotRequired[str | None]
    events: NotRequired[None]
    event_list: NotRequired[None]
    group: NotRequired[Group | None]


Gold = GoldRecord | DueeGoldRecord | DueeGoldWithoutEvents


class Response(TypedDict):
    """What the model wrote, as it stands; empty if it said nothing, null if there is no answer.

    It may also be chat messages, the reply of an endpoint, or events that were decoded elsewhere.
    """

    id: RecordId
    response: str | list[object] | dict[str, object] | None


class DecodedEvents(TypedDict):
    """Events that were decoded elsewhere. Whatever is in the list is scored: what is wrong with it is counted."""

    id: RecordId
    events: list[object] | None


class DecodedEventList(TypedDict):
    """The same under DuEE's name."""

    id: RecordId
    event_list: list[object] | None


Prediction = Response | DecodedEvents | DecodedEventList


class EventType(TypedDict):
    """The roles of an event type, every one once."""

    roles: Annotated[list[Name], Distinct("every role once")]


class EventSchemaFile(TypedDict):
    """The event types there are, by name."""

    event_types: Annotated[dict[Name, EventType], NotEmpty("an entry for each event type")]


class DueeRole(TypedDict):
    role: Name


class DueeEventType(TypedDict):
    """A line of an event schema as DuEE publishes it; such a file has one for each event type."""

    event_type: Name
    role_list: list[DueeRole | Name]


EventSchema = EventSchemaFile | DueeEventType


# File name → title and type. A new artifact is a line here; `goldgate contracts` writes them all.
CONTRACTS: dict[str, tuple[str, Any]] = {
    "extraction_gold.schema.json": ("Gold record of the extraction suite", Gold),
    "extraction_predictions.schema.json": ("Prediction record of the extraction suite", Prediction),
    "extraction_event_schema.schema.json": ("Event schema", EventSchema),
    "extraction_report.schema.json": ("Report of the extraction suite", Report),
    "extraction_sample.schema.json": ("Sample, a line of samples.jsonl", SampleRecord),
}
