"""The fuzzer itself: its targets hold on their seeds, and a finding is written down with the way to see it again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from goldgate.errors import InternalError
from tests.fuzz import __main__ as fuzzing
from tests.fuzz import targets
from tests.fuzz.targets import ROOT, TARGETS


@pytest.mark.parametrize("name", TARGETS)
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


def test_law_that_is_broken_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    law = tmp_path / "test_broken.py"
    broken = "import hypothesis as h\n@h.given(h.strategies.integers())\ndef test_broken(n):\n    assert n < 99\n"
    law.write_text(broken, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    monkeypatch.setattr(fuzzing, "ROOT", tmp_path)
    monkeypatch.setattr(fuzzing, "FINDINGS", tmp_path)
    monkeypatch.setattr(fuzzing, "LAWS", ["test_broken.py"])
    (note,) = fuzzing.try_laws(7, seconds=120)
    written = note.read_text(encoding="utf-8")
    assert "--hypothesis-profile=fuzz --hypothesis-seed=7 test_broken.py" in written.splitlines()[0]
    assert "n=99" in written
    assert "reproduce_failure" in written
