"""Where quotes stand in a source, under the folding that judging uses: blanks, quotation marks and dashes alike."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import NamedTuple

from goldgate.core.pieces import piece_starts
from goldgate.suites.research.run.fold import fold, plain_fold

MOST_PLACES = 20  # of one quote in one source


class Span(NamedTuple):
    """Characters of the source, the end exclusive."""

    start: int
    end: int


class QuotedText:
    """A source that is folded once, and only if a quote does not stand in it letter for letter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: tuple[str, array[int], array[int]] | None = None

    def places(self, quote: str | None, span: Span | None) -> list[Span]:
        """Where a quote stands: at its span if that is right, else wherever it is; none if it is nowhere."""
        inside = span is not None and 0 <= span.start < span.end <= len(self.text)
        if quote is None:
            return [span] if span is not None and inside else []
        if span is not None and inside and fold(self.text[span.start : span.end]) == fold(quote):
            return [span]
        exact = _all(self.text, quote)
        if exact:
            return exact
        if self._folded is None:
            self._folded = _fold_with_places(self.text)
        folded, starts, ends = self._folded
        return [Span(starts[at], ends[end - 1]) for at, end in _all(folded, fold(quote))]


def _all(text: str, part: str) -> list[Span]:
    found: list[Span] = []
    at = text.find(part) if part else -1
    while at >= 0 and len(found) < MOST_PLACES:
        found.append(Span(at, at + len(part)))
        at = text.find(part, at + len(part))
    return found


def _fold_with_places(text: str) -> tuple[str, array[int], array[int]]:
    """The folded text, and for each of its characters where the piece begins and ends that it comes from."""
    parts: list[str] = []
    starts, ends = array("q"), array("q")
    for start, end in pairwise([*piece_starts(text), len(text)]):
        form = plain_fold(text[start:end])
        if form.isspace():
            if parts and parts[-1] == " ":
                ends[-1] = end
                continue
            form = " "
        parts.append(form)
        starts.extend([start] * len(form))
        ends.extend([end] * len(form))
    return "".join(parts), starts, ends
