"""The parts of a picture: texts, lines, marks, hatched areas; and the picture around them.

What they look like stands in picture.css, by their classes. Hatching is drawn line by line: a pattern would need an
id, and two pictures on a page would share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from goldgate.report.html.element import Markup, element, fragment, raw
from goldgate.report.svg.lettering import SMALL, TITLE, cut_to, fit_text, in_full, text_width
from goldgate.stats.interval import LEVEL

WIDTH = 760
MARGIN = 16
GAP = 16  # between columns
LINE = 17  # from one line of text to the next
ROUNDING = 0.5  # a label has room where its own width was measured, however the sum was rounded
MARK = 4.5  # half the size of a mark
INTERVAL = f"{LEVEL:.0%}".replace("%", " % interval")
NAMESPACE = "http://www.w3.org/2000/svg"

_HATCH_STEP = 5

Anchor = Literal["start", "middle", "end"]


@dataclass(slots=True)
class Canvas:
    """A picture while it is drawn: its parts in their order, and how far down it goes."""

    parts: list[Markup] = field(default_factory=list)
    y: float = 0
    width: float = WIDTH

    def add(self, *parts: Markup) -> None:
        self.parts += parts


def fixed(number: float) -> str:
    """A coordinate with two decimals at most, the same on every machine."""
    shown = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def text(
    x: float, y: float, shown: str, kind: str = "", *, anchor: Anchor = "start", whole: str | None = None
) -> Markup:
    """A line of text on its base line; `whole` is what was cut, for those who point at it."""
    full = in_full(whole) if whole is not None else shown
    return element(
        "text",
        shown if full == shown else (element("title", full), shown),
        class_=kind or None,
        x=fixed(x),
        y=fixed(y),
        text_anchor=None if anchor == "start" else anchor,
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", class_=kind, x1=fixed(x1), y1=fixed(y1), x2=fixed(x2), y2=fixed(y2))


def rect(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return element("rect", class_=kind, x=fixed(x), y=fixed(y), width=fixed(width), height=fixed(height))


def dot(x: float, y: float, radius: float, kind: str) -> Markup:
    return element("circle", class_=kind, cx=fixed(x), cy=fixed(y), r=fixed(radius))


def hatched(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    """Parallel lines over an area, from bottom left to top right; nothing where it has no width."""
    parts = []
    offset = _HATCH_STEP - x % _HATCH_STEP  # neighbouring areas go on with the same lines
    while offset < width + height:
        left, right = max(0.0, offset - height), min(width, offset)
        if right > left:
            start, end = (f"{fixed(x + at)} {fixed(y + offset - at)}" for at in (left, right))
            parts.append(f"M{start}L{end}")
        offset += _HATCH_STEP
    return element("path", class_=kind, d="".join(parts)) if parts else fragment()


def interval(left: float, right: float, y: float) -> Markup:
    """The bar of an interval, with its two ends marked."""
    ends = (line(x, y - 4, x, y + 4, "interval-end") for x in (left, right))
    return fragment(line(left, y, right, y, "interval"), "\n", _lines(ends))


def heading(canvas: Canvas, title: str, about: str) -> None:
    """The title and what the picture is of, on top."""
    canvas.y = MARGIN + 13
    room = canvas.width - 2 * MARGIN
    canvas.add(text(MARGIN, canvas.y, fit_text(title, room, TITLE), "title", whole=title))
    if about:
        canvas.y += LINE
        canvas.add(text(MARGIN, canvas.y, fit_text(about, room, SMALL), "small", whole=about))
    canvas.y += 8


def notes(canvas: Canvas, sentences: Sequence[str]) -> None:
    """Sentences under a picture, in as many lines as they need."""
    canvas.y += 6 if sentences else 0
    for sentence in sentences:
        for shown in _wrapped(sentence, canvas.width - 2 * MARGIN):
            canvas.y += LINE - 2
            canvas.add(text(MARGIN, canvas.y, shown, "small"))


def picture(canvas: Canvas, title: str, description: str, *, standalone: bool) -> Markup:
    """The whole: with a name and a description for those who do not see it.

    Alone it has its own looks, ground and margins; on a page these are the page's.
    """
    parts = [element("title", title), element("desc", description)]
    left, width, height = MARGIN, canvas.width - 2 * MARGIN, canvas.y + 4
    if standalone:
        left, width, height = 0, canvas.width, canvas.y + MARGIN
        parts += [raw("style", stylesheet()), rect(0, 0, width, height, "ground")]
    return element(
        "svg",
        "\n",
        _lines(iter([*parts, *canvas.parts])),
        "\n",
        xmlns=NAMESPACE,
        viewBox=f"{left} 0 {fixed(width)} {fixed(height)}",
        width=fixed(width),
        height=fixed(height),
        class_="picture",
        role="img",
    )


@cache
def stylesheet() -> str:
    """The looks of all pictures, in light and dark."""
    return Path(__file__).with_name("picture.css").read_text(encoding="utf-8")


def _lines(parts: Iterator[Markup]) -> Markup:
    """One part a line, so that people and programs can compare two pictures."""
    return fragment(*(fragment("\n" if number else "", part) for number, part in enumerate(filter(None, parts))))


def _wrapped(sentence: str, room: float) -> Iterator[str]:
    shown = ""
    for word in sentence.split(" "):
        longer = f"{shown} {word}" if shown else word
        if text_width(longer, SMALL) > room:
            if shown:
                yield shown
            longer = cut_to(word, room, SMALL)
        shown = longer
    yield shown
