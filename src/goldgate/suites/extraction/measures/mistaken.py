"""Errors by name: how often each was given to a false positive and to a false negative."""

from __future__ import annotations

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts


class Mistaken:
    """It has no metrics of its own; the report's `errors` are its counts."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        for mistake, _, predicted, _ in facts.mistakes:
            tally.counts[f"mistake.{mistake}.{'predicted' if predicted else 'gold'}"] += 1

    def metrics(self, tally: Tally) -> Metrics:
        return {}
