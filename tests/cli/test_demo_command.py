"""`goldgate demo`: the data that comes with the package, judged, anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate.cli.demo import SUITES, demo_command, demo_files
from goldgate.cli.prepare import import_runs_command
from tests.cases import cases

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"


def demo(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "goldgate", "demo", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=120)


def test_two_models_are_judged_and_compared_on_a_screen_or_two(tmp_path: Path) -> None:
    shown = demo(tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    commands = [line.split()[1:3] for line in shown.stdout.splitlines() if line.startswith("$ ")]
    assert commands == [
        ["cd", "goldgate-demo"],
        *(["goldgate", name] for name in ("extraction", "extraction", "compare")),
    ]
    assert "PASS  all 4 gates passed" in shown.stdout
    assert "FAIL  2 of 4 gates failed" in shown.stdout
    lines = shown.stdout.splitlines()
    assert len(lines) <= 75
    assert max(map(len, lines)) <= 80
    titles = [line for line in lines if line in ("Gates", "Scores", "Systems", "report-b against report-a")]
    assert titles == ["Gates", "Gates", "Systems", "report-b against report-a"]
    pages = [line.split()[1] for line in lines if line.startswith("      open: ")]
    assert pages == ["report-a/report.html", "report-b/report.html"]
    assert all((tmp_path / "goldgate-demo" / page).is_file() for page in pages)


def test_what_it_points_to_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(demo_command, ["--out", "kept"])
    assert shown.exit_code == 0
    named = [line.split()[1] for line in shown.stdout.splitlines() if line.startswith(("  open", "  edit"))]
    assert named == ["kept/report-b/report.html", "kept/release.yaml"]
    assert all((tmp_path / name).is_file() for name in named)
    assert json.loads((tmp_path / "kept" / "report-b" / "report.json").read_bytes())["status"] == "FAIL"
    assert (
        CliRunner().invoke(demo_command, ["--out", "kept"]).exit_code == 0
    )  # an earlier demo is overwritten, and nothing else
    (tmp_path / "kept" / "notes.txt").write_text("mine")
    again = CliRunner().invoke(demo_command, ["--out", "kept"])
    assert again.exit_code == 2
    assert "out.not_ours" in again.stderr
    assert "notes.txt" in again.stderr
    (tmp_path / "file").write_text("")
    assert "out.unwritable" in CliRunner().invoke(demo_command, ["--out", "file"]).stderr


def test_a_file_of_the_users_own_is_not_overwritten(tmp_path: Path) -> None:
    for name, content in (("gold.jsonl", b"mine"), ("release.yaml", demo_files()["release.yaml"] + b"# mine")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_bytes(content)
        shown = CliRunner().invoke(demo_command, ["--out", str(folder)])
        assert (shown.exit_code, "out.not_ours" in shown.stderr, name in shown.stderr) == (2, True, True), name
        assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [(name, content)]


def test_without_a_folder_for_temporary_files_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose file system is read-only."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/nowhere"])
    trace = str(EXAMPLES.parent / "traces" / "otel.jsonl")
    shown = CliRunner().invoke(import_runs_command, [trace, "--out", str(tmp_path / "runs")])
    assert shown.exit_code == 2
    assert "machine.no_temporary_folder" in shown.stderr


def test_in_a_step_of_github_it_annotates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(demo_command, [])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert os.listdir(tmp_path) == ["goldgate-demo"]


def test_the_data_is_part_of_the_examples_and_small() -> None:
    names = ("gold.jsonl", "model-a.jsonl", "model-b.jsonl", "schema.json")
    parts = {"extraction": {name: name for name in names}, "fields": {name: name for name in names}}
    parts["judged"] = {"items-a.jsonl": "items.jsonl"}
    assert parts.keys() == {*SUITES}
    for suite, sources in parts.items():
        files, examples = demo_files(suite), EXAMPLES.parent / suite
        assert sum(map(len, files.values())) < 90_000, suite
        for name, source in sources.items():
            assert {*files[name].splitlines()} <= {*(examples / source).read_bytes().splitlines()}, (suite, name)
    ids = [[json.loads(line)["id"] for line in demo_files("judged")[f"items-{m}.jsonl"].splitlines()] for m in "ab"]
    assert ids[0] == ids[1]


@cases(
    ("suite", "words"),
    [
        ("fields", ("PASS  all 5 gates passed", "FAIL  5 of 5 gates failed")),
        ("judged", ("PASS  the gate passed", "FAIL  the gate failed: rate", "report-b against report-a")),
    ],
)
def test_a_demo_of_another_suite_ends_as_it_should(suite: str, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / suite).mkdir()
    with chdir(tmp_path / suite):
        shown = CliRunner().invoke(demo_command, ["--suite", suite])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert [word for word in words if word not in shown.stdout] == []
