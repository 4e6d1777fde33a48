"""Several gates watched together while documents are asked in a random order: enough is known once all are decided.

Each bound has a sequence of its own (`stats.sequence`) with its share of the error rate, so that with a chance of at
most `ERROR_RATE` any of them is decided wrongly, however often one looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from goldgate.core.sums import Counts, RatioForm
from goldgate.stats.sequence import Decision, GateSequence

ERROR_RATE = 0.05


@dataclass(frozen=True, slots=True)
class WatchedBound:
    """A bound on a rate of all documents; on a plain count it is on its share of the documents.

    `largest` is the most that the rate divides by in one document, whatever the answer is.
    """

    metric: str
    side: Literal["min", "max"]
    threshold: Decimal
    table: str
    form: RatioForm
    largest: int
    is_count: bool = False


class GateWatch:
    """Takes what each next document counted. `decided_after` is the number of documents that decided every bound."""

    def __init__(self, bounds: Sequence[WatchedBound], documents: int, error_rate: float = ERROR_RATE) -> None:
        self.bounds = bounds
        self.documents = documents
        self.seen = 0
        self.decided_after: int | None = None
        self.exceeded: str | None = None  # a metric with a document beyond its bound: then nothing is decided early
        self._watches = [_Watch(bound, documents, error_rate / len(bounds)) for bound in bounds]

    def add(self, counts: Mapping[str, Counts | None]) -> bool:
        """The next document's counts by table; whether every bound is decided, now or before."""
        if self.decided_after is not None or self.exceeded is not None:
            return self.decided_after is not None
        self.seen += 1
        for watch in self._watches:
            if not watch.add(counts.get(watch.bound.table)):
                self.exceeded = watch.bound.metric
                return False
        if all(watch.is_decided for watch in self._watches):
            self.decided_after = self.seen
        return self.decided_after is not None

    def decisions(self) -> list[tuple[WatchedBound, bool]]:
        """Of each bound whether all documents keep it, once that is decided."""
        return [(watch.bound, watch.decision is Decision.REACHED) for watch in self._watches]


class _Watch:
    """One bound. An upper bound on a rate is a lower bound on what is left of 1."""

    def __init__(self, bound: WatchedBound, documents: int, alpha: float) -> None:
        self.bound = bound
        self._a = self._b = 0
        threshold = Fraction(bound.threshold)
        if bound.is_count:
            threshold = min(Fraction(1), threshold / documents)
        reached = threshold if bound.side == "min" else 1 - threshold
        self._sequence = GateSequence(reached, documents, max(1, bound.largest), alpha)

    @property
    def decision(self) -> Decision:
        return self._sequence.decision

    def add(self, counts: Counts | None) -> bool:
        """False where a document has more to divide by than was thought possible."""
        a, b = (0, 0) if counts is None else self.bound.form.of(counts)
        self._a, self._b = self._a + a, self._b + b
        if not 0 <= a <= b <= self.bound.largest:
            return False
        self._sequence.add(a if self.bound.side == "min" else b - a, b)
        return True

    @property
    def is_decided(self) -> bool:
        """Decided, and what was asked so far says the same: a report over it has the verdict that is meant."""
        if self.decision is Decision.OPEN or not self._b:
            return False
        found = Fraction(self._a) if self.bound.is_count else Fraction(self._a, self._b)
        threshold = Fraction(self.bound.threshold)
        kept = found >= threshold if self.bound.side == "min" else found <= threshold
        return kept == (self.decision is Decision.REACHED)
