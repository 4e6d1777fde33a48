"""Types of comparison.json, changed.jsonl and the JSON of `goldgate trend`; their JSON Schemas are made from these."""

from typing import Literal, NotRequired, TypedDict

from goldgate.core.contracts import CountValue, ErrorValue, IntervalValue, MeanValue, PlainMean, PlainRate, RateValue

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class ComparedValue(TypedDict):
    """A rate with its counts, a macro average with the number of its parts, or the mean of several runs.

    `between_runs` is the standard deviation of the runs, `se_runs` and `se_units` are the standard errors of the mean.
    Undefined: null, with a reason.
    """

    value: float | None
    numerator: NotRequired[int]
    denominator: NotRequired[int]
    averaged: NotRequired[int]
    undefined: NotRequired[int]
    by_run: NotRequired[list[float]]
    between_runs: NotRequired[float]
    se_runs: NotRequired[float]
    se_units: NotRequired[float]
    reason: NotRequired[str]
    interval: IntervalValue | None
    interval_reason: NotRequired[str]


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


class DifferenceOfRates(TypedDict):
    """System minus reference; `exact` as a fraction. Without an interval the bounds are null, with a reason."""

    value: float
    exact: NotRequired[str]
    low: float | None
    high: float | None
    method: NotRequired[str]
    reason: NotRequired[str]


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
    """Of the whole: the main metrics, and all others."""

    family: Literal["main", "other"]


class ComparedPart(TestedDifference):
    """Of one part, such as an event type or a role, with the rates of both systems."""

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


class ComparisonErrorReport(TypedDict):
    """The comparison could not be carried out."""

    format_version: int
    suite: Literal["compare"]
    status: Literal["SYSTEM_ERROR"]
    error: ErrorValue


COMPARISON_CONTRACTS = {
    "comparison.schema.json": ("Comparison", ComparisonReport | ComparisonErrorReport),
    "comparison_changed.schema.json": ("Changed unit", ChangedUnit),
}


# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class TrendReportEntry(TypedDict):
    """A stored report. `differs_in` is what keeps its numbers from being compared with those before it."""

    name: str
    status: Literal["PASS", "FAIL", "INCONCLUSIVE", "NO_GATES", "SYSTEM_ERROR"]
    signature: str | None
    report_sha256: str | None
    differs_in: list[str]


class TrendGate(TypedDict):
    """The bounds that a gate sets for a value."""

    min: NotRequired[str]
    max: NotRequired[str]
    equals: NotRequired[str]


class TrendPoint(TypedDict):
    """What a report says of a metric, and the change since the last one that can be compared."""

    name: str
    measured: RateValue | CountValue | MeanValue | PlainRate | PlainMean | None
    change: float | None
    gate: TrendGate | None
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE"] | None


class Trend(TypedDict):
    """Reports in the order given, and the metrics that were asked for by name, a point for each report."""

    format_version: int
    kind: Literal["trend"]
    suite: str
    reports: list[TrendReportEntry]
    metrics: dict[str, list[TrendPoint]]


class TrendErrorReport(TypedDict):
    """The trend could not be worked out."""

    format_version: int
    suite: Literal["trend"]
    status: Literal["SYSTEM_ERROR"]
    error: ErrorValue


TREND_CONTRACTS = {"trend.schema.json": ("Trend", Trend | TrendErrorReport)}
