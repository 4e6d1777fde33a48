"""Strict and relaxed precision, recall and F1 over (event type, role, argument) units.

They are one measure because they are one comparison: both divide by the same units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.core.tally import Key, Tally
from goldgate.suites.extraction.events.match import ByType
from goldgate.suites.extraction.events.packed import COLUMNS, unpacked
from goldgate.suites.extraction.sample import Facts

TABLE = "matching"


class Matched(RatioMeasure[Facts]):
    """Strict: TP = |P ∩ G| over sets of units with normalized arguments, summed over samples.
    Relaxed: TP = size of the largest matching within each (event type, role) under the protocol's rule.

    Every event type, and every role of it, has a table of its own: the breakdown reads them.
    """

    table = TABLE
    columns = COLUMNS
    known = frozenset({"gold"})
    parts = {"event type": "macro", "role": "macro_roles"}
    ratios = {**precision_recall_f1("strict_", "strict"), **precision_recall_f1("relaxed_", "relaxed")}

    def units(self, facts: Facts) -> Counts:
        return unpacked(sum([sum(by_role.values()) for by_role in facts.comparison.counts.values()]))

    def count(self, facts: Facts, tally: Tally) -> None:
        """What the sample, each event type and each role count, kept as it is: many samples together cost less."""
        if tally.group is not None:
            self.count_plainly(facts, tally)
            return
        counts = facts.comparison.counts
        tally.keep(self.settle, counts)
        if (unit := tally.unit) is not None:
            unit[self.key] = self.units(facts)
            for event_type, by_role in sorted(counts.items()):
                if by_role:
                    unit.update(_parts(event_type, *by_role.items()))

    def settle(self, samples: Iterable[ByType], tally: Tally) -> None:
        """Add to the tables what was kept, everything that is alike at once."""
        whole: list[int] = []
        met: list[tuple[tuple[str, int], ...]] = []
        roles: dict[str, list[tuple[str, int]]] = {}
        for counts in samples:
            types = []
            for event_type, by_role in counts.items():
                if by_role:
                    types.append((event_type, sum(by_role.values())))
                    known = roles.get(event_type)
                    if known is None:
                        known = roles[event_type] = []
                    known += by_role.items()
            whole.append(sum([packed for _, packed in types]))
            met.append((*types,))
        for packed, times in Counter(whole).items():
            tally.add(self.key, self.forms, unpacked(packed), times)
        for (event_type, packed), times in Counter(chain.from_iterable(met)).items():
            tally.add((TABLE, event_type), self.forms, unpacked(packed), times)
        for event_type, found in roles.items():
            for (role, packed), times in Counter(found).items():
                tally.add((TABLE, event_type, role), self.forms, unpacked(packed), times)
        for together, times in Counter(met).items():
            tally.meet({(TABLE, event_type): unpacked(packed) for event_type, packed in together}, times)

    def count_plainly(self, facts: Facts, tally: Tally) -> None:
        """The same, sample by sample."""
        tally.add(self.key, self.forms, self.units(facts))
        types: dict[Key, Counts] = {}
        for event_type, by_role in facts.comparison.counts.items():
            if by_role:
                types[TABLE, event_type] = unpacked(sum(by_role.values()))
            for role, packed in by_role.items():
                tally.add((TABLE, event_type, role), self.forms, unpacked(packed))
        for key, counts in types.items():
            tally.add(key, self.forms, counts)
        tally.meet(types)


@lru_cache(maxsize=4096)
def _parts(event_type: str, *roles: tuple[str, int]) -> dict[Key, Counts]:
    """What an event type and its roles count in a sample. Samples err in few ways: most of them are known."""
    parts = {(TABLE, event_type): unpacked(sum([packed for _, packed in roles]))}
    return parts | {(TABLE, event_type, role): unpacked(packed) for role, packed in sorted(roles)}
