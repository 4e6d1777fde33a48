"""The page as HTML: whole, safe, the same bytes, and every link leads somewhere."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from decimal import Decimal
from functools import partial
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.gate import Gate
from goldgate.core.page import Column, GateLine, IntervalEnds, MeasuredValue, Name, Page, Paragraph, Section, Table
from goldgate.core.unit_page import Mark, MarkedText, UnitPage, UnitSection, UnitSummary
from goldgate.report.html import render_html
from goldgate.report.html.units import SIZE_LIMIT, UnitSelection, lay_out_units
from tests.cases import cases
from tests.examples import examples
from tests.unit.report.pages import blocks, page

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x00\x1b]8;;javascript:alert(1)\x07{{7*7}}\n::error::"


class Read(HTMLParser):
    """The elements of a page and what is said in it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements if (value := attributes.get(name, "-")) != "-"]


def unit(identity: str, text: str, *marks: Mark) -> tuple[UnitSummary, UnitPage]:
    sections = (
        UnitSection("Source text", (MarkedText(text, marks, "a note"),)),
        UnitSection("Errors", (Paragraph(text), Table((Column("error"),), ((Name(text),),)))),
    )
    facets = {"error": ("missing",), text or "-": (text,)}
    return UnitSummary(identity, "missing 1", 1, facets), UnitPage(identity, sections)


def selection(units: Iterable[tuple[UnitSummary, UnitPage]], *rest: Any, limit: int = SIZE_LIMIT) -> UnitSelection:
    """These units laid out; the rest are the other fields of a selection."""
    candidates = [(summary, partial(UnitPage, *page)) for summary, page in units]
    return lay_out_units(candidates, UnitSelection((), *rest), limit)


def failed(metric: str) -> GateLine:
    measured = MeasuredValue(0.5, 1, 2, interval=IntervalEnds(0.2, 0.8))
    return GateLine(metric, Gate(min=Decimal("0.9")), measured, "FAIL", "1/2 is not ≥ 0.9")


def test_nothing_in_a_page_leads_elsewhere_and_only_our_own_script_runs() -> None:
    shown = unit(HOSTILE, HOSTILE, Mark(0, 5, HOSTILE, HOSTILE, HOSTILE))
    looked = selection((shown,), 3, 2, "sample", {HOSTILE: (1, (HOSTILE,))})
    source = render_html(page(HOSTILE, *blocks(HOSTILE)), looked)
    read = Read(source)
    assert [tag for tag, _ in read.elements].count("script") == 1
    loading = {"img", "iframe", "object", "embed", "link", "base", "form", "audio", "video", "image", "use"}
    assert not loading & {tag for tag, _ in read.elements}
    assert not read.values("src")
    assert not read.values("style")
    assert [name for _, attributes in read.elements for name in attributes if name.startswith("on")] == []
    assert all(link.startswith("#") for link in read.values("href"))
    assert not {"\u202e", "\x00", "\x1b", "\x07", "\r"} & {*source}
    rest = re.sub(r"(?s)<(style|script)>.*?</\1>", "", source)
    assert "::" not in rest
    assert "##" not in source  # a CI runner would obey it
    source.encode()  # no surrogates


def test_the_policy_allows_our_own_script_and_style_and_nothing_else() -> None:
    source = render_html(page("x"))
    policy = Read(source).values("content")[0]
    for tag in ("style", "script"):
        (inner,) = re.findall(f"(?s)<{tag}>(.*?)</{tag}>", source)
        assert f"{tag}-src 'sha256-{b64encode(sha256(inner.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


@given(st.lists(st.text(max_size=8), max_size=6, unique=True), st.text(max_size=8))
@examples(80)
def test_every_link_leads_to_one_place(ids: list[str], metric: str) -> None:
    looked = selection(tuple(unit(each, each) for each in ids), 9, 9, "sample", {metric: (9, tuple(ids))})
    sections = tuple(Section(title, (Paragraph("x"),)) for title in ("Samples", "main", *ids) if title)
    read = Read(render_html(Page("s", gates=(failed(metric),), sections=sections), looked))
    places = read.values("id")
    assert len(places) == len({*places})
    assert {link[1:] for link in read.values("href")} <= {*places}
    assert sum(place.startswith("sample-") for place in places) == len(ids)


def test_from_a_failed_gate_one_link_leads_to_the_sample_that_costs_it_most() -> None:
    looked = selection((unit("a", "x"), unit("b", "y")), 9, 4, "sample", {"f1": (4, ("b", "a"))})
    shown = render_html(Page("s", gates=(failed("f1"),)), looked)
    row = shown[shown.index('<tr><td><span class="verdict fail') :]
    assert row.index('href="#sample-b"') < row.index('href="#sample-a"') < row.index("2 of 4 shown")
    assert '<article id="sample-b"' in shown
    assert "2 of 4 samples with errors, most errors first; 9 in all." in shown


def test_names_in_tables_lead_to_the_samples_that_have_them() -> None:
    table = Table(
        (Column("error"), Column("n")), ((Name("missing"), MeasuredValue(1)), (Name("boundary"), MeasuredValue(2)))
    )
    shown = render_html(Page("s", sections=(Section("Errors", (table,)),)), selection((unit("a", "x"),), 1, 1))
    assert '<a href="#samples" data-facet="error" data-value="missing"><code>missing</code></a>' in shown
    assert "<code>boundary</code></th>" in shown


def test_samples_beyond_the_size_of_a_page_are_left_out_and_that_is_said() -> None:
    long = "x" * 12_000
    many = tuple(unit(f"u{number}", long) for number in range(200))
    looked = selection(many, 500, 300, "sample", {"f1": (250, ("u0", "u199"))})
    shown = render_html(Page("s", gates=(failed("f1"),)), looked)
    assert len(shown) < 1_000_000
    count = shown.count('<article id="sample-')
    assert 10 < count < 100
    assert f"{count} of 300 samples with errors" in shown
    assert 'href="#sample-u199"' in shown  # a gate names it: it finds room before others
    assert "u198" not in shown


def test_a_sample_does_not_say_again_what_stands_above_it() -> None:
    page = UnitPage("a", (UnitSection("Result", (Paragraph("missing 1"),)), UnitSection("Errors", (Paragraph("x"),))))
    right = UnitPage("b", (UnitSection("Result", (Paragraph("No errors."),)),))
    units = ((UnitSummary("a", "missing 1", 1), page), (UnitSummary("b"), right))
    shown = render_html(Page("s"), selection(units, 2, 1))
    assert shown.count("missing 1") == shown.count("othing went wrong") == 1
    assert ">Errors</h3>" in shown
    assert ">Result</h3>" in render_html(Page("s"), selection(((UnitSummary("a", "missing 2", 1), page),), 1, 1))


def test_what_costs_a_gate_is_not_said_to_be_right() -> None:
    """Of a suite that does not say what went wrong in a unit."""
    looked = selection(((UnitSummary("a"), UnitPage("a", ())),), 5, 0, "run", {"f1": (2, ("a",))})
    shown = render_html(Page("s", gates=(failed("f1"),)), looked)
    assert "othing went wrong" not in shown
    assert "1 run of 5, those that cost a gate." in shown
    assert "it costs f1" in shown


@cases("verdict", ["PASS", "FAIL", "INCONCLUSIVE", "NO_GATES", "SYSTEM_ERROR", "verified", ""])
def test_a_verdict_is_said_in_words(verdict: str) -> None:
    read = Read(render_html(Page("s", verdict)))
    assert f"{verdict} goldgate s".strip() in read.text
