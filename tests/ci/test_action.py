"""action.yml, its judging step carried out as the runner would: environment, script, outputs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from .runner import obeyed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
FILES = {"gold": "gold.jsonl", "schema": "schema.json", "predictions": "model-b.jsonl"}
INPUTS = "\n\n  ".join(f"--{kind}={EXAMPLES / name}" for kind, name in FILES.items())  # blanks and empty lines are fine
FAILING = f"{INPUTS}\n--protocol={EXAMPLES / 'protocol-fail.yaml'}"


class Step:
    """The judging step, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = folder / "temp" / "goldgate" / "bin" / "goldgate"
        command.parent.mkdir(parents=True)
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m goldgate "$@"\n')
        command.chmod(0o755)

    def run(self, **given: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "output").unlink(missing_ok=True)
        inputs = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()} | given
        step = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "judge")
        env = {name: _filled(value, inputs) for name, value in step["env"].items()}
        env |= {"RUNNER_TEMP": str(self.folder / "temp"), "GITHUB_OUTPUT": str(self.folder / "output")}
        env |= {**os.environ, **env, "GITHUB_ACTIONS": "true"}
        line = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        return subprocess.run(line, cwd=self.folder, env=env, capture_output=True, encoding="utf-8", timeout=120)

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "output").read_text().splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}


def _filled(value: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: inputs[match[1]], value)


@pytest.fixture
def step(tmp_path: Path) -> Step:
    return Step(tmp_path)


def test_no_script_holds_an_expression() -> None:
    """`${{ … }}` in a script is text that becomes part of it: whoever writes an input would write the script."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_every_output_comes_from_a_step_or_an_input() -> None:
    written = {"steps.judge.outputs.status", "steps.judge.outputs.exit-status", "inputs.out"}
    assert {output["value"][4:-3] for output in ACTION["outputs"].values()} == written


def test_a_failed_gate_fails_the_step_and_is_annotated(step: Step) -> None:
    shown = step.run(arguments=FAILING)
    assert shown.returncode == 1
    assert step.outputs == {"exit-status": "1", "status": "FAIL"}
    assert [command.name for command in obeyed(shown.stderr)][:3] == ["error"] * 3
    assert (step.folder / "goldgate-report" / "junit.xml").exists()


def test_a_failed_gate_may_pass_but_never_a_broken_run(step: Step) -> None:
    missing = f"{INPUTS}\n--protocol={EXAMPLES / 'missing.yaml'}"
    for arguments, fail_on, exit_status, status in (
        (FAILING, "error", 0, "FAIL"),
        ("--gold=missing.jsonl", "error", 2, "SYSTEM_ERROR"),
        (missing, "error", 2, "SYSTEM_ERROR"),
        (INPUTS, "gate", 0, "NO_GATES"),
    ):
        done = step.run(arguments=arguments, out="a folder", **{"fail-on": fail_on})
        assert (done.returncode, step.outputs["status"]) == (exit_status, status), arguments
    assert step.run(arguments=FAILING, **{"fail-on": "errors"}).returncode == 2


def test_what_judges_nothing_is_not_green(step: Step) -> None:
    """Not even where a report of an earlier run lies there."""
    step.run(arguments=INPUTS)
    report, earlier = step.folder / "goldgate-report", step.folder / "earlier"
    report.rename(earlier)
    help_only = [{"arguments": f"{INPUTS}\n--help"}, {"arguments": "--help"}]
    for given in [*help_only, {"arguments": "x", "suite": "--version"}]:
        shutil.rmtree(report, ignore_errors=True)
        shutil.copytree(earlier, report)
        assert step.run(**given, **{"fail-on": "error"}).returncode == 2, given
        assert step.outputs == {"exit-status": "2", "status": "SYSTEM_ERROR"}, given


def test_a_goldgate_that_does_not_start_is_no_failed_gate(step: Step) -> None:
    (step.folder / "temp/goldgate/bin/goldgate").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "import missing"\n')
    assert step.run(arguments=FAILING, **{"fail-on": "error"}).returncode == 2
    assert step.outputs == {"exit-status": "2", "status": "SYSTEM_ERROR"}


def test_the_install_imports_nothing_from_the_working_directory(tmp_path: Path) -> None:
    """Its own step, up to the first module that it runs: whoever writes the repository could have put one there."""
    (tmp_path / "venv.py").write_text("open('made', 'w')\n")
    script = ACTION["runs"]["steps"][0]["run"].splitlines()[0]
    env = {**os.environ, "PYTHON": sys.executable, "RUNNER_TEMP": str(tmp_path / "temp")}
    subprocess.run(["bash", "-c", f"{script} --without-pip"], cwd=tmp_path, env=env, check=True, timeout=120)
    assert not (tmp_path / "made").exists()
    assert " -m " not in ACTION["runs"]["steps"][0]["run"].replace(" -I -m ", "")


@pytest.mark.parametrize("hostile", ["$(touch made)", "`touch made`", '"; touch made; "', "--gold=x; touch made", "*"])
def test_an_argument_is_never_a_command(step: Step, hostile: str) -> None:
    """Whatever it says, it reaches goldgate as one word."""
    (step.folder / "temp/goldgate/bin/goldgate").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > words; exit 2\n')
    for given, word in (
        ({"arguments": hostile}, hostile),
        ({"arguments": INPUTS, "suite": hostile}, hostile),
        ({"arguments": INPUTS, "out": f"o/{hostile}"}, f"--out=o/{hostile}"),
    ):
        (step.folder / "words").unlink(missing_ok=True)
        step.run(**given)
        assert not (step.folder / "made").exists(), given
        if (step.folder / "words").exists():
            assert word in (step.folder / "words").read_text().splitlines(), given
