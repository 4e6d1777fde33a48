"""A text with marks as pieces that follow each other: what overlaps is cut where a mark begins or ends.

The work grows with the text and the number of marks, however many of them lie on one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from goldgate.core.unit_page import Mark

_AROUND = 300  # characters on both sides of a mark that are shown of a long text


class Run(NamedTuple):
    """A piece of a text. All its characters have the same marks; those in `ends` end behind it."""

    start: int
    end: int
    kinds: tuple[str, ...] = ()
    wrong: bool = False
    ends: tuple[Mark, ...] = ()  # the innermost first


def marked_runs(start: int, end: int, marks: Sequence[Mark]) -> Iterator[Run]:
    """The part of a text from `start` to `end`; a mark without a character is an empty piece of its own."""
    opening: dict[int, list[Mark]] = {}
    closing: dict[int, list[Mark]] = {}
    points: dict[int, list[Mark]] = {}
    for mark in marks:
        first, last = max(mark.start, start), min(mark.end, end)
        if first < last:
            opening.setdefault(first, []).append(mark)
            closing.setdefault(last, []).append(mark)
        elif first == last and mark.start == mark.end:
            points.setdefault(first, []).append(mark)
    kinds: Counter[str] = Counter()
    wrong = 0
    places = sorted({start, end, *opening, *closing, *points})
    for here, there in pairwise((*places, end)):
        if here in points:
            yield Run(here, here, ends=tuple(points[here]))
        for mark in opening.get(here, ()):
            kinds[mark.kind] += 1
            wrong += bool(mark.wrong)
        if here < there:
            ended = tuple(reversed(closing.get(there, ())))
            yield Run(here, there, tuple(sorted(kind for kind in kinds if kinds[kind])), wrong > 0, ended)
        for mark in closing.get(there, ()):
            kinds[mark.kind] -= 1
            wrong -= bool(mark.wrong)


def excerpts(length: int, marks: Sequence[Mark], most: int) -> list[tuple[int, int]]:
    """The parts of a text that are shown, `most` characters of it: all of a short one, else the beginning and what
    stands around the ends of its marks, as far as there is room."""
    if length <= most:
        return [(0, length)]
    wanted = [(0, max(most // 4, 1))]
    ends = sorted({max(0, min(end, length)) for mark in marks for end in (mark.start, mark.end)})
    wanted += [(max(0, at - _AROUND), min(length, at + _AROUND)) for at in ends] or [(0, most)]
    found: list[tuple[int, int]] = []
    left = most
    for start, end in wanted:
        joined = bool(found) and start <= found[-1][1]
        start = found[-1][1] if joined else start
        end = min(end, start + left)
        if start >= end:
            continue
        left -= end - start
        found[-1:] = [(found[-1][0], end)] if joined else [*found[-1:], (start, end)]
    return found
