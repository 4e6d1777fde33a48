"""Clopper-Pearson bounds of a rate, one-sided: exact, whatever the numbers, and never too narrow."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from math import exp, lgamma, log, log1p

CONFIDENCE = Decimal("0.95")
DIGITS = 6  # of a bound; the arithmetic is good for some ten

_HALVINGS = 60
_NEGLIGIBLE = 1e-18


@lru_cache(maxsize=1024)
def lower_bound(hits: int, trials: int, confidence: Decimal = CONFIDENCE) -> Decimal:
    """The least rate at which so many hits or more still have a chance of 1 - confidence; cut, never rounded up."""
    if not 0 <= hits <= trials or trials == 0:
        raise ValueError("hits must be from 0 to trials, and trials at least 1")
    if hits == 0:
        return Decimal(0)
    chance = float(1 - confidence)
    low = high = chance ** (1 / trials)  # the solution, where all are hits
    if hits < trials:
        low, high = 0.0, hits / trials
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if at_least(hits, trials, middle) <= chance:
            low = middle
        else:
            high = middle
    return Decimal(int(low * 10**DIGITS)).scaleb(-DIGITS)


def upper_bound(hits: int, trials: int, confidence: Decimal = CONFIDENCE) -> Decimal:
    """The greatest rate at which so few hits still have a chance of 1 - confidence; never too low."""
    return 1 - lower_bound(trials - hits, trials, confidence)


def at_least(hits: int, trials: int, rate: float) -> float:
    """The chance of so many hits or more, for a rate of at most hits/trials: the first term is then the largest."""
    if rate <= 0.0:
        return 0.0
    if rate >= 1.0:
        return 1.0
    first = lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)
    first += hits * log(rate) + (trials - hits) * log1p(-rate)
    odds = rate / (1 - rate)
    term = total = 1.0  # relative to the first
    for count in range(hits, trials):
        term *= (trials - count) / (count + 1) * odds
        total += term
        if term < total * _NEGLIGIBLE:
            break
    return min(1.0, exp(min(first, 0.0)) * total)  # the logarithm of a chance; of absurd counts it may come out above 0
