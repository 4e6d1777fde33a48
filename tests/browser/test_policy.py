"""The policy in the page is not only written: what is smuggled into a copy of it neither runs nor loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

ELSEWHERE = "http://127.0.0.1:9"
BLOCKED = ("csp", "net::ERR_BLOCKED_BY_CSP")
CHANGED = "document.title = 'changed'"

SMUGGLED = {
    "script": f"<script>{CHANGED}</script>",
    "script elsewhere": f"<script src='{ELSEWHERE}/x.js'></script>",
    "handler": f'<img src="{ELSEWHERE}/x.png" onerror="{CHANGED}"><svg onload="{CHANGED}"></svg>',
    "link": f'<a class="smuggled" href="javascript:{CHANGED}">x</a>',
    "style": "<style>main { display: none }</style><div style='display: none'>x</div>",
    "style elsewhere": f"<link rel='stylesheet' href='{ELSEWHERE}/x.css'>",
    "frame": f"<iframe srcdoc=\"<script>parent.{CHANGED}</script>\"></iframe><iframe src='{ELSEWHERE}'></iframe>",
    "object": f"<object data='{ELSEWHERE}/x'></object><embed src='{ELSEWHERE}/y'><video src='{ELSEWHERE}/z'></video>",
    "base": f"<base href='{ELSEWHERE}/'>",
    "form": f"<form action='{ELSEWHERE}/'><button class='smuggled'>x</button></form>",
    "early": f"<link rel='prefetch' href='{ELSEWHERE}/x'><link rel='preload' as='image' href='{ELSEWHERE}/y'>",
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_what_is_smuggled_in_does_nothing(
    name: str, browser: Browser, reports: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    source = reports["research"].read_text(encoding="utf-8")
    file.write_text(source.replace("<main", f"{SMUGGLED[name]}<main", 1), encoding="utf-8")
    page = browser.new_page()
    loaded: list[Any] = []
    page.on("response", lambda response: loaded.append(response.url) if ELSEWHERE in response.url else None)
    page.on("requestfailed", lambda failed: loaded.append(failed.failure) if failed.failure not in BLOCKED else None)
    page.goto(file.as_uri())
    for each in page.locator(".smuggled").all():
        each.evaluate("each => each.click()")
    page.evaluate("new Promise(done => setTimeout(done, 100))")  # what was begun has ended
    assert (page.url, loaded) == (file.as_uri(), [])
    assert page.evaluate("document.title").startswith("FAIL: goldgate research")
    assert page.locator("main").is_visible()
    assert page.evaluate("document.baseURI") == file.as_uri()
    page.context.close()
