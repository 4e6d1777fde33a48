"""Commands as a reader of the docs types them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from .documents import ROOT

_COMMANDS = {"goldgate": f'exec "{sys.executable}" -m goldgate "$@"', "python": f'exec "{sys.executable}" "$@"'}


class Shell:
    """A shell that knows `goldgate` and `python`, whatever is installed where the tests run."""

    def __init__(self, bin: Path) -> None:
        bin.mkdir()
        for name, text in _COMMANDS.items():
            (bin / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (bin / name).chmod(0o755)
        self._environment = {
            **os.environ,
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONIOENCODING": "utf-8",
            "GITHUB_STEP_SUMMARY": str(bin / "summary.md"),
            "XDG_CACHE_HOME": str(bin / "cache"),
        }

    def run(self, line: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )


def workflow_steps(text: str) -> Iterator[str]:
    """What the steps of a workflow run, but for installing."""
    for job in yaml.safe_load(text)["jobs"].values():
        for step in job["steps"]:
            if "run" in step and not re.match(r"pip install\b", step["run"]):
                yield step["run"]
