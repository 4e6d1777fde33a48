"""Counts by name as bars: the first series filled, the second hatched, the third empty."""

from __future__ import annotations

from goldgate.core.picture import BarPicture
from goldgate.report.html.element import Markup, fragment
from goldgate.report.svg.axis import axis
from goldgate.report.svg.lettering import SMALL, described, fit_labels, fit_number, fit_text, in_full, text_width
from goldgate.report.svg.scale import fit_scale
from goldgate.report.svg.shapes import (
    GAP,
    LINE,
    MARGIN,
    WIDTH,
    Canvas,
    hatched,
    heading,
    notes,
    picture,
    rect,
    text,
)

_LABELS = 220
_SERIES = 150  # the most room for the name of a series
_BAR = 11
_ROW_GAP = 9
_HATCHED = 2  # the number of the series that is hatched


def draw_bars(drawn: BarPicture, *, standalone: bool) -> Markup:
    """A bar for each count, the number at its end."""
    labels = fit_labels((name for name, _ in drawn.rows), _LABELS)
    scale = fit_scale([0, *(count for _, counts in drawn.rows for count in counts)], whole=True)
    left = MARGIN + max(map(text_width, labels.values()), default=0) + GAP
    right = (
        WIDTH
        - MARGIN
        - max((text_width(fit_number(c), SMALL) for _, counts in drawn.rows for c in counts), default=0)
        - 6
    )
    canvas = Canvas()
    if standalone:
        heading(canvas, drawn.title, drawn.about)
    _legend(canvas, drawn.series, left)
    body = Canvas(y=canvas.y)
    for name, counts in drawn.rows:
        body.y += _ROW_GAP / 2
        middle = body.y + _BAR * len(counts) / 2
        body.add(text(MARGIN, middle + 4, labels[name], whole=name))
        for number, count in enumerate(counts, start=1):
            width = scale.share(count) * (right - left)
            body.add(_bar(left, body.y, width, number))
            body.add(text(left + width + 5, body.y + _BAR - 1.5, fit_number(count), "small"))
            body.y += _BAR
        body.y += _ROW_GAP / 2
    canvas.add(*axis(scale, left, right, canvas.y, body.y), *body.parts)
    canvas.y = body.y + LINE
    notes(canvas, [in_full(note) for note in drawn.notes])
    return picture(canvas, in_full(drawn.title), _description(drawn), standalone=standalone)


def _legend(canvas: Canvas, series: tuple[str, ...], left: float) -> None:
    canvas.y += LINE - 2
    x = left
    for number, name in enumerate(series, start=1):
        shown = fit_text(name, _SERIES, SMALL)
        canvas.add(_bar(x, canvas.y - _BAR + 2, 22, number), text(x + 28, canvas.y, shown, "small", whole=name))
        x += 28 + text_width(shown, SMALL) + 2 * GAP
    canvas.y += 8


def _bar(x: float, y: float, width: float, number: int) -> Markup:
    if not width:
        return fragment()
    inner = hatched(x, y + 1, width, _BAR - 2, "bar-hatch") if number == _HATCHED else fragment()
    return fragment(rect(x, y + 1, width, _BAR - 2, f"bar-{number}"), "\n" if inner else None, inner)


def _description(drawn: BarPicture) -> str:
    rows = [
        f"{name}: " + ", ".join(f"{count} {word}" for count, word in zip(counts, drawn.series, strict=True))
        for name, counts in drawn.rows
    ]
    return described([drawn.about, *rows, *drawn.notes])
