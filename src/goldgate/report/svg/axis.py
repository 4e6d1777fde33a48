"""A scale as it is drawn: fine lines at round numbers, and these under them."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from goldgate.report.html.element import Markup
from goldgate.report.svg.lettering import SMALL, text_width
from goldgate.report.svg.scale import Scale
from goldgate.report.svg.shapes import line, text

_BETWEEN = 6  # between two numbers


def axis(scale: Scale, left: float, right: float, top: float, bottom: float) -> Iterator[Markup]:
    """Fine lines at round numbers, and these under them."""
    for tick in scale.ticks():
        x = left + scale.share(tick) * (right - left)
        yield line(x, top, x, bottom, "axis" if tick == 0 > scale.low else "grid")
    yield line(left, bottom, right, bottom, "axis")
    yield from numbers(scale, left, right, bottom + 13)


def numbers(scale: Scale, left: float, right: float, y: float) -> Iterator[Markup]:
    """The round numbers of a scale; none that would touch the one before it."""
    end = -inf
    for tick in scale.ticks():
        x, shown = left + scale.share(tick) * (right - left), scale.label(tick)
        half = text_width(shown, SMALL) / 2
        if x - half > end:
            yield text(x, y, shown, "small", anchor="middle")
            end = x + half + _BETWEEN
