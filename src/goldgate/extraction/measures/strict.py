"""Strict precision, recall and F1: exact (event type, role, normalized argument) triples."""

from __future__ import annotations

from typing import Literal

from goldgate.core.metric import Metrics, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.extraction.match import Group
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
        groups = groups_of(tally)
        hits = sum(group.strict * times for group, times in groups)
        return {**precision_recall_f1("strict_", hits, *sizes(groups))}


def groups_of(tally: Tally) -> list[tuple[Group, int]]:
    """The groups of a tally with how often each occurred."""
    return [(Group._make(row), times) for row, times in tally.rows.items()]


def sizes(groups: list[tuple[Group, int]]) -> tuple[int, int]:
    """How many units were predicted, and how many are in the gold."""
    return (
        sum(group.predicted * times for group, times in groups),
        sum(group.gold * times for group, times in groups),
    )
