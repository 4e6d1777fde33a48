"""Speed and memory of the research suite on generated outputs, as ratios to reading and decoding the same files.

    python benchmarks/research.py [RUNS]

Every figure is the best of several rounds, and what is compared is measured in turn: ratios hold where seconds do not.
Memory is measured on small runs, of which there can be many: RUNS of them, and a tenth.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from research_runs import QUERIES, SMALL_RUN, USUAL_RUN, make_outputs

from goldgate import evaluate_outputs

RUNS = 1_000
FOLDERS = 20_000
ROUNDS = 5
MOST_TIMES = {
    False: 6.5,
    True: 10.5,
}  # what is promised, of reading and decoding: for runs that are right, and that err
MOST_BYTES = 2_000  # for each run that is right


def main() -> None:
    folders = int(sys.argv[1]) if len(sys.argv) > 1 else FOLDERS
    size = USUAL_RUN
    print(f"Research suite: runs of {size.steps} steps, {size.claims} claims, {size.evidence} evidence records,")
    print(f"  {size.chunks} chunks and 4 files; {QUERIES} golden queries; best of {ROUNDS} rounds")
    for erring in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            total = make_outputs(Path(folder, "runs"), RUNS, erring=erring)
            _time(Path(folder, "runs"), total, erring=erring)
            if not erring:
                _two_workers(Path(folder, "runs"))
    for erring in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            _memory(Path(folder), folders, erring=erring)


def read_and_decode(outputs: Path) -> None:
    """What anybody must do who reads these files: open, read, decode, and do nothing with them."""
    with os.scandir(outputs) as runs:
        for run in runs:
            with os.scandir(run.path) as files:
                for file in files:
                    with open(file.path, "rb") as stream:
                        data = stream.read()
                    try:
                        if file.name.endswith(".jsonl"):
                            for line in data.splitlines():
                                orjson.loads(line)
                        else:
                            orjson.loads(data)
                    except orjson.JSONDecodeError:  # a torn log
                        continue


def _time(folder: Path, size: int, *, erring: bool) -> None:
    bare = work = float("inf")
    for _ in range(ROUNDS):
        bare = min(bare, _cpu(lambda: read_and_decode(folder / "outputs")))
        work = min(work, _cpu(lambda: evaluate_outputs(folder / "golden.json", folder / "outputs")))
    verdict = "" if work / bare <= MOST_TIMES[erring] else f"  MORE THAN {MOST_TIMES[erring]}"
    print(
        f"  {_kind(erring)}, {size / RUNS / 1000:.0f} KB each: read and decode {bare / RUNS * 1e6:.0f} µs a run, "
        f"judge {work / RUNS * 1e6:.0f} µs, {work / bare:.2f} x{verdict}"
    )


def _memory(folder: Path, folders: int, *, erring: bool) -> None:
    few, many = folders // 10, folders
    for runs in (few, many):
        make_outputs(folder / str(runs), runs, SMALL_RUN, erring=erring)
    peaks = [_peak(folder / str(runs)) for runs in (few, many)]
    a_run = (peaks[1] - peaks[0]) / (many - few)
    verdict = "" if erring or a_run <= MOST_BYTES else f"  MORE THAN {MOST_BYTES:,}"
    print(
        f"  {_kind(erring)}, small ones: peak memory of the command {peaks[0] / 1e6:.1f} MB at {few:,}, "
        f"{peaks[1] / 1e6:.1f} MB at {many:,}: {a_run:.0f} bytes a run{verdict}"
    )


def _two_workers(folder: Path) -> None:
    walls = {1: float("inf"), 2: float("inf")}
    for _ in range(ROUNDS):
        for workers in walls:
            walls[workers] = min(walls[workers], _wall(folder, workers))
    print(
        f"  wall clock of the command, {RUNS:,} runs, {os.cpu_count()} cores: --workers 1 {walls[1]:.2f} s, "
        f"--workers 2 {walls[2]:.2f} s, {walls[1] / walls[2]:.2f} times as fast"
    )


def _kind(erring: bool) -> str:
    return "runs that err" if erring else "runs that are right"


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
