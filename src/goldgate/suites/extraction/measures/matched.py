"""Strict and relaxed precision, recall and F1 over (event type, role, argument) units.

They are one measure because they are one comparison: both divide by the same units.
"""

from __future__ import annotations

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.core.tally import Key, Tally
from goldgate.suites.extraction.events.match import FALSE_NEGATIVE, FALSE_POSITIVE, HIT, PAIR
from goldgate.suites.extraction.sample import Facts

TABLE = "matching"
# What each row of a comparison adds: strict hits, relaxed hits, predicted, gold.
_ADDS = {HIT: (1, 1, 1, 1), FALSE_POSITIVE: (0, 0, 1, 0), FALSE_NEGATIVE: (0, 0, 0, 1), PAIR: (0, 1, 0, 0)}
_NOTHING = (0, 0, 0, 0)


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
        columns = zip(_NOTHING, *(_ADDS[row[0]] for row in facts.comparison.rows), strict=True)
        return tuple(sum(column) for column in columns)

    def count(self, facts: Facts, tally: Tally) -> None:
        parts: dict[Key, list[int]] = {(TABLE,): [0, 0, 0, 0]}
        whole = parts[TABLE,]
        for kind, event_type, role in facts.comparison.rows:
            adds = _ADDS[kind]
            keys: tuple[Key, Key] = (TABLE, event_type), (TABLE, event_type, role)
            for key in keys:
                part = parts.get(key)
                if part is None:
                    part = parts[key] = [0, 0, 0, 0]
                part[0] += adds[0]
                part[1] += adds[1]
                part[2] += adds[2]
                part[3] += adds[3]
            whole[0] += adds[0]
            whole[1] += adds[1]
            whole[2] += adds[2]
            whole[3] += adds[3]
        forms, add = self.forms, tally.add
        types: dict[Key, Counts] = {}
        for key, counts in parts.items():
            vector = (counts[0], counts[1], counts[2], counts[3])
            add(key, forms, vector)
            if len(key) == 2:
                types[key] = vector
        if len(types) > 1:
            tally.meet(types)
