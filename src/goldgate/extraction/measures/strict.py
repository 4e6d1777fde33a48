"""Strict precision, recall and F1: exact (event type, role, normalized argument) triples."""

from __future__ import annotations

from typing import Literal

from goldgate.core.metric import Metrics, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.extraction.sample import Facts


class Strict:
    """TP = |P ∩ G| over sets of units, summed over samples.

    The unit counts are those of the groups, which every sample adds to the tally for the
    breakdown: relaxed scoring reads the same rows.
    """

    section: Literal["main", "diagnostics"] = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        rows = tally.rows
        for group in facts.comparison.groups:
            rows[group] += 1

    def metrics(self, tally: Tally) -> Metrics:
        predicted, gold, strict, _ = unit_counts(tally)
        return {**precision_recall_f1("strict_", strict, predicted, gold)}


def unit_counts(tally: Tally) -> tuple[int, int, int, int]:
    """Units predicted, in the gold, matched strictly, matched relaxed."""
    sums = [0, 0, 0, 0]
    for (_, _, *counts), times in tally.rows.items():
        for number, count in enumerate(counts):
            sums[number] += int(count) * times
    return sums[0], sums[1], sums[2], sums[3]
