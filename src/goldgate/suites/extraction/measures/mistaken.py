"""Errors by name: how often each was given to a false positive and to a false negative, and what was confused."""

from __future__ import annotations

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.suites.extraction.confusions import bare_confusion, confusion
from goldgate.suites.extraction.events.mistakes import Mistake
from goldgate.suites.extraction.sample import Facts

# On the gold's side and on the answer's.
_COUNTED = tuple({mistake: f"mistake.{mistake}.{side}" for mistake in Mistake} for side in ("gold", "predicted"))


class Mistaken:
    """It has no metrics of its own; the report's `errors` and `confusions` are its counts."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        counts = tally.counts
        for mistake, unit, predicted, partner in facts.mistakes:
            counts[_COUNTED[predicted][mistake]] += 1
            if predicted and partner is not None:  # the other side of the pair is the same confusion
                name = confusion(mistake, unit, partner)
                if name is not None:
                    counts[name] += 1
        gold, said = facts.sample.gold.events.units, facts.predicted.units
        if gold.keys() != said.keys() and (name := bare_confusion(gold, said)) is not None:
            counts[name] += 1

    def metrics(self, tally: Tally) -> Metrics:
        return {}
