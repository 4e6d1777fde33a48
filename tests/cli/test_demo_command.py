"""`goldgate demo`: the data that comes with the package, judged, anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate.cli.convert import import_runs_command
from goldgate.cli.demo import demo_command
from goldgate.demo import demo_files

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"


def demo(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "goldgate", "demo", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=120)


def test_two_models_are_judged_and_compared_on_a_screen_or_two(tmp_path: Path) -> None:
    """Whoever sees it for the first time wants the verdicts and what decided them, not every number."""
    shown = demo(tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    commands = [line.split()[2] for line in shown.stdout.splitlines() if line.startswith("$ ")]
    assert commands == ["extraction", "extraction", "compare"]
    assert "PASS  all 4 gates passed" in shown.stdout
    assert "FAIL  2 of 4 gates failed" in shown.stdout
    assert "Nothing of it was kept: goldgate demo --out DIR" in shown.stdout
    assert os.listdir(tmp_path) == []
    lines = shown.stdout.splitlines()
    assert len(lines) < 70
    titles = [line for line in lines if line in ("Gates", "Scores", "Systems", "report-b against report-a")]
    assert titles == ["Gates", "Gates", "Systems", "report-b against report-a"]
    assert any("--brief" in line and "without it" in line for line in lines)


def test_what_it_shows_can_be_kept(tmp_path: Path) -> None:
    shown = demo(tmp_path, "--out", "kept")
    assert shown.returncode == 0
    assert "are in kept" in shown.stdout
    named = [line.strip() for line in shown.stdout.splitlines() if line.startswith("  kept/")]
    assert named == ["kept/report-b/report.html", "kept/release.yaml"]
    assert all((tmp_path / name).is_file() for name in named)
    assert json.loads((tmp_path / "kept" / "report-b" / "report.json").read_bytes())["status"] == "FAIL"
    again = demo(tmp_path, "--out", "kept")
    assert again.returncode == 2
    assert "out.not_ours" in again.stderr
    (tmp_path / "file").write_text("")
    assert "out.unwritable" in demo(tmp_path, "--out", "file").stderr


def test_without_a_folder_for_temporary_files_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose file system is read-only."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/nowhere"])
    trace = str(EXAMPLES.parent / "traces" / "otel.jsonl")
    for command, options in ((demo_command, []), (import_runs_command, [trace, "--out", str(tmp_path / "runs")])):
        shown = CliRunner().invoke(command, options)
        assert shown.exit_code == 2
        assert "machine.no_temporary_folder" in shown.stderr


def test_in_a_step_of_github_it_annotates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(demo_command, [])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert os.listdir(tmp_path) == []


def test_the_data_is_part_of_the_examples_and_small() -> None:
    files = demo_files()
    assert sum(map(len, files.values())) < 60_000
    assert files["schema.json"] == (EXAMPLES / "schema.json").read_bytes()
    for name in ("gold.jsonl", "model-a.jsonl", "model-b.jsonl"):
        whole = set((EXAMPLES / name).read_bytes().splitlines())
        assert set(files[name].splitlines()) < whole
