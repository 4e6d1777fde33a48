"""A metric's value with the counts behind it. This is the only module that divides."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from goldgate.core.sums import MeanSums, RatioSums
from goldgate.errors import did_you_mean

SHOWN_DIGITS = 4
_MOST_DIGITS = 60  # after the point, whatever number stands in a report that was edited
_TINY = Fraction(1, 10**12)  # what is smaller has an exponent
_MEETS = {"≥": operator.ge, "≤": operator.le, "=": operator.eq}


class Limit(NamedTuple):
    """A limit that a number meets or misses: a gate's threshold."""

    sign: str  # "≥", "≤" or "="
    number: Fraction


_ENDS = tuple(Limit("=", Fraction(end)) for end in (-1, 0, 1))  # of shares and of their differences


@dataclass(frozen=True, slots=True)
class Rate:
    """A numerator over a denominator; undefined, with a reason, where the denominator is zero."""

    numerator: int
    denominator: int
    undefined: str = field(default="nothing to divide by", repr=False)
    sums: RatioSums | None = field(default=None, repr=False, compare=False)  # over its units, for an interval

    @property
    def value(self) -> float | None:
        return self.numerator / self.denominator if self.denominator else None

    @property
    def exact(self) -> Fraction | None:
        return Fraction(self.numerator, self.denominator) if self.denominator else None

    @property
    def reason(self) -> str | None:
        return None if self.denominator else self.undefined

    def as_json(self) -> dict[str, object]:
        shown: dict[str, object] = {
            "value": self.value,
            "numerator": self.numerator,
            "denominator": self.denominator,
        }
        if not self.denominator:
            shown["reason"] = self.undefined
        return shown

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

    @property
    def exact(self) -> Fraction | None:
        return None if self.value is None else Fraction(self.value)

    def as_json(self) -> dict[str, object]:
        if self.value is None:
            return {"value": None, "reason": self.reason}
        return {"value": self.value}

    def __str__(self) -> str:
        return "n/a" if self.value is None else str(self.value)


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

    def as_json(self) -> dict[str, object]:
        shown: dict[str, object] = {"value": self.value, "averaged": self.averaged, "undefined": self.undefined}
        if self.value is None:
            shown["reason"] = self.reason
        return shown


Metric = Rate | Count
Metrics = dict[str, Metric]


class NamedMetrics(dict[str, Metric]):
    """Metrics by name; for a name that there is not, the KeyError says which there are."""

    def __missing__(self, name: object) -> Metric:
        raise UnknownMetricError(name, self)


class UnknownMetricError(KeyError):
    """A metric was asked for by a name that no metric has."""

    def __init__(self, name: object, known: Iterable[str]) -> None:
        super().__init__(name)
        self.known = tuple(known)

    def __reduce__(self) -> tuple[object, ...]:
        return (UnknownMetricError, (self.args[0], self.known))

    def __str__(self) -> str:
        advice = did_you_mean(str(self.args[0]), self.known)
        parts = (f"there is no metric {self.args[0]!r}", advice, f"there are: {', '.join(self.known) or 'none'}")
        return "; ".join(part for part in parts if part)


def mean(rates: Iterable[Rate], sums: MeanSums | None = None) -> Mean:
    """The mean of the defined rates; the order of the rates does not change it (`fsum` is exact)."""
    values = [rate.value for rate in rates]
    defined = [value for value in values if value is not None]
    value = math.fsum(defined) / len(defined) if defined else None
    return Mean(value, len(defined), len(values) - len(defined), sums)


def exact_mean(rates: Iterable[Rate], sums: MeanSums | None = None) -> Mean:
    """The same with its exact value, which a gate needs."""
    found = [*rates]
    exact = [rate.exact for rate in found if rate.exact is not None]
    return replace(mean(found, sums), exact=sum(exact, Fraction(0)) / len(exact) if exact else None)


def format_number(value: float | Fraction, digits: int = SHOWN_DIGITS, limits: Iterable[Limit] = ()) -> str:
    """The number with so many decimals, half to even, and with more where the rounded number would mislead.

    It is 0, 1 or -1 only where the value is, and meets a limit exactly where the value does: 0.99997, and 0.79996
    against a limit of 0.80.
    """
    # The shortest decimal of a float: 0.57 is stored a little below itself.
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    tests = [(_MEETS[sign], limit) for sign, limit in (*_ENDS, *limits)]
    if 0 < abs(exact) < _TINY:
        return f"{Decimal(exact.numerator) / Decimal(exact.denominator):.0e}"
    while True:
        steps = round(exact * 10**digits)
        near = Fraction(steps, 10**digits)
        misleads = any(meets(near, limit) != meets(exact, limit) for meets, limit in tests)
        if not misleads or digits >= _MOST_DIGITS:
            break
        digits += 1
    whole, decimals = divmod(abs(steps), 10**digits)
    return f"{'-' if steps < 0 else ''}{whole}.{decimals:0{digits}d}"


def floor_quotient(numerator: int, denominator: int, digits: int) -> str:
    """The quotient with so many decimals, never above it: for a threshold, which must not be raised."""
    scale: int = 10**digits
    steps = numerator * scale // denominator
    return f"{steps // scale}.{steps % scale:0{digits}d}"
