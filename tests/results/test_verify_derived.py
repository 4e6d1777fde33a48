"""`goldgate verify` of what was made from results: baselines and comparisons."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate.cli.compare import compare_command
from goldgate.cli.stored_results import baseline_command
from tests.results.made import edit, make, set_in, verified

# --- baselines


def test_a_baseline_is_worked_out_again(at: Callable[[str], Path]) -> None:
    at("research")
    made = CliRunner().invoke(baseline_command, ["out/report.json", "--out", "baseline.json"])
    assert made.exit_code == 0, made.output
    assert verified("baseline.json", "--reports", "out/report.json")[1]["status"] == "verified"
    status, found = verified("baseline.json")
    assert (status, "--reports FILE" in found["not_compared"][0]) == (0, True)
    record = json.loads(Path("baseline.json").read_bytes())
    [hits, trials] = record["metrics"]["golden_recall"]["by_report"][0].split("/")
    set_in("baseline.json", ["metrics", "golden_recall", "by_report"], [f"{int(hits) - 1}/{trials}"])
    status, found = verified("baseline.json", "--reports", "out/report.json")
    assert (status, found["difference"]["pointer"]) == (1, "/metrics/golden_recall/by_report/0")
    assert verified("baseline.json")[0] == 2  # its own arithmetic does not hold


def test_a_baseline_of_other_reports(at: Callable[[str], Path]) -> None:
    at("research")
    CliRunner().invoke(baseline_command, ["out/report.json", "--out", "baseline.json"])
    Path("protocol.yaml").write_text("research: {trials: 2}\n")
    make("research", "--golden", "golden.json", "--outputs", "runs", "--protocol", "protocol.yaml")
    status, found = verified("baseline.json", "--reports", "out/report.json")
    assert (status, found["inputs"][0]["changed"]) == (1, True)


def test_a_baseline_folder_is_worked_out_again(at: Callable[[str], Path]) -> None:
    at("qa")
    made = CliRunner().invoke(baseline_command, ["out", "--out", "baseline"])
    assert made.exit_code == 0, made.output
    assert verified("baseline")[0] == 0
    assert verified("baseline", "--reports", "out")[0] == 0
    packed = bytearray(Path("baseline/units.bin").read_bytes())
    packed[-1] ^= 1
    Path("baseline/units.bin").write_bytes(packed)
    for more in ((), ("--reports", "out")):
        status, found = verified("baseline", *more)
        assert (status, found["difference"]["file"]) == (1, "units.bin")


# --- comparisons


def compared(suite: str, *more: str) -> None:
    """Two results of a suite and their comparison, in the folder `compared`."""
    shutil.copytree("out", "one")
    first = json.loads(Path("answers.jsonl").read_text().splitlines()[1])
    edit("answers.jsonl", f'"answer": "{first["answer"]}"', '"answer": "wrong"')
    make(suite, "--gold", "gold.jsonl", "--predictions", "answers.jsonl")
    Path("out").rename("two")
    made = CliRunner().invoke(compare_command, ["A=one", "B=two", "--out", "compared", *more])
    assert made.exit_code == 0, made.output


def test_a_comparison_is_made_again(at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = at("qa")
    compared("qa")
    monkeypatch.chdir(folder.parent)
    status, found = verified("qa/compared")
    assert (status, found["of"], found["differences"]) == (0, "comparison", [])
    assert [entry["input"] for entry in found["inputs"]] == ["gold", "system A", "system B"]
    assert found["inputs"][1]["files"] == ["qa/one"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("comparison.json", '"wins": 0', '"wins": 3'),
        ("comparison.md", "A", "B"),
        ("comparison.html", ">A<", ">B<"),
        ("changed.jsonl", '"id":"q1"', '"id":"q2"'),
    ],
)
def test_a_comparison_that_was_changed(file: str, old: str, new: str, at: Callable[[str], Path]) -> None:
    at("qa")
    compared("qa")
    edit(f"compared/{file}", old, new)
    status, found = verified("compared")
    assert (status, found["difference"]["file"]) == (1, file)


def test_a_system_that_was_scored_again(at: Callable[[str], Path]) -> None:
    at("qa")
    compared("qa")
    shutil.rmtree("two")
    edit("answers.jsonl", '"answer": "2"', '"answer": "wrong"')
    make("qa", "--gold", "gold.jsonl", "--predictions", "answers.jsonl")
    Path("out").rename("two")
    status, found = verified("compared")
    assert status == 1
    assert [entry["input"] for entry in found["inputs"] if entry["changed"]] == ["system B"]
    assert not found["difference"]["pointer"].startswith("/systems")


def test_systems_that_moved_must_be_named(at: Callable[[str], Path]) -> None:
    at("qa")
    compared("qa")
    Path("one").rename("first")
    assert verified("compared")[1]["error"]["code"] == "verify.input_missing"
    assert verified("compared", "--systems", "first", "two")[0] == 0
    Path("compared/run.json").unlink()
    status, found = verified("compared")
    assert (status, found["error"]["advice"]) == (2, "add --systems DIR...")
