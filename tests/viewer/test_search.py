"""Words in records: found wherever they stand, in as many blocks as it takes."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from goldgate.viewer import index as module
from goldgate.viewer.folder import ViewedFolder, open_folder
from tests.contract.inputs import HOSTILE

from .stored import bitset_places, store_made_up

WORDS = ["zh-02", "质押", "Boundary", "MISSING wrong_type", "no such word", '"', "\\", "zh 质押方 raw", "1,860万股"]


def found(folder: ViewedFolder, text: str) -> list[int]:
    by_weight, in_file = folder.search(text, "weight"), folder.search(text, "file")
    assert by_weight is not None
    assert in_file is not None
    numbers = [*bitset_places(in_file)]
    assert sorted(folder.index.number(place, "weight") for place in bitset_places(by_weight)) == numbers
    return numbers


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
    model_b.__dict__.pop("_search", None)
    assert found(model_b, text) == expected(model_b, text)


def test_hostile_words_are_words(tmp_path: Path) -> None:
    folder = open_folder(str(store_made_up(tmp_path / "it", "extraction", HOSTILE)), "it")
    assert len(found(folder, "</script>\u202e|")) == len(folder.index)
    assert found(folder, "s17\x1b[31m</script>") == [17]
    folder.close()
