"""The shapes that the reports of all suites have in common."""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from typing import Literal, NotRequired, TypedDict


class IntervalValue(TypedDict):
    """The values that the units do not rule out, at this level of confidence."""

    level: float
    low: float
    high: float
    method: str
    unit: str
    units: int


class PlainRate(TypedDict):
    """A rate with its counts. Undefined: null, with a reason."""

    value: float | None
    numerator: int
    denominator: int
    reason: NotRequired[str]


class RateValue(PlainRate):
    """A rate with its counts and its interval. Undefined: null, with a reason."""

    interval: IntervalValue | None
    interval_reason: NotRequired[str]


class CountValue(TypedDict):
    """A number of things, with its interval. Undefined: null, with a reason."""

    value: int | None
    reason: NotRequired[str]
    interval: IntervalValue | None
    interval_reason: NotRequired[str]


class PlainMean(TypedDict):
    """The plain average of those rates that are defined."""

    value: float | None
    averaged: int
    undefined: int
    reason: NotRequired[str]


class MeanValue(PlainMean):
    """The same with its interval."""

    interval: IntervalValue | None
    interval_reason: NotRequired[str]


class CountedRecord(TypedDict):
    """What a line of samples.jsonl or runs.jsonl holds in every suite: what its unit counted.

    `units` has the counts of each table, `parts` those of each part of one, such as ["matching", "Attack"]. They are
    the counts of as many units as `times` says, or of one; `group` names what the unit is part of.
    """

    units: dict[str, list[int]]
    parts: NotRequired[list[tuple[list[str], list[int]]]]
    times: NotRequired[int]
    group: NotRequired[str]


class AgainstValue(TypedDict):
    """A stored run that a gate compares with: its name in the protocol, and the digest of its report or baseline."""

    name: str
    sha256: str


class DifferenceValue(TypedDict):
    """This run's rate less the stored one's, over their units; each bound holds with the gate's confidence."""

    value: float | None
    low: float | None
    high: float | None
    units: int


class JudgedGate(TypedDict):
    """A gate, but for what was measured. Bounds are decimals as written."""

    metric: str
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE"]
    reason: str
    severity: Literal["error", "warn"]
    on_not_evaluable: Literal["fail", "pass"]
    min: NotRequired[str]
    max: NotRequired[str]
    equals: NotRequired[str]
    max_drop: NotRequired[str]
    max_rise: NotRequired[str]
    confidence: NotRequired[str]
    on_inconclusive: NotRequired[Literal["fail", "warn", "pass"]]
    against: NotRequired[AgainstValue]
    difference: NotRequired[DifferenceValue]
    support: Literal["supported", "inconclusive", "refuted"] | None


class StandsOut(TypedDict):
    """A sign that a number is not what it seems."""

    code: str
    message: str
    counts: dict[str, int]


class FindingValue(TypedDict):
    """Something that a reader of the report must know of."""

    code: str
    severity: Literal["error", "warning", "hint"]
    file: str
    line: int | None
    pointer: str
    message: str
    id: NotRequired[str]


class ProtocolValue(TypedDict):
    version: str
    name: str


class ProblemValue(TypedDict):
    pointer: str
    expected: str
    found: str


class ErrorValue(TypedDict):
    """Why there are no numbers."""

    code: str
    message: str
    file: str | None
    line: int | None
    field: str | None
    expected: str | None
    found: str | None
    advice: str | None
    problems: NotRequired[list[ProblemValue]]


class FileDigest(TypedDict):
    """One input file."""

    sha256: str
    samples: int
    form: NotRequired[str]  # in which another program wrote it: a dialect of gold, a layout of predictions


class GateValue(JudgedGate):
    """One gate. Bounds are decimals as written."""

    measured: RateValue | CountValue | MeanValue


class PlainMetrics(TypedDict):
    """A suite's metrics by name."""

    version: str
    main: dict[str, RateValue | CountValue]


class PlainReport(TypedDict):
    """The report of a suite that joins gold and predictions and adds no parts of its own."""

    format_version: int
    suite: str
    status: Literal["PASS", "FAIL", "INCONCLUSIVE", "NO_GATES"]
    protocol: ProtocolValue
    signature: str
    inputs: dict[str, list[FileDigest] | str | None]
    gates: list[GateValue]
    gates_together: NotRequired[str]
    metrics: PlainMetrics
    stands_out: list[StandsOut]
    findings: list[FindingValue]
    error: None


class PlainErrorReport(TypedDict):
    """The evaluation could not be carried out."""

    format_version: int
    suite: str
    status: Literal["SYSTEM_ERROR"]
    error: ErrorValue
