"""Gold and predicted values marked where they are in a text, under the normalization that scoring uses."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

from goldgate.core.finding import limit_length
from goldgate.core.page import count_text
from goldgate.core.text import CharacterMemo, segment_starts, starts_segment
from goldgate.core.unit_page import MAX_MARKS, Mark, MarkedText, marked_text
from goldgate.core.value_text import automata, contained_values, normalize, slow_normalize

Span = tuple[int, int]  # of characters of the text itself, the end exclusive

_FEW_COMPARISONS = 1_000_000  # values times characters; below, looking for one after the other is faster
_SHORT_PIECE = 4  # characters of a piece that is likely to come again


class NormalizedText:
    """A text, normalized, in which every character knows where it comes from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: Sequence[int] | None
        way = _align_characters if all(map(starts_segment, set(text))) else _align_pieces
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

_MAX_VALUES = 20  # values that are not in the text
_LONGEST_VALUE = 100  # characters of such a value


class MarkedValue(NamedTuple):
    """A value of gold, of a prediction or of both: what is said of it, and where it is known to be in the text."""

    normalized: str  # what is looked for where no place is known; empty: it is not looked for
    text: str
    kind: str
    label: str
    wrong: str = ""  # the name of its error
    spans: Sequence[Span] = ()


def mark_values(text: NormalizedText, values: Sequence[MarkedValue], *, named: bool) -> MarkedText:
    """The text with values at their places, or else wherever they are in it; `named` lists those that it lacks."""
    sought = {value.normalized for value in values if value.normalized and not value.spans}
    places = text.places(sought, MAX_MARKS)
    marks: list[Mark] = []
    for value in values:
        spans = value.spans or places.get(value.normalized, ())
        marks += [Mark(*span, value.kind, value.label, value.wrong) for span in spans]
        if len(marks) > 2 * MAX_MARKS:  # many values that stand at many places: enough to say that there are more
            break
    notes = _missing_values(text, values, sought, places) if named else []
    if sum(map(len, places.values())) >= MAX_MARKS:
        notes.append(f"Only the first {MAX_MARKS:,} places are marked.")
    return marked_text(text.text, marks, notes)


def _missing_values(
    text: NormalizedText, values: Sequence[MarkedValue], sought: set[str], places: Mapping[str, list[Span]]
) -> list[str]:
    """The values that the text does not have. Where not all places were listed, it is asked for them."""
    nowhere = sought - places.keys()
    if sum(map(len, places.values())) >= MAX_MARKS:
        nowhere -= contained_values(nowhere, text.normalized)
    missing = [value for value in values if value.normalized in nowhere and not value.spans]
    if not missing:
        return []
    words = [
        f"{value.kind} “{limit_length(value.text, _LONGEST_VALUE)}” ({value.label})" for value in missing[:_MAX_VALUES]
    ]
    more = len(missing) - len(words)
    text_list = "; ".join([*words, *([f"and {count_text(more, 'more value')}"] if more else [])])
    return [f"Not in the text: {text_list}."]
