"""Measures that count event type by event type: a gate can be set on one of them, or on their average."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from goldgate.core.measure import EACH, RatioMeasure
from goldgate.core.sums import Counts
from goldgate.core.tally import Key, Tally
from goldgate.suites.extraction.sample import Facts


class ByEventType(RatioMeasure[Facts]):
    """A column that is at most 1 in a sample is 1 there if it is in any event type."""

    section = "papers"
    parts = {"event type": "macro"}

    @abstractmethod
    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        """What each event type of the sample counts."""

    def units(self, facts: Facts) -> Counts:
        return self.summed(self.counts(facts))

    def count(self, facts: Facts, tally: Tally) -> None:
        by_type = self.counts(facts)
        tally.add(self.key, self.forms, self.summed(by_type))
        parts: dict[Key, Counts] = {(self.table, event_type): counts for event_type, counts in sorted(by_type.items())}
        for key, counts in parts.items():
            tally.add(key, self.forms, counts)
        tally.meet(parts)

    def summed(self, by_type: Mapping[str, Counts]) -> Counts:
        """What the sample counts."""
        rows = [*by_type.values()]
        return tuple(self._of_sample(column, [row[place] for row in rows]) for place, column in enumerate(self.columns))

    def _of_sample(self, column: str, found: list[int]) -> int:
        if column not in self.single:
            return sum(found)
        return int(any(found)) if column != EACH else 1
