"""Result folders to look at, as --out leaves them, and what pages say."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from goldgate.core.evaluation import render_json
from goldgate.pipeline import evaluate_suite
from goldgate.readers.stored_result import StoredResult, load_result
from goldgate.suites import all_suites, load_suite
from goldgate.viewer.folder import ViewedFolder, open_folder
from goldgate.viewer.index import nth_places
from tests.contract.inputs import given, write_inputs

ROOT = Path(__file__).resolve().parents[2]
EXTRACTION = ROOT / "examples" / "extraction"


def bitset_places(bits: int) -> list[int]:
    """All places of a set, in their order."""
    return nth_places(bits, 0, bits.bit_length())


def store(folder: Path, suite: str, inputs: dict[str, list[str]], protocol: Path | None = None) -> Path:
    """Score, and write what a viewer needs."""
    folder.mkdir(parents=True)
    chosen = load_suite(suite)
    with open(folder / chosen.records, "wb") as records:
        found = evaluate_suite(chosen, inputs, protocol, records=records)
    (folder / "report.json").write_bytes(render_json(found.report))
    paths = inputs if protocol is None else {**inputs, "protocol": [str(protocol)]}
    (folder / "run.json").write_text(json.dumps({"folder": str(folder), "inputs": paths}), encoding="utf-8")
    return folder


def store_model(folder: Path, name: str) -> Path:
    """An example model, judged by gates that it fails."""
    paths = {"gold": "gold.jsonl", "predictions": f"model-{name}.jsonl", "schema": "schema.json"}
    inputs = {kind: [str(EXTRACTION / file)] for kind, file in paths.items()}
    return store(folder, "extraction", inputs, EXTRACTION / "protocol-fail.yaml")


def store_agent(folder: Path, name: str) -> Path:
    outputs = ROOT / "examples" / "research" / name
    return store(folder, "research", {"golden": [str(ROOT / "eval/golden_queries.json")], "outputs": [str(outputs)]})


def store_made_up(folder: Path, suite: str, word: str = "") -> Path:
    """240 samples of a suite, or its example runs; the word is in all their names and texts."""
    return store(folder, suite, given(write_inputs(suite, folder.with_name(f"{folder.name}-inputs"), word)))


def loaded(path: Path) -> StoredResult:
    return load_result(path, all_suites())


def opened(path: Path, name: str = "it") -> ViewedFolder:
    """A folder with its inputs."""
    folder = open_folder(str(path), name)
    folder.inputs.wait(60)
    return folder


class Seen(HTMLParser):
    """What a browser would make of a page: elements, links, and the text that is seen."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._words: list[str] = []
        self._inside: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style") and self._inside:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self._words).split())

    @property
    def links(self) -> list[str]:
        return [str(attributes["href"]) for tag, attributes in self.tags if tag == "a"]

    def rel(self, name: str) -> str | None:
        return next((a["href"] for tag, a in self.tags if tag == "a" and a.get("rel") == name), None)

    def ids(self) -> list[str]:
        """The ids of the units of a list, in their order, as far as they are links."""
        return [link for link in self.links if "/samples/" in link]

    def policy(self) -> str:
        found = [a["content"] for tag, a in self.tags if a.get("http-equiv") == "Content-Security-Policy"]
        assert len(found) == 1
        return str(found[0])


def require_harmless(html: str) -> Seen:
    """One script and one style of our own; no handler, no style attribute, no link that leads elsewhere."""
    seen = Seen(html)
    names = [tag for tag, _ in seen.tags]
    assert names.count("script") == names.count("style") == 1
    for tag, attributes in seen.tags:
        assert tag not in ("iframe", "object", "embed", "base", "img", "link")
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("style", "src", "srcdoc")
            if name in ("href", "action"):
                parts = urlsplit(unquote(str(value)).strip()) if str(value).startswith("/") else urlsplit(str(value))
                assert not parts.scheme
                assert not parts.netloc
    return seen
