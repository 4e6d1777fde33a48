"""What a next evaluation may bring, given a baseline: the Beta-binomial distribution and its quantile.

A baseline of k hits in n trials, with every rate equally likely beforehand, leaves a rate distributed as
Beta(k + 1, n - k + 1); the hits in m further trials are then Beta-binomial.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import NamedTuple


class Quantile(NamedTuple):
    """The largest count that falls short with at most the chosen chance, and that chance."""

    hits: int
    chance_below: float


def quantile(hits: int, trials: int, further: int, chance: float) -> Quantile:
    """The largest c with P(fewer than c hits in `further` trials) ≤ chance."""
    if not 0 <= hits <= trials or further < 1 or not 0 < chance < 1:
        raise ValueError("hits must be from 0 to trials, further at least 1, and the chance between 0 and 1")
    alpha, beta = hits + 1, trials - hits + 1
    log_term = _log_beta(alpha, further + beta) - _log_beta(alpha, beta)  # of no hit at all
    below = 0.0
    for count in range(further):
        with_this = below + exp(log_term)
        if with_this > chance:
            return Quantile(count, below)
        below = with_this
        log_term += log((further - count) * (count + alpha)) - log((count + 1) * (further - count - 1 + beta))
    return Quantile(further, below)


def _log_beta(alpha: int, beta: int) -> float:
    return lgamma(alpha) + lgamma(beta) - lgamma(alpha + beta)
