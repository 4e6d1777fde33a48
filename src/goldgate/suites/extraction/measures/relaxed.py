"""Relaxed precision, recall and F1: arguments matched one to one under the protocol's rule."""

from __future__ import annotations

from goldgate.core.metric import Metrics, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.suites.extraction.measures.unit_counts import unit_counts
from goldgate.suites.extraction.sample import Facts


class Relaxed:
    """TP = size of the largest matching within each (event type, role), summed over samples."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        """Nothing more: the rows that strict scoring adds hold the relaxed pairs."""

    def metrics(self, tally: Tally) -> Metrics:
        counts = unit_counts(tally)
        return {**precision_recall_f1("relaxed_", counts.relaxed, counts.predicted, counts.gold)}
