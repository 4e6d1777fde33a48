"""The types of report.json that all suites share: judging makes them, pages read them, JSON Schemas are made from them.

A suite's report extends `SuiteReport`; what it narrows there is `ReadOnly`, so that its report is still a SuiteReport.
"""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, final

if TYPE_CHECKING:
    from typing_extensions import ReadOnly
else:

    class ReadOnly:
        """`typing.ReadOnly` of Python 3.13, for type checkers only: `ReadOnly[X]` is X."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return kind


class IntervalValue(TypedDict):
    """The values that the units do not rule out, at this level of confidence."""

    level: float
    low: float
    high: float
    method: str
    unit: str
    units: int


class IntervalEntry(TypedDict):
    """The interval of a metric; null, with a reason, where there is no honest one."""

    interval: IntervalValue | None
    interval_reason: NotRequired[str]


class PlainRate(TypedDict):
    """A rate with its counts. Undefined: null, with a reason."""

    value: float | None
    numerator: int
    denominator: int
    reason: NotRequired[str]


class GateRateValue(PlainRate, IntervalEntry):
    """What gates on a rate judge, where that is over other units than the rate itself."""


@final  # so that `"denominator" in metric` tells a rate from other metrics
class RateValue(PlainRate, IntervalEntry):
    """A rate with its counts and its interval. Undefined: null, with a reason."""

    gate_rate: NotRequired[GateRateValue]


class PlainCount(TypedDict):
    """A number of things. Undefined: null, with a reason."""

    value: int | None
    missing_predictions: NotRequired[int]  # of parse errors: how many are missing predictions
    reason: NotRequired[str]


@final
class CountValue(PlainCount, IntervalEntry):
    """A number of things, with its interval. Undefined: null, with a reason."""


class PlainMean(TypedDict):
    """The plain average of those rates that are defined."""

    value: float | None
    averaged: int
    undefined: int
    reason: NotRequired[str]


@final
class MeanValue(PlainMean, IntervalEntry):
    """A macro average with its interval."""


class PlainEstimate(TypedDict):
    """A number that is no ratio of two counts. Undefined: null, with a reason."""

    value: float | None
    estimated: bool
    reason: NotRequired[str]


@final
class EstimateValue(PlainEstimate, IntervalEntry):
    """A number that is no ratio of two counts, with its interval. Undefined: null, with a reason."""


MetricValue = RateValue | CountValue | MeanValue | EstimateValue


class ComparedValue(IntervalEntry):
    """A rate with its counts, an estimate, a macro average with the number of its parts, or the mean of several runs.

    `between_runs` is the standard deviation of the runs, `se_runs` and `se_units` are the standard errors of the mean.
    Undefined: null, with a reason.
    """

    value: float | None
    numerator: NotRequired[int]
    denominator: NotRequired[int]
    estimated: NotRequired[bool]
    averaged: NotRequired[int]
    undefined: NotRequired[int]
    by_run: NotRequired[list[float]]
    between_runs: NotRequired[float]
    se_runs: NotRequired[float]
    se_units: NotRequired[float]
    reason: NotRequired[str]


class DifferenceOfRates(TypedDict):
    """System minus reference; `exact` as a fraction. Without an interval the bounds are null, with a reason."""

    value: float
    exact: NotRequired[str]
    low: float | None
    high: float | None
    method: NotRequired[str]
    reason: NotRequired[str]


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


class GateValue(TypedDict):
    """One gate. Bounds are decimals as written."""

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
    measured: MetricValue
    support: Literal["supported", "inconclusive", "refuted"] | None


class GateCauses(TypedDict):
    """What keeps a gate from passing: the first causes, or the units that cost it most, and how many more there are."""

    metric: str
    first: list["FindingValue"]
    more: int


class RemarkValue(TypedDict):
    """A remark: a sign that a number is not what it seems."""

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


class InputDigests(TypedDict):
    """Digests of what the numbers come from; the lists are empty for records that were in memory."""

    gold: list[FileDigest]
    predictions: list[FileDigest]
    schema: str | None
    answers: str | None  # all answers with their ids, in any order: by this equal runs are known
    protocol: str | None
    baseline: str | None


class LeftOutPairs(TypedDict):
    """Pairs that are not listed, and how often they occurred."""

    pairs: int
    count: int


class BoundsValue(TypedDict):
    """The rates if the missing answers were all wrong, and if they were all right."""

    all_wrong: dict[str, RateValue]
    all_right: dict[str, RateValue]


class CostValue(TypedDict):
    amount: str
    currency: str


class GenerationValue(TypedDict):
    """How the answers came about, where goldgate asked for them."""

    signature: str
    coverage: PlainRate
    missing: dict[str, int]
    bounds: BoundsValue | None
    cost: CostValue | None


class SuiteMetrics(TypedDict):
    """The metrics of any suite, in sections; `goldgate.core.metric.metric_sections` gives them by name."""

    version: str
    main: ReadOnly[Mapping[str, object]]


class SuiteReport(TypedDict):
    """What the report of every suite has, where it has numbers."""

    format_version: int
    suite: ReadOnly[str]
    status: Literal["PASS", "FAIL", "INCONCLUSIVE", "NO_GATES"]
    protocol: ProtocolValue
    signature: str
    inputs: ReadOnly[Mapping[str, object]]
    gates: list[GateValue]
    gates_together: NotRequired[str]
    causes: list[GateCauses]
    metrics: ReadOnly[SuiteMetrics]
    stands_out: list[RemarkValue]
    findings: list[FindingValue]
    error: None
    generation: NotRequired[GenerationValue]


class ParseCounts(TypedDict):
    """How often answers were found by each method, with a thought in each state, and mended by each step."""

    methods: dict[str, int]
    thoughts: dict[str, int]
    repairs: dict[str, int]


class PlainMetrics(SuiteMetrics):
    """A suite's metrics by name."""

    main: dict[str, RateValue | CountValue]


class PlainReport(SuiteReport):
    """The report of a suite that joins gold and predictions and adds no parts of its own."""

    inputs: dict[str, list[FileDigest] | str | None]
    metrics: PlainMetrics


class ErrorReport(TypedDict):
    """The report of a command that failed: why there are no numbers."""

    format_version: int
    suite: str
    status: Literal["SYSTEM_ERROR"]
    error: ErrorValue
