"""The pages of the examples in a browser: what a person does with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import EXTRACTION, Watched

Reports = dict[str, Path]

every_page = pytest.mark.parametrize("name", ["model-b", "research", "compare", "toy", "error"])


def rows(page: Page, section: str, column: int) -> list[str]:
    """The cells of a column of the table under a heading, from top to bottom."""
    found: list[str] = page.eval_on_selector_all(
        f"#{section} ~ .wide tbody tr", f"rows => rows.filter(r => !r.hidden).map(r => r.cells[{column}].innerText)"
    )
    return found


@every_page
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_fits_its_window(name: str, width: int, watched: Watched, reports: Reports) -> None:
    page = watched.open(reports[name], viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(name: str, scheme: Any, watched: Watched, reports: Reports) -> None:
    page = watched.open(reports[name], color_scheme=scheme, bypass_csp=True)  # axe is a script of its own
    page.evaluate("[...document.querySelectorAll('details')].slice(0, 4).forEach(each => { each.open = true })")
    faults = [
        (fault["id"], [node["html"] for node in fault["nodes"][:3]])
        for fault in Axe().run(page).response["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    assert faults == []


def test_one_click_leads_from_a_failed_gate_to_the_text_that_explains_it(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    gate = page.locator("table.gates tr", has_text="strict_f1")
    expect(gate.locator(".verdict")).to_have_text("✗FAIL")
    gate.locator("td.why a").first.click()
    unit = page.locator("details.unit[open]")
    expect(unit).to_have_count(1)
    text = unit.locator(".text").first
    expect(text).to_be_in_viewport()
    expect(text.locator(".tag em").first).to_be_visible()  # the error stands beside what is marked


def test_the_header_names_what_was_judged_and_no_place_or_time(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    expect(page.locator("header")).to_contain_text("predictions model-b.jsonl · gold gold.jsonl")
    text = reports["model-b"].read_text(encoding="utf-8")
    assert str(EXTRACTION) not in text
    assert "scored 2" not in text


def test_on_a_phone_gates_thresholds_and_where_samples_begin_are_in_sight(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"], viewport={"width": 390, "height": 844})
    seen = page.locator("td.why a, td.scale .bound, td.scale .mark").all()
    assert len(seen) == 4 * 3 + 2 * 3
    for each in seen:
        box = each.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    expect(page.get_by_role("heading", name="Samples to look at")).to_be_in_viewport(ratio=1)
    summary = page.locator("details.unit > summary").first
    expect(summary.locator(".score")).to_have_text("0.1429")
    expect(summary.locator(".snippet")).to_contain_text("连亏两年之后")
    expect(page.get_by_label("error", exact=True)).to_be_hidden()  # until the filters are asked for
    page.locator("#filters > summary").click()
    expect(page.get_by_label("error", exact=True)).to_be_visible()


def test_the_numbers_of_a_gate_stand_once(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    section = page.locator("section", has=page.locator("#gates"))
    words = section.evaluate("each => [...each.querySelectorAll('td, th, text')].map(t => t.textContent.trim())")
    assert [words.count(number) for number in ("0.5718", "[0.501, 0.639]", "≥ 0.97")] == [1, 1, 1]
    expect(section).to_contain_text("Dot: value. Bar: 95 % interval. Line: threshold; hatched side passes.")
    following = section.evaluate("each => each.nextElementSibling.querySelector('h2').textContent")
    assert following == "Samples to look at"


def test_confusions_findings_and_what_stands_out_lead_to_samples(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    page.locator("td.heat a").first.click()
    expect(page.get_by_label("confused", exact=True)).to_have_value(re.compile(".+ → .+"))
    for unit in page.locator("details.unit:visible").all():
        assert "wrong_type" in unit.locator("summary").inner_text()
    page.get_by_role("link", name="2 of 80 answers are missing").click()
    expect(page.locator("#filters [role=status]")).to_contain_text("2 of ")
    page.locator("table.findings a", has_text="(zh-033)").click()
    expect(page.locator("details.unit[open] .id", has_text="zh-033")).to_be_in_viewport()


def test_an_answer_that_was_not_read_is_what_a_click_leads_to(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    page.locator("table.gates tr", has_text="parse_errors").locator("td.why a").first.click()
    section = page.locator("details.unit[open] section").first
    expect(section.locator("h3")).to_have_text("Answer")
    expect(section.locator(".text")).to_be_in_viewport()


def test_a_suite_that_says_no_more_leads_to_its_records(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["toy"])
    page.locator("td.why a").first.click()
    unit = page.locator("details.unit[open]")
    expect(unit.locator(".word")).to_have_text("it costs exact_match")
    expect(unit.locator(".text").first).to_be_in_viewport()


def test_the_same_without_a_script(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"], java_script_enabled=False)
    for title in ("Gates", "Scores", "Errors by name", "Event types"):
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("#event-types ~ .wide tbody tr").first).to_be_visible()
    page.locator("td.why a").first.click()
    expect(page.locator("details.unit[open] .text").first).to_be_visible()  # a link opens what it leads into


def test_all_samples_of_a_gate_an_error_and_a_type(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    said, units = page.locator("#filters [role=status]"), page.locator("details.unit")
    total = units.count()
    page.locator("table.gates tr", has_text="parse_errors").get_by_role("link", name="all 6").click()
    expect(said).to_have_text(f"6 of {total} shown")
    expect(page.locator("details.unit:visible")).to_have_count(6)
    page.locator("#errors-by-name ~ .wide a", has_text="wrong_type").click()
    shown = page.locator("details.unit:visible")
    assert 0 < shown.count() < total
    for unit in shown.all():
        assert "wrong_type" in unit.locator("summary").inner_text()
    page.locator("#event-types ~ .wide a", has_text="Lawsuit").click()
    expect(page.get_by_label("event type", exact=True)).to_have_value("Lawsuit")
    expect(page.get_by_label("error", exact=True)).to_have_value("")
    expect(page.locator("#filters > summary")).to_contain_text("Filters: event type Lawsuit (")
    page.locator("#filters > summary").click()
    page.get_by_role("button", name="Clear").click()
    expect(said).to_have_text(f"{total} of {total} shown")


def test_filters_add_up_and_text_is_found_in_closed_samples(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    page.locator("#filters > summary").click()
    said = page.locator("#filters [role=status]")
    page.get_by_label("parsed as", exact=True).select_option("repaired")
    page.get_by_label("error", exact=True).select_option("boundary")
    both = int(said.inner_text().split()[0])
    page.get_by_label("error", exact=True).select_option("")
    assert 0 < both < int(said.inner_text().split()[0])
    page.get_by_role("button", name="Clear").click()
    search = page.get_by_label("Search in samples")
    search.fill("zh-021")
    expect(page.locator("details.unit:visible .id")).to_have_text(["zh-021"])
    search.fill("岫玉纺织")  # it stands in the source text
    assert 0 < page.locator("details.unit:visible").count() < 5
    search.fill("zzzqqq")
    expect(page.locator("details.unit:visible")).to_have_count(0)
    # A link to a sample that is filtered out shows it all the same.
    page.locator("td.why a").first.click()
    expect(page.locator("details.unit[open]")).to_be_visible()


def test_tables_are_sorted_and_what_is_undefined_comes_last(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    head = page.locator("#event-types ~ .wide thead tr").last
    recall = head.locator("th", has_text=re.compile("^R")).first
    recall.get_by_role("button").click()
    up = rows(page, "event-types", 2)
    assert up[-1] == "n/a"
    assert up[:-1] == sorted(up[:-1])
    assert recall.get_attribute("aria-sort") == "ascending"
    recall.get_by_role("button").click()
    assert rows(page, "event-types", 2) == [*reversed(up[:-1]), "n/a"]
    page.locator("#errors-by-name ~ .wide thead button", has_text="FP").click()
    assert rows(page, "errors-by-name", 0)[-1] == "total"


def test_tables_are_searched(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    page.get_by_label("Search in Event types").fill("law")
    assert [name.strip() for name in rows(page, "event-types", 0)] == ["Lawsuit"]
    expect(page.locator("#event-types ~ .search [role=status]")).to_have_text("1 of 16 rows")


def test_everything_works_by_keyboard(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"])
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    head = page.locator("#errors-by-name ~ .wide thead button").first
    head.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#errors-by-name ~ .wide thead th").first).to_have_attribute("aria-sort", "ascending")
    page.locator("td.why a").first.focus()
    page.keyboard.press("Enter")
    summary = page.locator("details.unit[open] > summary")
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("details.unit[open]")).to_have_count(0)
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.tagName")
    assert focused == "SUMMARY"  # a closed sample holds nothing that could be reached


def test_a_link_to_a_sample_opens_it(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"], "#sample-zh-003")
    expect(page.locator("details.unit[open] .id")).to_have_text("zh-003")
    expect(page.locator("#sample-zh-003")).to_be_in_viewport()


def test_dark_and_light_differ(watched: Watched, reports: Reports) -> None:
    grounds = {
        scheme: watched.open(reports["model-b"], color_scheme=scheme).evaluate(
            "getComputedStyle(document.documentElement).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 22, 26)"}


def test_in_print_there_are_no_controls_and_details_are_open(watched: Watched, reports: Reports) -> None:
    page = watched.open(reports["model-b"], color_scheme="dark")
    page.emulate_media(media="print")
    for selector in ("nav", "#filters", ".search"):
        expect(page.locator(selector).first).to_be_hidden()
    grounds = "each => getComputedStyle(document.querySelector(each)).backgroundColor"
    assert page.evaluate(grounds, "html") == "rgb(255, 255, 255)"
    assert page.evaluate(grounds, ".verdict.fail") == "rgb(251, 230, 228)"  # as on light paper
    expect(page.locator("#roles ~ details tbody tr").first).to_be_visible()
    assert len(page.pdf()) > 50_000
