"""One agent's work, recorded by three tools, becomes the same runs, and they are judged alike."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.suites.research.checks import validate_run
from goldgate.suites.research.imports import import_runs
from goldgate.suites.research.run import RunSettings

TRACES = Path(__file__).parents[2] / "examples" / "traces"
FORMS = ["otel", "langsmith", "openai-agents"]


def imported(form: str, out: Path) -> dict[str, dict[str, Any]]:
    """The files of each run by its objective, ids of runs and spans left out."""
    result = import_runs([str(TRACES / f"{form}.jsonl")], str(out))
    assert result.passed
    assert result.mapping.name == form
    return {read(run)["output"]["objective"]: read(run) for run in sorted(out.iterdir())}


def read(run: Path) -> dict[str, Any]:
    output = json.loads((run / "research_output.json").read_bytes())
    assert output.pop("run_id")
    files: dict[str, Any] = {"output": output}
    for name in ("manifests", "chunks"):
        path = run / f"{name}.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        files[name] = [{key: value for key, value in json.loads(line).items() if key != "run_id"} for line in lines]
    return files


def test_the_same_runs_come_from_every_form(tmp_path: Path) -> None:
    first, *others = [imported(form, tmp_path / form) for form in FORMS]
    assert len(first) == 2
    assert all(other == first for other in others)


@pytest.mark.parametrize("form", FORMS)
def test_they_are_sound_and_pass(form: str, tmp_path: Path) -> None:
    imported(form, tmp_path / "runs")
    for run in (tmp_path / "runs").iterdir():
        assert validate_run(str(run), RunSettings()).passed
    evaluation = goldgate.evaluate_outputs(TRACES / "golden_queries.json", tmp_path / "runs")
    assert evaluation.passed
    counts = {name: str(evaluation.metrics[name].exact) for name in ("golden_recall", "manifest_integrity")}
    assert counts == {"golden_recall": "1", "manifest_integrity": "1"}
    assert evaluation.report["evidence"]["levels"]["verbatim"] == 1  # looked up in what the tool returned


def test_the_notes_of_an_import_are_listed_and_not_judged(tmp_path: Path) -> None:
    imported("otel", tmp_path / "runs")
    report = goldgate.evaluate_outputs(TRACES / "golden_queries.json", tmp_path / "runs").report
    assert {entry["reason"] for entry in report["ignored"]} == {"notes of an import, not judged"}


def test_the_stored_traces_are_those_that_the_script_makes() -> None:
    made = runpy.run_path(str(TRACES / "make.py"))["files"]()
    assert {name: (TRACES / name).read_text(encoding="utf-8") for name in made} == made


def test_order_and_split_of_the_files_change_nothing(tmp_path: Path) -> None:
    lines = (TRACES / "langsmith.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "whole.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "b.jsonl").write_text("".join(lines[::-2]), encoding="utf-8")
    (tmp_path / "a.json").write_text("[" + ",".join(lines[-2::-2]) + "]", encoding="utf-8")
    import_runs([str(tmp_path / "whole.jsonl")], str(tmp_path / "one"))
    import_runs([str(tmp_path / "b.jsonl"), str(tmp_path / "a.json")], str(tmp_path / "two"))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def tree(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
