"""Strict precision, recall and F1: exact (event type, role, normalized argument) triples."""

from __future__ import annotations

from goldgate.core.metric import Metrics, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.suites.extraction.measures.unit_counts import unit_counts
from goldgate.suites.extraction.sample import Facts


class Strict:
    """TP = |P ∩ G| over sets of units, summed over samples.

    It adds the rows of the comparison to the tally; relaxed scoring and the breakdown read the same rows.
    """

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        tally.rows.update(facts.comparison.rows)

    def metrics(self, tally: Tally) -> Metrics:
        counts = unit_counts(tally)
        return {**precision_recall_f1("strict_", counts.strict, counts.predicted, counts.gold)}
