"""Values with intervals on one scale, in groups: the main rates, systems side by side, runs and their mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from goldgate.core.metric import format_number
from goldgate.core.page import NOT_AVAILABLE, ScorePicture, ScoreRow
from goldgate.report.element import Markup
from goldgate.report.svg.shapes import (
    BOLD,
    GAP,
    INTERVAL,
    LINE,
    MARGIN,
    MARK,
    ROUNDING,
    SMALL,
    WIDTH,
    Canvas,
    Number,
    Scale,
    as_fraction,
    description_text,
    dot,
    draw_axis,
    draw_notes,
    fit_labels,
    fit_number,
    fit_scale,
    fit_text,
    full_label,
    heading,
    interval,
    picture,
    text,
    text_width,
)

_LABELS = 200  # the most room for labels
_ASIDE = 90
_LEAST_SCALE = 240  # what is left for the scale; labels are cut for it
_ROW, _ROW_WITH_RUNS = 22, 38
_GROUP_GAP = 8
_RUN = 3.2  # the radius of a run's dot
_LEVELS = 3  # dots that lie on each other are drawn one above the other, so many times

BEST = "*"


class _Columns(NamedTuple):
    """Where the columns are, from left to right."""

    left: float
    right: float
    value: float  # its right end
    interval: float
    aside: float  # its right end


def draw_scores(drawn: ScorePicture, *, standalone: bool) -> Markup:
    """A mark for each value, a bar for its interval, and the numbers beside them."""
    rows = [row for group in drawn.groups for row in group.rows]
    columns = _columns(rows, drawn)
    labels = fit_labels((row.label for row in rows), columns.left - GAP - MARGIN + ROUNDING)
    titles = fit_labels((group.title for group in drawn.groups), columns.left - GAP - MARGIN + ROUNDING, BOLD)
    scale = fit_scale([*([0] if drawn.with_zero else []), *(value for row in rows for value in _values(row))])
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
    canvas.add(*draw_axis(scale, columns.left, columns.right, top, body.y + 4), *body.parts)
    canvas.y = body.y + 4 + LINE
    draw_notes(canvas, [*_legend(rows), *map(full_label, drawn.notes)])
    return picture(canvas, full_label(drawn.title), _description(drawn), standalone=standalone)


def _columns(rows: Sequence[ScoreRow], drawn: ScorePicture) -> _Columns:
    """Numbers take what they need, labels too if there is room, and the scale what is left."""
    asides = [fit_text(row.aside, _ASIDE) for row in rows if row.aside]
    aside_width = (
        max([text_width(fit_text(drawn.aside, _ASIDE, SMALL), SMALL), *map(text_width, asides)]) if asides else 0.0
    )
    intervals = [fit_number(row.measured.interval or "") for row in rows]
    interval_width = max([text_width(INTERVAL, SMALL), *map(text_width, intervals)]) if any(intervals) else 0.0
    values = [text_width(fit_number(row.measured)) for row in rows]
    right_edge = WIDTH - MARGIN
    interval_left = right_edge - (aside_width + GAP if aside_width else 0) - interval_width
    value_right = interval_left - (GAP if interval_width else 0)
    right = value_right - max([text_width(_value_title(drawn), SMALL), *values]) - GAP
    room = min(_LABELS, right - _LEAST_SCALE - GAP - MARGIN)
    labels = [text_width(fit_text(row.label, room)) for row in rows]
    labels += [text_width(fit_text(group.title, room, BOLD), BOLD) for group in drawn.groups]
    return _Columns(MARGIN + max(labels, default=0.0) + GAP, right, value_right, interval_left, right_edge)


def _heads(canvas: Canvas, columns: _Columns, drawn: ScorePicture) -> None:
    rows = [row for group in drawn.groups for row in group.rows]
    canvas.y += LINE - 2
    canvas.add(text(columns.value, canvas.y, _value_title(drawn), "small", anchor="end"))
    if any(row.measured.interval for row in rows):
        canvas.add(text(columns.interval, canvas.y, INTERVAL, "small"))
    if any(row.aside for row in rows):
        canvas.add(text(columns.aside, canvas.y, fit_text(drawn.aside, _ASIDE, SMALL), "small", anchor="end"))
    canvas.y += 5


def _row(canvas: Canvas, row: ScoreRow, label: str, columns: _Columns, scale: Scale) -> None:
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
        canvas.add(text(columns.interval, base, fit_number(found.interval)))
    canvas.add(*_run_dots([place(run) for run in row.runs], y), dot(place(found.value), y, MARK, "mark"))
    canvas.add(text(columns.value, base, fit_number(found), anchor="end"))
    if found.best:  # beside the number, so that digits stand under digits
        canvas.add(text(columns.value + 1, base, BEST))
    if row.aside:
        canvas.add(text(columns.aside, base, fit_text(row.aside, _ASIDE), anchor="end", whole=row.aside))


def _run_dots(places: Sequence[float], y: float) -> Iterator[Markup]:
    """A dot for each run, over the bar; those that would cover each other one above the other."""
    last, level = None, 0
    for x in sorted(places):
        level = (level + 1) % _LEVELS if last is not None and x - last < 2 * _RUN else 0
        yield dot(x, y - 10 - level * 2 * _RUN, _RUN, "run")
        last = x


def _values(row: ScoreRow) -> Iterator[Number]:
    found = row.measured
    if found.value is not None:
        yield as_fraction(found.value)
    yield from found.interval.ends if found.interval else ()
    yield from row.runs


def _value_title(drawn: ScorePicture) -> str:
    return "difference" if drawn.with_zero else "value"


def _legend(rows: Sequence[ScoreRow]) -> Iterator[str]:
    of_runs = any(row.runs for row in rows)
    if any(row.measured.interval for row in rows):
        value = "the mean of the runs" if of_runs else "the value"
        yield f"Mark: {value}. Bar: its {INTERVAL}." + (" Circles: single runs." if of_runs else "")
    if any(row.measured.best for row in rows):
        yield f"{BEST}: the best, better than every other system with a Holm-adjusted p below 0.05."


def _description(drawn: ScorePicture) -> str:
    rows = [_score_words(group.title, row) for group in drawn.groups for row in group.rows]
    return description_text([drawn.about, *rows, *drawn.notes])


def _score_words(group: str, row: ScoreRow) -> str:
    """A score in words."""
    found = row.measured
    label = f"{group} {row.label}".strip()
    if found.value is None:
        return f"{label}: {NOT_AVAILABLE}" + (f", {found.reason}" if found.reason else "")
    ends = "" if found.interval is None else f", interval {found.interval}"
    runs = f", runs {', '.join(map(format_number, row.runs))}" if row.runs else ""
    return f"{label}: {found}{BEST if found.best else ''}{ends}{runs}"
