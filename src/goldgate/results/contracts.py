"""The shape of the JSON of `goldgate trend`, for whoever reads it."""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from typing import Literal, NotRequired, TypedDict

from goldgate.core.contracts import CountValue, ErrorValue, MeanValue, PlainMean, PlainRate, RateValue


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


class ErrorReport(TypedDict):
    """The trend could not be worked out."""

    format_version: int
    suite: Literal["trend"]
    status: Literal["SYSTEM_ERROR"]
    error: ErrorValue


CONTRACTS = {"trend.schema.json": ("Trend", Trend | ErrorReport)}
