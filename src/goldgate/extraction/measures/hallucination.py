"""Hallucination: predicted argument values that the source text does not support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from goldgate.core.metric import Count, Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.extraction.event import Events, Value
from goldgate.extraction.normalize import STANDS_ALONE, Haystack
from goldgate.extraction.sample import Facts
from goldgate.protocol.model import HallucinationSettings

Unsupported = Callable[[Events, Haystack], list[Value]]


class Hallucination:
    """Unsupported / checked values, and samples with at least one / samples that have a source text."""

    section: Literal["main", "diagnostics"] = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        counts = tally.counts
        if facts.text is None:
            counts["hallucination_unchecked"] += 1
            return
        counts["hallucination_samples"] += 1
        counts["hallucination_values"] += sum([len(said[2]) for said in facts.predicted.said])
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


def _normalized_substring(events: Events, text: Haystack) -> list[Value]:
    find, whole = text.text.find, text.text + " "
    doubtful = False
    for said in events.said:
        for written in said[2]:
            at = find(written)  # the usual answer of `contains`, inline
            if at < 0 or written[0] not in STANDS_ALONE or whole[at + len(written)] not in STANDS_ALONE:
                doubtful = True
    if not doubtful:
        return []
    return [value for value in events.values() if not text.contains(value.text)]


def _exact_span(events: Events, text: Haystack) -> list[Value]:
    whole = text.text
    return [
        value
        for value in events.values()
        if (value.text not in whole if value.span is None else whole[slice(*value.span)] != value.text)
    ]
