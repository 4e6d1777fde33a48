"""What a role, an event type or a sample counts in matching: four counts in one integer, which takes one addition.

No sample has 2^40 units, so no count runs over into the next.
"""

from __future__ import annotations

from functools import lru_cache

from goldgate.core.sums import Counts

COLUMNS = ("strict", "relaxed", "predicted", "gold")

_BITS = 40
_FIELD = (1 << _BITS) - 1
_STRICT, _RELAXED, _PREDICTED, _GOLD = (1 << _BITS * place for place, _ in enumerate(COLUMNS))

# Predicted units are hits and false positives, gold units hits and false negatives, relaxed hits are hits and pairs.
HIT = _STRICT + _RELAXED + _PREDICTED + _GOLD
FALSE_POSITIVE, FALSE_NEGATIVE, PAIR = _PREDICTED, _GOLD, _RELAXED


@lru_cache(maxsize=4096)
def unpacked(counts: int) -> Counts:
    """The four counts, in the order of the columns."""
    return counts & _FIELD, counts >> _BITS & _FIELD, counts >> 2 * _BITS & _FIELD, counts >> 3 * _BITS
