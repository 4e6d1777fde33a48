"""A largest one-to-one matching between two lists, given as bits which of the right fit one of the left."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

Row = Callable[[int], int]  # number of a left one → bit j is set if it fits right j

# How many of the left may be looked at in searches one after the other. They give the pairs that
# are in the records; where long paths cross, all searches are then made at once.
LOOKED_AT = 1_000_000
BITS_LOOKED_AT = 1 << 33  # in the rows of these
RARE = 64  # a feature that fewer than one in 64 items have is kept as a list of them, not as bits
FEW_ONES = 16  # so many are found faster one by one than by writing the bits down


def largest_matching(
    lefts: int, rights: int, row: Row, equal: dict[int, int], limit: int = LOOKED_AT
) -> dict[int, int]:
    """Right → left of a largest matching in which all that was matched at first (`equal`) stays matched.

    Each unmatched left, in order, looks for an augmenting path, breadth first and lowest right
    first. What a search in vain has reached is left out from then on: no path leads out of it. So
    vain searches cost one pass together, and beyond `limit` the rest is done by Hopcroft and Karp's
    phases, of which there are at most about twice the square root of the lefts.
    """
    matching = _Matching(rights, row, dict(equal))
    for start in range(lefts):
        if start not in matching.right_of:
            if matching.looked_at > min(limit, BITS_LOOKED_AT // rights):
                matching.finish([left for left in range(start, lefts) if left not in matching.right_of])
                break
            matching.search(start)
    return matching.left_of


def bits_at(places: Iterable[int], size: int) -> int:
    """An integer with these bits set, made in one step: setting them one by one would copy it each time."""
    made = bytearray(size // 8 + 1)
    for place in places:
        made[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(made, "little")


class BitIndex:
    """Which items of a list have a feature, as bits."""

    def __init__(self, features: Sequence[Iterable[Hashable]]) -> None:
        self._size = len(features)
        self._numbers: dict[Hashable, list[int]] = {}
        self._often: dict[Hashable, int] = {}  # bits of features that many have
        for number, of_item in enumerate(features):
            for feature in of_item:
                self._numbers.setdefault(feature, []).append(number)

    def having(self, feature: Hashable) -> int:
        """The items that have the feature."""
        bits = self._often.get(feature)
        if bits is None:
            numbers = self._numbers.get(feature, ())
            bits = bits_at(numbers, self._size) if numbers else 0
            if len(numbers) * RARE >= self._size:
                self._often[feature] = bits
        return bits

    def count(self, features: Iterable[Hashable]) -> list[int]:
        """How many of these each item has: bit j of integer k is digit k, in base two, of the count of item j."""
        counters: list[int] = []
        for feature in features:
            carry = self.having(feature)
            for place, digit in enumerate(counters):
                if not carry:
                    break
                counters[place], carry = digit ^ carry, digit & carry
            if carry:
                counters.append(carry)
        return counters


def at_least(counters: Sequence[int], least: int) -> int:
    """The bits at which the number that the counters hold is no less than this."""
    if least >> len(counters):
        return 0
    above, equal = 0, -1
    for place in range(len(counters) - 1, -1, -1):
        if least >> place & 1:
            equal &= counters[place]
        else:
            above |= equal & counters[place]
            equal &= ~counters[place]
    return above | equal


def largest_of(counters: Sequence[int], among: int) -> tuple[int, int]:
    """The largest number that the counters hold at some bits, and at which of them they hold it."""
    largest = 0
    for place in range(len(counters) - 1, -1, -1):
        if among & counters[place]:
            among &= counters[place]
            largest |= 1 << place
    return largest, among


def ones(bits: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first."""
    if bits.bit_count() < FEW_ONES:
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


class _Matching:
    """The pairs so far. `alive` are the rights from which an unmatched one may still be reached."""

    def __init__(self, rights: int, row: Row, left_of: dict[int, int]) -> None:
        self.row = row
        self.left_of = left_of
        self.right_of = {left: right for right, left in left_of.items()}
        self.alive = (1 << rights) - 1
        self.free = self.alive & ~bits_at(left_of, rights)
        self.looked_at = 0

    def search(self, start: int) -> None:
        """Match one more left, if there is a path from it to a free right."""
        reached_from: dict[int, int] = {}
        unreached = self.alive
        queue = deque([start])
        while queue:
            here = queue.popleft()
            self.looked_at += 1
            new = self.row(here) & unreached
            ends = new & self.free
            if ends:
                end = (ends & -ends).bit_length() - 1
                reached_from[end] = here
                self._follow(end, reached_from)
                return
            for there in ones(new):
                reached_from[there] = here
                queue.append(self.left_of[there])
            unreached &= ~new
        self.alive = unreached

    def _follow(self, end: int, reached_from: dict[int, int]) -> None:
        """Every pair on the path moves on by one."""
        self.free &= ~(1 << end)
        right: int | None = end
        while right is not None:
            left = reached_from[right]
            before = self.right_of.get(left)
            self.right_of[left], self.left_of[right] = right, left
            right = before

    def finish(self, unmatched: list[int]) -> None:
        """Hopcroft and Karp: as many shortest paths as go beside one another, phase after phase."""
        while layers := self._layers(unmatched):
            for start in unmatched:
                self._dig(start, layers)
            unmatched = [left for left in unmatched if left not in self.right_of]

    def _layers(self, unmatched: list[int]) -> list[int]:
        """The rights by their distance from the unmatched lefts, up to the first free ones; empty if there are none."""
        layers: list[int] = []
        frontier, unreached = unmatched, self.alive
        while frontier:
            layer = 0
            for left in frontier:
                layer |= self.row(left)
            self.looked_at += len(frontier)
            layer &= unreached
            if layer & self.free:
                return [*layers, layer & self.free]
            layers.append(layer)
            unreached &= ~layer
            frontier = [self.left_of[right] for right in ones(layer)]
        return []

    def _dig(self, start: int, layers: list[int]) -> None:
        """Follow one shortest path down the layers; what was tried is taken out of them."""
        lefts, rights = [start], list[int]()
        while lefts:
            depth = len(lefts) - 1
            self.looked_at += 1
            options = self.row(lefts[-1]) & layers[depth]
            if not options:
                lefts.pop()
                if rights:
                    rights.pop()
                continue
            bit = options & -options
            layers[depth] ^= bit
            rights.append(bit.bit_length() - 1)
            if depth == len(layers) - 1:
                self.free ^= bit
                for left, right in zip(lefts, rights, strict=True):
                    self.right_of[left], self.left_of[right] = right, left
                return
            lefts.append(self.left_of[rights[-1]])
