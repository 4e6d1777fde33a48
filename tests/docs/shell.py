"""Commands as a reader of the docs types them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from goldgate.cli.main import goldgate

from .documents import ROOT

_COMMANDS = {"goldgate": f'exec "{sys.executable}" -m goldgate "$@"', "python": f'exec "{sys.executable}" "$@"'}


class Shell:
    """A shell that knows `goldgate` and `python`, whatever is installed where the tests run."""

    def __init__(self, bin: Path) -> None:
        bin.mkdir()
        for name, text in _COMMANDS.items():
            (bin / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (bin / name).chmod(0o755)
        self._changes = {"GITHUB_STEP_SUMMARY": str(bin / "summary.md"), "XDG_CACHE_HOME": str(bin / "cache")}
        self._environment = {
            **os.environ,
            **self._changes,
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONIOENCODING": "utf-8",
        }

    def run(self, line: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """What a line prints and its exit status; a line that only starts goldgate is run in this process."""
        words = _plain(line)
        if words is not None:
            with chdir(folder):
                done = CliRunner().invoke(goldgate, words, env={"COLUMNS": "80", **self._changes})
            return subprocess.CompletedProcess(line, done.exit_code, done.output)
        return subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )


def _plain(line: str) -> list[str] | None:
    """The words after `goldgate`, where the line is nothing that a shell would have to do more about."""
    command = line.replace("\\\n", " ").strip()
    if not command.startswith("goldgate ") or re.search(r"[|&;<>$`*?(){}#~\n]", command):
        return None
    return shlex.split(command)[1:]


def workflow_steps(workflow: Any) -> Iterator[str]:
    """What the steps of a workflow of GitHub run, but for installing."""
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if "run" in step and not re.match(r"pip install\b", step["run"]):
                yield step["run"]
