"""Data, processes and what may be left of them: what the tests of this folder share.

`ROUNDS` (how often everything is tried) and `SEED` come from the environment: `make chaos ROUNDS=50 SEED=7`.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldgate.files.writing import LOCK_FILE as LOCK

ROUNDS = int(os.environ.get("ROUNDS", "1"))
SEED = int(os.environ.get("SEED", "1"))
SAMPLES = 1_500
FILES = {"report.html", "report.json", "report.md", "junit.xml", "samples.jsonl", "run.json"}
MARK = "GOLDGATE_CHAOS"  # in the environment of a process and all that it starts
PATIENCE = 60.0  # seconds; ending takes milliseconds, unless the machine is very busy


def rounds(name: str) -> Iterator[random.Random]:
    """A source of chance for each round: the same for the same seed."""
    for number in range(ROUNDS):
        yield random.Random(f"{name} {SEED} {number}")


@dataclass(frozen=True)
class Data:
    """A gold file, two files of predictions, and what their bytes are."""

    folder: Path
    contents: dict[str, bytes]

    def path(self, name: str) -> Path:
        return self.folder / name

    def restore(self) -> None:
        for name, content in self.contents.items():
            (self.folder / name).write_bytes(content)

    def sha256(self, name: str) -> str:
        return hashlib.sha256(self.contents[name]).hexdigest()


def make_data(folder: Path, samples: int = SAMPLES) -> Data:
    """Two models of which one is right throughout and the other wrong; their files have the same size."""
    gold: list[str] = []
    right: list[str] = []
    wrong: list[str] = []
    for number in range(samples):
        company = f"Company {number:05}"
        events = [{"event_type": "Strike", "arguments": [{"role": "Employer", "argument": company}]}]
        gold.append(json.dumps({"id": str(number), "text": f"Workers of {company} walked out.", "events": events}))
        for lines, answer in ((right, company), (wrong, company[::-1])):
            events = [{"event_type": "Strike", "arguments": [{"role": "Employer", "argument": answer}]}]
            lines.append(json.dumps({"id": str(number), "response": json.dumps(events)}))
    schema = json.dumps({"event_types": {"Strike": {"roles": ["Employer"]}}})
    files = {"gold.jsonl": gold, "predictions.jsonl": right, "other.jsonl": wrong, "schema.json": [schema]}
    data = Data(folder, {name: ("\n".join(lines) + "\n").encode() for name, lines in files.items()})
    data.restore()
    assert len(data.contents["predictions.jsonl"]) == len(data.contents["other.jsonl"])
    return data


def command(data: Data, out: Path, *more: str, predictions: str = "predictions.jsonl") -> list[str]:
    return [
        *(sys.executable, "-m", "goldgate", "extraction", "--gold", str(data.path("gold.jsonl"))),
        *("--predictions", str(data.path(predictions)), "--schema", str(data.path("schema.json"))),
        *("--out", str(out), "--quiet", *more),
    ]


def new_mark() -> str:
    return uuid.uuid4().hex


def start(line: list[str], mark: str = "-", **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, MARK: mark, **options.pop("env", {})}
    return subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True, encoding="utf-8", **options)


NO_GATES = "NO_GATES  no gates set; scores only\n"


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit status and what was said on stderr, but that there were no gates, as in all runs here."""
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, said.removesuffix(NO_GATES)


def python_was_still_starting(said: str) -> bool:
    """Whether Ctrl-C came before our first function: then Python shows a traceback of its own, whatever we do."""
    return "KeyboardInterrupt" in said and ", in start\n" not in said


def report_of(data: Data, folder: Path, predictions: str = "predictions.jsonl") -> bytes:
    """The report as it is if nothing disturbs the run."""
    status, said = finished(start(command(data, folder, predictions=predictions)))
    assert status == 0, said
    return (folder / "report.json").read_bytes()


def require_none_left(mark: str) -> None:
    """No process with this mark in its environment, after a while."""
    until = time.monotonic() + PATIENCE
    while left := _marked(mark):
        assert time.monotonic() < until, f"still running: {left}"
        time.sleep(0.02)


def _marked(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it ended meanwhile, or belongs to somebody else
            continue
    return found


def require_no_leftovers(folder: Path) -> None:
    if folder.exists():
        left = {path.name for path in folder.iterdir()}
        assert not {name for name in left if name == LOCK or name.endswith(".unfinished")}, left
