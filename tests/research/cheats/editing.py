"""How cheats edit runs: an output, a log, a copy of a run under a new id."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


def output(run: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((run / "research_output.json").read_text())
    return value


def save(run: Path, value: dict[str, Any]) -> None:
    (run / "research_output.json").write_text(json.dumps(value, ensure_ascii=False))


def edit(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    value = output(run)
    change(value)
    save(run, value)


def edit_lines(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change every record of a JSON Lines file."""
    values = [json.loads(line) for line in path.read_text().splitlines()]
    for value in values:
        change(value)
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values))


def append_events(run: Path, *payloads: dict[str, Any]) -> None:
    run_id = run.name.removeprefix("run_")
    with (run / "events.jsonl").open("a") as log:
        for payload in payloads:
            event = {"run_id": run_id, "step_id": None, "event_type": "note", "payload": payload}
            log.write(json.dumps(event) + "\n")


def clone(run: Path, run_id: str) -> Path:
    """A copy of a run under a new id, everywhere."""
    copy = run.parent / f"run_{run_id}"
    shutil.copytree(run, copy)
    edit(copy, lambda value: value.update(run_id=run_id))
    for name in ("events.jsonl", "manifests.jsonl"):
        edit_lines(copy / name, lambda value: value.update(run_id=run_id))
    return copy
