"""The fuzzer itself: its targets hold on their seeds, and a finding is written down with the way to see it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import cases
from tests.fuzz import __main__ as fuzzing
from tests.fuzz.targets import ROOT, TARGETS


@cases("name", TARGETS)
def test_target_holds_on_its_seeds(name: str) -> None:
    seeds = TARGETS[name].seeds()
    assert seeds
    for seed in seeds:
        TARGETS[name].check(seed)
        TARGETS[name].check(seed[: len(seed) // 2])


@pytest.fixture
def laws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose laws are tried in place of ours, with the same settings."""
    settings = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(settings, encoding="utf-8")
    for name in ("ROOT", "TESTS", "FINDINGS"):
        monkeypatch.setattr(fuzzing, name, tmp_path)
    monkeypatch.setattr(fuzzing, "OTHER_LAWS", [])
    return tmp_path


def test_law_that_is_broken_is_a_finding(laws: Path) -> None:
    broken = "import hypothesis as h\n@h.given(h.strategies.integers())\ndef test_broken(n):\n    assert n < 99\n"
    (laws / "test_broken.py").write_text(broken, encoding="utf-8")
    (note,) = fuzzing.try_laws(7, seconds=120)
    written = note.read_text(encoding="utf-8")
    assert "--hypothesis-profile=fuzz --hypothesis-seed=7 test_broken.py" in written.splitlines()[0]
    assert "n=99" in written
    assert "reproduce_failure" in written


def test_every_law_is_tried_and_none_keeps_to_examples_of_its_own() -> None:
    files = fuzzing.law_files()
    assert {"tests/laws/test_parser_laws.py", "tests/research/test_laws.py", "tests/responses/test_laws.py"} <= {*files}
    assert not [file for file in files if "derandomize" in (ROOT / file).read_text(encoding="utf-8")]
