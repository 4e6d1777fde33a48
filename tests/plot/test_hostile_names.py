"""Whatever a name says, a picture is whole XML in which it is text, and the same bytes each time."""

from __future__ import annotations

import random
import string
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.page import Picture, ScoreGroup, ScorePicture, ScoreRow
from goldgate.report.svg import draw, render_svg
from goldgate.report.svg.shapes import fit_labels, text_width
from tests.examples import examples

from .examples import HOSTILE, RATE, SVG, parsed, pictures, texts

KNOWN = {f"{SVG}{tag}" for tag in "svg title desc style rect text line circle path g".split()}
PLAIN = {"class", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "d", "width", "height", "transform"}
ATTRIBUTES = PLAIN | {"text-anchor", "viewBox", "role"}
UNSEEN = "\u200b\u200d\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\x00\x1b\x7f"


@pytest.mark.parametrize("drawn", [*pictures(HOSTILE)], ids=lambda drawn: drawn.kind)
def test_no_name_becomes_markup(drawn: Picture) -> None:
    for svg in (render_svg(drawn), str(draw(drawn))):
        root = parsed(svg)
        assert {element.tag for element in root.iter()} <= KNOWN
        assert {key for element in root.iter() for key in element.attrib} <= ATTRIBUTES
        assert not {*svg} & {*UNSEEN}
        assert "::" not in svg
        assert "##" not in svg
        assert len(svg) < 300_000


@examples(50)  # each is five pictures
@given(st.lists(st.text(st.characters(), max_size=60), min_size=1, max_size=6, unique=True))
def test_any_names_give_whole_xml(names: list[str]) -> None:
    for drawn in pictures(names):
        ElementTree.fromstring(render_svg(drawn))


@given(st.lists(st.text(max_size=40), min_size=2, max_size=6, unique=True), st.integers(80, 300))
def test_labels_fit_and_no_two_look_alike(names: list[str], room: int) -> None:
    shown = fit_labels(names, room)
    assert len({*shown.values()}) == len(names)
    assert all(text_width(text) <= room for text in shown.values())


def test_what_was_cut_can_be_looked_up() -> None:
    name = "the-name-of-a-system-" * 8
    rows = (ScoreRow(name, RATE), ScoreRow("short", RATE))
    svg = render_svg(ScorePicture("scores", "Scores", (ScoreGroup("", rows),)))
    (cut,) = [element for element in parsed(svg).iter(f"{SVG}text") if len(element)]
    assert cut[0].text == name
    assert "…" in str(cut[0].tail)
    assert "short" in texts(svg)


def test_the_order_of_runs_makes_no_difference() -> None:
    values = [random.Random(7).random() for _ in range(12)]
    drawn = set()
    for seed in range(5):
        random.Random(seed).shuffle(values)
        rows = (ScoreRow("m", RATE, runs=tuple(values)),)
        picture = ScorePicture("runs", "Runs", (ScoreGroup("f1", rows),))
        drawn.add(render_svg(picture._replace(groups=picture.groups)).split("<rect")[1])
    assert len(drawn) == 1


def test_numbers_have_two_decimals_at_most() -> None:
    for drawn in pictures(list(string.ascii_lowercase[:5])):
        for element in parsed(render_svg(drawn)).iter():
            for key, value in element.attrib.items():
                if key in PLAIN - {"class", "d", "transform"}:
                    assert len(value.partition(".")[2]) <= 2
