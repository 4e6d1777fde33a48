"""Sets of places as integers, a bit for each: filters are `&`, and any page of a million is found at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_CHUNK = 4_096  # bytes that are counted at once


def bits_of(places: Iterable[int], size: int) -> int:
    """The set of these places, all below `size`."""
    found = bytearray(size // 8 + 1)
    for place in places:
        found[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(found, "little")


def all_bits(size: int) -> int:
    """Every place below `size`."""
    return (1 << size) - 1


def nth_places(bits: int, first: int, count: int) -> list[int]:
    """The places of a set in their order, `count` of them, without the `first` ones."""
    found: list[int] = []
    data = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    skipped = 0
    for start in range(0, len(data), _CHUNK):
        chunk = int.from_bytes(data[start : start + _CHUNK], "little")
        here = chunk.bit_count()
        if skipped + here > first:
            for place in _places(chunk, start * 8):
                skipped += 1
                if skipped > first:
                    found.append(place)
                if len(found) == count:
                    return found
        else:
            skipped += here
    return found


def places_of(bits: int) -> Iterator[int]:
    """All places of a set, in their order."""
    data = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    for start in range(0, len(data), _CHUNK):
        yield from _places(int.from_bytes(data[start : start + _CHUNK], "little"), start * 8)


def count_below(bits: int, place: int) -> int:
    """How many places of a set come before this one."""
    return (bits & ((1 << place) - 1)).bit_count()


def _places(chunk: int, base: int) -> Iterator[int]:
    for at, byte in enumerate(chunk.to_bytes((chunk.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            yield base + at * 8 + low.bit_length() - 1
            byte ^= low
