"""Gates on scales: the value, its interval, the bound, and hatched the side that passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from goldgate.core.gate import Verdict
from goldgate.core.page import NOT_AVAILABLE, GateLine, GatePicture, MeasuredValue
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
    Scale,
    as_fraction,
    axis_numbers,
    description_text,
    dot,
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
_LABELS = 190
_BOUNDS = 125
_LEAST_SCALE = 170  # what is left for the scales; labels are cut for it
_BEYOND = Fraction(1, 6)  # of what is to be seen lies beyond a bound, so that there is something to hatch
_BAND = 20  # the height of the hatched side
_ROW = 46
_NO_GATES = "No gates were judged."


@dataclass(frozen=True, slots=True)
class _Line:
    """One scale: of a value, or of its difference from a stored run."""

    gate: GateLine
    label: str
    measured: MeasuredValue
    least: Decimal | None
    most: Decimal | None
    bounds: str


@dataclass(frozen=True, slots=True)
class _Columns:
    label: float
    left: float
    right: float
    value: float  # its right end
    interval: float
    bounds: float


def draw_gates(drawn: GatePicture, *, standalone: bool) -> Markup:
    """A line for each gate, with a scale of its own: rates near 1 and near 0 are seen equally well."""
    lines = [found for gate in drawn.gates for found in _lines(gate)]
    columns = _columns(lines)
    labels = fit_labels((found.label for found in lines), columns.left - GAP - columns.label + ROUNDING)
    canvas = Canvas()
    if standalone:
        heading(canvas, drawn.title, drawn.about)
    canvas.y += LINE - 2
    canvas.add(text(columns.value, canvas.y, "value", "small", anchor="end"))
    if any(found.measured.interval for found in lines):
        canvas.add(text(columns.interval, canvas.y, INTERVAL, "small"))
    canvas.add(text(columns.bounds, canvas.y, "gate", "small"))
    canvas.y += 2
    for found in lines:
        _row(canvas, found, labels[found.label], columns)
    if lines:
        draw_notes(canvas, ["Mark: the value. Bar: its interval. Upright: the bound; what is hatched passes."])
    else:
        draw_notes(canvas, [_NO_GATES])
    return picture(canvas, full_label(drawn.title), _description(drawn, lines), standalone=standalone)


def _lines(gate: GateLine) -> Iterator[_Line]:
    """A gate on the value, on its difference from a stored run, or both."""
    bounds = gate.gate
    by_difference = bounds.max_drop is not None or bounds.max_rise is not None
    if not by_difference or bounds.least is not None or bounds.most is not None:
        own = replace(bounds, max_drop=None, max_rise=None)
        yield _Line(gate, gate.metric, gate.measured, bounds.least, bounds.most, own.bounds())
    if by_difference:
        drop, rise = bounds.max_drop, bounds.max_rise
        change = gate.difference or MeasuredValue(None, reason=gate.reason)
        own = replace(bounds, min=None, max=None, equals=None)
        label = f"{gate.metric} − {bounds.against}" if bounds.against else gate.metric
        yield _Line(gate, label, change, None if drop is None else -drop, rise, own.bounds())


def _columns(lines: Sequence[_Line]) -> _Columns:
    """Verdicts and numbers take what they need, labels too if there is room, and the scales what is left."""
    verdict = max((text_width(_verdict(found.gate), BOLD) for found in lines), default=0.0)
    label = MARGIN + verdict + GAP
    bounds = max([text_width("gate", SMALL), *(text_width(fit_text(found.bounds, _BOUNDS)) for found in lines)])
    intervals = [fit_number(found.measured.interval or "") for found in lines]
    ends = max([text_width(INTERVAL, SMALL), *map(text_width, intervals)]) if any(intervals) else 0.0
    value = max([text_width("value", SMALL), *(text_width(fit_number(found.measured)) for found in lines)])
    bounds_left = WIDTH - MARGIN - bounds
    interval_left = bounds_left - (ends + GAP if ends else 0)
    right = interval_left - GAP - value - GAP
    room = min(_LABELS, right - _LEAST_SCALE - GAP - label)
    widest = max((text_width(fit_text(found.label, room)) for found in lines), default=0.0)
    return _Columns(label, label + widest + GAP, right, interval_left - GAP, interval_left, bounds_left)


def _row(canvas: Canvas, found: _Line, label: str, columns: _Columns) -> None:
    top = canvas.y + 5
    y, base = top + _BAND / 2, top + _BAND / 2 + 4
    canvas.y += _ROW
    colour = f" {found.gate.verdict}" if found.gate.verdict in {*Verdict} else ""
    canvas.add(text(MARGIN, base, _verdict(found.gate), f"verdict{colour}"))
    canvas.add(text(columns.label, base, label, whole=found.label))
    canvas.add(text(columns.bounds, base, fit_text(found.bounds, _BOUNDS), whole=found.bounds))
    canvas.add(text(columns.value, base, fit_number(found.measured), anchor="end"))
    if found.measured.value is None:
        why = NOT_AVAILABLE + (f": {found.measured.reason}" if found.measured.reason else "")
        canvas.add(text(columns.left, base, fit_text(why, columns.right - columns.left, SMALL), "small", whole=why))
        return
    scale = _scale(found)
    width = columns.right - columns.left
    _passing(canvas, found, scale, columns, top)
    ends = found.measured.interval
    if ends is not None:
        left, right = (columns.left + scale.share(end) * width for end in ends.ends)
        canvas.add(interval(left, right, y), text(columns.interval, base, fit_number(ends)))
    canvas.add(dot(columns.left + scale.share(found.measured.value) * width, y, MARK, "mark"))


def _passing(canvas: Canvas, found: _Line, scale: Scale, columns: _Columns, top: float) -> None:
    """The side that passes, its bounds, and the round numbers under them."""
    width, bottom = columns.right - columns.left, top + _BAND
    places = [columns.left + scale.share(tick) * width for tick in scale.ticks()]
    low = columns.left if found.least is None else columns.left + scale.share(found.least) * width
    high = columns.right if found.most is None else columns.left + scale.share(found.most) * width
    if high > low:
        canvas.add(rect(low, top, high - low, _BAND, "passes"), hatching(low, top, high - low, _BAND, "hatch"))
    canvas.add(line(columns.left, bottom, columns.right, bottom, "axis"))
    canvas.add(*(line(x, bottom, x, bottom + 4, "axis") for x in places))
    canvas.add(*axis_numbers(scale, columns.left, columns.right, bottom + 14))
    for bound, x in ((found.least, low), (found.most, high)):
        if bound is not None:
            canvas.add(line(x, top - 3, x, bottom + 3, "bound"))


def _scale(found: _Line) -> Scale:
    """Everything that is to be seen, and something beyond each bound; shares end at 0 and 1, where these are near."""
    measured = found.measured
    interval_ends = measured.interval.ends if measured.interval else ()
    ends = [as_fraction(end) for end in (measured.value, *interval_ends) if end is not None]
    known = [*ends, *(as_fraction(bound) for bound in (found.least, found.most) if bound is not None)]
    low, high = min(known), max(known)
    span = high - low or max(abs(low), Fraction(1, 10))
    beyond = []
    if found.least is not None:
        far = as_fraction(found.least) + span * _BEYOND
        beyond.append(far if high > 1 else Fraction(1) if 1 - high <= span else min(far, Fraction(1)))
    if found.most is not None:
        far = as_fraction(found.most) - span * _BEYOND
        beyond.append(far if low < 0 else Fraction(0) if low <= span else max(far, Fraction(0)))
    is_count = not measured.counts and all(number.denominator == 1 for number in known)
    return fit_scale([*known, *beyond], whole=is_count)


def _verdict(gate: GateLine) -> str:
    return fit_text(f"{gate.verdict} (warn)" if gate.gate.severity == "warn" else gate.verdict, _VERDICT, BOLD)


def _description(drawn: GatePicture, lines: Sequence[_Line]) -> str:
    said = []
    for found in lines:
        ends = "" if found.measured.interval is None else f", interval {found.measured.interval}"
        said.append(f"{_verdict(found.gate)} {found.label}: {found.measured}{ends}, gate {found.bounds}")
    return description_text([drawn.about, *(said or [_NO_GATES])])
