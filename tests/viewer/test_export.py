"""The pages as files: complete as far as they say, harmless, the same every time, and nobody else's files touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.errors import ConfigError
from goldgate.runs.sources import find_systems
from goldgate.viewer.comparison import compare_folders
from goldgate.viewer.site import export_site
from tests.contract.inputs import HOSTILE, NAMES

from .stored import opened, require_harmless, store_made_up


def export(out: Path, *paths: Path, samples: int = 500) -> str:
    sources = find_systems([str(path) for path in paths], alone=True)
    folders = [opened(path, source.name) for path, source in zip(paths, sources, strict=True)]
    compared = compare_folders(sources, folders) if len(folders) > 1 else None
    try:
        return export_site(folders, compared, str(out), samples)
    finally:
        for folder in folders:
            folder.close()


def pages(out: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(out.glob("*.html"))}


def require_linked(out: Path) -> None:
    """Every link leads to a page of the export, and every page can be reached."""
    known, todo, reached = pages(out), ["index.html"], {"index.html"}
    while todo:
        seen = require_harmless(known[todo.pop()])
        assert "'none'" in seen.policy()
        for link in seen.links:
            name = link.partition("#")[0]
            if name and name not in reached:
                assert name in known
                reached.add(name)
                todo.append(name)
    assert reached == {*known}


def test_one_folder(stored: Path, tmp_path: Path) -> None:
    said = export(tmp_path / "out", stored / "b")
    require_linked(tmp_path / "out")
    samples = [name for name in pages(tmp_path / "out") if "-sample-" in name]
    assert len(samples) == 80
    assert "have no page" not in said


@pytest.mark.slow  # the last test of this file has all pages of two smaller folders
def test_two_folders(stored: Path, tmp_path: Path) -> None:
    export(tmp_path / "out", stored / "a", stored / "b")
    require_linked(tmp_path / "out")
    known = pages(tmp_path / "out")
    assert len([name for name in known if name.startswith("compare-0-sample-")]) == 67
    assert {"0.html", "1.html", "compare-0-won.html", "compare-0-lost.html", "compare-0-lost-2.html"} <= {*known}


@pytest.mark.parametrize("name", NAMES)
def test_every_suite_with_hostile_data(name: str, tmp_path: Path) -> None:
    path = store_made_up(tmp_path / "it", name, HOSTILE)
    export(tmp_path / "out", path, samples=60)
    require_linked(tmp_path / "out")
    assert all(file.name.isascii() for file in (tmp_path / "out").iterdir())


def test_the_limit_is_said_and_can_be_raised(tmp_path: Path) -> None:
    path = store_made_up(tmp_path / "it", "extraction")
    said = export(tmp_path / "out", path, samples=70)
    assert "the 50 best samples have no page" in said
    assert "--samples" in said
    require_linked(tmp_path / "out")
    lists = require_harmless(pages(tmp_path / "out")["0-list-0.html"])
    assert "These pages have 70 of 120 samples, most errors first" in lists.text
    assert "the 30 best samples have no page" in export(tmp_path / "more", path, samples=90)
    assert len([name for name in pages(tmp_path / "more") if "-sample-" in name]) == 90


def test_no_sample_at_all(stored: Path, tmp_path: Path) -> None:
    export(tmp_path / "out", stored / "passing", stored / "failing", samples=0)
    require_linked(tmp_path / "out")


def test_the_same_bytes_every_time(stored: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export(tmp_path / name, stored / "passing", stored / "failing", samples=20)
    assert pages(tmp_path / "one") == pages(tmp_path / "two")


def test_an_earlier_export_is_replaced_and_nothing_else(stored: Path, tmp_path: Path) -> None:
    export(tmp_path / "out", stored / "passing", stored / "failing", samples=5)
    (tmp_path / "out" / "mine.txt").write_text("kept", encoding="utf-8")
    names = ("mine.html", "compare-notes.html", "2026-list.html", "0-sample--.html")
    for name in names:
        (tmp_path / "out" / name).write_text("kept", encoding="utf-8")
    export(tmp_path / "out", stored / "failing", samples=5)
    assert not [name for name in pages(tmp_path / "out") if name.startswith("compare") and name not in names]
    assert (tmp_path / "out" / "mine.txt").read_text(encoding="utf-8") == "kept"
    assert {(tmp_path / "out" / name).read_text(encoding="utf-8") for name in names} == {"kept"}


def test_a_folder_of_others_is_refused(stored: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        export(tmp_path, stored / "a")
    assert caught.value.code == "out.not_empty"
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "mine"
    with pytest.raises(ConfigError) as caught:
        export(stored / "a", stored / "a")
    assert caught.value.code == "out.not_empty"
    with pytest.raises(ConfigError) as caught:
        export(tmp_path / "index.html", stored / "a")
    assert caught.value.code == "out.is_a_file"


def test_a_link_in_place_of_the_mark_is_not_written_through(stored: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".goldgate-view").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(ConfigError) as caught:
        export(tmp_path / "out", stored / "a", samples=1)
    assert caught.value.code == "out.not_empty"
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "kept"


def test_all_samples_can_be_asked_for_by_a_number_beyond_any(stored: Path, tmp_path: Path) -> None:
    assert "have no page" not in export(tmp_path / "out", stored / "passing", stored / "failing", samples=10**14)
    require_linked(tmp_path / "out")
