"""Type precision, recall and F1: sets of event types per sample."""

from __future__ import annotations

from goldgate.core.metric import Metrics, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts


class EventType:
    """TP = |types(P) ∩ types(G)|, summed over samples."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        predicted, gold = facts.predicted.units, facts.sample.gold.events.units
        counts = tally.counts
        counts["type_predicted"] += len(predicted)
        counts["type_gold"] += len(gold)
        counts["type_hits"] += len(predicted.keys() & gold.keys())

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        return {**precision_recall_f1("type_", counts["type_hits"], counts["type_predicted"], counts["type_gold"])}
