"""Texts from data in HTML: what cannot be seen is written out, and what is marked is marked.

A text never becomes markup, whatever it says; its direction is its own, and a character that would turn the
direction of what follows is written out as in the other formats (`\\u202e`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from goldgate.core.unit_page import Mark, MarkedText
from goldgate.report.escape import alone, apart, escape_of, shortened_apart, unseen, visible
from goldgate.report.html.element import Content, Markup, element, fragment, prepared
from goldgate.report.html.runs import Run, excerpts, marked_runs

MOST_WORDS = 1_000  # characters of a sentence or a value
MOST_NAME = 120  # columns of a name


class Limits(NamedTuple):
    """How much of a unit is shown: what is left out is said."""

    characters: int = 12_000  # of one text
    marks: int = 300  # in one text
    rows: int = 100  # of one table


PAGE = Limits()  # of a page with many units

# How a kind of mark looks; whatever else a suite has looks like the last.
_LOOKS = {
    "gold": "gold",
    "predicted": "pred",
    "both": "both",
    "read": "read",
    "repair": "fix",
    "thought": "thought",
    "left_out": "left",
    "left out": "left",
}
_OTHER = "other"
_B, _EM = prepared("b"), prepared("em")


def name(text: str) -> str:
    """An identifier, as text: blanks at its ends and what cannot be seen are written out; a long one is cut."""
    if len(text) <= MOST_NAME:
        return _short_name(text[:])  # as text, also what is markup
    return alone(text if len(text) <= MOST_WORDS else shortened_apart(text, MOST_WORDS), MOST_NAME, commands=False)


@lru_cache(maxsize=4096)  # a page has the same names again and again
def _short_name(text: str) -> str:
    return alone(text, MOST_NAME, commands=False)


def names(texts: Iterable[str]) -> dict[str, str]:
    """Identifiers that stand together, each as text: no two of them look alike."""
    cut = {text: text if len(text) <= MOST_WORDS else shortened_apart(text, MOST_WORDS) for text in texts}
    shown = apart(cut.values(), MOST_NAME, commands=False)
    return {text: shown[short] for text, short in cut.items()}


def words(text: str) -> str:
    """A sentence, as text; of a long one the beginning."""
    if len(text) <= MOST_NAME:
        return _short_words(text[:])
    more = len(text) - MOST_WORDS
    shown = visible(text[:MOST_WORDS], commands=False)
    return shown if more <= 0 else f"{shown}… and {more:,} more characters"


@lru_cache(maxsize=4096)  # and the same words
def _short_words(text: str) -> str:
    return visible(text, commands=False)


def running(text: str) -> Markup:
    """A text with its line ends; what cannot be seen in it stands in a box."""
    parts: list[Content] = []
    end = 0
    for at in unseen(text):
        parts += [text[end:at], _boxed(text[at])]
        end = at + 1
    return fragment(*parts, text[end:])


def _boxed(character: str) -> Markup:
    title = f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
    if unicodedata.category(character) == "Zs":  # a blank: it keeps its width
        return element("span", character, class_="blank", title=title)
    return element("span", escape_of(character), class_="unseen", title=title)


def marked(given: MarkedText, label: str, limits: Limits = PAGE) -> Markup:
    """The text with its marks, the legend above it and the note below; of a long one the parts with marks."""
    text = given.text
    marks = given.marks[: limits.marks]
    letters = _letters(marks)
    shown = excerpts(len(text), marks, limits.characters)
    parts: list[Content] = []
    show = running if any(True for _ in unseen(text)) else str  # most texts have nothing that cannot be seen
    for number, (start, end) in enumerate(shown):
        before = shown[number - 1][1] if number else 0
        parts += [_gap(start - before), *_pieces(text, marked_runs(start, end, marks), letters, show)]
    parts.append(_gap(len(text) - shown[-1][1]))
    notes = [given.note] if given.note else []
    if len(given.marks) > len(marks):
        notes.append(f"{len(marks)} of {len(given.marks)} marks are shown")
    return fragment(
        _legend(marks, letters),
        element("div", *parts, class_="text", dir="auto", tabindex=0, role="group", aria_label=words(label)),
        [element("p", words(note), class_="note", dir="auto") for note in notes],
    )


def _pieces(text: str, runs: Iterator[Run], letters: dict[str, str], show: Callable[[str], str]) -> Iterator[str]:
    for run in runs:
        shown = show(text[run.start : run.end])
        if run.kinds:
            yield _mark(run.kinds, run.wrong)(shown)
        else:
            yield shown
        yield from (_tag(mark, letters) for mark in run.ends)


@lru_cache
def _mark(kinds: tuple[str, ...], wrong: bool) -> Callable[[str], Markup]:
    looks = sorted({_LOOKS.get(kind, _OTHER) for kind in kinds})
    return prepared("mark", class_=" ".join([*looks, *(["wrong"] if wrong else [])]))


def _tag(mark: Mark, letters: dict[str, str]) -> Markup:
    """What is said of a mark, behind it: whose it is, by a letter, the label, and the error."""
    look = _LOOKS.get(mark.kind, _OTHER) + (" wrong" if mark.wrong else "")
    wrong = _EM(words(mark.wrong)) if mark.wrong else None
    return element("bdi", _B(letters[mark.kind]), name(mark.label), wrong, class_=f"tag {look}")


def _legend(marks: Sequence[Mark], letters: dict[str, str]) -> Markup | None:
    if not marks:
        return None
    counts = {kind: sum(mark.kind == kind for mark in marks) for kind in letters}
    items = [
        element(
            "li",
            element("mark", letters[kind], class_=_LOOKS.get(kind, _OTHER)),
            f" {words(kind)} ",
            element("span", str(count), class_="count"),
        )
        for kind, count in counts.items()
    ]
    return element("ul", *items, class_="legend", aria_label="What is marked")


def _letters(marks: Sequence[Mark]) -> dict[str, str]:
    """A sign for each kind that occurs: its first letter, or as many as tell it from the others before it."""
    found: dict[str, str] = {}
    for kind in dict.fromkeys(mark.kind for mark in marks):
        signs = (name(kind)[:length].capitalize() for length in range(1, len(kind) + 1))
        found[kind] = next((sign for sign in signs if sign not in found.values()), str(len(found) + 1))
    return found


def _gap(characters: int) -> Markup | None:
    if not characters:
        return None
    return element("span", f"… {characters:,} characters …", class_="gap")
