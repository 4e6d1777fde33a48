"""A run to look at: in a list, and on a page with each quote marked in its source."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example
from hypothesis import given as any_of
from hypothesis import strategies as st

from goldgate.core.page import FindingList, LabelList, Table
from goldgate.core.unit_page import MarkedText, UnitPage
from goldgate.suites.plan import load_plan
from goldgate.suites.research.suite import SUITE
from goldgate.suites.research.text import SourceText, fold

from .judged import judged
from .trees import claim, evidence, output, query, write_golden, write_run


def records_of(folder: Path, **options: Any) -> list[dict[str, Any]]:
    lines = io.BytesIO()
    judged(folder, records=lines, **options)
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def page_of(folder: Path, record: dict[str, Any]) -> UnitPage:
    inputs = {"golden": [str(folder / "golden.json")], "outputs": [str(folder / "outputs")]}
    with SUITE.open_inputs(inputs, load_plan(SUITE, None)) as given:
        page: UnitPage = SUITE.unit_page(record, given.for_unit(record))
    return page


def section(page: UnitPage, title: str) -> list[Any]:
    return [block for each in page.sections if each.title == title for block in each.blocks]


def rows(page: UnitPage, title: str) -> list[list[str]]:
    [table] = [block for block in section(page, title) if isinstance(block, Table)]
    return [[cell if isinstance(cell, str) else getattr(cell, "text", str(cell)) for cell in row] for row in table.rows]


def marks(page: UnitPage) -> list[tuple[str, str, str]]:
    """What is marked in the sources, the record that quotes it, and what is wrong with that."""
    texts = [block for block in section(page, "Sources") if isinstance(block, MarkedText)]
    return [(text.text[mark.start : mark.end], mark.label, mark.wrong) for text in texts for mark in text.marks]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with a right, a misattributed and a fabricated quote, one in other quotation marks, and a missing run."""
    write_golden(tmp_path, query(), query("Who owned the ships?", (), False))
    ledger = [
        evidence(),
        evidence("e2", "c1", "Ships waited eleven days", span=None),
        evidence("e3", "c2", "Ships sank"),
        evidence("e4", "c3", 'the mayor "thanked" the crews', span=None),
    ]
    claims = [claim(), claim("k2", ("e2", "nowhere"))]
    write_run(tmp_path / "outputs", "run", output(claims=claims, evidence=ledger))
    return tmp_path


def test_each_quote_is_marked_in_its_source_or_where_it_really_is(folder: Path) -> None:
    page = page_of(folder, records_of(folder)[0])
    assert marks(page) == [
        ("froze in 1871", "e1", ""),
        ("Ships waited eleven days", "e2", "misattributed"),
        ("the mayor “thanked” the crews", "e4", ""),
    ]
    notes = [block.note for block in section(page, "Sources") if isinstance(block, MarkedText)]
    assert notes == [
        "Not in this text: “Ships waited eleven days” (e2, misattributed).",
        "Not in this text: “Ships sank” (e3, fabricated).",
        "",
    ]


def test_claims_have_the_level_of_their_evidence(folder: Path) -> None:
    page = page_of(folder, records_of(folder)[0])
    assert rows(page, "Claims") == [
        ["k1", "verified", "It froze in 1871.", "e1: verbatim"],
        ["k2", "verified", "It froze in 1871.", "e2: misattributed, nowhere: not in the ledger"],
    ]
    assert [row[:3] for row in rows(page, "Evidence")] == [
        ["e1", "verbatim", "c1"],
        ["e2", "misattributed", "c1"],
        ["e3", "fabricated", "c2"],
        ["e4", "verbatim", "c3"],
    ]
    assert [row[1] for row in rows(page, "Steps")] == ["harbour frozen", "harbour frozen"]
    [found] = section(page, "Findings")
    assert isinstance(found, FindingList)
    assert {"misattributed", "fabricated", "dangling_ref", "claim_not_covered"} == {row.code for row in found.rows}


def test_a_page_shows_of_each_record_what_it_was_judged_to_be(tmp_path: Path) -> None:
    write_golden(tmp_path, query())
    nameless = {**evidence(), "evidence_id": " "}
    ledger = [evidence(), evidence("e2"), evidence("e2", "c1", "Ships sank"), nameless]
    write_run(tmp_path / "outputs", "run", output(evidence=ledger))
    page = page_of(tmp_path, records_of(tmp_path)[0])
    results = [row[1] for row in rows(page, "Evidence")]
    assert results == ["verbatim", "conflicting_id", "conflicting_id", "malformed"]


def test_a_list_says_what_is_wrong_and_what_was_asked(folder: Path) -> None:
    run, missing = (SUITE.summary(record) for record in records_of(folder))
    assert (run.id, run.word) == ("run", "fabricated 1, misattributed 1; 1 claim not covered; dangling_ref")
    assert run.weight == 3
    assert run.facets["finding"] == ("claim_not_covered", "dangling_ref", "fabricated", "misattributed")
    assert run.facets["outcome"] == ("evaluated",)
    assert (missing.id, missing.word, missing.weight) == ("Who owned the ships?", "1 run is missing", 1)
    assert missing.facets == {"outcome": ("missing",), "query": ("Who owned the ships?",)}


def test_a_missing_run_is_shown_by_its_question(folder: Path) -> None:
    page = page_of(folder, records_of(folder)[1])
    [asked] = section(page, "Question")
    assert isinstance(asked, LabelList)
    assert [pair.parts for pair in asked.rows] == [("Who owned the ships?",), ("insufficient: it must abstain",)]


def test_of_a_run_that_has_changed_only_the_record_is_shown(folder: Path) -> None:
    record = records_of(folder)[0]
    with open(folder / "outputs" / "run" / "chunks.jsonl", "a", encoding="utf-8") as chunks:
        chunks.write("\n")
    page = page_of(folder, record)
    assert not section(page, "Sources")
    assert "have changed; they are not shown" in str(section(page, "Files"))
    assert {row.code for row in section(page, "Findings")[0].rows} == {*record["findings"]}


@example("a\n\u0301", 0, 3)  # a mark on white space
@example("a \u200b b", 0, 5)
@any_of(st.text("ab é\u0301 \n“—\u00ad가\u11a8", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_every_part_of_a_text_is_found_in_it(text: str, start: int, end: int) -> None:
    quote = fold(text[start:end])
    places = SourceText(text).places(quote, None)
    if quote and quote in fold(text):
        assert all(fold(text[a:b]) for a, b in places)
        assert any(quote in fold(text[a:b]) for a, b in places)
