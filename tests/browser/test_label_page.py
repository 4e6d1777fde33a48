"""The page for labels in a browser: by keyboard alone, without a script, on a phone, and with hostile items."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.judged.labelling import SOURCE, WORDS, Labeller, made_up_items, read_lines, write_lines

from .test_hostile_samples import TEXTS
from .test_pictures import IMAGES, LARGEST, take
from .test_viewer import WatchedSite, watching  # noqa: F401  # a fixture

COUNT = 30
TOO_SOON = 200  # milliseconds in which the page takes no label


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "items.jsonl", made_up_items(COUNT))


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    labels = [
        {"id": f"claim-{n}", "label": "unsupported", "by": "j", "kind": "judge", "reason": "TELLTALE"}
        for n in range(COUNT)
    ]
    return write_lines(tmp_path / "judge.jsonl", labels)


@pytest.fixture
def labeller(items: Path, judge: Path, tmp_path: Path) -> Iterator[Labeller]:
    """Words to choose from, and a judge."""
    arguments = ("--labels", WORDS, "--by", "ann", "--judge", judge)
    running = Labeller(items, tmp_path / "labels.jsonl", *arguments, cache=tmp_path)
    yield running
    running.close()


def enter(labeller: Labeller, site: WatchedSite, path: str = "", **options: Any) -> Page:
    """A page, entered by the address that was printed."""
    start = f"http://{labeller.host}"
    page = site.visit(f"{start}/?token={labeller.token}", start, **options)
    if path:
        page.goto(start + path)
    return page


def press(page: Page, key: str) -> None:
    """Press a key as somebody does who has looked at the page."""
    page.wait_for_timeout(TOO_SOON + 50)
    page.keyboard.press(key)


def at_item(page: Page, number: int, total: int = COUNT) -> None:
    expect(page.locator("h1")).to_have_text(f"Item {number} of {total}")
    expect(page.locator("h1")).to_be_focused()


def test_thirty_items_are_labelled_by_keyboard_alone(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching)
    for number in range(1, COUNT + 1):
        at_item(page, number)
        expect(page.locator(".bar span")).to_have_text(f"{number - 1} of {COUNT} labelled")
        press(page, "12u"[number % 3])
    expect(page.locator("h1")).to_have_text("All items have a label")
    lines = read_lines(labeller.out)
    assert [line["id"] for line in lines] == [f"claim-{number}" for number in range(COUNT)]
    assert [line["label"] for line in lines[:3]] == ["unsupported", "unsure", "supported"]
    assert page.locator("progress").evaluate("bar => bar.value / bar.max") == 1


def test_back_change_and_note(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching)
    press(page, "1")
    at_item(page, 2)
    press(page, "ArrowLeft")
    at_item(page, 1)
    expect(page.get_by_role("button", name="supported", exact=True)).to_have_attribute("aria-pressed", "true")
    press(page, "n")
    note = page.get_by_label("Note", exact=True)
    expect(note).to_be_focused()
    page.keyboard.type("2 of them: b, u")  # letters like any other there
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_be_focused()
    press(page, "2")
    at_item(page, 2)
    (line,) = read_lines(labeller.out)
    assert (line["label"], line["note"]) == ("unsupported", "2 of them: b, u")
    press(page, "s")
    at_item(page, 3)
    press(page, "b")
    at_item(page, 2)
    press(page, "u")
    at_item(page, 3)
    assert [each["label"] for each in read_lines(labeller.out)] == ["unsupported", "unsure"]


def test_the_judge_is_hidden_until_the_person_has_labelled(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching)
    at_item(page, 1)
    assert "TELLTALE" not in page.content()
    press(page, "1")
    at_item(page, 2)
    expect(page.locator("#saved")).to_have_text("Saved item 1: supported. Judge: unsupported (TELLTALE).")
    press(page, "b")
    expect(page.locator(".judge")).to_have_text("Judge: unsupported (TELLTALE)")
    press(page, "ArrowRight")
    at_item(page, 2)
    assert "TELLTALE" not in page.content()


def test_a_key_that_is_pressed_twice_or_held_labels_one_item(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching)
    page.clock.install()
    page.clock.pause_at(datetime.now() + timedelta(hours=1))
    page.reload()
    for number in (1, 2):
        at_item(page, number)
        page.keyboard.press("1")  # at once, before anybody can have read the item
        page.keyboard.down("2")
        page.clock.fast_forward(TOO_SOON + 50)
        page.keyboard.down("2")  # a repetition
        page.keyboard.up("2")
        at_item(page, number)
        assert len(read_lines(labeller.out)) == number - 1
        page.keyboard.press("1")
    at_item(page, 3)


def test_help_and_quotes_by_key(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching)
    press(page, "?")
    expect(page.get_by_text("to the next quote in its text")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_text("to the next quote in its text")).to_be_hidden()
    press(page, "q")
    expect(page.locator("mark.here-now")).to_have_text("closed in March 2021")
    for key in ("Control+1", "Alt+2", "x", "5"):
        press(page, key)
    at_item(page, 1)


def test_every_label_is_one_tab_after_the_other(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    """Without the keys of the page: Tab and Enter, from the link that skips the item."""
    page = enter(labeller, watching)
    at_item(page, 1)
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="Skip to the labels")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="supported", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    at_item(page, 2)
    assert read_lines(labeller.out)[0]["label"] == "unsupported"


def test_without_a_script_the_form_labels(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching, java_script_enabled=False)
    page.locator("summary", has_text="Note").click()
    page.get_by_label("Note", exact=True).fill("by hand")
    page.get_by_role("button", name="unsure").click()
    expect(page.locator("h1")).to_have_text(f"Item 2 of {COUNT}")
    page.get_by_role("button", name="back").click()
    expect(page.get_by_label("Note", exact=True)).to_have_value("by hand")
    assert read_lines(labeller.out)[0]["label"] == "unsure"


def test_yes_and_no_have_their_letters(items: Path, tmp_path: Path, watching: WatchedSite) -> None:  # noqa: F811
    running = Labeller(items, tmp_path / "labels.jsonl", "--by", "ann", cache=tmp_path)
    try:
        page = enter(running, watching)
        press(page, "n")
        at_item(page, 2)
        press(page, "t")
        expect(page.get_by_label("Note", exact=True)).to_be_focused()
        page.keyboard.press("Escape")
        press(page, "Y")  # with Caps Lock
        at_item(page, 3)
        assert [line["label"] for line in read_lines(running.out)] == [False, True]
    finally:
        running.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_serious_fault_and_the_page_fits(
    scheme: Any, width: int, labeller: Labeller, browser: Browser
) -> None:
    site = WatchedSite(browser)  # not found is a complaint on the console
    page = enter(
        labeller, site, color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 844}
    )  # axe is a script of its own
    press(page, "1")
    at_item(page, 2)
    for path in ("/items/2", "/items/1?saved=1", "/done", "/nowhere"):
        page.goto(f"http://{labeller.host}{path}")
        for details in page.locator("details").all():
            details.evaluate("each => { each.open = true }")
        faults = [
            (path, fault["id"], [node["html"] for node in fault["nodes"][:3]])
            for fault in Axe().run(page).response["violations"]
            if fault["impact"] in ("serious", "critical")
        ]
        assert faults == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_labels_stay_in_reach_of_a_long_text(tmp_path: Path, watching: WatchedSite) -> None:  # noqa: F811
    text = "\n\n".join([SOURCE] * 100 + ["a needle in it"] + [SOURCE] * 100)
    items = write_lines(
        tmp_path / "items.jsonl", [{"id": "a", "claim": SOURCE * 4, "quotes": ["needle"], "text": text}]
    )
    running = Labeller(items, tmp_path / "labels.jsonl", "--labels", WORDS, cache=tmp_path)
    try:
        for width, height in ((390, 844), (1280, 860)):
            page = enter(running, watching, viewport={"width": width, "height": height})
            expect(page.get_by_role("button", name="unsupported")).to_be_in_viewport(ratio=1)
            press(page, "q")
            expect(page.locator("mark.here-now")).to_be_in_viewport(ratio=1)
            expect(page.get_by_role("button", name="unsupported")).to_be_in_viewport(ratio=1)
    finally:
        running.close()


def test_hostile_items_stay_text(tmp_path: Path, watching: WatchedSite) -> None:  # noqa: F811
    records = [
        {"id": text, "claim": text, "quotes": [text[:40], {"text": text[5:20], "source": text}], "text": text * 2,
         text[:100]: text, "sources": {text: text}}
        for text in TEXTS.values()
    ]  # fmt: skip
    items = write_lines(tmp_path / "items.jsonl", records)
    running = Labeller(items, tmp_path / "labels.jsonl", "--question", TEXTS["script"], cache=tmp_path)
    try:
        for width in (390, 1280):
            page = enter(running, watching, viewport={"width": width, "height": 844})
            for number, text in enumerate(TEXTS.values(), 1):
                page.goto(f"http://{running.host}/items/{number}")
                at_item(page, number, len(TEXTS))
                assert page.evaluate("document.documentElement.scrollWidth") <= width, text
                assert page.locator("img, iframe, object, embed, base, svg").count() == 0
                assert page.locator("form").count() == 1
            expect(page.get_by_role("button", name="unsure")).to_be_visible()
        press(page, "1")
        expect(page.locator("#saved")).to_contain_text(f"Saved item {len(TEXTS)}")
    finally:
        running.close()


def test_another_site_can_not_label(labeller: Labeller, browser: Browser, tmp_path: Path) -> None:
    """Forms and scripts of a page elsewhere, in a browser that has the cookie."""
    start = f"http://{labeller.host}"
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{start}/?token={labeller.token}")
    answers: list[int] = []
    context.on("response", lambda response: answers.append(response.status) if response.url.startswith(start) else None)
    options = "{method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams('do=1')}"
    fetch = f"fetch('{start}/items/1', {options})"
    sends = f"<form id=f method=post action='{start}/items/1'><input name=do value=1></form>"
    (tmp_path / "evil.html").write_text(
        f"{sends}<script>{fetch}.finally(() => document.getElementById('f').submit())</script>", encoding="utf-8"
    )
    page.goto((tmp_path / "evil.html").as_uri())
    page.wait_for_url(f"{start}/**")
    context.close()
    assert set(answers) == {403}
    assert read_lines(labeller.out) == []


def test_picture_is_there_and_not_large(labeller: Labeller, watching: WatchedSite) -> None:  # noqa: F811
    page = enter(labeller, watching, "/items/3", viewport={"width": 1280, "height": 430})
    taken = take(page)
    if os.environ.get("GOLDGATE_UPDATE"):
        (IMAGES / "label.png").write_bytes(taken)
    assert 10_000 < len(taken) < LARGEST
    assert (IMAGES / "label.png").read_bytes()[:4] == b"\x89PNG"
