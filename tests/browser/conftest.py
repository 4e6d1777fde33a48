"""A browser in which nothing may go wrong unseen: requests, messages on the console, faults and dialogs are kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from .chromium import find_chromium

ROOT = Path(__file__).resolve().parents[2]
EXTRACTION = ROOT / "examples" / "extraction"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


class Watched:
    """Opens pages. At the end, none of them may have asked for anything, complained, failed or opened a dialog."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.seen: list[str] = []

    def open(self, file: Path, place: str = "", **options: Any) -> Page:
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        context = self._browser.new_context(**options)
        page = context.new_page()
        address = file.as_uri()
        page.on("request", lambda request: self._keep("request", request.url) if request.url != address else None)
        page.on("console", lambda message: self._keep(message.type, message.text))
        page.on("pageerror", lambda error: self._keep("fault", str(error)))
        page.on("dialog", self._dismiss)
        page.on("popup", lambda popup: self._keep("popup", popup.url))
        page.goto(address + place)
        return page

    def _dismiss(self, dialog: Dialog) -> None:
        self._keep("dialog", dialog.message)
        dialog.dismiss()

    def _keep(self, kind: str, what: str) -> None:
        self.seen.append(f"{kind}: {what[:300]}")


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    watching = Watched(browser)
    yield watching
    for context in browser.contexts:
        context.close()
    assert watching.seen == []


def goldgate(*arguments: object, program: str = "goldgate", status: tuple[int, ...] = (0, 1)) -> None:
    done = subprocess.run(
        [sys.executable, "-m", program, *map(str, arguments), "--quiet"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode in status, done.stderr


def extraction(folder: Path, gold: Path, answers: Path, schema: Path, protocol: Path) -> Path:
    """The page of an evaluation."""
    goldgate(
        "extraction", "--gold", gold, "--predictions", answers, "--schema", schema, "--protocol", protocol,
        "--out", folder,
    )  # fmt: skip
    return folder / "report.html"


def _toy(folder: Path) -> None:
    """A suite that says no more than it must."""
    gold = [{"id": f"q{n}", "question": f"What is {n}?", "answer": str(n), "sources": ["a"]} for n in range(4)]
    said = [{"id": f"q{n}", "answer": "0", "citations": ["a"]} for n in range(4)]
    for name, records in (("gold", gold), ("predictions", said)):
        (folder / f"toy-{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "toy.yaml").write_text("gates:\n  exact_match: {min: 0.9}\n")
    goldgate(
        "qa", "--gold", folder / "toy-gold.jsonl", "--predictions", folder / "toy-predictions.jsonl",
        "--protocol", folder / "toy.yaml", "--out", folder / "toy", program="tests.toy",
    )  # fmt: skip


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of the examples, by name."""
    folder = tmp_path_factory.mktemp("reports")
    gold, schema = EXTRACTION / "gold.jsonl", EXTRACTION / "schema.json"
    goldgate(
        "research", "--golden", ROOT / "eval" / "golden_queries.json",
        "--outputs", ROOT / "examples" / "research" / "failing", "--out", folder / "research",
    )  # fmt: skip
    _toy(folder)
    protocol = EXTRACTION / "protocol-fail.yaml"
    found = {
        model: extraction(folder / model, gold, EXTRACTION / f"{model}.jsonl", schema, protocol)
        for model in ("model-a", "model-b")
    }
    compared = subprocess.run(
        [sys.executable, "-m", "goldgate", "compare", folder / "model-a", folder / "model-b", "--format", "html"],
        capture_output=True,
        check=True,
    )
    (folder / "compare.html").write_bytes(compared.stdout)
    goldgate("extraction", "--gold", folder / "none", "--predictions", gold, "--out", folder / "error", status=(2,))
    names = ("research", "toy", "error")
    return {
        **found,
        **{name: folder / name / "report.html" for name in names},
        "compare": folder / "compare.html",
    }
