"""Where values stand in a text: every place at which they are equal under the normalization that scoring uses.

Normalization changes the length of a text: it removes blanks, folds ㎏ to kg, and joins letters with their marks. So
the text is cut into pieces that are normalized each by itself, and each normalized character knows its piece.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from itertools import compress, pairwise

from goldgate.core.by_character import ByCharacter
from goldgate.core.pieces import may_join, piece_starts
from goldgate.suites.extraction.events.normalize import normalize, normalize_plainly
from goldgate.suites.extraction.events.occurrences import automata

Span = tuple[int, int]  # of characters of the text itself, the end exclusive

_FEW = 1_000_000  # values times characters; below, looking for one after the other is faster
_SHORT = 4  # characters of a piece that is likely to come again


class PlacedText:
    """A text, normalized, in which every character knows where it comes from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: Sequence[int] | None
        way = _piece_by_piece if any(map(may_join, set(text))) else _one_by_one
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
        found: dict[str, list[Span]] = {}
        for end, value in sorted_mentions(values, self.normalized, most):
            found.setdefault(value, []).append(self.span(end - len(value), end))
        return found


def sorted_mentions(values: Collection[str], text: str, most: int) -> list[tuple[int, str]]:
    """Where values end in a text, the first `most` of them; of two that end together the longer comes first."""
    if len(values) * len(text) <= _FEW:
        return mentions_one_by_one(values, text, most)
    return mentions_at_once(values, text, most)


def mentions_one_by_one(values: Collection[str], text: str, most: int) -> list[tuple[int, str]]:
    """The same, by looking for each."""
    found = []
    for value in dict.fromkeys(values):
        at, left = text.find(value) if value else -1, most
        while at >= 0 and left:
            found.append((at + len(value), value))
            at, left = text.find(value, at + 1), left - 1
    return sorted(found, key=lambda mention: (mention[0], -len(mention[1])))[:most]


def mentions_at_once(values: Collection[str], text: str, most: int) -> list[tuple[int, str]]:
    """The same in time that grows with the text and the values, not with their product."""
    found: list[tuple[int, str]] = []
    for automaton in automata(values, len(text)):
        found += automaton.mentions(text, most)
    return sorted(found, key=lambda mention: (mention[0], -len(mention[1])))[:most]


def _one_by_one(text: str) -> tuple[str, Sequence[int], None]:
    """The normalized text, and where the piece of each of its characters begins: here a character."""
    forms = {character: _FORMS[character] for character in set(text)}
    parts = [*map(forms.__getitem__, text)]
    lengths = set(map(len, forms.values()))
    if lengths <= {1}:
        return "".join(parts), range(len(text)), None
    if lengths <= {0, 1}:  # blanks become nothing
        return "".join(parts), array("q", compress(range(len(text)), parts)), None
    return "".join(parts), array("q", [at for at, part in enumerate(parts) for _ in part]), None


_FORMS = ByCharacter(normalize_plainly)


def _piece_by_piece(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The same, where characters may be joined to the one before them: also where each piece ends."""
    parts: list[str] = []
    starts, ends = array("q"), array("q")
    forms: dict[str, str] = {}
    for start, end in pairwise([*piece_starts(text), len(text)]):
        piece = text[start:end]
        form = forms.get(piece)
        if form is None:
            form = normalize_plainly(piece)
            if len(piece) <= _SHORT:
                forms[piece] = form
        parts.append(form)
        starts.extend([start] * len(form))
        ends.extend([end] * len(form))
    return "".join(parts), starts, ends
