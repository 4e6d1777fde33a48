"""Shell completion, as bash asks for it and as its function fills in the answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """
source <(_GOLDGATE_COMPLETE=bash_source goldgate)
compopt() { echo "compopt $1 $2"; }   # bash has it only while it completes
while read -r line; do
  COMPREPLY=()
  read -ra COMP_WORDS <<< "$line"
  COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
  _goldgate_completion goldgate < /dev/null
  printf '%s\\n' "${COMPREPLY[@]}"
  echo "end"
done
"""
CASES = {
    "goldgate ext": ["extraction"],
    "goldgate ve": ["verify"],
    "goldgate extraction --form": ["--format"],
    "goldgate extraction --format j": ["json", "junit"],
    "goldgate extraction --gold ex": ["compopt -o default", ""],
    "goldgate extraction --out ex": ["compopt -o dirnames", ""],
    "goldgate trend ex": ["compopt -o dirnames", ""],
    "goldgate read ex": ["compopt -o default", ""],
    "goldgate convert ex": ["compopt -o default", ""],
    "goldgate schema --from ex": ["compopt -o default", ""],
    "goldgate extraction --id-field ex": [""],
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    command = tmp_path / "goldgate"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from goldgate.cli.main import main; main()" "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash(environment: dict[str, str]) -> None:
    asked = "".join(f"{words}\n" for words in CASES)
    shown = subprocess.run(
        ["bash", "-c", ASK], input=asked, env=environment, capture_output=True, text=True, timeout=60
    )
    assert shown.stderr == ""
    answers = [answer.splitlines() for answer in shown.stdout.split("end\n")[:-1]]
    assert dict(zip(CASES, answers, strict=True)) == CASES


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str, environment: dict[str, str]) -> None:
    environment["_GOLDGATE_COMPLETE"] = f"{shell}_source"
    shown = subprocess.run(["goldgate"], env=environment, capture_output=True, text=True, timeout=60)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "_GOLDGATE_COMPLETE" in shown.stdout
