"""Strict and relaxed precision, recall and F1 over (event type, role, argument) units.

They are one measure because they are one comparison: both divide by the same units.
"""

from __future__ import annotations

from collections.abc import Iterable

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.core.tally import Alike, Key, Tally
from goldgate.suites.extraction.events.match import FALSE_NEGATIVE, FALSE_POSITIVE, HIT, PAIR, Row
from goldgate.suites.extraction.sample import Facts

TABLE = "matching"
# What each row of a comparison adds: strict hits, relaxed hits, predicted, gold.
_ADDS = {HIT: (1, 1, 1, 1), FALSE_POSITIVE: (0, 0, 1, 0), FALSE_NEGATIVE: (0, 0, 0, 1), PAIR: (0, 1, 0, 0)}


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
        return _summed(row for rows in facts.comparison.rows.values() for row in rows)

    def count(self, facts: Facts, tally: Tally) -> None:
        """Answers to one event type that are right and wrong in the same roles are counted once, with how often."""
        known, types = tally.alike, []
        for event_type, rows in facts.comparison.rows.items():
            kind = (event_type, *rows)
            found = known.get(kind)
            if found is None:
                found = known[kind] = Alike(self.forms, _parts(event_type, rows))
            types.append(found)
        sample = tuple(types)
        whole = known.get(sample)
        if whole is None:
            whole = known[sample] = self._whole(facts)
        if tally.group is None and tally.unit is None:
            whole.times += 1
            for found in types:
                found.times += 1
        else:
            tally.count_alike(whole)
            for found in types:
                tally.count_alike(found)
        tally.make_room()

    def _whole(self, facts: Facts) -> Alike:
        types: dict[Key, Counts] = {
            (TABLE, event_type): _summed(rows) for event_type, rows in facts.comparison.rows.items() if rows
        }
        return Alike(self.forms, {(TABLE,): self.units(facts), **types}, types)

    def count_plainly(self, facts: Facts, tally: Tally) -> None:
        """The same, one sample after the other."""
        whole = self._whole(facts)
        for key, counts in whole.parts.items():
            tally.add(key, self.forms, counts)
        for event_type, rows in facts.comparison.rows.items():
            for key, counts in _parts(event_type, rows).items():
                tally.add(key, self.forms, counts)
        tally.meet(whole.meeting)


def _parts(event_type: str, rows: Iterable[Row]) -> dict[Key, Counts]:
    """What each role counts."""
    by_role: dict[str, list[Row]] = {}
    for row in rows:
        by_role.setdefault(row[1], []).append(row)
    return {(TABLE, event_type, role): _summed(found) for role, found in by_role.items()}


def _summed(rows: Iterable[Row]) -> Counts:
    strict = relaxed = predicted = gold = 0
    for kind, _ in rows:
        adds = _ADDS[kind]
        strict, relaxed = strict + adds[0], relaxed + adds[1]
        predicted, gold = predicted + adds[2], gold + adds[3]
    return strict, relaxed, predicted, gold
