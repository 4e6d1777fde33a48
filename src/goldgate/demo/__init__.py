"""The data of `goldgate demo`, which comes with the package, and the commands that it runs."""

from __future__ import annotations

import json
from importlib.resources import files

COMMANDS = "commands.json"
SUITES = tuple(sorted(folder.name for folder in (files(__name__) / "data").iterdir()))  # that there is data for


def demo_files(suite: str = SUITES[0]) -> dict[str, bytes]:
    """The files of a suite by name."""
    folder = files(__name__) / "data" / suite
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != COMMANDS}


def demo_commands(suite: str = SUITES[0]) -> dict[str, int]:
    """The commands for a suite, each with the exit status that it has to end with."""
    text = (files(__name__) / "data" / suite / COMMANDS).read_text(encoding="utf-8")
    return {command: int(status) for command, status in json.loads(text).items()}
