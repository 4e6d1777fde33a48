"""Gold and predicted values marked where they occur in a text, under the normalization that scoring uses."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

from goldgate.core.finding import limit_length
from goldgate.core.page import count_text
from goldgate.core.text import CharacterMemo, may_combine, segment_starts
from goldgate.core.unit_page import MOST_MARKS, Mark, MarkedText, marked_text
from goldgate.suites.extraction.events.argument_text import automata, contained_values, normalize, slow_normalize
from goldgate.suites.extraction.events.event import Unit
from goldgate.suites.extraction.explain import SampleView

Span = tuple[int, int]  # of characters of the text itself, the end exclusive

_FEW_COMPARISONS = 1_000_000  # values times characters; below, looking for one after the other is faster
_SHORT_PIECE = 4  # characters of a piece that is likely to come again


class NormalizedText:
    """A text, normalized, in which every character knows where it comes from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: Sequence[int] | None
        way = _align_pieces if any(map(may_combine, set(text))) else _align_characters
        self.normalized, self._starts, self._ends = way(text)

    def span(self, start: int, end: int) -> Span:
        """The part of the text behind these normalized characters."""
        last = end - 1
        return self._starts[start], self._starts[last] + 1 if self._ends is None else self._ends[last]

    def holds(self, span: Span, value: str) -> bool:
        """Whether a normalized value is what stands at a place."""
        start, end = span
        return 0 <= start < end <= len(self.text) and normalize(self.text[start:end]) == value

    def places(self, values: Collection[str], most: int) -> dict[str, list[Span]]:
        """The places of each normalized value, of all values the first `most`; a value that is nowhere has none."""
        places: dict[str, list[Span]] = {}
        for end, value in sorted_mentions(values, self.normalized, most):
            places.setdefault(value, []).append(self.span(end - len(value), end))
        return places


def sorted_mentions(values: Collection[str], text: str, most: int) -> list[tuple[int, str]]:
    """Where values end in a text, the first `most` of them; of two that end together the longer comes first."""
    if len(values) * len(text) <= _FEW_COMPARISONS:
        return slow_mentions(values, text, most)
    return mentions_by_automaton(values, text, most)


def slow_mentions(values: Collection[str], text: str, most: int) -> list[tuple[int, str]]:
    """The rule for `sorted_mentions`: each value is looked for."""
    mentions = []
    for value in dict.fromkeys(values):
        at, left = text.find(value) if value else -1, most
        while at >= 0 and left:
            mentions.append((at + len(value), value))
            at, left = text.find(value, at + 1), left - 1
    return sorted(mentions, key=lambda mention: (mention[0], -len(mention[1])))[:most]


def mentions_by_automaton(values: Collection[str], text: str, most: int) -> list[tuple[int, str]]:
    """`slow_mentions` in time that grows with the text and the values, not with their product."""
    mentions: list[tuple[int, str]] = []
    for automaton in automata(values, len(text)):
        mentions += automaton.mentions(text, most)
    return sorted(mentions, key=lambda mention: (mention[0], -len(mention[1])))[:most]


def _align_characters(text: str) -> tuple[str, Sequence[int], None]:
    """The normalized text, and where the piece of each of its characters begins: here a character."""
    forms = {character: _FORMS[character] for character in set(text)}
    parts = [*map(forms.__getitem__, text)]
    lengths = set(map(len, forms.values()))
    if lengths <= {1}:
        return "".join(parts), range(len(text)), None
    if lengths <= {0, 1}:  # blanks become nothing
        return "".join(parts), array("q", compress(range(len(text)), parts)), None
    return "".join(parts), array("q", [at for at, part in enumerate(parts) for _ in part]), None


_FORMS = CharacterMemo(slow_normalize)


def _align_pieces(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The normalized text, and where the piece of each of its characters begins and ends.

    For texts in which a character may be joined to the one before it.
    """
    parts: list[str] = []
    starts, ends = array("q"), array("q")
    forms: dict[str, str] = {}
    for start, end in pairwise([*segment_starts(text), len(text)]):
        piece = text[start:end]
        form = forms.get(piece)
        if form is None:
            form = slow_normalize(piece)
            if len(piece) <= _SHORT_PIECE:
                forms[piece] = form
        parts.append(form)
        starts.extend([start] * len(form))
        ends.extend([end] * len(form))
    return "".join(parts), starts, ends


GOLD, PREDICTED, BOTH = "gold", "predicted", "both"

_MOST_VALUES_NAMED = 20  # values that are not in the text
_LONGEST_VALUE = 100  # characters of such a value


class _MarkedValue(NamedTuple):
    """A unit, who says it, and what is wrong with it."""

    unit: Unit
    kind: str
    wrong: str
    text: str
    spans: Sequence[Span]  # the offsets that it carries


def unit_label(unit: Unit) -> str:
    """An event type and a role, as they are shown together."""
    event_type, role, _ = unit
    return f"{event_type} · {role}"


def marked_source(sample: SampleView, text: str) -> MarkedText:
    """The source text with the values of both sides: at the offsets of gold where they are right, else wherever they
    stand in it under the normalization of scoring."""
    return _marked(text, [*_values(sample)], named=True)


def marked_thought(sample: SampleView, thought: str) -> MarkedText:
    """A thought with the predicted values that it names."""
    return _marked(thought, [value._replace(spans=()) for value in _values(sample) if value.kind != GOLD], named=False)


def _values(sample: SampleView) -> Iterator[_MarkedValue]:
    """The units of both sides, each once, errors first; of event types without arguments, their triggers."""
    gold, predicted, wrong = sample.gold, sample.predicted, sample.wrong
    values = [*_triggers(sample)]
    for unit, written in gold.units.items():
        kind = BOTH if unit in predicted.units else GOLD
        error = "" if kind == BOTH else wrong.get((GOLD, unit), "")
        values.append(_MarkedValue(unit, kind, error, gold.text(unit), written.spans))
    for unit, written in predicted.units.items():
        if unit not in gold.units:
            error = wrong.get((PREDICTED, unit), "")
            values.append(_MarkedValue(unit, PREDICTED, error, predicted.text(unit), written.spans))
    return iter(sorted(values, key=lambda value: not value.wrong))


def _triggers(sample: SampleView) -> Iterator[_MarkedValue]:
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
            yield _MarkedValue((event_type, "trigger", argument), kind, wrong, trigger, ())


def _marked(text: str, values: Sequence[_MarkedValue], *, named: bool) -> MarkedText:
    normalized_text = NormalizedText(text)
    at_offsets = [[span for span in value.spans if normalized_text.holds(span, value.unit[2])] for value in values]
    sought = {value.unit[2] for value, spans in zip(values, at_offsets, strict=True) if not spans}
    places = normalized_text.places(sought, MOST_MARKS)
    marks: list[Mark] = []
    for value, right in zip(values, at_offsets, strict=True):
        spans = right or places.get(value.unit[2], [])
        marks += [Mark(*span, value.kind, unit_label(value.unit), value.wrong) for span in spans]
        if len(marks) > 2 * MOST_MARKS:  # many values that stand at many places: enough to say that there are more
            break
    notes = _missing_values(normalized_text, values, sought, places) if named else []
    if sum(map(len, places.values())) >= MOST_MARKS:
        notes.append(f"Only the first {MOST_MARKS:,} places are marked.")
    return marked_text(text, marks, notes)


def _missing_values(
    normalized_text: NormalizedText, values: Sequence[_MarkedValue], sought: set[str], places: Mapping[str, list[Span]]
) -> list[str]:
    """The values that the text does not have. Where not all places were listed, it is asked for them."""
    nowhere = sought - places.keys()
    if sum(map(len, places.values())) >= MOST_MARKS:
        nowhere -= contained_values(nowhere, normalized_text.normalized)
    missing = [value for value in values if value.unit[2] in nowhere]
    if not missing:
        return []
    words = [
        f"{value.kind} “{limit_length(value.text, _LONGEST_VALUE)}” ({unit_label(value.unit)})"
        for value in missing[:_MOST_VALUES_NAMED]
    ]
    more = len(missing) - len(words)
    listed = "; ".join([*words, *([f"and {count_text(more, 'more value')}"] if more else [])])
    return [f"Not in the text: {listed}."]
