"""Hallucination: predicted argument values that the source text does not support."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from goldgate.core.measure import NO_TOTALS, UNITS_COLUMN, RatioMeasure, over
from goldgate.core.sums import Counts
from goldgate.core.value_text import Haystack, contained_values
from goldgate.suites.extraction.events.event import Events, Span, Unit, Value
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import HallucinationSettings

Unsupported = Callable[[Events, Haystack], list[Value]]

HALLUCINATION_VERSION = 3  # in the signature; 1 counted a value as often as it was written, 2 each spelling of it


class Hallucination(RatioMeasure[Facts]):
    """Unsupported / checked values, and samples with at least one / samples that have a source text.

    A value is checked once, however often and in how many spellings it is written: same event type, role, normalized
    text, offsets. It is unsupported if one of its spellings is.
    """

    table = "hallucination"
    columns = ("hallucinating", "checked", "unsupported", "values", "unchecked", UNITS_COLUMN)
    at_most_one = frozenset({"hallucinating", "checked", "unchecked", UNITS_COLUMN})
    ratios = {
        "hallucination_rate": over("hallucinating", "checked", "no sample has a source text"),
        "hallucination_entity_rate": over("unsupported", "values", "no predicted value could be checked"),
    }
    counted = {"hallucination_unchecked": "unchecked"}

    def row(self, facts: Facts) -> Counts:
        if facts.text is None:
            return 0, 0, 0, 0, 1, 1
        return int(bool(facts.unsupported)), 1, len(facts.unsupported), count_distinct(facts.predicted), 0, 1

    def totals(self, facts: Facts) -> Mapping[str, int]:
        if facts.text is None:
            return NO_TOTALS
        return {"hallucination_units": sum(map(len, facts.predicted.units.values()))}


def distinct_values(values: Iterable[Value]) -> list[Value]:
    """The first spelling of each value: of those with the same unit and offsets."""
    distinct: dict[tuple[Unit, Span | None], Value] = {}
    for value in values:
        distinct.setdefault((value.unit, value.span), value)
    return [*distinct.values()]


def count_distinct(events: Events) -> int:
    """The number of distinct values."""
    count = fast_count_distinct(events)
    return len(distinct_values(events.values())) if count is None else count


def fast_count_distinct(events: Events) -> int | None:
    """The number of values if there are as many units; None if not."""
    values = sum([len(columns[2]) for columns in events.columns])
    return values if values == sum(map(len, events.units.values())) else None


def support_rule(settings: HallucinationSettings) -> Unsupported:
    """Which of a sample's values are not supported by its text, as the protocol sets it."""
    return unsupported_normalized if settings.match_mode == "normalized_substring" else unsupported_exactly


def unsupported_normalized(events: Events, text: Haystack) -> list[Value]:
    """The values that are not in the text once both are normalized."""
    arguments = {argument for columns in events.columns for argument in columns[3]}
    present = contained_values(arguments, text.normalized)
    if len(present) == len(arguments):
        return []
    return distinct_values(value for value in events.values() if value.unit[2] not in present)


def unsupported_exactly(events: Events, text: Haystack) -> list[Value]:
    """The values with a spelling that is not in the text letter for letter, at its offsets if it carries any."""
    spellings, whole = dict.fromkeys(events.values()), text.text
    present = contained_values({value.text for value in spellings if value.span is None}, whole)
    return distinct_values(
        value
        for value in spellings
        if (value.text not in present if value.span is None else whole[slice(*value.span)] != value.text)
    )
