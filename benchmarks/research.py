"""Speed and memory of the research suite on generated outputs, as ratios to reading and decoding the same files.

Every figure is the best of several rounds, and what is compared is measured in turn: ratios hold where seconds do not.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from goldgate.api import evaluate_outputs

SMALL, LARGE = 1_000, 10_000
QUERIES = 200
STEPS, CLAIMS, EVIDENCE, CHUNKS = 20, 10, 20, 30
ROUNDS = 3
MOST_TIMES, MOST_BYTES = 3.0, 2_000  # what is promised

_WORDS = (
    "harbour river winter ledger council bridge grain annals keeper tower signal market frozen repaired counted "
    "eleven northern former second written letter stone timber season quarter record measure report crossing"
).split()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        size = make_outputs(small, SMALL)
        make_outputs(large, LARGE)
        print(f"Research suite: runs of {STEPS} steps, {CLAIMS} claims, {EVIDENCE} evidence records, {CHUNKS} chunks,")
        print(f"  4 files and {size / SMALL / 1000:.0f} KB each; {QUERIES} golden queries; best of {ROUNDS} rounds")
        for path, runs in ((small, SMALL), (large, LARGE)):
            _time(path, runs)
        _memory(small, large)
        _two_workers(large)


def read_and_decode(outputs: Path) -> None:
    """What anybody must do who reads these files: open, read, decode, and do nothing with them."""
    with os.scandir(outputs) as runs:
        for run in runs:
            with os.scandir(run.path) as files:
                for file in files:
                    with open(file.path, "rb") as stream:
                        data = stream.read()
                    if file.name.endswith(".jsonl"):
                        for line in data.splitlines():
                            orjson.loads(line)
                    else:
                        orjson.loads(data)


def _time(folder: Path, runs: int) -> None:
    bare = work = float("inf")
    for _ in range(ROUNDS):
        bare = min(bare, _cpu(lambda: read_and_decode(folder / "outputs")))
        work = min(work, _cpu(lambda: evaluate_outputs(folder / "golden.json", folder / "outputs")))
    verdict = "" if work / bare <= MOST_TIMES else f"  MORE THAN {MOST_TIMES}"
    print(
        f"  {runs:6,} runs  read and decode {bare / runs * 1e6:6.0f} µs a run   "
        f"judge {work / runs * 1e6:6.0f} µs   {work / bare:.2f} x{verdict}"
    )


def _memory(small: Path, large: Path) -> None:
    peaks = [_peak(folder) for folder in (small, large)]
    a_run = (peaks[1] - peaks[0]) / (LARGE - SMALL)
    verdict = "" if a_run <= MOST_BYTES else f"  MORE THAN {MOST_BYTES}"
    print(
        f"  peak memory of the command {peaks[0] / 1e6:.1f} MB at {SMALL:,}, {peaks[1] / 1e6:.1f} MB at {LARGE:,}: "
        f"{a_run:.0f} bytes a run{verdict}"
    )


def _two_workers(folder: Path) -> None:
    walls = {1: float("inf"), 2: float("inf")}
    for _ in range(ROUNDS):
        for workers in walls:
            walls[workers] = min(walls[workers], _wall(folder, workers))
    print(
        f"  wall clock of the command, {LARGE:,} runs, {os.cpu_count()} cores: --workers 1 {walls[1]:.2f} s, "
        f"--workers 2 {walls[2]:.2f} s, {walls[1] / walls[2]:.2f} times as fast"
    )


def _command(folder: Path, workers: int) -> list[str]:
    return [
        *(sys.executable, "-m", "goldgate", "research"),
        *("--golden", str(folder / "golden.json"), "--outputs", str(folder / "outputs")),
        *("--workers", str(workers), "--quiet"),
    ]


def _wall(folder: Path, workers: int) -> float:
    begin = time.perf_counter()
    subprocess.run(_command(folder, workers), check=False, capture_output=True)
    return time.perf_counter() - begin


def _peak(folder: Path) -> int:
    """Peak resident bytes of the command, asked of a process of its own."""
    ask = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], capture_output=True);"
    ask += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    command = [sys.executable, "-c", ask, *_command(folder, 1)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) * 1024


def _cpu(work: Any) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
