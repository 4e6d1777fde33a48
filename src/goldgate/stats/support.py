"""Whether the numbers behind a verdict are many enough: supported, inconclusive or refuted, at 95 %, one-sided."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from goldgate.core.gate import Gate
from goldgate.core.metric import Mean, Metric
from goldgate.stats.interval import NoInterval, exact, one_sided
from goldgate.stats.reported import interval_of

CONFIDENCE = 0.95
Support = Literal["supported", "inconclusive", "refuted"]


def support(gate: Gate, measured: Metric | Mean) -> Support | None:
    """Supported if the interval lies within the gate's bounds, refuted if it lies outside; None if there is none.

    The point estimate decides the gate; this says how much it would take to turn it. A gate that is not plain says
    so itself.
    """
    if not gate.is_plain:
        return None
    found = interval_of(measured, one_sided(CONFIDENCE))
    if isinstance(found, NoInterval):
        return None
    low, high = exact(found.low), exact(found.high)
    least = [Fraction(bound) for bound in (gate.min, gate.equals) if bound is not None]
    most = [Fraction(bound) for bound in (gate.max, gate.equals) if bound is not None]
    if any(high < bound for bound in least) or any(low > bound for bound in most):
        return "refuted"
    if all(low >= bound for bound in least) and all(high <= bound for bound in most):
        return "supported"
    return "inconclusive"
