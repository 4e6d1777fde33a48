"""Hallucination: predicted argument values that the source text does not support."""

from __future__ import annotations

from typing import Literal

from collections.abc import Callable

from goldgate.core.metric import Count, Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.extraction.event import Value
from goldgate.extraction.normalize import Haystack, survives
from goldgate.extraction.sample import Facts
from goldgate.protocol.model import HallucinationSettings

Unsupported = Callable[[list[Value], Haystack], list[Value]]


class Hallucination:
    """Unsupported / checked values, and samples with at least one / samples that have a source text."""

    section: Literal["main", "diagnostics"] = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        counts = tally.counts
        if facts.text is None:
            counts["hallucination_unchecked"] += 1
            return
        counts["hallucination_samples"] += 1
        counts["hallucination_values"] += len(facts.predicted.values)
        if facts.unsupported:
            counts["hallucinating_samples"] += 1
            counts["hallucinated_values"] += len(facts.unsupported)

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        return {
            "hallucination_rate": Rate(
                counts["hallucinating_samples"], counts["hallucination_samples"], "no sample has a source text"
            ),
            "hallucination_entity_rate": Rate(
                counts["hallucinated_values"], counts["hallucination_values"], "no predicted value could be checked"
            ),
            "hallucination_unchecked": Count(counts["hallucination_unchecked"]),
        }


def support_rule(settings: HallucinationSettings) -> Unsupported:
    """Which of a sample's values are not supported by its text, as the protocol sets it."""
    return _normalized_substring if settings.match_mode == "normalized_substring" else _exact_span


def _normalized_substring(values: list[Value], text: Haystack) -> list[Value]:
    whole, contains = text.text, text.contains
    unsupported = []
    for value in values:
        written = value[2]
        at = whole.find(written)  # the usual answer, inline
        if (at < 0 or not survives(whole, at, written)) and not contains(written):
            unsupported.append(value)
    return unsupported


def _exact_span(values: list[Value], text: Haystack) -> list[Value]:
    whole = text.text
    return [
        value
        for value in values
        if (value[2] not in whole if value[4] is None else whole[slice(*value[4])] != value[2])
    ]
