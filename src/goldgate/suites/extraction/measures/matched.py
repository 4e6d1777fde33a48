"""Strict and relaxed precision, recall and F1 over (event type, role, argument) units.

They are one measure because they are one comparison: both divide by the same units.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.core.tally import Key, Tally
from goldgate.suites.extraction.events.match import FALSE_NEGATIVE, FALSE_POSITIVE, HIT, PAIR
from goldgate.suites.extraction.sample import Facts

TABLE = "matching"
# What each row of a comparison adds to strict hits, relaxed hits, predicted and gold: four counts in one integer, which
# takes one addition a row. No sample has 2^40 units.
_BITS = 40
_FIELD = (1 << _BITS) - 1
_STRICT, _RELAXED, _PREDICTED, _GOLD = (1 << _BITS * place for place in range(4))
_ADDS = {
    HIT: _STRICT + _RELAXED + _PREDICTED + _GOLD,
    FALSE_POSITIVE: _PREDICTED,
    FALSE_NEGATIVE: _GOLD,
    PAIR: _RELAXED,
}


class Matched(RatioMeasure[Facts]):
    """Strict: TP = |P ∩ G| over sets of units with normalized arguments, summed over samples.
    Relaxed: TP = size of the largest matching within each (event type, role) under the protocol's rule.

    Every event type, and every role of it, has a table of its own: the breakdown reads them.
    """

    table = TABLE
    columns = ("strict", "relaxed", "predicted", "gold")
    known = frozenset({"gold"})
    parts = {"event type": "macro", "role": "macro_roles"}
    ratios = {**precision_recall_f1("strict_", "strict"), **precision_recall_f1("relaxed_", "relaxed")}

    def units(self, facts: Facts) -> Counts:
        return _unpacked(sum(_ADDS[kind] for rows in facts.comparison.rows.values() for kind, _ in rows))

    def count(self, facts: Facts, tally: Tally) -> None:
        """What each role, each event type and the sample count; kept packed where nobody asks for the sample itself."""
        if tally.group is not None or tally.unit is not None:
            self.count_plainly(facts, tally)
            return
        found: list[Any] = []
        types = []
        for event_type, rows in facts.comparison.rows.items():
            by_role: dict[str, int] = {}
            for kind, role in rows:
                by_role[role] = by_role.get(role, 0) + _ADDS[kind]
            if by_role:
                types.append((event_type, sum(by_role.values())))
                found += [(event_type, role, packed) for role, packed in by_role.items()]
        found.append((*types,))
        tally.kept(self.settle).update(found)

    def settle(self, kept: Mapping[Any, int], tally: Tally) -> None:
        """Add to the tables what was kept: (type, role, counts) for a role, ((type, counts), …) for a sample."""
        for found, times in kept.items():
            if found and isinstance(found[0], str):
                event_type, role, packed = found
                tally.add((TABLE, event_type, role), self.forms, _unpacked(packed), times)
            else:
                self._add_sample({(TABLE, event_type): packed for event_type, packed in found}, tally, times)

    def count_plainly(self, facts: Facts, tally: Tally) -> None:
        """The same, sample by sample."""
        rows = facts.comparison.rows
        types: dict[Key, int] = {(TABLE, name): sum(_ADDS[kind] for kind, _ in found) for name, found in rows.items()}
        self._add_sample({key: packed for key, packed in types.items() if packed}, tally)
        for event_type, found in rows.items():
            by_role: dict[str, int] = {}
            for kind, role in found:
                by_role[role] = by_role.get(role, 0) + _ADDS[kind]
            for role, packed in by_role.items():
                tally.add((TABLE, event_type, role), self.forms, _unpacked(packed))

    def _add_sample(self, types: Mapping[Key, int], tally: Tally, times: int = 1) -> None:
        tally.add(self.key, self.forms, _unpacked(sum(types.values())), times)
        parts = {key: _unpacked(packed) for key, packed in types.items()}
        for key, counts in parts.items():
            tally.add(key, self.forms, counts, times)
        tally.meet(parts, times)


@lru_cache(maxsize=4096)
def _unpacked(counts: int) -> Counts:
    return counts & _FIELD, counts >> _BITS & _FIELD, counts >> 2 * _BITS & _FIELD, counts >> 3 * _BITS
