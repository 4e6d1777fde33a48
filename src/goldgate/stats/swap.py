"""The swap test: how often two systems would differ so much if chance alone gave each unit its two answers.

If both systems are equally good, any unit could as well have had its two answers exchanged. So exchange them, unit
by unit, in all ways, and see how often the difference of the two rates comes out as large (approximate
randomization; Noreen 1989, Yeh 2000). Exact where all ways can be counted, else from a fixed number of ways that the
seed decides.

Write Sa, Sb for the sums over both systems and Ta, Tb for the differences after an exchange. Then the difference of
the rates is 2 (Ta Sb - Sa Tb) / (Sb² - Tb²): integers, and nothing but the differences of each unit matters. Units
that differ alike are interchangeable, and so are a unit and its mirror image; so neither order, nor names, nor which
system is first can matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import shake_128
from math import comb

Pair = tuple[int, int, int, int]  # a and b of the first system, a and b of the second, in one unit
Pairs = Mapping[Pair, int]  # and how often it occurred

SWAPS = 9_999  # with the observed one 10,000, so that p has four decimals
SEED = 0
ENOUGH = 500  # swaps that reach the observed difference end the drawing: p is then known to a twentieth of itself
_MOST_STEPS = 100_000  # of the exact count: a twentieth of a second
_MOST_UNITS = 1_000  # of the exact count: its numbers have as many bits

_Difference = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SwapTest:
    """The two-sided p-value, and whether all ways of swapping were counted or so many drawn."""

    p: float
    exact: bool
    swaps: int


@dataclass(frozen=True, slots=True)
class _Scale:
    """Tells whether a swapped difference is as large as the observed one."""

    a: int
    b: int
    top: int  # of the observed difference, without its sign
    bottom: int

    def reached(self, a: int, b: int) -> bool:
        bottom = self.b * self.b - b * b
        # Where one system is left without a denominator its rate is undefined: counted as large, to be careful.
        return bottom <= 0 or abs(a * self.b - self.a * b) * self.bottom >= self.top * bottom


def swap_test(pairs: Pairs, swaps: int = SWAPS, seed: int = SEED) -> SwapTest | None:
    """Of the difference of two rates over the same units; None where one of the rates is undefined."""
    a1, b1, a2, b2 = (sum(pair[index] * times for pair, times in pairs.items()) for index in range(4))
    if b1 == 0 or b2 == 0:
        return None
    top = abs((a1 - a2) * (b1 + b2) - (a1 + a2) * (b1 - b2))
    scale = _Scale(a1 + a2, b1 + b2, top, (b1 + b2) ** 2 - (b1 - b2) ** 2)
    differences = _differences(pairs)
    if top == 0:
        return SwapTest(1.0, True, 0)
    counted = _count_all(differences, scale)
    if counted is not None:
        return SwapTest(counted, True, 0)
    reached = number = 0
    for number, (a, b) in enumerate(_draw(differences, swaps, seed), 1):
        reached += scale.reached(a, b)
        if reached == ENOUGH and number < swaps:  # Besag and Clifford 1991
            return SwapTest(reached / number, False, number)
    return SwapTest((1 + reached) / (1 + number), False, number)


def _differences(pairs: Pairs) -> list[tuple[_Difference, int]]:
    """The differences of the units, each turned so that its first count other than zero is positive; none of (0, 0)."""
    found: dict[_Difference, int] = {}
    for (a1, b1, a2, b2), times in pairs.items():
        difference = max((a1 - a2, b1 - b2), (a2 - a1, b2 - b1))
        if difference != (0, 0):
            found[difference] = found.get(difference, 0) + times
    return sorted(found.items())


def _count_all(differences: list[tuple[_Difference, int]], scale: _Scale) -> float | None:
    """The share of all ways that reach the observed difference, or None if they are too many to count.

    Not the ways are listed but the sums that they lead to, with the number of ways to each: 300 units that differ by
    1 have 2³⁰⁰ ways and 301 sums.
    """
    ways: dict[_Difference, int] = {(0, 0): 1}
    steps = 0
    units = sum(times for _, times in differences)
    if units > _MOST_UNITS:
        return None
    for (a, b), times in differences:
        steps += len(ways) * (times + 1)
        if steps > _MOST_STEPS:
            return None
        choices = [(a * (2 * k - times), b * (2 * k - times), comb(times, k)) for k in range(times + 1)]
        longer: dict[_Difference, int] = {}
        for (x, y), count in ways.items():
            for da, db, weight in choices:
                key = (x + da, y + db)
                longer[key] = longer.get(key, 0) + count * weight
        ways = longer
    reached: int = sum(count for (a, b), count in ways.items() if scale.reached(a, b))
    return reached / (1 << units)


def _draw(differences: list[tuple[_Difference, int]], swaps: int, seed: int) -> Iterator[_Difference]:
    """The sums after so many random swaps, a bit of a hash deciding each unit.

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
