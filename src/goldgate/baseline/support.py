"""Whether the numbers behind a verdict are many enough: supported, inconclusive or refuted, at 95 %, one-sided."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from goldgate.core.gate import Gate
from goldgate.core.metric import Metric, Rate, Ratio
from goldgate.stats.binomial import lower_bound, upper_bound

Support = Literal["supported", "inconclusive", "refuted"]


def support(gate: Gate, measured: Metric) -> Support | None:
    """Supported if the bounds of the rate lie within the gate's, refuted if they lie outside; None if undefined.

    The point estimate decides the gate; this says how much it would take to turn it.
    """
    if (
        not isinstance(measured, Rate)
        or isinstance(measured, Ratio)
        or not 0 <= measured.numerator <= measured.denominator
        or not measured.denominator
    ):
        return None
    low = Fraction(lower_bound(measured.numerator, measured.denominator))
    high = Fraction(upper_bound(measured.numerator, measured.denominator))
    least = [Fraction(bound) for bound in (gate.min, gate.equals) if bound is not None]
    most = [Fraction(bound) for bound in (gate.max, gate.equals) if bound is not None]
    if any(high < bound for bound in least) or any(low > bound for bound in most):
        return "refuted"
    if all(low >= bound for bound in least) and all(high <= bound for bound in most):
        return "supported"
    return "inconclusive"
