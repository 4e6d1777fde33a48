"""A metric's value with the counts behind it. Counts become the values of metrics only here."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from goldgate.core.sums import MeanSums, RatioSums
from goldgate.errors import did_you_mean

if TYPE_CHECKING:  # the help of the command line needs no type of a report
    from goldgate.core.contracts import MetricValue, PlainCount, PlainEstimate, PlainMean, PlainRate, SuiteMetrics

SHOWN_DIGITS = 4
_MAX_DIGITS = 60  # after the point, however long a number in an edited report is
_TINY = 10**12  # numbers below 1 / 10¹² are written with an exponent
_MEETS = {"≥": operator.ge, "≤": operator.le, "=": operator.eq}


class Limit(NamedTuple):
    """A limit that a number meets or misses: a gate's threshold."""

    sign: str  # "≥", "≤" or "="
    number: Fraction

    def is_met(self, value: Fraction) -> bool:
        return bool(_MEETS[self.sign](value, self.number))


_ENDS = tuple(Limit("=", Fraction(end)) for end in (-1, 0, 1))  # of shares and of their differences


IntervalAt = Callable[[float], Any]  # the interval at a level, or why there is none, as goldgate.stats.interval has it


@dataclass(frozen=True, slots=True)
class Rate:
    """A numerator over a denominator; undefined, with a reason, where the denominator is zero."""

    numerator: int
    denominator: int
    undefined: str = field(default="nothing to divide by", repr=False)
    sums: RatioSums | None = field(default=None, repr=False, compare=False)  # over its units, for an interval
    interval_reason: str = field(default="it is not a sum over units", repr=False, compare=False)  # without sums
    interval_at: IntervalAt | None = field(default=None, repr=False, compare=False)  # where it is not that of its sums
    gate_rate: Rate | None = field(default=None, repr=False, compare=False)  # what a gate on it judges in its place
    note: str = field(default="", repr=False, compare=False)  # of the rate that a gate judges: the one it stands for

    @property
    def value(self) -> float | None:
        return self.numerator / self.denominator if self.denominator else None

    @property
    def exact(self) -> Fraction | None:
        return Fraction(self.numerator, self.denominator) if self.denominator else None

    @property
    def reason(self) -> str | None:
        return None if self.denominator else self.undefined

    def as_json(self) -> PlainRate:
        entry: PlainRate = {"value": self.value, "numerator": self.numerator, "denominator": self.denominator}
        if not self.denominator:
            entry["reason"] = self.undefined
        return entry

    def __str__(self) -> str:
        return "n/a" if self.exact is None else format_number(self.exact)


@dataclass(frozen=True, slots=True)
class Ratio(Rate):
    """One size over another, which may be above 1: no share of anything."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of things; undefined, with a reason, where they were not counted."""

    value: int | None
    reason: str | None = None
    sums: RatioSums | None = field(default=None, repr=False, compare=False)  # over its units, for an interval
    interval_reason: str = field(default="it is not a sum over units", repr=False, compare=False)  # without sums
    missing: int | None = field(default=None, repr=False, compare=False)  # of parse errors: missing predictions

    @property
    def exact(self) -> Fraction | None:
        return None if self.value is None else Fraction(self.value)

    def as_json(self) -> PlainCount:
        entry: PlainCount = {"value": self.value}
        if self.missing is not None:
            entry["missing_predictions"] = self.missing
        return entry if self.value is not None else {**entry, "reason": str(self.reason)}

    def __str__(self) -> str:
        if self.value is None:
            return "n/a"
        return f"{self.value} ({missing_words(self.missing)})" if self.missing else str(self.value)


@dataclass(frozen=True, slots=True)
class Mean:
    """The plain average of those rates that are defined (a macro average)."""

    value: float | None
    averaged: int
    undefined: int
    sums: MeanSums | None = field(default=None, repr=False, compare=False)  # for an interval
    exact: Fraction | None = field(default=None, compare=False)  # for a gate, where one is set on it

    @property
    def reason(self) -> str | None:
        return "no rate to average is defined" if self.value is None else None

    def __str__(self) -> str:
        return "n/a" if self.value is None else format_number(self.value)

    def as_json(self) -> PlainMean:
        entry: PlainMean = {"value": self.value, "averaged": self.averaged, "undefined": self.undefined}
        if self.reason is not None:
            entry["reason"] = self.reason
        return entry


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is no ratio of two sums over units, with an interval of its own; undefined with a reason."""

    exact: Fraction | None
    reason: str | None = None
    share: bool = True  # False: it may be below 0 or above 1
    interval_at: IntervalAt | None = field(default=None, repr=False, compare=False)
    gate_interval_at: IntervalAt | None = field(default=None, repr=False, compare=False)  # where gates need a wider one
    gate_confidence: Decimal | None = field(default=None, repr=False, compare=False)  # of a gate that sets none
    note: str = field(default="", repr=False, compare=False)  # what the interval for gates rests on

    @property
    def value(self) -> float | None:
        return None if self.exact is None else float(self.exact)

    def as_json(self) -> PlainEstimate:
        entry: PlainEstimate = {"value": self.value, "estimated": True}
        return entry if self.exact is not None else {**entry, "reason": str(self.reason)}

    def __str__(self) -> str:
        return "n/a" if self.exact is None else format_number(self.exact)


def missing_words(missing: int) -> str:
    """How many of a count are missing predictions: `1 of them missing`."""
    return f"{missing} of them missing"


# How the names of metrics end of which more is better, and of those of which less is.
MORE_IS_BETTER = (
    "precision", "recall", "f1", "accuracy", "integrity", "consistency", "faithfulness",
    "compliance_rate", "coverage_rate", "completion_rate", "support_rate", "exact_rate", "through_rate",
)  # fmt: skip
LESS_IS_BETTER = (
    "hallucination_rate", "hallucination_entity_rate", "unchecked", "errors", "failures", "parse_fail",
    "missing_predictions", "copied_rate", "stub_rate", "shortfall", "abstention_rate", "uncited_evidence_rate",
    "brier_score", "calibration_error",
)  # fmt: skip


Metric = Rate | Count | Estimate
AnyMetric = TypeVar("AnyMetric", bound=Metric | Mean)
Metrics = dict[str, Metric]


class NamedMetrics(dict[str, Metric]):
    """Metrics by name; for a name that there is not, the KeyError says which there are."""

    def __missing__(self, name: object) -> Metric:
        raise UnknownMetricError(name, self)


class UnknownMetricError(KeyError):
    """A metric was asked for by a name that no metric has."""

    def __init__(self, name: object, names: Iterable[str]) -> None:
        super().__init__(name)
        self.names = tuple(names)

    def __reduce__(self) -> tuple[object, ...]:
        return (UnknownMetricError, (self.args[0], self.names))

    def __str__(self) -> str:
        advice = did_you_mean(str(self.args[0]), self.names)
        parts = (f"there is no metric {self.args[0]!r}", advice, f"there are: {', '.join(self.names) or 'none'}")
        return "; ".join(part for part in parts if part)


def gate_metric(metric: AnyMetric) -> AnyMetric | Rate:
    """What a gate on a metric judges."""
    return metric.gate_rate if isinstance(metric, Rate) and metric.gate_rate is not None else metric


def mean(rates: Iterable[Rate], sums: MeanSums | None = None) -> Mean:
    """The mean of the defined rates; the order of the rates does not change it (`fsum` is exact)."""
    values = [rate.value for rate in rates]
    defined = [value for value in values if value is not None]
    value = math.fsum(defined) / len(defined) if defined else None
    return Mean(value, len(defined), len(values) - len(defined), sums)


def exact_mean(rates: Iterable[Rate], sums: MeanSums | None = None) -> Mean:
    """The mean of the defined rates with its exact value, which a gate needs."""
    averaged = [*rates]
    exact = [rate.exact for rate in averaged if rate.exact is not None]
    return replace(mean(averaged, sums), exact=sum(exact, Fraction(0)) / len(exact) if exact else None)


@lru_cache(maxsize=4096, typed=True)  # every format of a report shows the same numbers
def format_number(value: float | Fraction, digits: int = SHOWN_DIGITS, limits: tuple[Limit, ...] = ()) -> str:
    """The number with `digits` decimals, half to even, and with more if the rounded number would mislead.

    It is 0, 1 or -1 only where the value is, and meets a limit exactly where the value does: 0.99997, and 0.79996
    against a limit of 0.80.
    """
    # The shortest decimal of a float: 0.57 is stored a little below itself.
    top, bottom = (Decimal(repr(value)) if isinstance(value, float) else value).as_integer_ratio()
    if 0 < abs(top) * _TINY < bottom:
        return f"{Decimal(top) / Decimal(bottom):.0e}"
    tests = [(_MEETS[sign], *number.as_integer_ratio()) for sign, number in (*_ENDS, *limits)]
    while True:  # in whole numbers: a page has thousands of them
        scale = 10**digits
        steps, rest = divmod(top * scale, bottom)
        steps += 2 * rest > bottom or (2 * rest == bottom and steps % 2)
        misleads = any(meets(steps * d, n * scale) != meets(top * d, n * bottom) for meets, n, d in tests)
        if not misleads or digits >= _MAX_DIGITS:
            break
        digits += 1
    whole, decimals = divmod(abs(steps), scale)
    return f"{'-' if steps < 0 else ''}{whole}.{decimals:0{digits}d}"


def floor_quotient(numerator: int, denominator: int, digits: int) -> str:
    """The quotient with `digits` decimals, rounded down: for a threshold, which must not be raised."""
    scale: int = 10**digits
    steps = numerator * scale // denominator
    return f"{steps // scale}.{steps % scale:0{digits}d}"


def metric_sections(metrics: SuiteMetrics) -> dict[str, dict[str, MetricValue]]:
    """The metrics of a report by section and name."""
    sections = {name: section for name, section in metrics.items() if isinstance(section, dict)}
    return cast("dict[str, dict[str, MetricValue]]", sections)


def metrics_by_name(metrics: SuiteMetrics) -> dict[str, MetricValue]:
    """All metrics of a report, whatever section they are in."""
    return {name: metric for section in metric_sections(metrics).values() for name, metric in section.items()}
