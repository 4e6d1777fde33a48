"""Words in records: found wherever they stand, in as many steps as it takes."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from goldgate.viewer import index as module
from goldgate.viewer.folder import ViewedFolder, open_folder
from goldgate.viewer.index import Search, search_words
from tests.contract.inputs import HOSTILE

from .stored import bitset_places, store_made_up

WORDS = ["zh-02", "质押", "Boundary", "MISSING wrong_type", "no such word", '"', "\\", "zh 质押方 raw", "1,860万股"]


def found(folder: ViewedFolder, text: str, seconds: float = 60.0) -> list[int]:
    search = folder.search(text)
    assert search is not None
    while not search.is_complete:
        search.go_on(folder.read_at, seconds)
    by_weight = {folder.index.number(place, "weight") for place in bitset_places(search.matches("weight"))}
    in_file = [*bitset_places(search.matches("file"))]
    assert by_weight == {*in_file}
    return in_file


def expected(folder: ViewedFolder, text: str) -> list[int]:
    """Every record decoded and written anew: all words are in its text."""
    words = [orjson.dumps(word)[1:-1].decode().lower() for word in text.split()]
    lines = [json.dumps(folder.record(n), ensure_ascii=False, separators=(",", ":")) for n in range(len(folder.index))]
    return [n for n, line in enumerate(lines) if all(word in line.lower() for word in words)]


@pytest.mark.parametrize("block", [1, 3_000, 1 << 20])
@pytest.mark.parametrize("text", WORDS)
def test_found_is_what_has_all_words(
    model_b: ViewedFolder, text: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    assert found(model_b, text, seconds=0.0 if block > 1 else 60.0) == expected(model_b, text)


def test_some_of_these_are_there(model_b: ViewedFolder) -> None:
    assert [bool(expected(model_b, text)) for text in WORDS] == [True, True, True, True, False, True, False, True, True]


def test_hostile_words_are_words(tmp_path: Path) -> None:
    folder = open_folder(str(store_made_up(tmp_path / "it", "extraction", HOSTILE)), "it")
    assert len(found(folder, "</script>\u202e|")) == len(folder.index)
    assert found(folder, "s17\x1b[31m</script>") == [17]
    folder.close()


def test_a_search_goes_on_where_it_was(model_b: ViewedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 1)  # a record at a time
    search = model_b.search("质押")
    assert isinstance(search, Search)
    search.go_on(model_b.read_at, seconds=-1.0)
    assert search.done == 1
    assert model_b.search(" 质押 ") is search
    search.go_on(model_b.read_at, seconds=-1.0)
    assert search.done == 2
    assert not search.is_complete


def test_only_the_last_searches_are_kept(model_b: ViewedFolder) -> None:
    first = model_b.search("first")
    for number in range(20):
        model_b.search(f"other {number}")
    assert model_b.search("first") is not first


def test_a_text_without_words_is_no_search(model_b: ViewedFolder) -> None:
    assert model_b.search(" \t ") is None
    assert search_words("a A b") == (b"a", b"a", b"b")
    assert len(search_words(" ".join(map(str, range(100))))) == module.MAX_SEARCH_WORDS
    assert search_words("\ud800") == (b"?",)
