"""The shapes of report.json and of a line of samples.jsonl; the JSON Schemas are generated from here."""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from typing import Literal, NotRequired, TypedDict

from goldgate.core.contracts import (
    CountedRecord,
    CountValue,
    ErrorValue,
    FileDigest,
    FindingValue,
    GateValue,
    MeanValue,
    ProtocolValue,
    RateValue,
    StandsOut,
)


class MetricsValue(TypedDict):
    """All metrics by name, with the version of their definitions."""

    version: str
    main: dict[str, RateValue | CountValue]
    diagnostics: dict[str, RateValue | CountValue]
    papers: NotRequired[dict[str, RateValue | CountValue]]  # where the protocol sets a profile


class InputsValue(TypedDict):
    """Digests of what the numbers come from; the lists are empty for records that were in memory."""

    gold: list[FileDigest]
    predictions: list[FileDigest]
    schema: str | None
    protocol: str | None
    baseline: str | None


class ErrorCount(TypedDict):
    """value = false_positives + false_negatives."""

    value: int
    false_positives: int
    false_negatives: int


class ConfusedTypes(TypedDict):
    """How often this event type of the gold was predicted as that one."""

    gold: str
    predicted: str
    count: int


class ConfusedRoles(TypedDict):
    """How often, within an event type, this role of the gold was predicted as that one."""

    event_type: str
    gold: str
    predicted: str
    count: int


class LeftOutPairs(TypedDict):
    """Pairs that are not listed, and how often they occurred."""

    pairs: int
    count: int


class TypeConfusions(TypedDict):
    """The most frequent pairs of event types."""

    pairs: list[ConfusedTypes]
    left_out: LeftOutPairs


class RoleConfusions(TypedDict):
    """The most frequent pairs of roles."""

    pairs: list[ConfusedRoles]
    left_out: LeftOutPairs


class Confusions(TypedDict):
    """Who was taken for whom, by the errors wrong_type and wrong_role."""

    event_types: TypeConfusions
    roles: RoleConfusions


class ViolationCount(TypedDict):
    """How many answers have a violation, and how often it was found."""

    samples: int
    occurrences: int


class ValueCounts(TypedDict):
    """How many different values were checked for hallucination, and how many units they give."""

    distinct: int
    units: int


class TextCounts(TypedDict):
    """Different texts that were looked at, and the samples or groups that have them, each counted once for a text."""

    distinct: int
    units: int


class Reading(TypedDict):
    """How the answers were found and mended, and which violations they had."""

    methods: dict[str, int]
    thoughts: dict[str, int]
    repairs: dict[str, int]
    violations: dict[str, ViolationCount]
    null_words: int
    values: ValueCounts
    texts: TextCounts


class Hint(TypedDict):
    """What so many of the answers have, and the setting that would read it."""

    answers: int
    of: int
    have: str
    setting: str


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


class Breakdown(TypedDict):
    """Where the score comes from."""

    event_types: list[UnitScores]
    roles: list[UnitScores]
    papers: NotRequired[list[PaperScores]]  # where a profile counts them
    macro: MacroValue


class ExtractionReport(TypedDict):
    """A report with numbers; one that ended in SYSTEM_ERROR has `error` instead."""

    format_version: int
    suite: Literal["extraction"]
    status: Literal["PASS", "FAIL", "INCONCLUSIVE", "NO_GATES"]
    protocol: ProtocolValue
    signature: str
    inputs: InputsValue
    gates: list[GateValue]
    gates_together: NotRequired[str]
    metrics: MetricsValue
    stands_out: list[StandsOut]
    errors: dict[str, ErrorCount]
    confusions: Confusions
    reading: Reading
    hints: list[Hint]
    breakdown: Breakdown
    findings: list[FindingValue]
    error: None


class ErrorReport(TypedDict):
    """The evaluation could not be carried out."""

    format_version: int
    suite: Literal["extraction"]
    status: Literal["SYSTEM_ERROR"]
    error: ErrorValue


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


class SampleRecord(CountedRecord):
    """A line of samples.jsonl; every number of the report is a sum over these. Missing predictions have no `parse`."""

    id: str
    parse: ParseRecord | None
    gold: dict[str, list[RoleArgument]]
    predicted: dict[str, list[RoleArgument]]
    relaxed_pairs: list[RelaxedPair]
    errors: list[NamedError]
    violations: list[FoundViolation]
    hallucination: HallucinationRecord | None
    cot: CotRecord | None
