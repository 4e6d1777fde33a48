"""From numbers to places on a line, with round numbers marked on it. It counts in fractions: any number has a place."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

Number = int | float | Decimal | Fraction

_STEPS = 5  # parts of a scale, about
_PLAIN_DIGITS = 7  # longer numbers are written with an exponent


class Scale(NamedTuple):
    """A line from one round number to another, `step` being a round part of it."""

    low: Fraction
    high: Fraction
    step: Fraction

    def share(self, value: Number) -> float:
        """How far along the line a value lies, from 0 to 1; what lies outside is put on its end."""
        place = (exact(value) - self.low) / (self.high - self.low)
        return float(min(max(place, Fraction(0)), Fraction(1)))

    def ticks(self) -> list[Fraction]:
        """The round numbers on the line."""
        return [self.low + n * self.step for n in range(int((self.high - self.low) / self.step) + 1)]

    def label(self, tick: Fraction) -> str:
        """A round number, with as many decimals as tell it from the next."""
        digits = 0
        while (self.step * 10**digits).denominator > 1:
            digits += 1
        whole = str(abs(floor(tick)))
        if digits > _PLAIN_DIGITS or len(whole) > _PLAIN_DIGITS:
            return _with_exponent(tick)
        return f"{Decimal(tick.numerator) / Decimal(tick.denominator):.{digits}f}"


def exact(value: Number) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def fit_scale(values: Iterable[Number], *, whole: bool = False) -> Scale:
    """The shortest line between round numbers that has all these values; of whole numbers, with whole steps.

    Round steps divide 1, so that a line for shares ends at 0 and 1.
    """
    found = [exact(value) for value in values]
    low, high = min(found, default=Fraction(0)), max(found, default=Fraction(1))
    if low == high:
        low, high = (Fraction(0), Fraction(1)) if 0 <= low <= 1 else (min(low, Fraction(0)), max(high, Fraction(0)))
    step = _round_step((high - low) / _STEPS, whole)
    return Scale(floor(low / step) * step, ceil(high / step) * step, step)


def _round_step(least: Fraction, whole: bool) -> Fraction:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below."""
    power = Fraction(10) ** (len(str(floor(least))) - 1) if least >= 1 else Fraction(1)
    while least < power and not whole:
        power /= 10
    steps = (times * power for times in (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5), Fraction(10)))
    return next(step for step in steps if step >= least and (step.denominator == 1 or not whole))


def _with_exponent(value: Fraction) -> str:
    """`1.5e+300`, however long the number is."""
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.1e}" if value else "0"
