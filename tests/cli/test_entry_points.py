"""The programs that a checkout has: each explains itself, and Ctrl-C never shows a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from goldgate import __version__
from tests.cases import cases

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "evaluate.py": [str(ROOT / "evaluate.py")],
    "evaluate_api.py": [str(ROOT / "evaluate_api.py")],
    "scripts/eval.py": [str(ROOT / "scripts" / "eval.py")],
    "goldgate": ["-m", "goldgate"],
}


def run(program: str, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    folders = [str(path)] if path is not None else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, str(ROOT / "src")])}
    line = [sys.executable, *PROGRAMS[program], *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, env=environment)


@cases(("program", "option"), [*((name, "-h") for name in PROGRAMS), ("goldgate", "--help")])
def test_each_explains_itself(program: str, option: str) -> None:
    done = run(program, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: {program} ")


def test_the_version_is_printed() -> None:
    assert run("goldgate", "--version").stdout == f"goldgate {__version__}\n"


def test_the_checkpoint_form_of_evaluate_explains_itself() -> None:
    done = run("evaluate.py", "--checkpoint", "x", "-h")
    assert done.returncode == 0
    assert "--batch-size" in done.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(program: str, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = run(program, "-h", path=tmp_path)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_ctrl_c_afterwards_is_said(program: str, tmp_path: Path) -> None:
    hook = "import os, signal, click\nclick.Command.invoke = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "sitecustomize.py").write_text(hook)
    given = {"goldgate": ["contracts"], "scripts/eval.py": ["--golden", "x", "--outputs", "x", "--report", "x"]}
    usual = ["--gold", "x", "--predictions", "x", "--schema", "x"]
    asking = ["--gold", "x", "--schema", "x", "--model", "m", "--base-url", "http://127.0.0.1:1"]
    arguments = given.get(program, asking if program == "evaluate_api.py" else usual)
    done = run(program, *arguments, path=tmp_path)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "interrupted" in done.stderr
