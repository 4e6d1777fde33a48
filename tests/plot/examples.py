"""A picture of each kind, with names to choose; and what an SVG file says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from xml.etree import ElementTree

from goldgate.core.gate import Gate
from goldgate.core.page import (
    BarPicture,
    CountPicture,
    GateLine,
    GatePicture,
    IntervalEnds,
    MeasuredValue,
    Picture,
    ScoreGroup,
    ScorePicture,
    ScoreRow,
)

SVG = "{http://www.w3.org/2000/svg}"
RATE = MeasuredValue(0.5, 1, 2, interval=IntervalEnds(0.4, 0.6))
HOSTILE = (
    "\x00\x01\x1b[31m",
    "]]>",
    "<!--",
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "&lt;b&gt;",
    "\u202egnp.exe\u2066",
    "مرحبا بالعالم",
    "𝕳 😀 👩\u200d👩\u200d👧",
    "\ud800",
    "\uffff\ufdd0",
    "url(#x);}</style>",
    "javascript:alert(1)",
    "高管变动" * 40,
    "W" * 300,
    "e\u0301" * 3_000,
    "x" * 200_000,
    "x" * 200_000 + "y",
    "::add-mask::x",
    "##[error]",
    "",
    " ",
)


def pictures(names: Sequence[str]) -> Iterator[Picture]:
    """A picture of each kind in which every text is one of the names, or all of them."""
    first, all_names, notes = names[0], ", ".join(names), tuple(names[:3])
    scores = tuple(ScoreRow(name, RATE, aside=name) for name in names)
    runs = tuple(ScoreRow(name, RATE, runs=(0.45, 0.5, 0.5, 0.55)) for name in names)
    yield ScorePicture("scores", first, (ScoreGroup(first, scores),), about=all_names, aside=first, notes=notes)
    yield ScorePicture("runs", first, tuple(ScoreGroup(name, runs) for name in names[:2]), about=first)
    yield GatePicture(tuple(gate(name) for name in names), title=first, about=all_names)
    counts = tuple((name, (number, 3)) for number, name in enumerate(names))
    yield BarPicture("errors", first, (first, names[-1]), counts, about=all_names, notes=notes)
    square = tuple(tuple(row * column for column in range(len(names))) for row in range(len(names)))
    yield CountPicture("confusions", first, first, names[-1], tuple(names), tuple(names), square, all_names, notes)


def gate(name: str, bounds: Gate | None = None, measured: MeasuredValue = RATE, verdict: str = "PASS") -> GateLine:
    bounds = bounds or Gate(min=Decimal("0.45"), max_drop=Decimal("0.1"), against=name)
    return GateLine(
        name, bounds, measured, verdict, name, difference=MeasuredValue(-0.01, interval=IntervalEnds(-0.1, 0.1))
    )


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    """What can be read in a picture, without what is shown to those who point at it."""
    return [(element.findtext(f"{SVG}title") and element[0].tail) or element.text or "" for element in _texts(svg)]


def numbers(svg: str, tag: str, kind: str, key: str) -> list[float]:
    """An attribute of all elements of a class, in their order."""
    found = (element for element in parsed(svg).iter(SVG + tag) if element.get("class") == kind)
    return [float(element.get(key, "nan")) for element in found]


def _texts(svg: str) -> Iterator[ElementTree.Element]:
    return parsed(svg).iter(f"{SVG}text")
