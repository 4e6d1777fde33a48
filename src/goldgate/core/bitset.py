"""Sets of small numbers as the bits of integers: bit n is set if n is in the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_FEW_ONES = 16  # fewer ones are faster to find one by one than by listing the bits


def bitset(places: Iterable[int], size: int) -> int:
    """The set of these places, all below `size`, made in one step: setting bits one by one would copy it each time."""
    data = bytearray(size // 8 + 1)
    for place in places:
        data[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(data, "little")


def count_bits(sets: Iterable[int]) -> list[int]:
    """In how many sets each place is: bit j of integer k is binary digit k of the count of place j."""
    counters: list[int] = []
    for carry in sets:
        for place, digit in enumerate(counters):
            if not carry:
                break
            counters[place], carry = digit ^ carry, digit & carry
        if carry:
            counters.append(carry)
    return counters


def set_bits(bits: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first."""
    if bits.bit_count() < _FEW_ONES:
        while bits:
            lowest = bits & -bits
            yield lowest.bit_length() - 1
            bits ^= lowest
        return
    digits = bin(bits)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)
