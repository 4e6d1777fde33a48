"""The difference of two systems' rates over the same units: its interval, its t test and its swap test.

The units are given as a count of each different pair of counts, (a₁, b₁, a₂, b₂); a unit that one system lacks
has zeros there. Every number is a function of that multiset: order and split cannot matter, and with the systems
exchanged only signs change.

The swap test (approximate randomization; Noreen 1989, Yeh 2000) exchanges the two answers of each unit and counts
how often the difference comes out as large: exactly where all ways can be counted, else from a fixed number of
ways that the seed decides.

Write Sa, Sb for the sums over both systems and Ta, Tb for the differences after an exchange. Then the difference of
the rates is 2 (Ta Sb - Sa Tb) / (Sb² - Tb²): integers, and nothing but the differences of each unit matters. Units
that differ alike are interchangeable, and so are a unit and its mirror image; so neither order, nor names, nor which
system is first can matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from hashlib import shake_128
from math import comb, sqrt

from goldgate.core.sums import Products, RatioSums, pair_sums
from goldgate.stats.distributions import t_quantile, t_tail
from goldgate.stats.interval import (
    ANY_VALUES,
    LEVEL,
    SHARE_DIFFERENCES,
    Interval,
    NoInterval,
    least_number,
    outward_interval,
    residual_product,
    residual_square,
)

UnitPair = tuple[int, int, int, int]  # a and b of the first system, a and b of the second, in one unit
UnitPairs = Mapping[UnitPair, int]  # and how often it occurred

SWAPS = 9_999  # with the observed one 10,000, so that p has four decimals
SEED = 0
ENOUGH = 500  # swaps that reach the observed difference end the drawing: p is then known to a twentieth of itself
_MAX_STEPS = 100_000  # of the exact count, about 50 ms
_MAX_UNITS = 1_000  # of the exact count, whose numbers have this many bits
_MAX_BITS = 1 << 18  # of what tells beforehand how many steps it takes: 2 ms at most

_Difference = tuple[int, int]
_Differences = Sequence[tuple[_Difference, int]]  # and how many units have it


@dataclass(frozen=True, slots=True)
class SwapTest:
    """The two-sided p-value, and whether all ways of swapping were counted or how many were drawn."""

    p: float
    exact: bool
    swaps: int


@dataclass(frozen=True, slots=True)
class _Scale:
    """Tells whether a swapped difference is as large as the observed one."""

    a: int
    b: int
    top: int  # numerator of the observed difference, without its sign
    bottom: int

    def reached(self, a: int, b: int) -> bool:
        bottom = self.b * self.b - b * b
        # Where one system is left without a denominator its rate is undefined: counted as large, to be careful.
        return bottom <= 0 or abs(a * self.b - self.a * b) * self.bottom >= self.top * bottom


def swap_test(pairs: UnitPairs, swaps: int = SWAPS, seed: int = SEED) -> SwapTest | None:
    """Test the difference of two rates over the same units; None if one of the rates is undefined."""
    a1, b1, a2, b2 = (sum(pair[index] * times for pair, times in pairs.items()) for index in range(4))
    if b1 == 0 or b2 == 0:
        return None
    top = abs((a1 - a2) * (b1 + b2) - (a1 + a2) * (b1 - b2))
    scale = _Scale(a1 + a2, b1 + b2, top, (b1 + b2) ** 2 - (b1 - b2) ** 2)
    if top == 0:
        return SwapTest(1.0, True, 0)
    return _test_differences(tuple(_differences(pairs)), scale, swaps, seed)


@lru_cache(maxsize=512)  # a comparison asks for the same differences in its table, its parts and its best system
def _test_differences(differences: _Differences, scale: _Scale, swaps: int, seed: int) -> SwapTest:
    counted = _count_all(differences, scale)
    if counted is not None:
        return SwapTest(counted, True, 0)
    reached = number = 0
    for number, (a, b) in enumerate(_draw(differences, swaps, seed), 1):
        reached += scale.reached(a, b)
        if reached == ENOUGH and number < swaps:  # Besag and Clifford 1991
            return SwapTest(reached / number, False, number)
    return SwapTest((1 + reached) / (1 + number), False, number)


def _differences(pairs: UnitPairs) -> list[tuple[_Difference, int]]:
    """The differences of the units, each turned so that its first count other than zero is positive; none of (0, 0)."""
    counts: Counter[_Difference] = Counter()
    for (a1, b1, a2, b2), times in pairs.items():
        difference = max((a1 - a2, b1 - b2), (a2 - a1, b2 - b1))
        if difference != (0, 0):
            counts[difference] += times
    return sorted(counts.items())


def _count_all(differences: _Differences, scale: _Scale) -> float | None:
    """The share of all ways that reach the observed difference, or None if they are too many to count.

    Not the ways are listed but the sums that they lead to, with the number of ways to each: 300 units that differ by
    1 have 2³⁰⁰ ways and 301 sums. A sum (a, b) is one number, a times a stride that no sum of b reaches, plus b.
    """
    units = sum(times for _, times in differences)
    stride = 1 + sum(abs(b) * times for (_, b), times in differences)
    terms = [(a * stride + b, times) for (a, b), times in differences]
    if units > _MAX_UNITS or takes_too_long(terms):
        return None
    ways: dict[int, int] = {0: 1}
    steps = 0
    for term, times in terms:
        steps += len(ways) * (times + 1)
        if steps > _MAX_STEPS:
            return None
        choices = [(term * k, comb(times, k)) for k in range(times + 1)]
        longer: dict[int, int] = {}
        for key, count in ways.items():
            for add, weight in choices:
                longer[key + add] = longer.get(key + add, 0) + count * weight
        ways = longer
    total_a, total_b = (sum(pair[n] * times for pair, times in differences) for n in (0, 1))
    lowest, reached = sum(min(b, 0) * times for (_, b), times in differences), 0
    for key, count in ways.items():
        a, b = divmod(key - lowest, stride)
        if scale.reached(2 * a - total_a, 2 * (b + lowest) - total_b):
            reached += count
    return reached / (1 << units)


def takes_too_long(terms: list[tuple[int, int]]) -> bool:
    """Whether counting all ways is seen to take too many steps before any is counted; False where it cannot be seen.

    Sums that ways lead to are bits of one number, and the sums with one more unit a shift of it: 300 times as fast as
    counting, which for most parts of a large comparison would be in vain.
    """
    if sum(term * times for term, times in terms) > _MAX_BITS:
        return False
    sums, steps = 1, 0
    for term, times in terms:
        steps += sums.bit_count() * (times + 1)
        for _ in range(times):
            sums |= sums << term
    return steps > _MAX_STEPS


def _draw(differences: _Differences, swaps: int, seed: int) -> Iterator[_Difference]:
    """The sums after `swaps` random swaps, a bit of a hash deciding each unit.

    The sum over all units at once: the numbers to add lie in bit planes, one bit a unit, and a plane's share of the
    sum is the number of ones that it has in common with the random bits. 100,000 units take a second, one by one a
    minute.
    """
    units = sum(times for _, times in differences)
    planes_a = _planes([(a, times) for (a, _), times in differences])
    planes_b = _planes([(b, times) for (_, b), times in differences])
    total_a = sum(a * times for (a, _), times in differences)
    total_b = sum(b * times for (_, b), times in differences)
    size, spare = (units + 7) // 8, -units % 8
    for number in range(swaps):
        bits = int.from_bytes(shake_128(f"goldgate swap {seed} {number}".encode()).digest(size), "big") >> spare
        a = sum((bits & plane).bit_count() * weight for weight, plane in planes_a)
        b = sum((bits & plane).bit_count() * weight for weight, plane in planes_b)
        yield 2 * a - total_a, 2 * b - total_b


def _planes(numbers: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The weight of each bit, negative for those of negative numbers, and which units have it."""
    planes = []
    for sign in (1, -1):
        largest = max((sign * number for number, _ in numbers), default=0)
        for bit in range(max(0, largest).bit_length()):
            digits = "".join(
                ("1" if sign * number > 0 and sign * number >> bit & 1 else "0") * times for number, times in numbers
            )
            plane = int(digits, 2)
            if plane:
                planes.append((sign << bit, plane))
    return planes


MAX_SWAPPED = 1_000  # units that differ: beyond, Student's t is close, and swaps take a second for each metric
EQUAL, PLAIN, PLUS_TWO = "equal", "paired-t", "paired-plus-two-t"  # methods of an interval
_NOTHING = "one of the two rates has nothing to divide by"
_NO_SPREAD = "the units show no spread"


@dataclass(frozen=True, slots=True)
class PairedSums:
    """The sums of both systems and of their products: all that the difference and its interval need."""

    units: int  # where at least one system has something to count
    differing: int  # units whose counts are not the same in both
    first: RatioSums
    second: RatioSums
    products: Products
    pairs: UnitPairs = field(repr=False, compare=False)

    @property
    def value(self) -> Fraction | None:
        """First rate minus second; None where one of them is undefined."""
        if self.first.b == 0 or self.second.b == 0:
            return None
        return Fraction(self.first.a, self.first.b) - Fraction(self.second.a, self.second.b)

    @property
    def variance(self) -> Fraction | None:
        """n/(n - 1) Σd², d = (a₁ - R₁b₁)/Σb₁ - (a₂ - R₂b₂)/Σb₂; None for less than two units or an undefined rate."""
        one, two = self.first, self.second
        if self.units < 2 or one.b == 0 or two.b == 0:
            return None
        own = Fraction(residual_square(one), one.b**4) + Fraction(residual_square(two), two.b**4)
        product = residual_product(one, two, self.products)
        return Fraction(self.units, self.units - 1) * (own - Fraction(2 * product, one.b**2 * two.b**2))


@dataclass(frozen=True, slots=True)
class WinCounts:
    """On how many units the first system was better, neither, worse."""

    wins: int
    ties: int
    losses: int


def paired_sums(pairs: UnitPairs) -> PairedSums:
    """The sums of these units."""
    units = differing = aa = ab = ba = bb = 0
    first: dict[tuple[int, int], int] = {}
    second: dict[tuple[int, int], int] = {}
    for (a1, b1, a2, b2), times in pairs.items():
        units += times if a1 or b1 or a2 or b2 else 0
        differing += times if a1 != a2 or b1 != b2 else 0
        first[a1, b1] = first.get((a1, b1), 0) + times
        second[a2, b2] = second.get((a2, b2), 0) + times
        aa, ab, ba, bb = aa + times * a1 * a2, ab + times * a1 * b2, ba + times * b1 * a2, bb + times * b1 * b2
    return PairedSums(units, differing, pair_sums(first), pair_sums(second), Products(aa, ab, ba, bb), pairs)


def difference_interval(
    sums: PairedSums, level: float = LEVEL, share: bool = True, *, same: bool = False
) -> Interval | NoInterval:
    """The interval of the difference; `same` if both gave the same answers: then there is none, not a small one.

    That two systems came out alike on a few documents does not say that they are alike: a difference of shares is
    taken over two more units, one that changed wholly each way. Metrics that are not shares have the plain interval.
    """
    value, variance, n = sums.value, sums.variance, sums.units
    if value is None:
        return NoInterval(_NOTHING)
    if same and sums.differing == 0:
        return Interval(level, 0.0, 0.0, EQUAL, n)
    if not share and not variance:
        return NoInterval(_NO_SPREAD)
    method, spread = (PLUS_TWO, plus_two(variance or 0, n)) if share else (PLAIN, variance or 0)
    interval = student_interval(level, value, spread, n - 1, (method, n), share=share)
    if interval.low <= 0 <= interval.high or (difference_test(sums)[0] or 0) <= 1 - level:
        return interval
    return interval._replace(low=min(interval.low, 0.0), high=max(interval.high, 0.0))  # p does not exclude 0


def plus_two(variance: Fraction | float, units: int, at: int | None = None) -> float:
    """The variance of a difference of shares over n units like these, and two more of which each changed wholly.

    With n' = n + 2 it is n'/(n' - 1) · (n² Σd² + 2)/n'², where `variance` is n/(n - 1) Σd²; `at` is another n.
    """
    n = units if at is None else at
    return float((n * (units - 1) * variance + 2) / ((n + 1) * (n + 2)))


def student_interval(
    level: float, value: Fraction, variance: Fraction | float, df: float, named: tuple[str, int], *, share: bool
) -> Interval:
    """Student's interval, `named` by its method and the number of units; without degrees of freedom all there is."""
    within = SHARE_DIFFERENCES if share else ANY_VALUES
    half = t_quantile((1 + level) / 2, df) * sqrt(variance) if df > 0 else 2.0
    return outward_interval(level, float(value) - half, float(value) + half, *named, within)


def units_to_tell(sums: PairedSums, border: Fraction, level: float, share: bool) -> int | None:
    """The least number of units like these whose interval leaves out the border; None where no number would do."""
    value, variance, n = sums.value, sums.variance, sums.units
    if value is None or variance is None or value == border or not (share or variance):
        return None

    def is_enough(at: int) -> bool:
        spread = plus_two(variance, n, at) if share else float(variance * n / at)
        return t_quantile((1 + level) / 2, at - 1) * sqrt(spread) < abs(value - border)

    return least_number(is_enough, 2)


def difference_test(sums: PairedSums) -> tuple[float | None, dict[str, object]]:
    """The p-value of a difference that has a value, and what it was found by."""
    p = t_test(sums)
    if p is not None and sums.differing > MAX_SWAPPED:
        return p, {"method": PLAIN}
    swapped = swap_test(sums.pairs)
    assert swapped is not None  # both rates are defined
    return swapped.p, {"method": "swap", "exact": swapped.exact, "swaps": swapped.swaps}


def t_test(sums: PairedSums) -> float | None:
    """The two-sided p-value that goes with the interval: below 1 - level where that leaves out 0. It takes no swaps."""
    value, variance = sums.value, sums.variance
    if value is None:
        return None
    if value == 0:
        return 1.0
    return min(1.0, 2 * t_tail(abs(float(value)) / sqrt(variance), sums.units - 1)) if variance else None


def count_wins(pairs: UnitPairs) -> WinCounts:
    """Wins, ties and losses of the first system by unit: which way the unit moves the difference of the two rates.

    That is the sign of (a₁ - a₂) Σb - (b₁ - b₂) Σa, with sums over both systems: more hits count for it, and more to
    divide by against it, at the rate that both have together. These terms add up to the difference; it is what the
    swap test swaps. A unit with equal counts is always a tie.
    """
    total_a = sum((a1 + a2) * times for (a1, _, a2, _), times in pairs.items())
    total_b = sum((b1 + b2) * times for (_, b1, _, b2), times in pairs.items())
    wins = ties = losses = 0
    for (a1, b1, a2, b2), times in pairs.items():
        moved = (a1 - a2) * total_b - (b1 - b2) * total_a
        if moved > 0:
            wins += times
        elif moved < 0:
            losses += times
        elif a1 or b1 or a2 or b2:
            ties += times
    return WinCounts(wins, ties, losses)
