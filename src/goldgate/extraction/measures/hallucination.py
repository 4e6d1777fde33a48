"""Hallucination: predicted argument values that the source text does not support."""

from __future__ import annotations

from typing import Literal

from collections.abc import Callable

from goldgate.core.metric import Count, Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.extraction.event import Value
from goldgate.extraction.normalize import Haystack
from goldgate.extraction.sample import Facts
from goldgate.protocol.model import HallucinationSettings

IsSupported = Callable[[Value, Haystack], bool]


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


def support_rule(settings: HallucinationSettings) -> IsSupported:
    """When a value is supported, as the protocol sets it."""
    return _normalized_substring if settings.match_mode == "normalized_substring" else _exact_span


def _normalized_substring(value: Value, text: Haystack) -> bool:
    return text.contains(value.text)


def _exact_span(value: Value, text: Haystack) -> bool:
    if value.span is not None:
        return text.text[value.span[0] : value.span[1]] == value.text
    return value.text in text.text
