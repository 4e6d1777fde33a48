"""The pages of folders: of every suite, for every choice, whatever the data says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from goldgate.errors import InputError
from goldgate.viewer import index, pages
from goldgate.viewer.folder import ViewedFolder, open_folder
from goldgate.viewer.index import PAGE_SIZE, UnitQuery, value_key
from goldgate.viewer.site import Site, parse_query
from tests.cases import error_from
from tests.contract.inputs import HOSTILE, NAMES

from .stored import EXTRACTION, Seen, opened, require_harmless, store_made_up, store_model


@pytest.fixture(scope="module")
def site(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        folder = opened(stored / "b", "b")
    yield Site([folder], None)
    folder.close()


def page(site: Site, path: str, query: str = "") -> Seen:
    answer = site.answer(path, query)
    assert answer.status == 200, answer.html
    return require_harmless(answer.html)


def go(site: Site, link: str) -> Seen:
    path, _, query = link.partition("?")
    return page(site, path, query)


@pytest.mark.parametrize("name", NAMES)
# Plain words are slow: with hostile ones the pages and links are the same.
@pytest.mark.parametrize("word", [pytest.param("", marks=pytest.mark.slow), HOSTILE], ids=["plain", "hostile"])
def test_every_page_of_every_suite(name: str, word: str, tmp_path: Path) -> None:
    folder = opened(store_made_up(tmp_path / "it", name, word))
    site = Site([folder], None)
    report = page(site, "/")
    for link in [link for link in report.links if link.startswith("/")][:30]:
        go(site, link)
    count = len(folder.index)
    shown = 0
    for number in range(1, -(-count // PAGE_SIZE) + 1):
        shown += len(page(site, "/0/samples", f"page={number}").ids())
    assert shown == count
    for number in (0, 1, count // 2, count - 1):
        page(site, f"/0/samples/{number}", "")
    folder.close()


def test_one_click_from_a_failed_gate_to_the_sentence(site: Site) -> None:
    report = page(site, "/")
    units = [link for link in report.links if re.fullmatch(r"/0/samples/\d+\?in\.gate=strict_f1", link)]
    assert len(units) == 3
    sample = go(site, units[0])
    assert "Source text" in sample.text
    assert "missing" in sample.text
    assert "岫玉纺织" in sample.text  # of the text itself


def test_names_on_the_report_lead_to_their_samples(site: Site) -> None:
    report = page(site, "/")
    assert "/0/samples?in.error=boundary" in report.links
    seen = go(site, "/0/samples?in.error=boundary")
    assert "41 of 80 samples" in seen.text
    assert len(seen.ids()) == 41


def test_filters_are_kept_from_page_to_page(site: Site) -> None:
    seen = page(site, "/0/samples", "in.error=boundary&order=file")
    first = go(site, seen.ids()[0])
    assert "1 of 41" in first.text
    assert "in.error=boundary&order=file" in str(first.rel("next"))
    assert first.rel("prev") is None
    visited = [seen.ids()[0]]
    while (link := first.rel("next")) is not None:
        visited.append(link)
        first = go(site, link)
    assert visited == seen.ids()
    assert go(site, str(first.rel("prev"))).rel("next") == visited[-1]


def test_the_form_says_what_is_chosen_and_how_many_others_there_are(site: Site) -> None:
    seen = page(site, "/0/samples", "in.error=boundary&in.parsed%20as=raw&text=zh&order=file")
    chosen = {a["value"] for tag, a in seen.tags if tag == "option" and "selected" in a}
    assert chosen == {"boundary", "raw", "file"}
    assert ("search", "zh") in {(a.get("type"), a.get("value")) for tag, a in seen.tags if tag == "input"}
    labels = {a["name"] for tag, a in seen.tags if tag == "select"}
    assert {"in.error", "in.parsed as", "in.event type", "in.role", "in.gate", "order"} <= labels


def test_order_of_the_file_and_of_weight(site: Site, model_b: ViewedFolder) -> None:
    by_weight = [*page(site, "/0/samples").ids(), *page(site, "/0/samples", "page=2").ids()]
    in_file = [*page(site, "/0/samples", "order=file").ids(), *page(site, "/0/samples", "order=file&page=2").ids()]
    assert [link.split("?")[0] for link in in_file] == [f"/0/samples/{n}" for n in range(80)]
    assert [int(link.rsplit("/", 1)[1]) for link in by_weight] == [*model_b.index.by_weight]


def test_a_search_says_how_many_it_found(site: Site) -> None:
    assert "40 of 80 samples" in page(site, "/0/samples", "text=zh-").text


VALUES = ["plain", "", " ends ", "~3", "a\x00b", "\u202eabc", "x" * 1_000, "a&b=c#d", "</option>", "中文"]


def test_every_value_can_be_chosen(tmp_path: Path) -> None:
    """Values that an address or a form would change stand there by their number."""
    folder = opened(store_made_up(tmp_path / "it", "extraction", HOSTILE))
    for facet, values in folder.index.facets.items():
        for number, value in enumerate(values):
            choice = parse_query(UnitQuery({facet: value_key(value, number)}).query()[1:])
            assert pages.select_units(folder, choice).bit_count() == values[value].units > 0
    folder.close()
    for number, value in enumerate(VALUES):
        key = value_key(value, number)
        assert key == value if value in ("plain", "a&b=c#d", "</option>", "中文") else key == f"~{number}"


QUERIES = [
    "",
    "?",
    "&&&",
    "=",
    "page=0",
    "page=-1",
    "page=99999999999999999999",
    "page=x",
    "page=²",
    "order=%00",
    "in.=x",
    "in.error=",
    "in.error=~",
    "in.error=~-1",
    "in.error=~99999",
    "in.error=~²",
    "in.no%20such=1",
    "in.error=%FF%FE",
    "text=" + "%20" * 50,
    "text=" + "a%20" * 500,
    "text=%22%5C%00",
    "x=" + "y" * 9_000,
    "a=1&" * 150,
    "in.error=../../etc/passwd",
    "text=<script>alert(1)</script>",
    "in.error=<script>alert(1)</script>",
    "%",
    "%zz",
    "\x7f",
    ";",
]


def test_any_query_gives_a_page(site: Site) -> None:
    others = product(["/0/samples/3", "/"], QUERIES[::3])  # they read of a query only where its list goes on
    for path, query in [*product(["/0/samples"], QUERIES), *others]:
        answer = site.answer(path, query)
        assert answer.status == 200, (path, query)
        require_harmless(answer.html)


PATHS = [
    "",
    "//",
    "/.",
    "/..",
    "/../../../etc/passwd",
    "/..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/etc/passwd",
    "/0",
    "/0/../0/",
    "/1/",
    "/00/",
    "/-1/",
    "/٠/",
    "/0/samples/",
    "/0/samples/80",
    "/0/samples/-1",
    "/0/samples/1/",
    "/0/samples/99999999999",
    "/0/samples/1%00",
    "/0/samples.jsonl",
    "/0/report.json",
    "/report.json",
    "/0/samples/../report.json",
    "/compare/0/won",
    "/compare/0/won/0",
    "/compare/0/x",
    "/0/\n",
    "/0/samples\r\nX: y",
    "file:///etc/passwd",
    "http://127.0.0.1/0/",
    "/" + "a" * 10_000,
    "/favicon.ico",
]


@pytest.mark.parametrize("path", PATHS)
def test_there_is_nothing_else(site: Site, path: str) -> None:
    answer = site.answer(path, "")
    assert answer.status == 404
    assert "There is no such page." in require_harmless(answer.html).text


def test_what_is_not_there_any_more_is_said(tmp_path: Path) -> None:
    for name in ("gold.jsonl", "model-b.jsonl", "schema.json", "protocol-fail.yaml"):
        (tmp_path / name).write_bytes((EXTRACTION / name).read_bytes())
    folder = _judged(tmp_path)
    (tmp_path / "gold.jsonl").unlink()
    (tmp_path / "model-b.jsonl").write_bytes(b"{}\n")
    viewed = opened(folder)
    seen = page(Site([viewed], None), "/0/samples/0")
    assert "gold: not shown" in seen.text
    assert "predictions: not shown; it has changed since" in seen.text
    assert "Arguments" in seen.text or "Errors" in seen.text
    viewed.close()


def _judged(folder: Path) -> Path:
    from .stored import store

    paths = {"gold": "gold.jsonl", "predictions": "model-b.jsonl", "schema": "schema.json"}
    inputs = {kind: [str(folder / file)] for kind, file in paths.items()}
    return store(folder / "result", "extraction", inputs, folder / "protocol-fail.yaml")


def test_inputs_that_were_moved_are_found(tmp_path: Path) -> None:
    for name in ("gold.jsonl", "model-b.jsonl", "schema.json", "protocol-fail.yaml"):
        (tmp_path / name).write_bytes((EXTRACTION / name).read_bytes())
    folder = _judged(tmp_path)
    inputs = {"gold": ["gold.jsonl"], "predictions": ["model-b.jsonl"], "schema": ["schema.json"]}
    run = {"folder": "/elsewhere", "inputs": {**inputs, "protocol": ["protocol-fail.yaml"]}}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    for root, shown in ((None, False), (str(tmp_path), True)):
        viewed = open_folder(str(folder), "it", root=root)
        viewed.inputs.wait(60)
        assert ("gold: not shown" not in page(Site([viewed], None), "/0/samples/0").text) is shown
        viewed.close()


@pytest.mark.parametrize("name", ["samples.jsonl", "report.json"])
def test_a_link_out_of_the_folder_is_not_followed(name: str, stored: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    folder.mkdir()
    for file in (stored / "b").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / name).unlink()
    (folder / name).symlink_to(stored / "b" / name)
    assert error_from(InputError, open_folder, str(folder), "it").code == "view.leads_out"
    (tmp_path / "link").symlink_to(stored / "b")  # the folder itself may be one
    open_folder(str(tmp_path / "link"), "it").close()


def test_records_that_change_under_the_viewer_are_said(tmp_path: Path) -> None:
    path = store_model(tmp_path / "it", "b")
    viewed = opened(path)
    with open(path / "samples.jsonl", "r+b") as stream:
        stream.truncate(1_000)
    answer = Site([viewed], None).answer("/0/samples/70", "")
    assert answer.status == 500
    assert "changed since they were opened" in Seen(answer.html).text
    viewed.close()


def test_records_that_are_replaced_stay_what_they_were(tmp_path: Path) -> None:
    path = store_model(tmp_path / "it", "b")
    viewed = opened(path)
    before = Site([viewed], None).answer("/0/samples/70", "")
    (path / "new").write_bytes(b"")
    (path / "new").replace(path / "samples.jsonl")
    assert Site([viewed], None).answer("/0/samples/70", "") == before
    viewed.close()


def test_records_that_are_replaced_while_they_are_read_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index would be that of other records."""
    monkeypatch.setattr(index, "_PROGRESS_BYTES", 1)
    path = store_model(tmp_path / "it", "b")

    def replaced(done: int, total: int) -> None:
        (path / "new").write_bytes((path / "samples.jsonl").read_bytes())
        (path / "new").replace(path / "samples.jsonl")

    assert error_from(InputError, open_folder, str(path), "it", replaced).code == "view.changed"
    open_folder(str(path), "it").close()


def test_hidden_characters_of_a_search_are_written_out_and_read_back(site: Site) -> None:
    text = "a\u202eb \u2066c\U000e0001\x1b[31m \\users"
    choice = parse_query(UnitQuery(text=text).query()[1:])
    assert choice.text == text
    answer = site.answer("/0/samples", choice.query()[1:])
    assert not {*"\u202e\u2066\U000e0001\x1b"} & {*answer.html}
    assert choice.visible_text == r"a\u202eb \u2066c\U000e0001\x1b[31m \users"
    assert parse_query(UnitQuery(text=choice.visible_text).query()[1:]) == choice


def test_search_that_is_cut_at_a_blank_is_read_back() -> None:
    choice = parse_query(UnitQuery(text="a" * 499 + " " + "b").query()[1:])
    assert choice.text == "a" * 499
    assert parse_query(choice.query()[1:]) == choice
