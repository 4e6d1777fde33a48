"""The fuzzer itself: its targets hold on their seeds, and a finding is written down with the way to see it again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from goldgate.errors import InternalError
from tests.cases import cases
from tests.fuzz import __main__ as fuzzing
from tests.fuzz import targets
from tests.fuzz.targets import ROOT, TARGETS


@cases("name", TARGETS)
def test_target_holds_on_its_seeds(name: str) -> None:
    seeds = TARGETS[name].seeds()
    assert seeds
    for seed in seeds:
        TARGETS[name].check(seed)
        TARGETS[name].check(seed[: len(seed) // 2])


def test_fault_of_our_own_is_no_expected_error() -> None:
    with pytest.raises(InternalError), targets._expected_errors():
        raise InternalError("internal.error", "a fault")


def test_stored_bytes_are_tried_again(tmp_path: Path) -> None:
    stored = tmp_path / "finding"
    stored.write_bytes(b'[{"event_type": "A"')
    command = [sys.executable, "-m", "tests.fuzz.replay", "response", str(stored)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "nothing is wrong" in done.stdout


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


@pytest.mark.slow  # three runs; that the seed reaches pytest is also in the note of a finding, above
def test_examples_follow_from_the_seed(laws: Path) -> None:
    law = """
import os
import hypothesis as h
import pytest
@h.given(h.strategies.integers())
def test_law(n):
    with open("drawn.txt", "a") as out:
        print(n, file=out)
@pytest.mark.law
def test_other_law():
    with open("drawn.txt", "a") as out:
        print("seed", os.environ["LAWS_SEED"], file=out)
def test_no_law():
    raise AssertionError("not to be run")
"""
    (laws / "test_law.py").write_text(law, encoding="utf-8")
    (laws / "pytest.ini").write_text("[pytest]\nmarkers = law", encoding="utf-8")
    drawn = []
    for seed in (7, 7, 8):
        assert fuzzing.try_laws(seed, seconds=120) == []
        drawn.append((laws / "drawn.txt").read_text(encoding="utf-8"))
        (laws / "drawn.txt").unlink()
    assert drawn[0] == drawn[1] != drawn[2]
    assert "seed 8" in drawn[2]


def test_every_law_is_tried_and_none_keeps_to_examples_of_its_own() -> None:
    files = fuzzing.law_files()
    assert {"tests/laws/test_parser_laws.py", "tests/research/test_laws.py", "tests/responses/test_laws.py"} <= {*files}
    assert not [file for file in files if "derandomize" in (ROOT / file).read_text(encoding="utf-8")]
