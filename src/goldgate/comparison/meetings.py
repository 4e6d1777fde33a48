"""Parts that stand in one unit, such as event types in a document: sums of the products of their counts, in all runs.

The average over event types is as uncertain as the types go together, and for a difference it matters how those of
one system go with those of the other. So every count of a part is multiplied with every count of the other part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from goldgate.core.counted_unit import Key
from goldgate.core.sums import Counts
from goldgate.core.tally import MOST_MEETING

_BITS = 96  # of a sum: products of counts below 2³², of as many units
_LARGEST = 1 << 32
_MASK = (1 << _BITS) - 1
_CACHED = 30_000_000  # bytes of counts that are packed already

Joint = tuple[int, ...]  # the number of each run's counts in the list of all; NOTHING where it has none


class Meetings:
    """The sums for each two parts that met. `width` is the number of counts of a part, those of all runs in a row.

    The counts of one part lie in one integer, far apart; those of the other in a second one, close together. Their
    product has all products of two counts side by side: 64 multiplications in one, and as many additions.
    """

    def __init__(self, width: int) -> None:
        self.is_complete = True  # False: too many parts met in one unit, or counts are too large
        self._width = width
        self._sums: dict[tuple[Key, Key], int] = {}
        self._packed: dict[Joint, tuple[Key, int, int]] = {}
        self._most = _CACHED // (width * width * _BITS // 8 + 500)

    def meet(self, parts: Sequence[Joint], part_of: Callable[[Joint], tuple[Key, Counts]]) -> None:
        """Parts of one unit; `part_of` says which part a joint is of, and the counts of all runs."""
        if len(parts) > MOST_MEETING:
            self.is_complete = False
        if not self.is_complete:
            return
        sums = self._sums
        for one, other in combinations([self._known(joint, part_of) for joint in parts], 2):
            first, second = (one, other) if one[0] < other[0] else (other, one)
            names = first[0], second[0]
            sums[names] = sums.get(names, 0) + first[1] * second[2]

    def matrices(self) -> Iterator[tuple[tuple[Key, Key], list[list[int]]]]:
        """For each two parts that met, the part that sorts first being first: rows are its counts."""
        places = range(self._width)
        for names, packed in sorted(self._sums.items()):
            shifts = [[(row * self._width + column) * _BITS for column in places] for row in places]
            yield names, [[packed >> shift & _MASK for shift in row] for row in shifts]

    def _known(self, joint: Joint, part_of: Callable[[Joint], tuple[Key, Counts]]) -> tuple[Key, int, int]:
        known = self._packed.get(joint)
        if known is None:
            if len(self._packed) >= self._most:
                self._packed = {}
            key, counts = part_of(joint)
            if max(counts, default=0) >= _LARGEST:
                self.is_complete = False
            known = self._packed[joint] = key, _packed(counts, _BITS * self._width), _packed(counts, _BITS)
        return known


def _packed(counts: Counts, bits: int) -> int:
    return sum(count << place * bits for place, count in enumerate(counts))
