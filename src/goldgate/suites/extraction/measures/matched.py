"""Strict and relaxed precision, recall and F1 over (event type, role, argument) units.

They are one measure because they are one comparison: both divide by the same units.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import orjson

from goldgate.core.counted_unit import Key
from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts, RatioForm
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.match import ByType
from goldgate.suites.extraction.events.packed import COLUMNS, unpacked
from goldgate.suites.extraction.sample import Facts

TABLE = "matching"
_MOST_WRITTEN = 512  # parts of an event type that are kept as JSON: 40 MB at most in all


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
        now = tally.now
        if now.group is not None:
            self.count_plainly(facts, tally)
            return
        counts = facts.comparison.counts
        tally.keep(self.key, self.keep, counts)
        if now.counts is not None:
            now.counts[self.key] = self.units(facts)
            now.parts = PackedParts(counts)

    def keep(self) -> KeptCounts:
        return KeptCounts(self.forms)

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


class KeptCounts:
    """What samples count in matching, everything that is alike once, with how often it was met."""

    __slots__ = ("_forms", "_roles", "_types")

    def __init__(self, forms: Mapping[str, RatioForm]) -> None:
        self._forms = forms
        self._types: dict[tuple[tuple[str, int], ...], int] = {}  # the types of a sample
        self._roles: dict[str, dict[tuple[str, int], int]] = {}  # of a type

    def add(self, counts: ByType) -> None:
        types = []
        for event_type, by_role in counts.items():
            if by_role:
                types.append((event_type, sum(by_role.values())))
                known = self._roles.get(event_type)
                if known is None:
                    known = self._roles[event_type] = {}
                for counted in by_role.items():
                    known[counted] = known.get(counted, 0) + 1
        together = (*types,)
        self._types[together] = self._types.get(together, 0) + 1

    def settle(self, tally: Tally) -> None:
        forms = self._forms
        for together, times in self._types.items():
            tally.add((TABLE,), forms, unpacked(sum([packed for _, packed in together])), times)
            types: dict[Key, Counts] = {(TABLE, event_type): unpacked(packed) for event_type, packed in together}
            for key, counts in types.items():
                tally.add(key, forms, counts, times)
            tally.meet(types, times)
        for event_type, found in self._roles.items():
            for (role, packed), times in found.items():
                tally.add((TABLE, event_type, role), forms, unpacked(packed), times)


class PackedParts:
    """What event types and their roles count in a sample: the parts of its record, sorted by name."""

    __slots__ = ("_counts",)

    def __init__(self, counts: ByType) -> None:
        self._counts = counts

    def get(self, key: Key) -> Counts | None:
        by_role = self._counts.get(key[1]) if key[0] == TABLE else None
        if not by_role:
            return None
        packed = sum(by_role.values()) if len(key) == 2 else by_role.get(key[2])
        return None if packed is None else unpacked(packed)

    def items(self) -> list[tuple[Key, Counts]]:
        """Every part, in order."""
        found: list[tuple[Key, Counts]] = []
        for event_type, by_role in sorted(self._counts.items()):
            if by_role:
                found.append(((TABLE, event_type), unpacked(sum(by_role.values()))))
                found += [((TABLE, event_type, role), unpacked(packed)) for role, packed in sorted(by_role.items())]
        return found

    def json(self) -> bytes:
        """The same as JSON, a list without its brackets. There are few kinds of each part, and each is written once."""
        found: list[bytes] = []
        for event_type, by_role in sorted(self._counts.items()):
            if by_role:
                known = _written(event_type)
                if len(known) > _MOST_WRITTEN:
                    known.clear()
                for part in ((None, sum(by_role.values())), *sorted(by_role.items())):
                    written = known.get(part)
                    if written is None:
                        written = known[part] = _write(event_type, *part)
                    found.append(written)
        return b",".join(found)


@lru_cache(maxsize=256)
def _written(event_type: str) -> dict[tuple[str | None, int], bytes]:
    """What was written so far of an event type, by role and counts."""
    return {}


def _write(event_type: str, role: str | None, packed: int) -> bytes:
    key = (TABLE, event_type) if role is None else (TABLE, event_type, role)
    return orjson.dumps((key, unpacked(packed)))
