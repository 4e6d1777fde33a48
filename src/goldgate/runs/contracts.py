"""Types of comparison.json, changed.jsonl and the JSON of `goldgate trend`; their JSON Schemas are made from these."""

from typing import Literal, NotRequired, TypedDict

from goldgate.core.contracts import ComparedValue, DifferenceOfRates, ErrorReport, MetricValue

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class MissingAnswers(TypedDict):
    """Answers that are not there, which count as wrong, and the ids of the first."""

    count: int
    first: list[str]


class ComparedRun(TypedDict):
    """Digests of what a system made, how it was asked, where goldgate asked it, and what is missing."""

    inputs: dict[str, list[str]]
    asked: str | None
    missing: MissingAnswers


class ComparedSystem(TypedDict):
    """A system; `best_in` are the main metrics in which it is better than every other beyond doubt."""

    name: str
    runs: list[ComparedRun]
    best_in: list[str]
    metrics: dict[str, ComparedValue]


class TestOfDifference(TypedDict):
    """Where the p-value comes from; of a swap test, whether all swaps were counted, or how many were drawn."""

    method: Literal["swap", "paired-t", "runs-t", "macro-t"]
    exact: NotRequired[bool]
    swaps: NotRequired[int]


class TestedDifference(TypedDict):
    """One metric of a system against the reference. Where a rate is undefined there is no difference, with a reason.

    `detectable` is the smallest difference that these units show with 80 % power.
    """

    metric: str
    system: str
    against: str
    difference: DifferenceOfRates | None
    reason: NotRequired[str]
    p: float | None
    p_adjusted: float | None
    adjustment: Literal["holm", "benjamini-hochberg"]
    test: TestOfDifference | None
    wins: NotRequired[int]
    ties: NotRequired[int]
    losses: NotRequired[int]
    units: int
    detectable: NotRequired[float | None]
    units_for_one_point: NotRequired[int | None]


class ComparedMetric(TestedDifference):
    """The difference of a metric over all units."""

    family: Literal["main", "other"]


class ComparedPart(TestedDifference):
    """The difference of one part, such as an event type or a role, with the rates of both systems."""

    part: list[str]
    values: dict[str, float | None]


class ChangedUnit(TypedDict):
    """A unit whose counts differ, with both counts. `change` is its part of the difference; these add up to it."""

    id: str
    system: str
    against: str
    metric: str
    change: float | None
    counts: dict[str, dict[str, int]]


class ChangedUnits(TypedDict):
    """How many units changed for each system, and the first lines of changed.jsonl."""

    metric: str
    units: dict[str, int]
    first: list[ChangedUnit]


class LeftOutUnits(TypedDict):
    """How many units a system lacks that others have, and the first of them: they are left out."""

    system: str
    lacks: int
    first: list[str]


class ComparisonReport(TypedDict):
    """A comparison; one that could not be carried out has `error` instead."""

    format_version: int
    kind: Literal["comparison"]
    suite: str
    against: str
    unit: str
    units: int
    level: float
    power: float
    headline: list[str]
    signature: str
    gold: dict[str, list[str]]
    same_gold: bool
    left_out: list[LeftOutUnits]
    systems: list[ComparedSystem]
    comparisons: list[ComparedMetric]
    parts: list[ComparedPart]
    changed: ChangedUnits
    error: None


COMPARISON_CONTRACTS = {
    "comparison.schema.json": ("Comparison", ComparisonReport | ErrorReport),
    "comparison_changed.schema.json": ("Changed unit", ChangedUnit),
}


class TrendGate(TypedDict):
    """The bounds that a gate sets for a value."""

    min: NotRequired[str]
    max: NotRequired[str]
    equals: NotRequired[str]


class TrendPoint(TypedDict):
    """What a report says of a metric, and the change since the last report that can be compared."""

    measured: MetricValue | None
    change: float | None
    gate: TrendGate | None
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE"] | None


class TrendReport(TypedDict):
    """A stored report. `differs_in` is what keeps its numbers from being compared with those before it."""

    name: str
    status: Literal["PASS", "FAIL", "INCONCLUSIVE", "NO_GATES", "SYSTEM_ERROR"]
    signature: str | None
    report_sha256: str | None
    differs_in: list[str]
    metrics: dict[str, TrendPoint]


class Trend(TypedDict):
    """Reports in the order given, each with the metrics that were asked for."""

    format_version: int
    kind: Literal["trend"]
    suite: str
    reports: list[TrendReport]


class CurvePoint(TypedDict):
    """The smallest difference that a number of records shows."""

    records: int
    detectable: float


class PlannedDifference(TypedDict):
    """How many units show the difference that is asked for. Only `reason` where there is no spread to plan with."""

    standard_error: NotRequired[float]
    correlation: NotRequired[float | None]
    detectable: NotRequired[float | None]
    units_needed: NotRequired[int | None]
    records_needed: NotRequired[int | None]
    reason: str | None
    curve: NotRequired[list[CurvePoint]]


class PlannedGate(TypedDict):
    """Whether the interval leaves out a bound, or with how many records it would."""

    bound: Literal["min", "max", "threshold"]
    threshold: str
    decided: Literal["above", "below"] | None
    tends: NotRequired[Literal["above", "below"]]
    records_needed: int | None
    reason: NotRequired[str | None]


class PlannedMetric(TypedDict):
    measured: MetricValue
    units: int
    difference: PlannedDifference
    gates: list[PlannedGate]


class PairsValue(TypedDict):
    """The pairs of two stored systems, and what they are of."""

    unit: str
    pairs: int


class PowerPlan(TypedDict):
    """The JSON of `goldgate power`."""

    format_version: int
    kind: Literal["power"]
    suite: str
    signature: str
    unit: str
    records: int
    level: float
    power: float
    detect: str
    against: PairsValue | None
    correlation: float | None
    metrics: dict[str, PlannedMetric]
    error: None


class ThresholdProposal(TypedDict):
    """A proposed threshold with its arithmetic."""

    threshold: str
    prior: str
    posterior: str
    further_trials: int
    count: int
    chance_below: str
    arithmetic: str


class BaselineMetric(TypedDict):
    """One metric of a baseline record: hits and trials of each report, and what they propose."""

    default: str | None
    numerator: int
    denominator: int
    observed: str | None
    by_report: list[str]
    proposal: ThresholdProposal | None
    caution: NotRequired[str]


class BaselineReport(TypedDict):
    """A report of a baseline record, beside its sizes."""

    sha256: str
    signature: str
    status: str


class BaselineUnitsEntry(TypedDict):
    """The file with what each unit counted."""

    file: str
    count: int
    size: int
    sha256: str


class BaselineRecord(TypedDict):
    """Stored reports summed, beside the sizes of all together."""

    format_version: int
    kind: Literal["baseline"]
    suite: str
    metrics_version: str
    false_alarm_rate: str
    reports: list[BaselineReport]
    metrics: dict[str, BaselineMetric]


class BaselineFolderRecord(BaselineRecord):
    """The record of a baseline folder, which also has the units; `signature` says how all runs were scored."""

    units: BaselineUnitsEntry
    signature: str
    asked: dict[str, list[str]]
    judged: list[dict[str, list[str]]]


TREND_CONTRACTS = {"trend.schema.json": ("Trend", Trend | ErrorReport)}
