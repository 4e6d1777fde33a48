"""The data of `goldgate demo`, which comes with the package, and the commands that it shows."""

from __future__ import annotations

import json
from importlib.resources import files

COMMANDS = "commands.json"
FILES = ("gold.jsonl", "model-a.jsonl", "model-b.jsonl", "schema.json", "release.yaml")


def demo_files() -> dict[str, bytes]:
    """The files by name."""
    folder = files(__name__) / "data"
    return {name: (folder / name).read_bytes() for name in FILES}


def demo_commands() -> dict[str, int]:
    """The commands, each with the exit status that it has to end with."""
    text = (files(__name__) / "data" / COMMANDS).read_text(encoding="utf-8")
    return {command: int(status) for command, status in json.loads(text).items()}
