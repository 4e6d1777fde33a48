"""Samples that would like to be more than text: they open without a dialog, a request, a complaint or a broken page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from goldgate.core.unit_page import Mark, MarkedText, UnitPage, UnitSection, UnitSummary
from goldgate.report.html import render_html
from goldgate.report.html.units import UnitSelection, lay_out_units
from tests.unit.report.pages import blocks, page

from .conftest import EXTRACTION, Watched, extraction

TEXTS = {
    "script": "<script>alert(1)</script></script><script src=//evil.example/x.js></script>",
    "handler": "<img src=x onerror=alert(1)><svg onload=alert(1)><details open ontoggle=alert(1)>",
    "attribute": "\" onmouseover=alert(1) autofocus onfocus=alert(1) x=\"' onclick='alert(1)",
    "link": "javascript:alert(1) <a href='javascript:alert(1)'>x</a> https://evil.example/?steal",
    "svg": "<svg><use href='data:image/svg+xml,<svg onload=alert(1)>'/><image href='//evil.example/i.png'/></svg>",
    "style": "</style><style>*{display:none} @import '//evil.example/a.css'</style><div style=position:fixed;inset:0>",
    "frame": "<iframe src='//evil.example'></iframe><base href='//evil.example'><meta http-equiv=refresh content=0>",
    "comment": "<!--<script>--><![CDATA[ ]]> <plaintext><textarea><title><noscript><template>",
    "template": "{{7*7}} ${alert(1)} <%= 1 %> #{1} {% raw %} [[x]] `${x}`",
    "direction": "abc\u202egnp.exe\u2066\u2067\u2069\u200f اختبار \u061c",
    "unseen": "a\x00b\x1b[2Jc\x07d\u200be\ufefff\u2028g\u00adh\U000e0041i\ud800".encode("utf-8", "replace").decode(),
    "marks": "Z̸̡̢̛̙̯͍̺͎̬̳͔̞̗̲̻̘̗̓̈́̂̈́͊" * 30,
    "wide": "W" * 5_000 + " 质押" * 10,
    "prototype": "__proto__ constructor toString",
    "commands": "x\n::set-output name=x::y\n##vso[task.complete]\nx",
}


WITHOUT_TAGS = """text => {
    const copy = text.cloneNode(true);
    copy.querySelectorAll(".tag").forEach(tag => tag.remove());
    return copy.textContent;
}"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an evaluation in which every id, type, role, value, text and answer is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    types = {text: {"roles": [text]} for text in TEXTS.values()}
    (folder / "schema.json").write_text(json.dumps({"event_types": types}))
    with open(folder / "gold.jsonl", "w") as gold, open(folder / "answers.jsonl", "w") as answers:
        for record, answer in samples():
            gold.write(json.dumps(record) + "\n")
            answers.write(json.dumps(answer) + "\n")
    protocol = EXTRACTION / "protocol-fail.yaml"
    return extraction(folder / "out", folder / "gold.jsonl", folder / "answers.jsonl", folder / "schema.json", protocol)


def samples() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for name, text in TEXTS.items():
        gold, answered = (
            [{"event_type": text, "trigger": text, "arguments": [{"role": text, "argument": text[:length]}]}]
            for length in (40, 12)
        )
        response = f"{text}\n```json\n{json.dumps(answered, ensure_ascii=False)[:-2]} {text}"
        identity = f"{name} {text}"
        yield (
            {"id": identity, "text": f"{text} and {text}", "events": gold},
            {"id": identity, "response": response},
        )
    line = "x" * 1_000_000
    plain = [{"event_type": TEXTS["script"], "arguments": [{"role": TEXTS["script"], "argument": "xxx"}]}]
    yield {"id": "a long line", "text": f"{line} end", "events": plain}, {"id": "a long line", "response": line}
    words, kind = [f"w{number}" for number in range(10_000)], TEXTS["prototype"]
    many = [{"event_type": kind, "arguments": [{"role": kind, "argument": word} for word in words]}]
    yield {"id": "many marks", "text": " ".join(words), "events": many}, {"id": "many marks", "response": "[]"}


@pytest.mark.parametrize("width", [360, 1280])
def test_hostile_samples_open_as_text(width: int, hostile: Path, watched: Watched) -> None:
    shown = watched.open(hostile, viewport={"width": width, "height": 900})
    assert hostile.stat().st_size < 1_500_000
    poke(shown)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    ids = shown.locator("details.unit .id").all_inner_texts()
    assert {each.split(" ")[0] for each in ids} == {*TEXTS, "a", "many"}
    assert len({*ids}) == len(ids)
    for name in ("script", "handler", "link"):
        found = shown.locator("details.unit", has=shown.locator(f".id:has-text('{name} ')")).first
        assert TEXTS[name] in found.locator(".text").first.evaluate(WITHOUT_TAGS)


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_word_in_every_place_of_a_page_is_text(name: str, tmp_path: Path, watched: Watched) -> None:
    text = TEXTS[name]
    marked = MarkedText(text, (Mark(0, 3, text, text, text), Mark(1, 9, "gold", text)), text)
    units = (
        (UnitSummary(text, text, 1, {text: (text,), "__proto__": (text,)}),
         UnitPage(text, (UnitSection(text, (marked, *blocks(text))),))),
        (UnitSummary("other", "", 0, {text: ("constructor",)}), UnitPage("other", ())),
    )  # fmt: skip
    file = tmp_path / "page.html"
    candidates = [(summary, partial(UnitPage, *unit)) for summary, unit in units]
    looked = lay_out_units(candidates, UnitSelection((), 2, 1, text, {text: (1, (text,))}, text))
    file.write_text(render_html(page(text, *blocks(text)), looked), encoding="utf-8")
    shown = watched.open(file, viewport={"width": 360, "height": 900})
    poke(shown)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    assert shown.locator("img, iframe, object, embed, script:not(:last-child), base, form").count() == 0


def test_ten_thousand_marks_on_one_another_are_shown(tmp_path: Path, watched: Watched) -> None:
    marks = tuple(
        Mark(n, 20_000 - n, "gold" if n % 2 else "predicted", f"label {n}", "boundary") for n in range(10_000)
    )
    sections = (UnitSection("Source text", (MarkedText("x" * 20_000, marks),)),)
    looked = lay_out_units([(UnitSummary("u", "w", 1), lambda: UnitPage("u", sections))], UnitSelection((), 1, 1))
    file = tmp_path / "page.html"
    file.write_text(render_html(page("x"), looked), encoding="utf-8")
    shown = watched.open(file, "#sample-u")
    expect(shown.locator(".text .tag").first).to_be_visible()
    expect(shown.get_by_text("300 of 10000 marks are shown")).to_be_visible()


def poke(shown: Page) -> None:
    """Open, filter, sort, search, point at and click whatever can be."""
    shown.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    for select in shown.locator("#filters select").all():
        values = select.locator("option").evaluate_all("options => options.map(option => option.value)")
        select.select_option(values[-1])
        select.select_option("")
    shown.evaluate(
        """() => {
            for (const each of document.querySelectorAll("thead button, #filters button, a[href]")) each.click();
            for (const each of document.querySelectorAll("input[type=search]")) {
                each.value = "script alert"; each.dispatchEvent(new Event("input"));
                each.value = ""; each.dispatchEvent(new Event("input"));
            }
            for (const each of document.querySelectorAll("*")) {
                each.dispatchEvent(new MouseEvent("mouseover", { bubbles: false }));
            }
        }"""
    )
    shown.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
