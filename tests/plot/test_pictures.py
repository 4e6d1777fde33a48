"""Pictures show what the numbers say, at the place where it belongs."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from goldgate.core.gate import Gate
from goldgate.core.page import (
    BarPicture,
    CountPicture,
    GatePicture,
    IntervalEnds,
    MeasuredValue,
    Picture,
    ScoreGroup,
    ScorePicture,
    ScoreRow,
)
from goldgate.report.svg import draw, render_svg
from goldgate.report.svg.shapes import PICTURE_STYLE, SIZE, SMALL, WIDTH, fit_scale, read_asset, text_width
from tests.cases import cases

from .examples import SVG, gate, numbers, parsed, pictures, texts

ONE_GATE = GatePicture(
    (gate("f1", Gate(min=Decimal("0.9")), MeasuredValue(0.8, 8, 10, interval=IntervalEnds(0.7, 0.9)), "FAIL"),)
)


def scores(*values: float, zero: bool = False) -> ScorePicture:
    rows = tuple(ScoreRow(f"s{n}", MeasuredValue(value)) for n, value in enumerate(values))
    return ScorePicture("scores", "Scores", (ScoreGroup("", rows),), with_zero=zero)


# --- scales


@cases(
    ("values", "whole", "labels"),
    [
        ((0.81, 0.99), False, ["0.80", "0.85", "0.90", "0.95", "1.00"]),
        ((0, 1), False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ((0.5,), False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ((), False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ((0.001, 0.009), False, ["0.000", "0.002", "0.004", "0.006", "0.008", "0.010"]),
        ((-0.03, 0.01), False, ["-0.03", "-0.02", "-0.01", "0.00", "0.01"]),
        ((0, 3), True, ["0", "1", "2", "3"]),
        ((0, 124), True, ["0", "25", "50", "75", "100", "125"]),
        ((0, 12), True, ["0", "5", "10", "15"]),
        ((0, 10**18), True, ["0", "2.0e+17", "4.0e+17", "6.0e+17", "8.0e+17", "1.0e+18"]),
        ((7, 7), True, ["0", "2", "4", "6", "8"]),
    ],
)
def test_scales_end_at_round_numbers(values: tuple[float, ...], whole: bool, labels: list[str]) -> None:
    scale = fit_scale(values, whole=whole)
    assert [scale.label(tick) for tick in scale.ticks()] == labels
    assert scale.ticks()[-1] == scale.high


# --- places


def test_marks_lie_where_the_axis_says() -> None:
    svg = render_svg(scores(0.0, 0.25, 0.5, 1.0))
    places = numbers(svg, "circle", "mark", "cx")
    left, right = (numbers(svg, "line", "axis", key)[0] for key in ("x1", "x2"))
    assert places == pytest.approx([left + share * (right - left) for share in (0, 0.25, 0.5, 1)], abs=0.01)


def test_an_interval_is_drawn_from_end_to_end() -> None:
    svg = render_svg(ONE_GATE)
    left, right = (numbers(svg, "line", "axis", key)[0] for key in ("x1", "x2"))
    low, high = (numbers(svg, "line", "interval", key)[0] for key in ("x1", "x2"))
    (mark,), (bound,) = numbers(svg, "circle", "mark", "cx"), numbers(svg, "line", "bound", "x1")
    # the scale goes from 0.7 to 1: there the side ends that passes
    assert (low, mark, bound) == pytest.approx([left + n / 3 * (right - left) for n in (0, 1, 2)], abs=0.01)
    assert high == bound


@cases(
    ("bounds", "passes"),
    [
        (Gate(min=Decimal("0.9")), (0.9, 1.0)),
        (Gate(max=Decimal("0.75")), (0.7, 0.75)),
        (Gate(min=Decimal("0.72"), max=Decimal("0.86")), (0.72, 0.86)),
        (Gate(equals=Decimal("1.00")), None),
        (Gate(max_drop=Decimal("0.02"), against="old"), (-0.02, 0.1)),
        (Gate(max_rise=Decimal("0.02"), against="old"), (-0.1, 0.02)),
    ],
)
def test_the_side_that_passes_is_hatched(bounds: Gate, passes: tuple[float, float] | None) -> None:
    measured = MeasuredValue(0.8, 8, 10, interval=IntervalEnds(0.7, 0.9))
    svg = render_svg(GatePicture((gate("f1", bounds, measured),)))
    areas = [*zip(numbers(svg, "rect", "passes", "x"), numbers(svg, "rect", "passes", "width"), strict=True)]
    hatches = [path for path in parsed(svg).iter(f"{SVG}path") if path.get("class") == "hatch"]
    assert len(areas) == len(hatches) == (passes is not None)
    if passes is None:
        return
    ticks = {float(text): place for text, place in _tick_places(svg)}
    (low, at_low), (high, at_high) = min(ticks.items()), max(ticks.items())

    def place(value: float) -> float:
        return at_low + (value - low) / (high - low) * (at_high - at_low)

    ((left, width),) = areas
    ends = [place(end) for end in passes]
    assert [left, left + width] == pytest.approx(ends, abs=0.05)


def _tick_places(svg: str) -> list[tuple[str, float]]:
    found = [e for e in parsed(svg).iter(f"{SVG}text") if (e.get("class"), e.get("text-anchor")) == ("small", "middle")]
    return [(e.text or "", float(e.get("x", "nan"))) for e in found]


def test_a_gate_on_value_and_difference_has_two_scales() -> None:
    shown = texts(
        render_svg(GatePicture((gate("f1", Gate(min=Decimal("0.4"), max_drop=Decimal("0.1"), against="old")),)))
    )
    assert "f1" in shown
    assert "f1 − old" in shown
    assert "≥ 0.4" in shown
    assert "drop ≤ 0.1" in shown


def test_bars_are_as_long_as_their_counts() -> None:
    drawn = BarPicture("errors", "Errors", ("FP", "FN"), (("a", (10, 5)), ("b", (0, 20))))
    svg = render_svg(drawn)
    first, second = (numbers(svg, "rect", f"bar-{n}", "width") for n in (1, 2))
    # the first of each is the legend's; nothing is drawn for zero
    assert first[1:] == pytest.approx([second[2] / 2])
    assert second[1] == pytest.approx(second[2] / 4, abs=0.01)
    hatches = [path for path in parsed(svg).iter(f"{SVG}path") if path.get("class") == "bar-hatch"]
    assert len(hatches) == len(second)  # no colour alone


def test_runs_are_dots_that_do_not_cover_each_other() -> None:
    row = ScoreRow("m", MeasuredValue(0.5, interval=IntervalEnds(0.3, 0.7)), runs=(0.6, 0.4, 0.5, 0.5, 0.5))
    svg = render_svg(ScorePicture("runs", "Runs", (ScoreGroup("f1", (row,)),)))
    places = {*zip(numbers(svg, "circle", "run", "cx"), numbers(svg, "circle", "run", "cy"), strict=True)}
    assert len(places) == 5
    assert numbers(svg, "circle", "mark", "cx")[0] in {x for x, _ in places}


def test_a_large_matrix_says_what_it_leaves_out() -> None:
    names = tuple(f"t{n}" for n in range(20))
    counts = tuple(tuple(int(row == column) * (1 + row) for column in range(20)) for row in range(20))
    shown = texts(render_svg(CountPicture("confusions", "Types", "gold", "predicted", names, names, counts)))
    assert {"t4", "t19"} <= {*shown}
    assert "t3" not in shown  # the four smallest: 1 + 2 + 3 + 4
    assert any("16 of 20 rows and 16 of 20 columns" in text and "10 of 210 lie outside" in text for text in shown)


# --- words


def test_verdicts_are_words_and_undefined_values_say_why() -> None:
    lines = (
        gate("a", verdict="INCONCLUSIVE"),
        gate("b", Gate(max=Decimal(1), severity="warn"), verdict="FAIL"),
        gate("c", Gate(min=Decimal(1)), MeasuredValue(None, reason="nothing to divide by")),
    )
    shown = texts(render_svg(GatePicture(lines)))
    assert {"INCONCLUSIVE", "FAIL (warn)", "n/a", "n/a: nothing to divide by"} <= {*shown}


@pytest.mark.parametrize("drawn", [*pictures(["name"])], ids=lambda drawn: drawn.kind)
def test_every_picture_is_named_and_described(drawn: Picture) -> None:
    root = parsed(str(draw(drawn)))
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[0].text == "name"
    assert "name" in str(root[1].text)


def test_the_description_has_every_number() -> None:
    found = parsed(render_svg(ONE_GATE))[1].text
    assert found == "FAIL f1: 0.8000, interval [0.700, 0.900], gate ≥ 0.9."


def test_on_a_page_a_picture_has_no_looks_of_its_own() -> None:
    drawn = scores(0.5)
    inline, alone = str(draw(drawn)), render_svg(drawn)
    assert "<style>" not in inline
    assert read_asset(PICTURE_STYLE) in alone
    assert "Scores" not in texts(inline)  # the page has the heading
    assert "Scores" in texts(alone)
    assert "style=" not in alone  # a strict Content-Security-Policy forbids it


def test_on_a_page_a_picture_has_no_margins_and_loses_nothing() -> None:
    for drawn in pictures(["W" * 60, "short"]):
        root = parsed(str(draw(drawn)))
        left, _, width, height = map(float, root.get("viewBox", "").split())
        assert (root.get("width"), root.get("height")) == (f"{width:g}", f"{height:g}")
        for element in root.iter(f"{SVG}text"):
            x, y = (float(element.get(key, "nan")) for key in "xy")
            assert left <= x <= left + width
            assert 0 < y <= height


def test_every_class_has_its_looks_in_light_and_dark() -> None:
    light, dark = read_asset(PICTURE_STYLE).split("@media screen and (prefers-color-scheme: dark)")
    used = {
        name
        for drawn in pictures(["a", "b", "c"])
        for element in parsed(render_svg(drawn)).iter()
        for name in (element.get("class") or "").split()
    } - {"picture", "tilted", "group", "verdict", "title"}
    assert "bound" in used
    for name in used:
        for part in (light, dark):
            assert re.search(rf"\.{name}\b", part), name


@cases(
    "drawn",
    [
        ScorePicture("s", "S", ()),
        ScorePicture("s", "S", (ScoreGroup("", ()),)),
        scores(),
        BarPicture("s", "S", (), ()),
        BarPicture("s", "S", ("FP",), (("a", (0,)),)),
        CountPicture("s", "S", "r", "c", (), (), ()),
        CountPicture("s", "S", "r", "c", ("a",), ("b",), ((0,),)),
        GatePicture(()),
        scores(0.0, zero=True),
    ],
)
def test_nothing_to_draw_is_still_a_picture(drawn: Picture) -> None:
    assert parsed(render_svg(drawn)).tag == f"{SVG}svg"


def test_nothing_is_drawn_outside() -> None:
    names = ["W" * 60, "高管变动" * 20, "short"]
    for drawn in pictures(names):
        root = parsed(render_svg(drawn))
        width = float(root.get("width", "nan"))
        assert width <= WIDTH
        for element in root.iter(f"{SVG}text"):
            x = float(element.get("x", "nan"))
            shown = (element[0].tail if len(element) else element.text) or ""
            wide = text_width(shown, SMALL if element.get("class") == "small" else SIZE)
            before = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor", ""), 0.0) * wide
            assert x - before >= 0, shown
            if element.get("class") != "tilted":
                assert x - before + wide <= width + 1, shown
