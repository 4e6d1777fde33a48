"""Type precision, recall and F1: sets of event types per sample."""

from __future__ import annotations

from goldgate.core.measure import RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.suites.extraction.sample import Facts


class EventType(RatioMeasure[Facts]):
    """TP = |types(P) ∩ types(G)|, summed over samples."""

    table = "type"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    ratios = precision_recall_f1("type_", "hits")

    def units(self, facts: Facts) -> Counts:
        predicted, gold = facts.predicted.units, facts.sample.gold.events.units
        return len(predicted.keys() & gold.keys()), len(predicted), len(gold)
