"""Counts that add up: the sum of any split of the samples, in any order, is the same tally."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable


class Tally:
    """Named counts, and rows with how often each occurred.

    A row is a small fact about part of a sample, such as a hit in one role of one event type.
    Equal rows are kept once, so memory grows with the number of different rows, not with the samples.
    """

    __slots__ = ("counts", "rows")

    def __init__(self) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.rows: Counter[Hashable] = Counter()

    def __iadd__(self, other: Tally) -> Tally:
        for name, count in other.counts.items():
            self.counts[name] += count
        self.rows.update(other.rows)
        return self

    def __eq__(self, other: object) -> bool:
        # A count of zero and no count are the same tally; Counter knows that.
        return isinstance(other, Tally) and (Counter(self.counts) == Counter(other.counts) and self.rows == other.rows)

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def __repr__(self) -> str:
        return f"<Tally: {len(self.counts)} counts, {len(self.rows)} different rows>"


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    summed = Tally()
    for tally in tallies:
        summed += tally
    return summed
