"""Prints how much faster N workers are than one, as a ratio from one run, beside what the machine itself gives.

    python benchmarks/scaling.py [--samples 200000] [--workers 1 2 4] [--rounds 1]

The command is the whole one, with samples.jsonl and intervals, start-up included; every result must have the same
bytes. Busy neighbours and shared cores take their part from any program: the row `the machine` says what is left, by
as many processes that count and do nothing else.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import make_data

DIFFERENT = 10_000  # samples that are made; more are the same ones under other ids
COMPARED = ("samples.jsonl", "report.json", "report.html")
COUNT = "sum(i * i % 7 for i in range(12_000_000))"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=100_000)
    options.add_argument("--workers", type=int, nargs="+", default=sorted({1, 2, os.cpu_count() or 1}))
    options.add_argument("--rounds", type=int, default=2)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        _make(data, asked.samples)
        walls = dict.fromkeys(asked.workers, float("inf"))
        for _ in range(asked.rounds):
            for workers in asked.workers:
                walls[workers] = min(walls[workers], _run(data, Path(folder, str(workers)), workers))
        one = asked.workers[0]
        counted = {workers: _counted(workers) for workers in asked.workers}
        print(f"The whole command with samples.jsonl, {asked.samples:,} samples, {os.cpu_count()} cores")
        for workers, seconds in walls.items():
            machine = workers / one * counted[one] / counted[workers]
            print(
                f"  {workers:3} workers  {seconds:7.2f} s  {walls[one] / seconds:5.2f} times {one}"
                f"   (the machine: {machine:5.2f})"
            )
            for name in COMPARED:
                if not filecmp.cmp(Path(folder, str(one), name), Path(folder, str(workers), name), shallow=False):
                    sys.exit(f"{name} of {workers} workers differs from that of {one}")


def _make(folder: Path, samples: int) -> None:
    """The benchmark's data, as often as it takes."""
    different = min(samples, DIFFERENT)
    make_data.main(folder, different)
    for name in ("gold", "predictions"):
        lines = (folder / f"{name}.jsonl").read_bytes()
        with open(folder / f"{name}.jsonl", "wb") as stream:
            for number in range(-(-samples // different)):
                stream.write(lines.replace(b'{"id":"doc-', b'{"id":"%d-' % number))


def _run(data: Path, out: Path, workers: int) -> float:
    command = [
        *(sys.executable, "-m", "goldgate", "extraction"),
        *("--gold", str(data / "gold.jsonl"), "--predictions", str(data / "predictions.jsonl")),
        *("--schema", str(data / "schema.json"), "--protocol", str(data / "include_or_char_overlap.yaml")),
        *("--out", str(out), "--workers", str(workers)),
    ]
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def _counted(processes: int) -> float:
    """Seconds that so many processes take to count, each the same."""
    begin = time.perf_counter()
    started = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(processes)]
    for process in started:
        process.wait()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
