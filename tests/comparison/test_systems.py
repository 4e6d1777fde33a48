"""What a user may write for a system, and the names that come of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import goldgate
from goldgate.errors import GoldgateError
from goldgate.runs.sources import find_systems, require_predictions, require_results
from tests.cases import error_from


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("a", "b", "x/run", "y/run", "s/seed-1", "s/seed-2", "s/seed-10", "odd=name"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "report.json").touch()
    (tmp_path / "model.jsonl.gz").touch()
    (tmp_path / "other.v2.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*given: str) -> dict[str, tuple[str, ...]]:
    return {source.name: source.paths for source in find_systems(given)}


SEEDS = ("s/seed-1", "s/seed-2", "s/seed-10")


@pytest.mark.parametrize(
    ("given", "systems"),
    [
        (("a", "b"), {"a": ("a",), "b": ("b",)}),
        (("a/", "./b/"), {"a": ("a/",), "b": ("./b/",)}),
        (("New=a", "b"), {"New": ("a",), "b": ("b",)}),
        (("odd=name", "b"), {"odd=name": ("odd=name",), "b": ("b",)}),
        (("x/run", "y/run"), {"x/run": ("x/run",), "y/run": ("y/run",)}),
        (("a", "a"), {"a": ("a",), "a (2)": ("a",)}),
        (("a", "s"), {"a": ("a",), "s": SEEDS}),
        (("a", "B=s"), {"a": ("a",), "B": SEEDS}),
        (("a", "B=s/seed-1,s/seed-2"), {"a": ("a",), "B": ("s/seed-1", "s/seed-2")}),
        (("a", "B=s/seed-?"), {"a": ("a",), "B": ("s/seed-1", "s/seed-2")}),
        (("a", "s/seed-?"), {"a": ("a",), "s": ("s/seed-1", "s/seed-2")}),
        (("model.jsonl.gz", "other.v2.jsonl"), {"model": ("model.jsonl.gz",), "other.v2": ("other.v2.jsonl",)}),
    ],
)
def test_systems_as_they_are_written(root: Path, given: tuple[str, ...], systems: dict[str, tuple[str, ...]]) -> None:
    assert found(*given) == systems
    assert list(found(*given)) == list(systems)


@pytest.mark.parametrize(
    ("given", "code", "word"),
    [
        (("a",), "compare.one_system", "two systems"),
        (("X=a", "X=b"), "compare.names", "the same name"),
        (("a", "=b"), "compare.bad_name", "needs a name"),
        (("a", "B=none-*"), "compare.no_match", "nothing fits"),
    ],
)
def test_what_cannot_be_is_refused(root: Path, given: tuple[str, ...], code: str, word: str) -> None:
    with pytest.raises(GoldgateError, match=word) as caught:
        found(*given)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("given", "what", "advice"),
    [
        ("a/report.json", "a file", "name its folder: a"),
        ("model.jsonl.gz", "a file", "are these predictions? add --gold FILE"),
        ("aa/run", "nothing", "check the path"),
        ("x/rum", "nothing", "did you mean run?"),
        ("empty", "an empty folder", "run a suite's command with --out first"),
        ("full", "a folder without it", "run a suite's command with --out first"),
        ("x", "a folder that holds run", "name those"),
        ("base", "a baseline", "a gate compares with a baseline"),
    ],
)
def test_what_is_no_result_is_named_for_what_it_is(root: Path, given: str, what: str, advice: str) -> None:
    (root / "empty").mkdir()
    for file in ("full/notes.txt", "base/baseline.json"):
        (root / file).parent.mkdir()
        (root / file).touch()
    error = error_from(GoldgateError, require_results, find_systems(["a", given]))
    assert (error.code, error.found) == ("compare.not_a_folder", what)
    assert advice in str(error.advice)


def test_every_folder_is_looked_for_before_one_is_read(root: Path) -> None:
    (root / "broken").mkdir()
    (root / "broken" / "report.json").write_text("{")
    assert error_from(GoldgateError, goldgate.compare, "broken", "nowhere").code == "compare.not_a_folder"


def test_folders_are_not_compared_with_gold(root: Path) -> None:
    require_predictions(find_systems(["model.jsonl.gz", "other.v2.jsonl"]))
    error = error_from(GoldgateError, require_predictions, find_systems(["a", "other.v2.jsonl"]))
    assert error.code == "predictions.is_a_directory"
    assert "without --gold" in str(error.advice)


def test_systems_from_python_are_paths_one_by_one_or_in_one_list(stored: Path) -> None:
    one_by_one = goldgate.compare(stored / "a", stored / "b").to_json()
    assert goldgate.compare([stored / "a", str(stored / "b")]).to_json() == one_by_one
    assert repr(goldgate.compare(stored / "a", stored / "b")).startswith("<Comparison: extraction a, b; strict_f1 ")
    for systems in ((["a"], ["b"]), (None, "b"), ([["a", "b"]],)):
        with pytest.raises(GoldgateError, match="compare takes the paths of result folders"):
            goldgate.compare(*systems)
