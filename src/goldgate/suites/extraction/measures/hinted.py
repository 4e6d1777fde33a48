"""Hints: how many answers speak for another setting of how answers are read, and in which shapes the gold is."""

from __future__ import annotations

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.form import form_of
from goldgate.suites.extraction.hints import count_hints
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ResponseSettings


class Hinted:
    """It has no metrics of its own; the report's `hints` and the shapes of the gold are made of its counts."""

    section = "main"

    def __init__(self, settings: ResponseSettings) -> None:
        self.form = form_of(settings)

    def count(self, facts: Facts, tally: Tally) -> None:
        count_hints(facts, self.form, tally)
        for shape in facts.sample.gold.shapes:
            tally.counts[f"gold_shape.{shape}"] += 1

    def metrics(self, tally: Tally) -> Metrics:
        return {}
