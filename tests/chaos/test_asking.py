"""A run that is killed while it asks an endpoint that comes and goes: nothing is lost or asked twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.generation.conftest import Data as Asked
from tests.generation.server import Running

from .runs import PATIENCE, rounds

DOCUMENTS, CONCURRENCY, KILLS = 150, 4, 4
SCRIPT = Path(__file__).parents[2] / "evaluate_api.py"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
ENVIRONMENT.pop("OPENAI_API_KEY", None)


def line(data: Asked, out: Path, *more: str) -> list[str]:
    files = ["--gold", str(data.gold), "--schema", str(data.schema), "--out", str(out)]
    return [sys.executable, str(SCRIPT), *files, "--model", "m", "--concurrency", str(CONCURRENCY), "--quiet", *more]


def finished(command: list[str]) -> None:
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


class Fickle(threading.Thread):
    """Makes an endpoint break every connection for a while, again and again."""

    def __init__(self, server: Running, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.server, self.chance, self.ended = server, chance, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(self.chance.uniform(0.1, 0.5)):
            self.server.behaviour.reset = 1.0 - self.server.behaviour.reset

    def end(self) -> None:
        self.ended.set()
        self.join()
        self.server.behaviour.reset = 0.0


def test_killed_runs_lose_nothing(tmp_path: Path) -> None:
    for turn, chance in enumerate(rounds("asking")):
        data = Asked(_made(tmp_path / str(turn)), DOCUMENTS)
        with Running(data.behaviour(latency=0.02, refuse_formats=("json_schema",))) as server:
            out = data.folder / "out"
            fickle = Fickle(server, chance)
            fickle.start()
            command = line(data, out, "--base-url", server.url, "--attempts", "20")
            for _ in range(KILLS):
                process = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
                time.sleep(chance.uniform(0.3, 1.5))
                process.send_signal(signal.SIGKILL)
                process.wait()
            fickle.end()
            finished(command)
            _require_all_once(out, server)
            finished(line(data, data.folder / "one", "--base-url", server.url))
        for name in ("report.json", "predictions.jsonl", "samples.jsonl"):
            assert (out / name).read_bytes() == (data.folder / "one" / name).read_bytes()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _require_all_once(out: Path, server: Running) -> None:
    """Every question has one answer, and only what was in flight when a process was killed was answered twice."""
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_bytes().splitlines()]
    keys = [line["key"] for line in lines if line["kind"] == "answer"]
    assert len(keys) == len(set(keys)) == DOCUMENTS
    assert server.seen.answered.total() - DOCUMENTS <= KILLS * CONCURRENCY
