"""The viewer in a browser: what a person does with it, and that hostile samples stay text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.viewer.asking import Viewer

from .conftest import Watched
from .test_hostile_samples import TEXTS, hostile  # noqa: F401  # a fixture
from .test_pictures import IMAGES, LARGEST, take

Reports = dict[str, Path]


class WatchedSite(Watched):
    """Opens pages of a viewer; requests that stay there are its own."""

    def visit(self, address: str, allowed: str, **options: Any) -> Page:
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        page = self._browser.new_context(**options).new_page()
        page.on("request", lambda made: self._keep("request", made.url) if not made.url.startswith(allowed) else None)
        page.on("console", lambda message: self._keep(message.type, message.text))
        page.on("pageerror", lambda error: self._keep("fault", str(error)))
        page.on("dialog", self._dismiss)
        page.on("popup", lambda popup: self._keep("popup", popup.url))
        page.goto(address)
        return page


@pytest.fixture
def watching(browser: Browser) -> Iterator[WatchedSite]:
    site = WatchedSite(browser)
    yield site
    for context in browser.contexts:
        context.close()
    assert site.seen == []


def started(*folders: Path, cache: Path) -> Viewer:
    return Viewer(*folders, cache=cache)


@pytest.fixture(scope="module")
def two(reports: Reports, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    viewer = started(reports["model-a"].parent, reports["model-b"].parent, cache=tmp_path_factory.mktemp("cache"))
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def one(reports: Reports, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    viewer = started(reports["model-b"].parent, cache=tmp_path_factory.mktemp("cache"))
    yield viewer
    viewer.close()


def enter(viewer: Viewer, watching: WatchedSite, path: str = "/", **options: Any) -> Page:
    """The page at a path, entered by the address that was printed."""
    start = f"http://{viewer.host}"
    page = watching.visit(f"{start}/?token={viewer.token}", start, **options)
    assert page.url == f"{start}/"  # the token is not in it any more
    if path != "/":
        page.goto(start + path)
    return page


def test_from_a_failed_gate_to_the_sentence_and_on_by_keyboard(one: Viewer, watching: WatchedSite) -> None:
    page = enter(one, watching)
    page.locator("table.gates tr", has_text="strict_f1").locator("td.why a").first.click()
    expect(page.locator("h1")).to_have_text("zh-021")
    expect(page.locator(".text").first.locator(".tag em").first).to_be_visible()
    expect(page.locator(".pages .said")).to_have_text("1 of 59")
    page.keyboard.press("j")
    expect(page.locator("h1")).to_have_text("zh-022")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pages .said")).to_have_text("3 of 59")
    page.keyboard.press("k")
    expect(page.locator(".pages .said")).to_have_text("2 of 59")
    page.keyboard.press("u")
    expect(page.locator(".pages .said")).to_have_text("59 of 80 samples, 1 to 50")
    page.keyboard.press("j")
    expect(page.locator(".pages .said")).to_have_text("59 of 80 samples, 51 to 59")


def test_filters_find_samples(one: Viewer, watching: WatchedSite) -> None:
    page = enter(one, watching, "/0/samples")
    page.get_by_label("error", exact=True).select_option("boundary")
    page.get_by_label("search").fill("zh-02")
    page.get_by_label("search").press("j")  # a letter like any other there
    page.get_by_label("search").press("Backspace")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".pages .said")).to_contain_text("of 80 samples")
    shown = page.locator("table.units-list tbody tr")
    assert 0 < shown.count() < 41
    for text in shown.all_inner_texts():
        assert "boundary" in text
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".pages .said")).to_have_text("80 samples, 1 to 50")


def test_lists_show_scores_and_texts_and_filters_fold_on_a_phone(one: Viewer, watching: WatchedSite) -> None:
    page = enter(one, watching)
    expect(page.locator("header")).to_contain_text("predictions model-b.jsonl · gold gold.jsonl · scored 2")
    page.get_by_role("link", name="4 of 80 answers could not be read").click()
    expect(page.locator(".pages .said")).to_have_text("4 of 80 samples")
    expect(page.get_by_label("parsed as", exact=True)).to_have_value("error")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_label("parsed as", exact=True)).to_be_hidden()
    expect(page.locator(".filters > summary")).to_have_text("Filters: parsed as error")
    row = page.locator("table.units-list tbody tr").first
    expect(row).to_be_in_viewport(ratio=1)
    expect(row.locator("td.num")).to_have_text("0.0000")
    expect(row.locator("td.snippet")).not_to_be_empty()


def test_two_systems_side_by_side(two: Viewer, watching: WatchedSite) -> None:
    page = enter(two, watching)
    page.get_by_role("link", name="56 lost").click()
    page.locator("table.units-list a").first.click()
    expect(page.locator("article.side")).to_have_count(2)
    left, right = (page.locator("article.side").nth(at).bounding_box() for at in (0, 1))
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    expect(page.get_by_role("heading", name="Source text")).to_have_count(1)
    cut = "boxes => boxes.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator(".wide, .text").evaluate_all(cut) == 0
    differing = page.locator("tr.marked")
    page.keyboard.press("n")
    expect(differing.first).to_be_focused()
    expect(differing.first).to_contain_text("✗ ")
    page.keyboard.press("p")
    expect(differing.last).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".pages .said")).to_have_text("2 of 56 lost")


PATHS = ["/", "/1/", "/1/samples?in.error=boundary", "/1/samples/3", "/compare/0/lost", "/compare/0/lost/3", "/x"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(path: str, scheme: Any, two: Viewer, browser: Browser) -> None:
    site = WatchedSite(browser)  # not found is a complaint on the console
    page = enter(two, site, path, color_scheme=scheme, bypass_csp=True)
    faults = [
        (fault["id"], [node["html"] for node in fault["nodes"][:3]])
        for fault in Axe().run(page).response["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    page.context.close()
    assert faults == []


@pytest.mark.parametrize("path", PATHS[:-1])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_every_page_fits_its_window(path: str, width: int, two: Viewer, watching: WatchedSite) -> None:
    page = enter(two, watching, path, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_a_script_filters_and_pages_work(one: Viewer, watching: WatchedSite) -> None:
    page = enter(one, watching, "/0/samples", java_script_enabled=False)
    page.get_by_label("parsed as", exact=True).select_option("raw")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".pages .said")).to_contain_text("of 80 samples")
    page.locator("table.units-list a").first.click()
    expect(page.get_by_role("heading", name="Source text")).to_be_visible()


def test_hostile_samples_stay_text(hostile: Path, watching: WatchedSite, tmp_path: Path) -> None:  # noqa: F811
    viewer = started(hostile.parent, cache=tmp_path)
    try:
        page = enter(viewer, watching)
        page.goto(f"http://{viewer.host}/0/samples")
        count = page.locator("table.units-list tbody tr").count()
        assert count == len(TEXTS) + 2
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        for select in page.locator(".filters select").all():
            values = [option.get_attribute("value") for option in select.locator("option").all()]
            select.select_option(values[-1])
            page.get_by_role("button", name="Show").click()
            expect(page.locator("table.units-list tbody tr").first).to_be_visible()  # every value can be chosen
            page.goto(f"http://{viewer.host}/0/samples")
        for number in range(count):
            page.goto(f"http://{viewer.host}/0/samples/{number}")
            expect(page.locator("h1")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    finally:
        viewer.close()


def test_another_site_gets_nothing(two: Viewer, browser: Browser, tmp_path: Path) -> None:
    """A page elsewhere that loads, frames and asks the viewer: a browser that has the cookie shows it nothing."""
    start = f"http://{two.host}"
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{start}/?token={two.token}")
    answers: list[int] = []
    context.on("response", lambda response: answers.append(response.status) if response.url.startswith(start) else None)
    asks = f"fetch('{start}/1/samples', {{credentials: 'include'}}).catch(() => document.title = 'nothing')"
    loads = f"<iframe src='{start}/'></iframe><img src='{start}/0/'><script src='{start}/1/'></script>"
    (tmp_path / "evil.html").write_text(f"{loads}<script>{asks}</script>", encoding="utf-8")
    page.goto((tmp_path / "evil.html").as_uri())
    expect(page).to_have_title("nothing")
    page.wait_for_load_state("load")
    context.close()
    assert set(answers) <= {403}


# By file: the path, and the window.
PICTURES = {
    "view-samples.png": ("/1/samples?in.error=wrong_role", (1280, 760)),
    "view-side-by-side.png": ("/compare/0/lost/3", (1280, 860)),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_there_and_not_large(name: str, two: Viewer, watching: WatchedSite) -> None:
    path, (width, height) = PICTURES[name]
    taken = take(enter(two, watching, path, viewport={"width": width, "height": height}))
    if os.environ.get("GOLDGATE_UPDATE"):
        (IMAGES / name).write_bytes(taken)
    assert 10_000 < len(taken) < LARGEST
    assert (IMAGES / name).read_bytes()[:4] == b"\x89PNG"
