"""Gold and predicted values marked where they stand in a text; and those that do not stand in it, named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from goldgate.core.excerpt import MOST_MARKS, marked_text
from goldgate.core.finding import cut
from goldgate.core.page import counted
from goldgate.core.unit_page import Mark, MarkedText
from goldgate.suites.extraction.events.event import Unit
from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.events.occurrences import contained
from goldgate.suites.extraction.look.placed import PlacedText, Span
from goldgate.suites.extraction.look.sample import LookedAt

GOLD, PREDICTED, BOTH = "gold", "predicted", "both"

_MOST_NAMED = 20  # values that are not in the text
_LONGEST = 100  # characters of such a value


class _Value(NamedTuple):
    """A unit, who says it, and what is wrong with it."""

    unit: Unit
    kind: str
    wrong: str
    text: str
    spans: Sequence[Span]  # the offsets that it carries


def label(unit: Unit) -> str:
    """An event type and a role, as they are shown together."""
    event_type, role, _ = unit
    return f"{event_type} · {role}"


def source_text(sample: LookedAt, text: str) -> MarkedText:
    """The source text with the values of both sides: at the offsets of gold where they are right, else wherever they
    stand in it under the normalization of scoring."""
    return _marked(text, [*_values(sample)], named=True)


def thought_text(sample: LookedAt, thought: str) -> MarkedText:
    """A thought with the predicted values that it names."""
    return _marked(thought, [value._replace(spans=()) for value in _values(sample) if value.kind != GOLD], named=False)


def _values(sample: LookedAt) -> Iterator[_Value]:
    """The units of both sides, each once, errors first; of event types without arguments, their triggers."""
    gold, predicted, wrong = sample.gold, sample.predicted, sample.wrong
    found = [*_triggers(sample)]
    for unit, written in gold.units.items():
        kind = BOTH if unit in predicted.units else GOLD
        error = "" if kind == BOTH else wrong.get((GOLD, unit), "")
        found.append(_Value(unit, kind, error, gold.text(unit), written.spans))
    for unit, written in predicted.units.items():
        if unit not in gold.units:
            error = wrong.get((PREDICTED, unit), "")
            found.append(_Value(unit, PREDICTED, error, predicted.text(unit), written.spans))
    return iter(sorted(found, key=lambda value: not value.wrong))


def _triggers(sample: LookedAt) -> Iterator[_Value]:
    gold, predicted = sample.triggers[GOLD], sample.triggers[PREDICTED]
    for event_type, trigger in {**gold, **predicted}:
        named = event_type, trigger
        kind = PREDICTED if named not in gold else BOTH if named in predicted else GOLD
        wrong = ""
        if kind == GOLD and event_type not in sample.predicted.types:
            wrong = "missing"
        elif kind == PREDICTED and event_type not in sample.gold.types:
            wrong = "spurious"
        if argument := normalize(trigger):
            yield _Value((event_type, "trigger", argument), kind, wrong, trigger, ())


def _marked(text: str, values: Sequence[_Value], *, named: bool) -> MarkedText:
    placed = PlacedText(text)
    at_offsets = [[span for span in value.spans if placed.holds(span, value.unit[2])] for value in values]
    sought = {value.unit[2] for value, spans in zip(values, at_offsets, strict=True) if not spans}
    places = placed.places(sought, MOST_MARKS)
    marks: list[Mark] = []
    for value, right in zip(values, at_offsets, strict=True):
        spans = right or places.get(value.unit[2], [])
        marks += [Mark(*span, value.kind, label(value.unit), value.wrong) for span in spans]
        if len(marks) > 2 * MOST_MARKS:  # many values that stand at many places: enough to say that there are more
            break
    notes = _not_there(placed, values, sought, places) if named else []
    if sum(map(len, places.values())) >= MOST_MARKS:
        notes.append(f"Only the first {MOST_MARKS:,} places are marked.")
    return marked_text(text, marks, notes)


def _not_there(
    placed: PlacedText, values: Sequence[_Value], sought: set[str], places: Mapping[str, list[Span]]
) -> list[str]:
    """The values that the text does not have. Where not all places were listed, it is asked for them."""
    nowhere = sought - places.keys()
    if sum(map(len, places.values())) >= MOST_MARKS:
        nowhere -= contained(nowhere, placed.normalized)
    missing = [value for value in values if value.unit[2] in nowhere]
    if not missing:
        return []
    words = [f"{value.kind} “{cut(value.text, _LONGEST)}” ({label(value.unit)})" for value in missing[:_MOST_NAMED]]
    more = len(missing) - len(words)
    listed = "; ".join([*words, *([f"and {counted(more, 'more value')}"] if more else [])])
    return [f"Not in the text: {listed}."]
