"""Items to label, a site without a server, and a `goldgate label` that runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from goldgate.suites.judged.label_server import LabelSite, open_label_site
from goldgate.viewer.server import HttpRequest, SiteResponse
from tests.viewer.asking import Reply, Viewer
from tests.viewer.stored import Seen, require_harmless

SOURCE = (
    "The Rotterdam plant closed in March 2021\nafter a fire. Its 140 workers were moved to Antwerp,\n"
    "where a second line opened in May. The company did not say what it cost."
)
WORDS = "supported,unsupported"


def made_up_items(count: int) -> list[dict[str, Any]]:
    """Claims about one text, each with a quote from it."""
    claims = [
        ("The Rotterdam plant closed in 2021.", "closed in March 2021"),
        ("The move cost three million euros.", "did not say what it cost"),
        ("All workers lost their jobs.", "Its 140 workers were moved to Antwerp"),
    ]
    return [
        {
            "id": f"claim-{number}",
            "group": f"run-{number // 3}",
            "claim": claims[number % 3][0],
            "quotes": [{"text": claims[number % 3][1], "source": "press.txt"}],
            "text": SOURCE,
        }
        for number in range(count)
    ]


def shown_sha256(item: Mapping[str, Any]) -> str:
    """The digest of what an item shows, as docs/judging.md defines it."""
    shown = {name: value for name, value in item.items() if name not in ("id", "group", "question")}
    text = json.dumps(shown, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_lines(path: Path, records: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def open_site(items: Path, out: Path, **options: str | None) -> LabelSite:
    return open_label_site(str(items), str(out), {"by": "ann", "labels": WORDS, **options})


def form(**fields: str) -> bytes:
    return urlencode(fields).encode()


def post(site: LabelSite, number: int, **fields: str) -> SiteResponse:
    return site.respond(HttpRequest("POST", f"/items/{number}", "", (), form(**fields)))


def see(site: LabelSite, address: str) -> Seen:
    """The page at an address, which must be harmless."""
    path, _, query = address.partition("?")
    response = site.respond(HttpRequest("GET", path, query))
    assert response.status == 200, response
    return require_harmless(response.html)


class Labeller(Viewer):
    """`goldgate label --no-browser`."""

    def __init__(self, items: Path, out: Path, *arguments: object, cache: Path) -> None:
        self.out = out
        super().__init__(items, "--out", out, *arguments, cache=cache, command="label")

    def post(self, number: int, body: bytes | None = None, **headers: str) -> Reply:
        """A label as the page's own form sends it, unless other headers are given."""
        data = form(do="1", note="") if body is None else body
        given = {"Origin": f"http://{self.host}", "Sec_Fetch_Site": "same-origin", "Content_Length": str(len(data))}
        return self.ask(f"/items/{number}", "POST", data, **{**given, **headers})
