"""Student's t, the normal and the Beta-binomial distribution: tail probabilities and quantiles.

Those of Student's t and the normal are the same to the last bit everywhere. A C library's `log` and `exp` may
differ in the last bit from one machine to the next, and a bound that is compared with a threshold must not. So
logarithms and exponentials are taken in decimals, which round correctly by definition, and the rest is addition,
multiplication, division and square root, which IEEE 754 fixes. They agree with scipy to 1e-10, relative.

A baseline of k hits in n trials, with every rate equally likely beforehand, leaves a rate distributed as
Beta(k + 1, n - k + 1); the hits in m further trials are then Beta-binomial.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache
from math import exp, inf, lgamma, log, sqrt
from typing import NamedTuple

_EXACT = Context(prec=34)
_PI = Decimal("3.141592653589793238462643383279502884")
_LN_PI, _LN_TWO_PI = _EXACT.ln(_PI), _EXACT.ln(2 * _PI)
_EPSILON = 2e-16  # a term this small, relative to the sum, no longer changes it
_CONVERGED = 2e-15  # of a step of Newton, relative: the next would be rounding alone
_TINY = 1e-300  # in place of a zero denominator in a continued fraction
_MAX_TERMS = 100_000
_MAX_STEPS = 60
_NEAR_MIDDLE = 0.25  # tails above this are solved from the middle, where t is close to 0
_AS_GOOD_AS_NORMAL = 1e10  # degrees of freedom from which on t and normal agree to 1e-9
_STIRLING_FROM = 30
_STIRLING = tuple(  # B(2k) / (2k (2k - 1)), the coefficients of Stirling's series
    Decimal(top) / Decimal(bottom)
    for top, bottom in (
        (1, 12),
        (-1, 360),
        (1, 1260),
        (-1, 1680),
        (1, 1188),
        (-691, 360360),
        (1, 156),
        (-3617, 122400),
        (43867, 244188),
        (-174611, 125400),
    )
)


def t_tail(t: float, df: float) -> float:
    """P(T > t) for Student's t with `df` degrees of freedom, which need not be whole."""
    return _tail(t, _checked_df(df))


def normal_quantile(p: float) -> float:
    """The z that a standard normal variable stays below with probability p."""
    return _quantile(p, inf)


def t_quantile(p: float, df: float) -> float:
    """The t that Student's t stays below with probability p."""
    return _quantile(p, _checked_df(df))


@lru_cache(maxsize=4096)
def _quantile(p: float, df: float) -> float:
    if not 0 < p < 1:
        raise ValueError(f"a probability between 0 and 1 is needed, not {p}")
    tail = 1.0 - p if p > 0.5 else p  # exact: for p from 1/2 to 1 the difference needs no rounding
    t = _from_middle(0.5 - tail, df) if tail > _NEAR_MIDDLE else _from_tail(tail, df)
    return t if p > 0.5 else -t if t else 0.0


def _from_middle(middle: float, df: float) -> float:
    """The t with P(0 < T < t) = middle. The function is concave, so that Newton's steps from the left never pass it."""
    t = middle / _density(0.0, df)
    for _ in range(_MAX_STEPS):
        step = (middle - _middle(t, df)) / _density(t, df)
        t += step
        if abs(step) <= _CONVERGED * t:
            break
    return t


def _from_tail(tail: float, df: float) -> float:
    """The t with P(T > t) = tail, by Newton's steps for the logarithm of the tail over the logarithm of t."""
    # Begun close by; left of the solution a step may go too far, except where the tail is nearly a power of t.
    t, longest = 1 / tail, 100.0
    if df > 2:
        z = 1.0 if df == inf else _quantile(1 - tail, inf)
        t, longest = z + (z * z * z + z) / (4 * df), 1.0
    path: list[float] = []
    for count in range(_MAX_STEPS):
        if t in path:  # rounding alone moves it now: round and round, so where it ends is known
            first = path.index(t)
            return path[first + (_MAX_STEPS - first) % (count - first)]
        path.append(t)
        here = _tail(t, df)
        slope = t * _density(t, df) / here
        step = float(_EXACT.ln(Decimal(here / tail))) / slope
        t *= _exp(max(-longest, min(longest, step)))
        if abs(step) <= _CONVERGED:
            break
    return t


def _tail(t: float, df: float) -> float:
    if t < 0:
        return 1.0 - _tail(-t, df)
    if t == inf:
        return 0.0
    if df == inf:
        return 0.5 - _middle(t, df) if t < 2 else _density(t, df) * _mills(t)
    square = min(t * t, 1.7e308)
    half, share = df / 2, df / (df + square)
    if share >= (half + 1) / (half + 2.5):  # the fraction converges for small arguments only
        return 0.5 - _middle(t, df)
    return 0.5 * _front(square, df) / half * _beta_fraction(share, half, 0.5)


def _middle(t: float, df: float) -> float:
    """P(0 < T < t): half the incomplete beta function of 1/2 and df/2; the density times t + t³/3 + t⁵/15 + … of Z."""
    if t == 0:
        return 0.0
    square = t * t
    if df != inf:
        return _front(square, df) * _beta_fraction(square / (df + square), 0.5, df / 2)
    term = total = t
    factor = 1.0
    while term > total * _EPSILON:
        factor += 2
        term *= square / factor
        total += term
    return _density(t, df) * total


def _density(t: float, df: float) -> float:
    if df == inf:
        return _exp(-Decimal(t) * Decimal(t) / 2) / sqrt(float(2 * _PI))
    return _front(t * t, df) / t if t else 1 / (sqrt(df) * _exp(_ln_beta(df)))


def _mills(z: float) -> float:
    """The tail over the density: 1/(z + 1/(z + 2/(z + 3/(z + …)))), by the method of Lentz."""
    value = top = z
    bottom = 0.0
    for count in range(1, _MAX_TERMS):
        bottom = 1 / (z + count * bottom)
        top = z + count / top
        change = top * bottom
        value *= change
        if abs(change - 1) <= _EPSILON:
            break
    return 1 / value


@lru_cache(maxsize=16)  # tail and density ask for the same
def _front(square: float, df: float) -> float:
    """x^(df/2) (1 - x)^(1/2) / B(df/2, 1/2), where x = df / (df + t²)."""
    total = Decimal(df) + Decimal(square)
    log = _EXACT.ln(Decimal(df) / total) * Decimal(df) / 2
    root = _EXACT.sqrt(Decimal(square) / total)  # the logarithm of its square would take five times as long
    return float(_EXACT.multiply(_EXACT.exp(log - _ln_beta(df)), root))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by the method of Lentz."""
    value = top = 1.0
    bottom = 0.0
    for count in range(1, _MAX_TERMS):
        m = count // 2
        n = a + 2 * m
        term = -(a + m) * (a + b + m) * x / (n * (n + 1)) if count % 2 else m * (b - m) * x / ((n - 1) * n)
        bottom = 1 / ((1 + term * bottom) or _TINY)
        top = (1 + term / top) or _TINY
        change = top * bottom
        value *= change
        if -_EPSILON <= change - 1 <= _EPSILON:
            break
    return 1 / value


@lru_cache(maxsize=4096)
def _ln_beta(df: float) -> Decimal:
    """ln B(df/2, 1/2)."""
    half = Decimal(df) / 2
    return _ln_gamma(half) + _LN_PI / 2 - _ln_gamma(half + Decimal("0.5"))


def _ln_gamma(z: Decimal) -> Decimal:
    below = Decimal(1)
    while z < _STIRLING_FROM:
        below = _EXACT.multiply(below, z)
        z += 1
    series = sum((c / _EXACT.power(z, 2 * k + 1) for k, c in enumerate(_STIRLING)), Decimal(0))
    return (z - Decimal("0.5")) * _EXACT.ln(z) - z + _LN_TWO_PI / 2 + series - _EXACT.ln(below)


def _exp(x: float | Decimal) -> float:
    return float(_EXACT.exp(Decimal(x)))


def _checked_df(df: float) -> float:
    """The degrees of freedom, infinite where Student's t is as good as normal."""
    if not df > 0:
        raise ValueError(f"degrees of freedom above 0 are needed, not {df}")
    return inf if df >= _AS_GOOD_AS_NORMAL else float(df)


class BetaBinomialQuantile(NamedTuple):
    """The largest count that falls short with at most the chosen chance, and that chance."""

    hits: int
    chance_below: float


def beta_binomial_quantile(hits: int, trials: int, further: int, chance: float) -> BetaBinomialQuantile:
    """The largest c with P(fewer than c hits in `further` trials) ≤ chance."""
    if not 0 <= hits <= trials or further < 1 or not 0 < chance < 1:
        raise ValueError("hits must be from 0 to trials, further at least 1, and the chance between 0 and 1")
    alpha, beta = hits + 1, trials - hits + 1
    log_term = _log_beta(alpha, further + beta) - _log_beta(alpha, beta)  # of no hit at all
    below = 0.0
    for count in range(further):
        with_this = below + exp(log_term)
        if with_this > chance:
            return BetaBinomialQuantile(count, below)
        below = with_this
        log_term += log((further - count) * (count + alpha)) - log((count + 1) * (further - count - 1 + beta))
    return BetaBinomialQuantile(further, below)


def _log_beta(alpha: int, beta: int) -> float:
    return lgamma(alpha) + lgamma(beta) - lgamma(alpha + beta)
