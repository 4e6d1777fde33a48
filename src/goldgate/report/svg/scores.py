"""Values with their intervals on scales: gates, each on its own scale, and groups of scores on a common one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from goldgate.core.gate import Verdict
from goldgate.core.metric import format_number
from goldgate.core.page import NOT_AVAILABLE, GateLine, GatePicture, MeasuredValue, ScorePicture, ScoreRow
from goldgate.report.element import Markup
from goldgate.report.svg.shapes import (
    BOLD,
    GAP,
    INTERVAL,
    LINE,
    MARGIN,
    MARK,
    ROUNDING,
    SIZE,
    SMALL,
    WIDTH,
    Canvas,
    Number,
    Scale,
    as_fraction,
    axis_numbers,
    description_text,
    dot,
    draw_axis,
    draw_notes,
    fit_labels,
    fit_number,
    fit_scale,
    fit_text,
    full_label,
    hatching,
    heading,
    interval,
    line,
    picture,
    rect,
    text,
    text_width,
)

_VERDICT = 150
_GATE_LABELS, _SCORE_LABELS = 190, 200  # the most room for labels
_GATE_SCALE, _SCORE_SCALE = 170, 240  # the least room for scales; labels are cut for it
_BOUNDS = 125
_BEYOND = Fraction(1, 6)  # of what is to be seen lies beyond a bound, so that there is something to hatch
_BAND = 20  # the height of the hatched side
_GATE_ROW = 46
_NO_GATES = "No gates were judged."
_ALONE_WIDTH, _ALONE_SIDE = 190, 12  # of a scale that stands beside its numbers, and beside it
GATE_LEGEND = f"Dot: value. Bar: {INTERVAL}. Line: threshold; hatched side passes."
_ASIDE = 90
_ROW, _ROW_WITH_RUNS = 22, 38
_GROUP_GAP = 8
_RUN = 3.2  # the radius of a run's dot
_LEVELS = 3  # rows in which dots that overlap are drawn above each other
BEST = "*"


class _Columns(NamedTuple):
    """Where the columns of a picture are, from left to right: label, scale, value, interval, and one more."""

    label: float
    left: float  # left end of the scale
    right: float
    value: float  # its right end
    interval: float
    last: float  # of bounds their left end, of what stands beside a score its right end

    def place(self, scale: Scale, value: Number) -> float:
        """Where a value lies on a scale."""
        return self.left + scale.share(value) * (self.right - self.left)

    @property
    def label_room(self) -> float:
        return self.left - GAP - self.label + ROUNDING


def _fit_columns(
    values: Sequence[MeasuredValue],
    labels: Sequence[tuple[str, int]],  # each with the size of its letters
    title: str,  # heading of the values
    *,
    start: float,  # left end of the labels
    end: float,  # right end of the numbers
    last: float,
    label_room: float,
    least_scale: float,
) -> _Columns:
    """Numbers take what they need, labels too if there is room, and the scale what is left."""
    intervals = [fit_number(value.interval or "") for value in values]
    interval_width = max([text_width(INTERVAL, SMALL), *map(text_width, intervals)]) if any(intervals) else 0.0
    interval_left = end - interval_width
    value_right = interval_left - (GAP if interval_width else 0)
    right = value_right - max([text_width(title, SMALL), *(text_width(fit_number(value)) for value in values)]) - GAP
    room = min(label_room, right - least_scale - GAP - start)
    widest = max((text_width(fit_text(label, room, size), size) for label, size in labels), default=0.0)
    return _Columns(start, start + widest + GAP, right, value_right, interval_left, last)


def _number_heads(canvas: Canvas, columns: _Columns, title: str, values: Sequence[MeasuredValue]) -> None:
    canvas.y += LINE - 2
    canvas.add(text(columns.value, canvas.y, title, "small", anchor="end"))
    if any(value.interval for value in values):
        canvas.add(text(columns.interval, canvas.y, INTERVAL, "small"))


def _draw_value(canvas: Canvas, value: MeasuredValue, columns: _Columns, scale: Scale, y: float) -> None:
    """The bar of a value's interval on the scale, and its dot."""
    if value.interval is not None:
        low, high = (columns.place(scale, end) for end in value.interval.ends)
        canvas.add(interval(low, high, y))
    if value.value is not None:
        canvas.add(dot(columns.place(scale, value.value), y, MARK, "mark"))


def _undefined(value: MeasuredValue, columns: _Columns, x: float, base: float) -> Markup:
    """Why there is no value, in place of the scale."""
    why = NOT_AVAILABLE + (f": {value.reason}" if value.reason else "")
    return text(x, base, fit_text(why, columns.right - columns.left, SMALL), "small", whole=why)


class _GateScale(NamedTuple):
    """One scale of a gate: of the value, or of its difference from a stored run."""

    gate: GateLine
    label: str
    measured: MeasuredValue
    least: Decimal | None
    most: Decimal | None
    bounds: str


def draw_gates(drawn: GatePicture, *, standalone: bool) -> Markup:
    """A line for each gate, with a scale of its own: rates near 1 and near 0 are seen equally well."""
    scales = [scale for gate in drawn.gates for scale in _gate_scales(gate)]
    values = [scale.measured for scale in scales]
    verdict = max((text_width(_verdict(scale.gate), BOLD) for scale in scales), default=0.0)
    bounds = max([text_width("gate", SMALL), *(text_width(fit_text(scale.bounds, _BOUNDS)) for scale in scales)])
    columns = _fit_columns(
        values,
        [(scale.label, SIZE) for scale in scales],
        "value",
        start=MARGIN + verdict + GAP,
        end=WIDTH - MARGIN - bounds - GAP,
        last=WIDTH - MARGIN - bounds,
        label_room=_GATE_LABELS,
        least_scale=_GATE_SCALE,
    )
    labels = fit_labels((scale.label for scale in scales), columns.label_room)
    canvas = Canvas()
    if standalone:
        heading(canvas, drawn.title, drawn.about)
    _number_heads(canvas, columns, "value", values)
    canvas.add(text(columns.last, canvas.y, "gate", "small"))
    canvas.y += 2
    for scale in scales:
        _draw_gate(canvas, scale, labels[scale.label], columns)
    draw_notes(canvas, [GATE_LEGEND if scales else _NO_GATES])
    description = description_text([drawn.about, *(map(_scale_words, scales) if scales else [_NO_GATES])])
    return picture(canvas, full_label(drawn.title), description, standalone=standalone)


def draw_gate_scales(gate: GateLine) -> Iterator[Markup]:
    """The scales of one gate without its numbers, which stand beside them; none where there is no value."""
    left, right = MARGIN + _ALONE_SIDE, _ALONE_WIDTH - MARGIN - _ALONE_SIDE
    columns = _Columns(MARGIN, left, right, right, right, right)
    for scale in _gate_scales(gate):
        if scale.measured.value is not None:
            canvas, drawn = Canvas(y=_BAND + 24, width=_ALONE_WIDTH), _scale(scale)
            _draw_bounds(canvas, scale, drawn, columns, 5)
            _draw_value(canvas, scale.measured, columns, drawn, 5 + _BAND / 2)
            words = description_text([_scale_words(scale)])
            yield picture(canvas, full_label(scale.label), words, standalone=False)


def _gate_scales(gate: GateLine) -> Iterator[_GateScale]:
    """A gate on the value, on its difference from a stored run, or both."""
    bounds = gate.gate
    by_difference = bounds.max_drop is not None or bounds.max_rise is not None
    if not by_difference or bounds.least is not None or bounds.most is not None:
        own = replace(bounds, max_drop=None, max_rise=None)
        yield _GateScale(gate, gate.metric, gate.measured, bounds.least, bounds.most, own.bounds())
    if by_difference:
        drop, rise = bounds.max_drop, bounds.max_rise
        change = gate.difference or MeasuredValue(None, reason=gate.reason)
        own = replace(bounds, min=None, max=None, equals=None)
        label = f"{gate.metric} − {bounds.against}" if bounds.against else gate.metric
        yield _GateScale(gate, label, change, None if drop is None else -drop, rise, own.bounds())


def _draw_gate(canvas: Canvas, drawn: _GateScale, label: str, columns: _Columns) -> None:
    top = canvas.y + 5
    y, base = top + _BAND / 2, top + _BAND / 2 + 4
    canvas.y += _GATE_ROW
    colour = f" {drawn.gate.verdict}" if drawn.gate.verdict in {*Verdict} else ""
    canvas.add(text(MARGIN, base, _verdict(drawn.gate), f"verdict{colour}"))
    canvas.add(text(columns.label, base, label, whole=drawn.label))
    canvas.add(text(columns.last, base, fit_text(drawn.bounds, _BOUNDS), whole=drawn.bounds))
    canvas.add(text(columns.value, base, fit_number(drawn.measured), anchor="end"))
    if drawn.measured.value is None:
        canvas.add(_undefined(drawn.measured, columns, columns.left, base))
        return
    scale = _scale(drawn)
    _draw_bounds(canvas, drawn, scale, columns, top)
    _draw_value(canvas, drawn.measured, columns, scale, y)
    canvas.add(text(columns.interval, base, fit_number(drawn.measured.interval or "")))


def _draw_bounds(canvas: Canvas, drawn: _GateScale, scale: Scale, columns: _Columns, top: float) -> None:
    """The side that passes, its bounds, and the round numbers under them."""
    bottom = top + _BAND
    low = columns.left if drawn.least is None else columns.place(scale, drawn.least)
    high = columns.right if drawn.most is None else columns.place(scale, drawn.most)
    if high > low:
        canvas.add(rect(low, top, high - low, _BAND, "passes"), hatching(low, top, high - low, _BAND, "hatch"))
    canvas.add(line(columns.left, bottom, columns.right, bottom, "axis"))
    ticks = (columns.place(scale, tick) for tick in scale.ticks())
    canvas.add(*(line(x, bottom, x, bottom + 4, "axis") for x in ticks))
    canvas.add(*axis_numbers(scale, columns.left, columns.right, bottom + 14))
    for bound, x in ((drawn.least, low), (drawn.most, high)):
        if bound is not None:
            canvas.add(line(x, top - 3, x, bottom + 3, "bound"))


def _scale(drawn: _GateScale) -> Scale:
    """Everything that is to be seen, and something beyond each bound; shares end at 0 and 1, where these are near."""
    measured = drawn.measured
    numbers = (measured.value, *(measured.interval.ends if measured.interval else ()), drawn.least, drawn.most)
    values = [as_fraction(number) for number in numbers if number is not None]
    low, high = min(values), max(values)
    span = high - low or max(abs(low), Fraction(1, 10))
    beyond = []
    if drawn.least is not None:
        far = as_fraction(drawn.least) + span * _BEYOND
        beyond.append(far if high > 1 else Fraction(1) if 1 - high <= span else min(far, Fraction(1)))
    if drawn.most is not None:
        far = as_fraction(drawn.most) - span * _BEYOND
        beyond.append(far if low < 0 else Fraction(0) if low <= span else max(far, Fraction(0)))
    is_count = (
        measured.denominator is None and measured.averaged is None and all(number.denominator == 1 for number in values)
    )
    return fit_scale([*values, *beyond], whole=is_count)


def _verdict(gate: GateLine) -> str:
    return fit_text(f"{gate.verdict} (warn)" if gate.gate.severity == "warn" else gate.verdict, _VERDICT, BOLD)


def _scale_words(scale: _GateScale) -> str:
    behind = f" ({scale.measured.counts})" if scale.measured.missing else ""
    numbers = f"{scale.measured}{behind}{_interval_words(scale.measured)}"
    return f"{_verdict(scale.gate)} {scale.label}: {numbers}, gate {scale.bounds}"


def _interval_words(value: MeasuredValue) -> str:
    return "" if value.interval is None else f", interval {value.interval}"


def draw_scores(drawn: ScorePicture, *, standalone: bool) -> Markup:
    """A mark for each value, a bar for its interval, and the numbers beside them."""
    rows = [row for group in drawn.groups for row in group.rows]
    columns = _score_columns(rows, drawn)
    labels = fit_labels((row.label for row in rows), columns.label_room)
    titles = fit_labels((group.title for group in drawn.groups), columns.label_room, BOLD)
    scale = fit_scale([*([0] if drawn.with_zero else []), *(value for row in rows for value in _values(row))])
    canvas = Canvas()
    if standalone:
        heading(canvas, drawn.title, drawn.about)
    _number_heads(canvas, columns, _value_title(drawn), [row.measured for row in rows])
    if any(row.aside for row in rows):
        canvas.add(text(columns.last, canvas.y, fit_text(drawn.aside, _ASIDE, SMALL), "small", anchor="end"))
    canvas.y += 5
    body = Canvas(y=canvas.y)
    for group in drawn.groups:
        if group.title:
            body.y += LINE + (_GROUP_GAP if body.parts else 0)
            body.add(text(MARGIN, body.y, titles[group.title], "group", whole=group.title))
            body.y += 2
        for row in group.rows:
            _draw_score(body, row, labels[row.label], columns, scale)
    canvas.add(*draw_axis(scale, columns.left, columns.right, canvas.y, body.y + 4), *body.parts)
    canvas.y = body.y + 4 + LINE
    draw_notes(canvas, [*_score_legend(rows), *map(full_label, drawn.notes)])
    words = [_score_words(group.title, row) for group in drawn.groups for row in group.rows]
    description = description_text([drawn.about, *words, *drawn.notes])
    return picture(canvas, full_label(drawn.title), description, standalone=standalone)


def _score_columns(rows: Sequence[ScoreRow], drawn: ScorePicture) -> _Columns:
    asides = [text_width(fit_text(row.aside, _ASIDE)) for row in rows if row.aside]
    aside_title = text_width(fit_text(drawn.aside, _ASIDE, SMALL), SMALL)
    return _fit_columns(
        [row.measured for row in rows],
        [*((row.label, SIZE) for row in rows), *((group.title, BOLD) for group in drawn.groups)],
        _value_title(drawn),
        start=MARGIN,
        end=WIDTH - MARGIN - (max(aside_title, *asides) + GAP if asides else 0),
        last=WIDTH - MARGIN,
        label_room=_SCORE_LABELS,
        least_scale=_SCORE_SCALE,
    )


def _draw_score(canvas: Canvas, row: ScoreRow, label: str, columns: _Columns, scale: Scale) -> None:
    height = _ROW_WITH_RUNS if row.runs else _ROW
    y = canvas.y + height - _ROW / 2
    canvas.y += height
    base = y + 4
    canvas.add(text(MARGIN, base, label, whole=row.label))
    value = row.measured
    if value.value is None:
        canvas.add(_undefined(value, columns, columns.left + 4, base))
        canvas.add(text(columns.value, base, NOT_AVAILABLE, anchor="end"))
        return
    canvas.add(*_run_dots([columns.place(scale, run) for run in row.runs], y))
    _draw_value(canvas, value, columns, scale, y)
    canvas.add(text(columns.value, base, fit_number(value), anchor="end"))
    if value.interval is not None:
        canvas.add(text(columns.interval, base, fit_number(value.interval)))
    if value.best:  # beside the number, so that digits stand under digits
        canvas.add(text(columns.value + 1, base, BEST))
    if row.aside:
        canvas.add(text(columns.last, base, fit_text(row.aside, _ASIDE), anchor="end", whole=row.aside))


def _run_dots(places: Sequence[float], y: float) -> Iterator[Markup]:
    """A dot for each run, over the bar; those that would cover each other one above the other."""
    last, level = None, 0
    for x in sorted(places):
        level = (level + 1) % _LEVELS if last is not None and x - last < 2 * _RUN else 0
        yield dot(x, y - 10 - level * 2 * _RUN, _RUN, "run")
        last = x


def _values(row: ScoreRow) -> Iterator[Number]:
    value = row.measured
    if value.value is not None:
        yield as_fraction(value.value)
    yield from value.interval.ends if value.interval else ()
    yield from row.runs


def _value_title(drawn: ScorePicture) -> str:
    return "difference" if drawn.with_zero else "value"


def _score_legend(rows: Sequence[ScoreRow]) -> Iterator[str]:
    of_runs = any(row.runs for row in rows)
    if any(row.measured.interval for row in rows):
        value = "mean of the runs" if of_runs else "value"
        yield f"Dot: {value}. Bar: {INTERVAL}." + (" Circles: single runs." if of_runs else "")
    if any(row.measured.best for row in rows):
        yield f"{BEST}: the best, better than every other system (Holm, p < 0.05)."


def _score_words(group: str, row: ScoreRow) -> str:
    """A score in words."""
    value = row.measured
    label = f"{group} {row.label}".strip()
    if value.value is None:
        return f"{label}: {NOT_AVAILABLE}" + (f", {value.reason}" if value.reason else "")
    runs = f", runs {', '.join(map(format_number, row.runs))}" if row.runs else ""
    return f"{label}: {value}{BEST if value.best else ''}{_interval_words(value)}{runs}"
