"""Measures that count event type by event type: a gate can be set on one of them, or on their average."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from goldgate.core.counted_unit import Key
from goldgate.core.measure import RatioMeasure
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts


class ByEventType(RatioMeasure[Facts]):
    """What a sample counts is what its event types count together."""

    section = "papers"
    parts = {"event type": "macro"}

    @abstractmethod
    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        """What each event type of the sample counts."""

    def units(self, facts: Facts) -> Counts:
        return self.summed(self.counts(facts))

    def count(self, facts: Facts, tally: Tally) -> None:
        self.add(self.counts(facts), tally)

    def add(self, by_type: Mapping[str, Counts], tally: Tally) -> None:
        """What a sample counts, and each event type in it."""
        tally.add(self.key, self.forms, self.summed(by_type))
        parts: dict[Key, Counts] = {(self.table, event_type): counts for event_type, counts in sorted(by_type.items())}
        for key, counts in parts.items():
            tally.add(key, self.forms, counts)
        tally.meet(parts)

    def summed(self, by_type: Mapping[str, Counts]) -> Counts:
        """What the sample counts: the sum over its event types."""
        return tuple(map(sum, zip(*by_type.values(), strict=True))) if by_type else (0,) * len(self.columns)
