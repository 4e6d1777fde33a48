"""Strict and relaxed precision, recall and F1 over (event type, role, argument) units.

They are one measure because they are one comparison: both divide by the same units, and its rows have the hits of both.
"""

from __future__ import annotations

from goldgate.core.metric import Metrics, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.suites.extraction.measures.unit_counts import unit_counts
from goldgate.suites.extraction.sample import Facts


class Matched:
    """Strict: TP = |P ∩ G| over sets of units with normalized arguments, summed over samples.
    Relaxed: TP = size of the largest matching within each (event type, role) under the protocol's rule.

    The breakdown reads the same rows.
    """

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        tally.rows.update(facts.comparison.rows)

    def metrics(self, tally: Tally) -> Metrics:
        counts = unit_counts(tally)
        return {
            **precision_recall_f1("strict_", counts.strict, counts.predicted, counts.gold),
            **precision_recall_f1("relaxed_", counts.relaxed, counts.predicted, counts.gold),
        }
