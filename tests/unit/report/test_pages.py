"""Every block in every format: nothing is left out, nothing hostile comes through, no line is too wide."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldgate.core.gate import Gate
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    FindingLine,
    FindingList,
    GateLine,
    InputLine,
    IntervalEnds,
    LabelList,
    LabelRow,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    ReportOrigin,
    Section,
    Table,
)
from goldgate.errors import GoldgateError, InputError, Place
from goldgate.report import PAGE_FORMATS, render_page
from goldgate.report.escape import display_width
from goldgate.report.text import render_error, render_text
from tests.cases import cases
from tests.examples import examples
from tests.unit.report.pages import RATE, UNDEFINED, blocks, page

HOSTILE = "\x1b[2J\x9b31m\u202e::error::x ##[error]x\r\n# head\n<b>|`x`|\n::set-output name=a::b\u2028@octocat"
CJK = "上市公司股东股份质押解除公告" * 9
LONG = "Transaction.Transfer-Ownership-" * 12
WIDTHS = (60, 80, 120)

formats = pytest.mark.parametrize("format", PAGE_FORMATS)


def too_wide(text: str, columns: int) -> list[str]:
    return [line for line in text.splitlines() if display_width(line) > columns]


def test_there_is_an_example_of_every_block() -> None:
    assert {type(block) for block in blocks("x")} == set(get_args(Block))


@formats
@pytest.mark.parametrize(
    "text", ["plain words", HOSTILE, CJK, LONG, "", " "], ids=["plain", "hostile", "cjk", "long", "empty", "blank"]
)
def test_every_block_is_shown_in_every_format(text: str, format: str) -> None:
    for number, block in enumerate(blocks(text)):
        case = (number, type(block).__name__)
        alone = render_page(Page("suite", sections=(Section("Title", (block,)),)), format)
        assert len(alone.splitlines()) >= 3, case
        for columns in WIDTHS if format == "text" else WIDTHS[:1]:  # others are laid out by who shows them
            shown = render_page(page(text, block), format, columns=columns)
            shown = re.sub(r"(?s)<(style|script)>.*?</\1>", "", shown)  # a page brings its own
            assert not set("\x1b\x9b\r\u202e\u2028") & set(shown), case
            assert "::" not in shown, case
            if format == "text":
                assert not too_wide(shown, columns), case


@cases("text", [HOSTILE, CJK, LONG])
def test_no_line_of_markdown_is_begun_by_a_text(text: str) -> None:
    shown = render_page(page(text, *blocks(text)), "markdown")
    assert not re.search(r"(?m)^(# head|<b>|::)", shown)
    # Each row of a table has as many cells as its head.
    for found in re.findall(r"(?m)(?:^\|.*\n)+", shown):
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in found.splitlines()}
        assert len(cells) == 1, found


@given(
    text=st.text(max_size=60) | st.text(alphabet="ab 质éﬁ\u0301:#", max_size=200),
    columns=st.sampled_from(WIDTHS),
)
@example("`\U0002ebe1\U0002ebe1", 60)  # two backticks of two names are no code
@examples(80)
def test_no_line_is_wider_than_the_terminal(text: str, columns: int) -> None:
    everything = page(text, *blocks(text))
    assert not too_wide(render_text(everything, columns), columns)
    error = GoldgateError(text, text, place=Place(text, 3, text), expected=text, found=text, advice=text)
    assert not too_wide(render_error(error, columns), columns)


@given(
    st.integers(40, 140),
    st.integers(0, 10**18),
    st.integers(1, 12),
    st.lists(st.text(min_size=1), max_size=4, unique=True),
)
@examples(80)
def test_a_table_fits_whatever_it_holds(columns: int, number: int, many: int, names: list[str]) -> None:
    heads = (Column("name"), *(Column(f"c{n}", group="even" if n % 2 else "odd") for n in range(many)))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Name(name), *(MeasuredValue(1 / 3, number, 3 * number + 1) for _ in range(many))) for name in names
    )
    for with_counts in (False, True):
        shown = render_text(
            Page("s", sections=(Section("T", (Table(heads, rows, with_counts=with_counts),)),)), columns
        )
        assert not too_wide(shown, columns)
        assert shown.count(str(MeasuredValue(1 / 3, number, 3 * number + 1))) == many * len(names)


def test_colour_adds_nothing_but_colour() -> None:
    described = page("words", *blocks("words"))
    plain, coloured = render_text(described), render_text(described, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[32mPASS\x1b[0m" in coloured
    assert "\x1b[31mFAIL\x1b[0m" in coloured
    assert "\x1b[33mn/a\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    assert "\x1b" not in render_page(described, "markdown", colour=True)


def test_columns_that_do_not_fit_stand_under_their_row() -> None:
    rate = MeasuredValue(0.5, 10**14, 2 * 10**14, interval=IntervalEnds(0.4, 0.6))
    gate = GateLine("a_rate", Gate(min=Decimal("0.95")), rate, "FAIL", "x")
    assert render_text(Page("s", gates=(gate,)), 60).endswith(
        "Gates\n        metric   value  interval        gate\n  FAIL  a_rate  0.5000  [0.400, 0.600]  ≥ 0.95\n      x\n"
    )
    assert render_text(Page("s", gates=(gate,)), 40).endswith(
        "Gates\n        metric   value  interval\n  FAIL  a_rate  0.5000  [0.400, 0.600]\n      gate ≥ 0.95\n      x\n"
    )


def test_a_wide_terminal_shows_what_a_narrow_one_leaves_out() -> None:
    table = Table((Column("name"), Column("a" * 30), Column("b" * 40, optional=True)), ((Name("n"), "1", "2"),))
    described = Page("s", sections=(Section("T", (table,)),))
    assert "b" * 40 in render_text(described, 80)
    assert "b" * 40 not in render_text(described, 70)
    assert "b" * 40 in render_page(described, "markdown", columns=60)


def test_long_names_keep_both_ends() -> None:
    names = [f"Transaction.{'very-' * 12}{end}" for end in ("Transfer-Ownership", "Transfer-Money")]
    table = Table((Column("event type"), Column("x" * 40)), tuple((Name(name), "1") for name in names))
    shown = render_text(Page("s", sections=(Section("T", (table,)),)), 80)
    assert re.search(r"Transaction\.\S*…\S*-Ownership", shown)
    assert re.search(r"Transaction\.\S*…\S*-Money", shown)


def test_columns_of_a_group_stay_together() -> None:
    heads = (Column("n"), *(Column(title, group) for group in ("one", "two") for title in ("P", "R", "F1")))
    table = Table(heads, ((Name("a"), *(MeasuredValue(1 / n) for n in range(1, 7))),))
    shown = render_text(Page("s", sections=(Section("T", (table,)),)), 40)
    assert shown.endswith("1.0000  0.5000  0.3333\n      two P 0.2500, two R 0.2000,\n      two F1 0.1667\n")


def test_the_place_of_a_finding_is_whole() -> None:
    place = "some/folder/with/a/long/name/gold.jsonl:7 (zh-007) events[0].arguments[0].argument"
    found = FindingList((FindingLine("note", "gold.duplicate_unit", place, "twice"),))
    for columns in (60, 80):
        shown = render_text(Page("s", sections=(Section("T", (found,)),)), columns)
        assert place in " ".join(shown.split())


def test_lists_wrap_between_values_and_never_inside() -> None:
    values = [f"name_{number} {number} (in {number} samples)" for number in range(30)]
    shown = render_text(Page("s", sections=(Section("T", (LabelList((LabelRow("label", tuple(values)),)),)),)), 60)
    lines = [line.strip().removeprefix("label").strip() for line in shown.splitlines()[3:]]
    assert [part for line in lines for part in line.rstrip(",").split(", ")] == values


def test_equal_reasons_are_said_once() -> None:
    rows = (*((Name(f"m{n}"), UNDEFINED) for n in range(4)), (Name("known"), RATE))
    for format in PAGE_FORMATS:
        described = Page("s", sections=(Section("T", (MetricValues(rows),)), Section("U", (MetricValues(rows[:2]),))))
        assert render_page(described, format).count("nothing to divide by") == 2
        table = Table(
            (Column(""), Column("precision"), Column("recall")), (("a", UNDEFINED, UNDEFINED),), with_counts=True
        )
        shown = render_page(Page("s", sections=(Section("T", (table,)),)), format)
        assert shown.count("nothing to divide by") == 1
        assert "a precision, a recall: nothing to divide by" in shown
        gates = tuple(GateLine(m, Gate(), UNDEFINED, "FAIL", "not_evaluable: none there") for m in ("g", "h"))
        assert render_page(Page("s", gates=gates), format).count("none there") == 1


def test_a_gates_reason_is_shown_where_it_says_more_than_its_numbers() -> None:
    gate = GateLine("g", Gate(min=Decimal("0.80"), max=Decimal("0.9")), RATE, "FAIL", "3/4 is not ≥ 0.80")
    assert not gate.says_more
    assert not gate._replace(verdict="PASS", reason="3/4 is ≥ 0.80 and ≤ 0.9").says_more
    torn = gate._replace(reason="3/4 is not ≥ 0.80; a log is torn")
    assert torn.says_more
    for format in PAGE_FORMATS:
        assert "is not" not in render_page(Page("s", gates=(gate,)), format)
        assert "a log is torn" in render_page(Page("s", gates=(torn,)), format)


def test_a_page_says_all_that_it_has() -> None:
    """Each fact is a word of its own; in the short format what is only for long ones may be missing."""
    described = Page(
        suite="suite0",
        verdict="FAIL",
        subject="subject0",
        protocol="protocol0 1",
        gates=(GateLine("gate0", Gate(min=Decimal("0.81")), RATE, "FAIL", "reason0"),),
        remarks=("stands0",),
        sections=(
            Section(
                "title0",
                (
                    Paragraph("paragraph0"),
                    Notes((("note0 ", Name("note1")),)),
                    LabelList((LabelRow("pair0", ("pair1", "pair2")),)),
                ),
            ),
            Section("title1", (FindingList((FindingLine("severity0", "code0", "place0", "message0"),)),)),
            Section(
                "title2", (MetricValues(((Name("value0"), RATE), (Name("value1"), UNDEFINED._replace(reason="why0")))),)
            ),
            Section("title3", (Table((Column("head0"), Column("head1")), (("cell0", Name("cell1")),)),)),
            Section("detail0", (Paragraph("detail1"),), is_detail=True),
        ),
        origin=ReportOrigin((("version0", "version1"),), "signature0", (InputLine("kind0", "5ha256", "size0"),)),
    )
    for format in ("text", "markdown"):
        shown = render_page(described, format)
        facts = re.findall(r"[a-z]+\d\b", str(described).replace("'", " "))
        missing = {fact for fact in facts if fact not in shown.replace("\\", "")}
        assert missing == ({"detail0", "detail1"} if format == "text" else set())
        for number in ("0.7500", "3/4", "[0.500, 0.900]", "≥ 0.81", "5ha256"):
            assert number in shown.replace("\\", "")


@cases("format", ["text", "markdown"])
def test_undefined_names_with_commas_stand_between_semicolons(format: str) -> None:
    def undefined(*labels: str) -> str:
        rows = tuple((label, UNDEFINED, RATE) for label in labels)
        table = Table((Column(""), Column("P"), Column("R")), rows, with_counts=True)
        return " ".join(render_page(Page("toy", sections=(Section("Rates", (table,)),)), format).split())

    assert "strict, by role P; relaxed P: nothing to divide by" in undefined("strict, by role", "relaxed")
    assert "strict P, relaxed P: nothing to divide by" in undefined("strict", "relaxed")


@pytest.mark.parametrize("columns", [40, 80])
def test_an_error_has_its_file_whole_whatever_blanks_are_in_it(columns: int) -> None:
    file = "/my data/" + "a long name with blanks/" * 6 + "gold.jsonl"
    error = InputError("gold.bad_id", "no id", place=Place(file, 3, "events.2.arguments"), advice=f"see {file[3:]}")
    shown = render_error(error, columns)
    assert f"  where  {file}:3:" in shown
    assert "events.2.arguments" in shown
    assert max(map(len, (line for line in shown.splitlines() if "gold.jsonl:3" not in line))) <= columns
