"""A text with its marks, cut to what a page can hold: of a long one, what stands around the marks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from goldgate.core.unit_page import Mark, MarkedText

MOST_CHARACTERS = 20_000  # of a text on a page
MOST_MARKS = 10_000
AROUND = 200  # characters before and after the ends of a mark
CUT = "cut"  # the kind of mark on the words that stand for what was left out

Span = tuple[int, int]


def marked_text(text: str, marks: Iterable[Mark], notes: Iterable[str] = (), most: int = MOST_CHARACTERS) -> MarkedText:
    """The text with its marks in order; errors first where there are too many, or where the text is too long."""
    said = [*notes]
    known = sorted({_within(mark, len(text)) for mark in marks} if text else (), key=_order)
    if len(known) > MOST_MARKS:
        said.append(f"{len(known) - MOST_MARKS:,} more places are not marked.")
        known = sorted(sorted(known, key=lambda mark: not mark.wrong)[:MOST_MARKS], key=_order)
    if len(text) <= most:
        return MarkedText(text, tuple(known), " ".join(said))
    windows = _windows(len(text), known, most)
    shown, unseen = _cut(text, known, windows)
    left_out = len(text) - sum(end - start for start, end in windows)
    also = f", with {unseen:,} of the places that would be marked" if unseen else ""
    said.append(f"{left_out:,} of {len(text):,} characters are left out{also}.")
    return MarkedText(shown.text, shown.marks, " ".join(said))


def _within(mark: Mark, size: int) -> Mark:
    """The mark inside the text, and on at least one character: a place at the end is marked on the last one."""
    start = max(0, min(mark.start, size - 1))
    end = max(start + 1, min(mark.end, size))
    return mark if (start, end) == mark[:2] else mark._replace(start=start, end=end)


def _order(mark: Mark) -> tuple[int, int, str, str, str]:
    return mark.start, -mark.end, mark.kind, mark.label, mark.wrong


def _windows(size: int, marks: Sequence[Mark], most: int) -> list[Span]:
    """The parts to show: the beginning, what is around errors, and around other marks, as far as there is room."""
    kept = [(0, min(size, AROUND))]
    for wrong in (True, False):
        points = sorted({at for mark in marks if bool(mark.wrong) == wrong for at in (mark.start, mark.end)})
        wanted = [(max(0, at - AROUND), min(size, at + AROUND)) for at in points]
        fewest, many = 0, len(wanted)
        while fewest < many:
            middle = (fewest + many + 1) // 2
            if sum(end - start for start, end in _joined([*kept, *wanted[:middle]])) <= most:
                fewest = middle
            else:
                many = middle - 1
        kept = _joined([*kept, *wanted[:fewest]])
    return kept


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The same without overlaps, in order."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, marks: Sequence[Mark], windows: Sequence[Span]) -> tuple[MarkedText, int]:
    """The windows with words between them that say how much is missing; and how many marks are in none of them."""
    parts: list[str] = []
    moved: list[Mark] = []
    offsets: list[int] = []
    size = done = 0
    for start, end in (*windows, (len(text), len(text))):
        if start > done:
            words = f" [… {start - done:,} characters left out …] "
            moved.append(Mark(size, size + len(words), CUT, "left out"))
            parts.append(words)
            size += len(words)
        offsets.append(size - start)
        parts.append(text[start:end])
        size += end - start
        done = end
    ends, seen = [end for _, end in windows], 0
    for mark in marks:
        before = len(moved)
        for number in range(bisect_left(ends, mark.start + 1), len(windows)):
            start, end = max(mark.start, windows[number][0]), min(mark.end, windows[number][1])
            if start >= end:
                break
            moved.append(mark._replace(start=start + offsets[number], end=end + offsets[number]))
        seen += len(moved) > before
    return MarkedText("".join(parts), tuple(sorted(moved, key=_order))), len(marks) - seen
