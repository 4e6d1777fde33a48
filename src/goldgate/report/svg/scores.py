"""Values with intervals on one scale, in groups: the main rates, systems side by side, runs and their mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goldgate.core.page import NOT_AVAILABLE
from goldgate.core.picture import Score, ScorePicture
from goldgate.report.escape import visible
from goldgate.report.html.element import Markup
from goldgate.report.svg.lettering import BOLD, SMALL, fit_labels, fit_text, text_width
from goldgate.report.svg.scale import Number, Scale, exact, fit_scale
from goldgate.report.svg.shapes import (
    GAP,
    LINE,
    MARGIN,
    MARK,
    WIDTH,
    Canvas,
    dot,
    heading,
    interval,
    line,
    notes,
    picture,
    text,
)
from goldgate.stats.interval import LEVEL

_LABELS = 200  # the most room for labels
_ASIDE = 110
_ROW, _ROW_WITH_RUNS = 22, 38
_GROUP_GAP = 8
_RUN = 3.2  # the radius of a run's dot
_LEVELS = 3  # dots that lie on each other are drawn one above the other, so many times

BEST = "*"
INTERVAL = f"{LEVEL:.0%}".replace("%", " % interval")


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the columns are, from left to right."""

    left: float
    right: float
    value: float  # its right end
    interval: float
    aside: float  # its right end


def draw_scores(drawn: ScorePicture, *, standalone: bool) -> Markup:
    """A mark for each value, a bar for its interval, and the numbers beside them."""
    rows = [row for group in drawn.groups for row in group.rows]
    labels = fit_labels((row.label for row in rows), _LABELS)
    scale = fit_scale([*([0] if drawn.with_zero else []), *(value for row in rows for value in _values(row))])
    titles = fit_labels((group.title for group in drawn.groups), _LABELS, BOLD)
    widest = max([*map(text_width, labels.values()), *(text_width(title, BOLD) for title in titles.values())])
    columns = _columns(rows, MARGIN + widest + GAP, drawn)
    canvas = Canvas()
    if standalone:
        heading(canvas, drawn.title, drawn.about)
    _heads(canvas, columns, drawn)
    top = canvas.y
    body = Canvas(y=canvas.y)
    for group in drawn.groups:
        if group.title:
            body.y += LINE + (_GROUP_GAP if body.parts else 0)
            body.add(text(MARGIN, body.y, titles[group.title], "group", whole=group.title))
            body.y += 2
        for row in group.rows:
            _row(body, row, labels[row.label], columns, scale)
    canvas.add(*axis(scale, columns.left, columns.right, top, body.y + 4), *body.parts)
    canvas.y = body.y + 4 + LINE
    notes(canvas, [*_legend(rows), *map(visible, drawn.notes)])
    return picture(canvas, visible(drawn.title), _description(drawn), standalone=standalone)


def axis(scale: Scale, left: float, right: float, top: float, bottom: float) -> Iterator[Markup]:
    """Fine lines at round numbers, and these under them."""
    for tick in scale.ticks():
        x = left + scale.share(tick) * (right - left)
        yield line(x, top, x, bottom, "axis" if tick == 0 > scale.low else "grid")
        yield text(x, bottom + 13, scale.label(tick), "small", anchor="middle")
    yield line(left, bottom, right, bottom, "axis")


def said(row: Score) -> str:
    """A score in words."""
    found = row.measured
    if found.value is None:
        return f"{visible(row.label)}: {NOT_AVAILABLE}" + (f", {visible(found.reason)}" if found.reason else "")
    ends = "" if found.interval is None else f", interval {found.interval}"
    runs = f", runs {', '.join(f'{run:.4f}' for run in row.runs)}" if row.runs else ""
    return f"{visible(row.label)}: {found}{BEST if found.best else ''}{ends}{runs}"


def _columns(rows: Sequence[Score], left: float, drawn: ScorePicture) -> _Columns:
    """The numbers take what they need, the scale what is left."""
    asides = [fit_text(row.aside, _ASIDE) for row in rows if row.aside]
    aside_width = max([text_width(drawn.aside, SMALL), *map(text_width, asides)]) if asides else 0.0
    intervals = [str(row.measured.interval or "") for row in rows]
    interval_width = max([text_width(INTERVAL, SMALL), *map(text_width, intervals)]) if any(intervals) else 0.0
    value_width = max([text_width(_value_title(drawn), SMALL), *(text_width(str(row.measured)) for row in rows)])
    right_edge = WIDTH - MARGIN
    interval_left = right_edge - (aside_width + GAP if aside_width else 0) - interval_width
    value_right = interval_left - (GAP if interval_width else 0)
    return _Columns(left, value_right - value_width - GAP, value_right, interval_left, right_edge)


def _heads(canvas: Canvas, columns: _Columns, drawn: ScorePicture) -> None:
    rows = [row for group in drawn.groups for row in group.rows]
    canvas.y += LINE - 2
    canvas.add(text(columns.value, canvas.y, _value_title(drawn), "small", anchor="end"))
    if any(row.measured.interval for row in rows):
        canvas.add(text(columns.interval, canvas.y, INTERVAL, "small"))
    if any(row.aside for row in rows):
        canvas.add(text(columns.aside, canvas.y, drawn.aside, "small", anchor="end"))
    canvas.y += 5


def _row(canvas: Canvas, row: Score, label: str, columns: _Columns, scale: Scale) -> None:
    height = _ROW_WITH_RUNS if row.runs else _ROW
    y = canvas.y + height - _ROW / 2
    canvas.y += height
    base = y + 4
    canvas.add(text(MARGIN, base, label, whole=row.label))
    found = row.measured
    if found.value is None:
        why = NOT_AVAILABLE + (f": {found.reason}" if found.reason else "")
        canvas.add(text(columns.left + 4, base, fit_text(why, columns.right - columns.left, SMALL), "small", whole=why))
        canvas.add(text(columns.value, base, NOT_AVAILABLE, anchor="end"))
        return

    def place(value: Number) -> float:
        return columns.left + scale.share(value) * (columns.right - columns.left)

    if found.interval is not None:
        canvas.add(interval(place(found.interval.low), place(found.interval.high), y))
        canvas.add(text(columns.interval, base, str(found.interval)))
    canvas.add(*_run_dots([place(run) for run in row.runs], y), dot(place(found.value), y, MARK, "mark"))
    canvas.add(text(columns.value, base, str(found), anchor="end"))
    if found.best:  # beside the number, so that digits stand under digits
        canvas.add(text(columns.value + 1, base, BEST))
    if row.aside:
        canvas.add(text(columns.aside, base, fit_text(row.aside, _ASIDE), anchor="end", whole=row.aside))


def _run_dots(places: Sequence[float], y: float) -> Iterator[Markup]:
    """A dot for each run, over the bar; those that would cover each other one above the other."""
    last, level = None, 0
    for x in sorted(places):
        level = (level + 1) % _LEVELS if last is not None and x - last < 2 * _RUN else 0
        yield dot(x, y - 9 - level * 2 * _RUN, _RUN, "run")
        last = x


def _values(row: Score) -> Iterator[Number]:
    found = row.measured
    if found.value is not None:
        yield exact(found.value)
    yield from found.interval or ()
    yield from row.runs


def _value_title(drawn: ScorePicture) -> str:
    return "difference" if drawn.with_zero else "value"


def _legend(rows: Sequence[Score]) -> Iterator[str]:
    of_runs = any(row.runs for row in rows)
    if any(row.measured.interval for row in rows):
        value = "the mean of the runs" if of_runs else "the value"
        yield f"Mark: {value}. Bar: its {INTERVAL}." + (" Circles: single runs." if of_runs else "")
    if any(row.measured.best for row in rows):
        yield f"{BEST}: the best, better than every other system with a Holm-adjusted p below 0.05."


def _description(drawn: ScorePicture) -> str:
    parts = [visible(drawn.about)] if drawn.about else []
    for group in drawn.groups:
        rows = "; ".join(said(row) for row in group.rows)
        parts.append(f"{visible(group.title)}: {rows}" if group.title else rows)
    return ". ".join([*parts, *(visible(note).rstrip(".") for note in drawn.notes)]) + "."
