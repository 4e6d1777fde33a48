"""Folders beside each other: the comparison's numbers, and the units behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import orjson
import pytest

from goldgate.comparison import compare
from goldgate.core.page import Column, Table
from goldgate.core.unit_page import Mark, MarkedText, merge_marks, merge_tables
from goldgate.runs.sources import find_systems
from goldgate.viewer.comparison import FolderComparison, compare_folders
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.site import Site
from tests.contract.inputs import HOSTILE, NAMES

from .stored import Seen, opened, require_harmless, store_made_up

OpenComparison = tuple[list[ViewedFolder], FolderComparison, Site]


@contextmanager
def looked_at(*paths: Path, common: bool = False) -> Iterator[OpenComparison]:
    sources = find_systems([str(path) for path in paths])
    with ExitStack() as stack:
        folders = []
        for source in sources:
            for path in source.paths:
                folders.append(opened(Path(path), source.name))
                stack.callback(folders[-1].close)
        compared = compare_folders(sources, folders, common)
        yield folders, compared, Site(folders, compared)


@pytest.fixture(scope="module")
def a_and_b(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenComparison]:
    """The two example models beside each other, for all who only read them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with looked_at(stored / "a", stored / "b") as found:
            yield found


def page(site: Site, target: str) -> Seen:
    path, _, query = target.partition("?")
    answer = site.answer(path, query)
    assert answer.status == 200
    return require_harmless(answer.html)


def test_what_changed_is_what_the_comparison_says(stored: Path, a_and_b: OpenComparison) -> None:
    expected = [orjson.loads(line) for line in compare(stored / "a", stored / "b").changed_lines()]
    folders, compared, _ = a_and_b
    [pair] = compared.pairs
    assert [*pair.changes] == [line["change"] for line in expected]
    for side in (0, 1):
        for place, line in enumerate(expected):
            [number] = pair.records(side, place)
            assert folders[side].record(number)["id"] == line["id"]


def test_won_and_lost_are_those_of_the_comparison(a_and_b: OpenComparison) -> None:
    _, compared, _ = a_and_b
    [pair] = compared.pairs
    assert compared.report is not None
    entry = next(e for e in compared.report["comparisons"] if e["metric"] == "strict_f1")
    assert [len(pair.places["won"]), len(pair.places["lost"])] == [entry["wins"], entry["losses"]] == [11, 56]


def test_two_folders_as_pages(a_and_b: OpenComparison) -> None:
    _, _, site = a_and_b
    home = page(site, "/")
    assert "b against a" in home.text
    assert "p (Holm)" in home.text or "Holm" in home.text
    assert {"/0/", "/1/", "/compare/0/won", "/compare/0/lost", "/compare/0/changed"} <= {*home.links}
    lost = page(site, "/compare/0/lost")
    assert "56 lost, 1 to 50" in lost.text
    assert lost.rel("next") == "/compare/0/lost?page=2"
    assert page(site, "/compare/0/lost?page=999999999").rel("prev") == "/compare/0/lost?page=2"
    first = next(link for link in lost.links if link.startswith("/compare/0/lost/"))
    visited = 1
    side_by_side = page(site, first)
    assert side_by_side.text.count("Source text") == 1  # and the gold once
    while (link := side_by_side.rel("next")) is not None:
        side_by_side = page(site, link)
        visited += 1
    assert visited == 56


def test_a_change_of_another_kind_has_no_neighbours(a_and_b: OpenComparison) -> None:
    _, compared, site = a_and_b
    won = compared.pairs[0].places["won"][0]
    seen = page(site, f"/compare/0/lost/{won}")
    assert seen.rel("next") is seen.rel("prev") is None


def test_agents_are_paired_by_what_they_were_asked(stored: Path) -> None:
    with looked_at(stored / "passing", stored / "failing") as (folders, compared, site):
        [pair] = compared.pairs
        assert len(pair) > 0
        for place in range(len(pair)):
            asked = {
                folders[side].record(number)["objective"] for side in (0, 1) for number in pair.records(side, place)
            }
            assert len(asked) == 1
            page(site, f"/compare/0/changed/{place}")
        page(site, "/")


@pytest.mark.parametrize("name", NAMES)
def test_every_suite_with_hostile_data(name: str, tmp_path: Path) -> None:
    one = store_made_up(tmp_path / "one", name, HOSTILE)
    other = tmp_path / "other"
    other.mkdir()
    for file in one.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    with looked_at(one, other) as (_, compared, site):
        assert compared.refused == ""
        for target in ("/", "/0/", "/1/", "/compare/0/changed", "/compare/0/won", "/compare/0/lost"):
            page(site, target)


def test_several_folders_are_a_table(stored: Path, tmp_path: Path) -> None:
    for file in (stored / "b").iterdir():
        (tmp_path / "c").mkdir(exist_ok=True)
        (tmp_path / "c" / file.name).write_bytes(file.read_bytes())
    with looked_at(stored / "a", stored / "b", tmp_path / "c") as (_, compared, site):
        assert [pair.folders for pair in compared.pairs] == [(0, 1), (0, 2)]
        home = page(site, "/")
        assert "a, b, c on 80 samples" in home.text
        assert {"/2/", "/compare/1/lost"} <= {*home.links}
        assert page(site, "/compare/1/lost").text.count("c") > 0


def test_runs_of_one_system_are_looked_at_one_by_one(stored: Path) -> None:
    sources = find_systems([str(stored / "a"), f"B={stored / 'b'},{stored / 'a'}"])
    folders = [opened(Path(path), path) for source in sources for path in source.paths]
    compared = compare_folders(sources, folders)
    assert compared.report is not None
    assert compared.pairs == []
    site = Site(folders, compared)
    assert {"/0/", "/1/", "/2/"} <= {*page(site, "/").links}
    for folder in folders:
        folder.close()


def test_what_cannot_be_compared_is_shown_with_the_reason(stored: Path) -> None:
    with looked_at(stored / "a", stored / "failing") as (_, compared, site):
        assert compared.report is None
        home = page(site, "/")
        assert "Why they are not compared" in home.text
        assert {"/0/", "/1/"} <= {*home.links}
        assert "strict_f1" in home.text
        assert "golden_recall" in home.text
        assert site.answer("/compare/0/won", "").status == 404


def test_common_compares_what_both_have(stored: Path, tmp_path: Path) -> None:
    from .stored import EXTRACTION, store

    gold = tmp_path / "gold.jsonl"
    lines = (EXTRACTION / "gold.jsonl").read_bytes().splitlines(keepends=True)
    gold.write_bytes(b"".join(lines[:60]))
    kept = {json.loads(line)["id"] for line in lines[:60]}
    answers = tmp_path / "answers.jsonl"
    given = (EXTRACTION / "model-b.jsonl").read_bytes().splitlines(keepends=True)
    answers.write_bytes(b"".join(line for line in given if json.loads(line)["id"] in kept))
    inputs = {"gold": [str(gold)], "predictions": [str(answers)], "schema": [str(EXTRACTION / "schema.json")]}
    fewer = store(tmp_path / "fewer", "extraction", inputs, EXTRACTION / "protocol-fail.yaml")
    with looked_at(stored / "a", fewer) as (_, compared, _):
        assert compared.refused
    with looked_at(stored / "a", fewer, common=True) as (_, compared, site):
        assert compared.refused == ""
        assert "different gold" in page(site, "/").text


def arguments(*rows: tuple[str, str, str, str]) -> Table:
    """Role, gold, predicted, result."""
    return Table(tuple(map(Column, ("role", "gold", "predicted", "result"))), rows, shared=2)


def test_rows_of_two_systems_are_one_and_what_only_one_has_right_is_marked() -> None:
    one = arguments(
        ("Person", "Lena", "Lena", "right"), ("Date", "May", "", "missing"), ("Date", "", "1999", "spurious")
    )
    other = arguments(
        ("Person", "Lena", "L.", "boundary"), ("Date", "May", "May", "right"), ("Place", "", "X", "spurious")
    )
    table = merge_tables(one, other, ["A: one", "B: two"])
    assert [column.group for column in table.columns] == ["", "", "A: one", "A: one", "B: two", "B: two", ""]
    assert [*table.rows] == [
        ("Person", "Lena", "Lena", "✓ right", "L.", "✗ boundary", "A"),
        ("Date", "May", "", "✗ missing", "May", "✓ right", "B"),
        ("Date", "", "1999", "✗ spurious", "", "✓ not predicted", "B"),
        ("Place", "", "", "✓ not predicted", "X", "✗ spurious", "A"),
    ]
    assert table.marked == {0, 1, 2, 3}
    same = merge_tables(one, one, ["A", "B"])
    assert [row[-1] for row in same.rows] == ["A and B", "neither", "neither"]
    assert not same.marked


def test_marks_of_two_systems_are_in_one_text_with_gold_once() -> None:
    text = "Lena joined in May."
    one = MarkedText(text, (Mark(0, 4, "both", "Person"), Mark(15, 18, "gold", "Date", "missing")), "same")
    other = MarkedText(
        text,
        (
            Mark(0, 4, "gold", "Person", "missing"),
            Mark(5, 11, "predicted", "Role", "spurious"),
            Mark(15, 18, "gold", "Date", "missing"),
        ),
        "same",
    )
    merged = merge_marks(one, other)
    assert merged.marks == (
        Mark(0, 4, "gold + A", "Person", "B missing"),
        Mark(5, 11, "B", "Role", "B spurious"),
        Mark(15, 18, "gold", "Date", "A missing, B missing"),
    )
    assert merged.note == "same"
