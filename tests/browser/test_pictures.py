"""The pictures of pages in the docs: GOLDGATE_UPDATE=1 makes them anew. What they show is tested elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from .conftest import ROOT, Watched

IMAGES = ROOT / "docs" / "images"
LARGEST = 250_000  # bytes

# By file: the page, the place in it, the window, and the colours.
PICTURES: dict[str, tuple[str, str, tuple[int, int], str]] = {
    "report-page.png": ("model-b", "", (1280, 860), "light"),
    "report-sample.png": ("model-b", "#sample-en-031", (1280, 860), "light"),
    "report-dark.png": ("research", "", (1280, 700), "dark"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_there_and_not_large(name: str, watched: Watched, reports: dict[str, Path]) -> None:
    report, place, (width, height), scheme = PICTURES[name]
    shown: Any = watched.open(reports[report], place, viewport={"width": width, "height": height}, color_scheme=scheme)
    taken = take(shown)
    if os.environ.get("GOLDGATE_UPDATE"):
        (IMAGES / name).write_bytes(taken)
    assert 10_000 < len(taken) < LARGEST
    assert (IMAGES / name).read_bytes()[:4] == b"\x89PNG"


def take(shown: Page) -> bytes:
    shown.evaluate("document.activeElement.blur()")
    return bytes(shown.screenshot())
