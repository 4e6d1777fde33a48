"""Counts by name as bars: the first series filled, the second hatched, the third empty."""

from __future__ import annotations

from goldgate.core.picture import BarPicture
from goldgate.report.escape import visible
from goldgate.report.html.element import Markup, fragment
from goldgate.report.svg.lettering import SMALL, fit_labels, text_width
from goldgate.report.svg.scale import fit_scale
from goldgate.report.svg.scores import axis
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
_BAR = 11
_ROW_GAP = 9
_HATCHED = 2  # the number of the series that is hatched


def draw_bars(drawn: BarPicture, *, standalone: bool) -> Markup:
    """A bar for each count, the number at its end."""
    labels = fit_labels((name for name, _ in drawn.rows), _LABELS)
    scale = fit_scale([0, *(count for _, counts in drawn.rows for count in counts)], whole=True)
    left = MARGIN + max(map(text_width, labels.values()), default=0) + GAP
    right = WIDTH - MARGIN - max((text_width(str(c), SMALL) for _, counts in drawn.rows for c in counts), default=0) - 6
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
            body.add(text(left + width + 5, body.y + _BAR - 1.5, str(count), "small"))
            body.y += _BAR
        body.y += _ROW_GAP / 2
    canvas.add(*axis(scale, left, right, canvas.y, body.y), *body.parts)
    canvas.y = body.y + LINE
    notes(canvas, [visible(note) for note in drawn.notes])
    return picture(canvas, visible(drawn.title), _description(drawn), standalone=standalone)


def _legend(canvas: Canvas, series: tuple[str, ...], left: float) -> None:
    canvas.y += LINE - 2
    x = left
    for number, name in enumerate(series, start=1):
        canvas.add(_bar(x, canvas.y - _BAR + 2, 22, number), text(x + 28, canvas.y, visible(name), "small"))
        x += 28 + text_width(name, SMALL) + 2 * GAP
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
    return visible(". ".join([*([drawn.about] if drawn.about else []), *rows, *drawn.notes])) + "."
