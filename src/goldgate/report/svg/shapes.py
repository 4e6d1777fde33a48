"""The parts of a picture: text widths, scales, axes, texts, lines, marks, hatched areas, and the picture around them.

Widths are those of a common sans-serif font, with some room for wider ones: no browser is needed. Scales count in
fractions, so any number has a place. How shapes look is in picture.css, by their classes. Hatching is drawn line
by line: a pattern would need an id, and two pictures on one page would share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, floor, inf
from pathlib import Path
from typing import Literal, NamedTuple
from unicodedata import combining, east_asian_width

from goldgate.report.element import Markup, element, fragment, raw
from goldgate.report.escape import (
    display_width,
    distinct_names,
    shorten,
    shorten_middle,
    shorten_with_digest,
    visible_name,
)
from goldgate.stats.interval import LEVEL

SIZE = 12  # of letters, in units of the picture
BOLD = 13  # 12, and bold
SMALL = 11
TITLE = 15  # 14, and bold

# Widths in thousandths of the size, as in Helvetica and Arial.
_GROUPS = {
    222: "ijl'|",
    278: " ,./:;!\\tfI[]",
    333: '()r-`{}"',
    500: "csvxyzkJ*^",
    584: "+<=>~≥≤",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    944: "W%@…",
}
_WIDTHS = {letter: wide for wide, letters in _GROUPS.items() for letter in letters}
_DIGIT, _OTHER, _WIDE = 556, 600, 1000
_ROOM = 1.06  # other fonts are wider
_NARROW = 0.3  # of the font size; few letters are narrower
_NUMBER = 90  # the most room for a number
_LEAST_COLUMNS = 8  # of a label, however little room there is
_LONGEST = 400  # columns of a label that are looked at
_LONGEST_DESCRIPTION = 2_000  # characters of a label that are there to be read in full


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is drawn."""
    return sum(map(_letter, text)) * size * _ROOM / 1000


def fit_labels(labels: Iterable[str], room: float, size: float = SIZE) -> dict[str, str]:
    """Each label as it is shown, no two alike and none wider than the room."""
    # The longest are cut before anything else is done with them; a digest tells them apart.
    whole = {label: shorten_with_digest(label, _LONGEST) for label in labels}
    named_apart = distinct_names(whole.values())
    short = {label: _fit(named_apart[cut], room, size, shorten_middle) for label, cut in whole.items()}
    times = Counter(short.values())
    return {
        label: _fit(named_apart[whole[label]], room, size, shorten_with_digest) if times[fitted] > 1 else fitted
        for label, fitted in short.items()
    }


@lru_cache(maxsize=1024)  # each is fitted twice: where its column is laid out, and where it is drawn
def fit_text(text: str, room: float, size: float = SIZE) -> str:
    """A text that stands by itself, cut where it would be wider than the room."""
    return fit_labels([text], room, size)[text]


def fit_number(number: object) -> str:
    """A number or an interval; one with hundreds of digits is cut."""
    return fit_text(str(number), _NUMBER)


def full_label(label: str) -> str:
    """A label as it can be looked up, where it was cut to fit, or read aloud; only the longest end early."""
    return shorten(visible_name(label[:_LONGEST_DESCRIPTION]), _LONGEST_DESCRIPTION)


def description_text(sentences: Iterable[str]) -> str:
    """What a picture says, for those who do not see it."""
    return ". ".join(full_label(sentence.rstrip(".")) for sentence in sentences if sentence) + "."


def _fit(text: str, room: float, size: float, cut: Callable[[str, int], str]) -> str:
    """The text with as many columns as have room."""
    columns = min(display_width(text), int(room / (_NARROW * size)))
    while text_width(fitted := cut(text, columns), size) > room and columns > _LEAST_COLUMNS:
        columns -= 1
    return fitted


@lru_cache(maxsize=4096)
def _letter(letter: str) -> int:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if letter.isascii():
        return _DIGIT
    if combining(letter):
        return 0
    return _WIDE if east_asian_width(letter) in "WF" else _OTHER


Number = int | float | Decimal | Fraction

_STEPS = 5  # parts of a scale, about
_PLAIN_DIGITS = 7  # longer numbers are written with an exponent


class Scale(NamedTuple):
    """A line from one round number to another, `step` being a round part of it."""

    low: Fraction
    high: Fraction
    step: Fraction

    def share(self, value: Number) -> float:
        """How far along the line a value lies, from 0 to 1; what lies outside is put on its end."""
        place = (as_fraction(value) - self.low) / (self.high - self.low)
        return float(min(max(place, Fraction(0)), Fraction(1)))

    def ticks(self) -> list[Fraction]:
        """The round numbers on the line."""
        return [self.low + n * self.step for n in range(int((self.high - self.low) / self.step) + 1)]

    def label(self, tick: Fraction) -> str:
        """A round number, with as many decimals as tell it from the next."""
        digits = 0
        while (self.step * 10**digits).denominator > 1:
            digits += 1
        number = Decimal(tick.numerator) / Decimal(tick.denominator)
        if digits > _PLAIN_DIGITS or len(str(abs(floor(tick)))) > _PLAIN_DIGITS:
            return f"{number:.1e}" if tick else "0"
        return f"{number:.{digits}f}"


def as_fraction(value: Number) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def fit_scale(values: Iterable[Number], *, whole: bool = False) -> Scale:
    """The shortest line between round numbers that has all these values; of whole numbers, with whole steps.

    Round steps divide 1, so that a line for shares ends at 0 and 1.
    """
    fractions = [as_fraction(value) for value in values]
    low, high = min(fractions, default=Fraction(0)), max(fractions, default=Fraction(1))
    if low == high:
        low, high = (Fraction(0), Fraction(1)) if 0 <= low <= 1 else (min(low, Fraction(0)), max(high, Fraction(0)))
    step = _round_step((high - low) / _STEPS, whole)
    return Scale(floor(low / step) * step, ceil(high / step) * step, step)


def _round_step(least: Fraction, whole: bool) -> Fraction:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below."""
    power = Fraction(10) ** (len(str(floor(least))) - 1) if least >= 1 else Fraction(1)
    while least < power and not whole:
        power /= 10
    steps = (times * power for times in (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5), Fraction(10)))
    return next(step for step in steps if step >= least and (step.denominator == 1 or not whole))


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


def coordinate(number: float) -> str:
    """A coordinate with two decimals at most, the same on every machine."""
    digits = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def text(
    x: float, y: float, content: str, kind: str = "", *, anchor: Anchor = "start", whole: str | None = None
) -> Markup:
    """A line of text on its base line; `whole` is what was cut, for those who point at it."""
    full = full_label(whole) if whole is not None else content
    return element(
        "text",
        content if full == content else (element("title", full), content),
        class_=kind or None,
        x=coordinate(x),
        y=coordinate(y),
        text_anchor=None if anchor == "start" else anchor,
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", class_=kind, x1=coordinate(x1), y1=coordinate(y1), x2=coordinate(x2), y2=coordinate(y2))


def rect(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return element(
        "rect", class_=kind, x=coordinate(x), y=coordinate(y), width=coordinate(width), height=coordinate(height)
    )


def dot(x: float, y: float, radius: float, kind: str) -> Markup:
    return element("circle", class_=kind, cx=coordinate(x), cy=coordinate(y), r=coordinate(radius))


def hatching(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    """Parallel lines over an area, from bottom left to top right; nothing where it has no width."""
    parts = []
    offset = _HATCH_STEP - x % _HATCH_STEP  # neighbouring areas go on with the same lines
    while offset < width + height:
        left, right = max(0.0, offset - height), min(width, offset)
        if right > left:
            start, end = (f"{coordinate(x + at)} {coordinate(y + offset - at)}" for at in (left, right))
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


def draw_notes(canvas: Canvas, sentences: Sequence[str]) -> None:
    """Sentences under a picture, in as many lines as they need."""
    canvas.y += 6 if sentences else 0
    for sentence in sentences:
        for line in _wrap_sentence(sentence, canvas.width - 2 * MARGIN):
            canvas.y += LINE - 2
            canvas.add(text(MARGIN, canvas.y, line, "small"))


def picture(canvas: Canvas, title: str, description: str, *, standalone: bool) -> Markup:
    """The whole: with a name and a description for those who do not see it.

    Alone it has its own looks, ground and margins; on a page these are the page's.
    """
    parts = [element("title", title), element("desc", description)]
    left, width, height = MARGIN, canvas.width - 2 * MARGIN, canvas.y + 4
    if standalone:
        left, width, height = 0, canvas.width, canvas.y + MARGIN
        parts += [raw("style", read_asset(PICTURE_STYLE)), rect(0, 0, width, height, "ground")]
    return element(
        "svg",
        "\n",
        _lines(iter([*parts, *canvas.parts])),
        "\n",
        xmlns=NAMESPACE,
        viewBox=f"{left} 0 {coordinate(width)} {coordinate(height)}",
        width=coordinate(width),
        height=coordinate(height),
        class_="picture",
        role="img",
    )


PICTURE_STYLE = Path(__file__).with_name("picture.css")  # the looks of all pictures, in light and dark


@cache
def read_asset(file: Path) -> str:
    """A style or a script that comes with goldgate."""
    return file.read_text(encoding="utf-8")


def _lines(parts: Iterator[Markup]) -> Markup:
    """One part a line, so that people and programs can compare two pictures."""
    return fragment(*(fragment("\n" if number else "", part) for number, part in enumerate(filter(None, parts))))


def _wrap_sentence(sentence: str, room: float) -> Iterator[str]:
    line = ""
    for word in sentence.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer, SMALL) > room:
            if line:
                yield line
            longer = _fit(word, room, SMALL, shorten_middle)
        line = longer
    yield line


_BETWEEN = 6  # between two numbers


def draw_axis(scale: Scale, left: float, right: float, top: float, bottom: float) -> Iterator[Markup]:
    """Fine lines at round numbers, and these under them."""
    for tick in scale.ticks():
        x = left + scale.share(tick) * (right - left)
        yield line(x, top, x, bottom, "axis" if tick == 0 > scale.low else "grid")
    yield line(left, bottom, right, bottom, "axis")
    yield from axis_numbers(scale, left, right, bottom + 13)


def axis_numbers(scale: Scale, left: float, right: float, y: float) -> Iterator[Markup]:
    """The round numbers of a scale; none that would touch the one before it."""
    end = -inf
    for tick in scale.ticks():
        x, label = left + scale.share(tick) * (right - left), scale.label(tick)
        half = text_width(label, SMALL) / 2
        if x - half > end:
            yield text(x, y, label, "small", anchor="middle")
            end = x + half + _BETWEEN
