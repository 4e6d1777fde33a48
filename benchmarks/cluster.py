"""What Ray costs: the same evaluation with worker processes and on a Ray of this machine, in turn.

    python benchmarks/cluster.py [SAMPLES [WORKERS]]

Time is that of all processes together, those of Ray too; wall-clock time stands beside it for a machine that is idle.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import make_data

SAMPLES, WORKERS, FEW = 200_000, 2, 100
PROMISED = 1.3
EVERY = 0.1  # seconds
_PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    processor: float
    wall: float


def main(samples: int = SAMPLES, workers: int = WORKERS) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # whoever loses its parent becomes ours, with its time
    engines = {"processes": [], "Ray": ["--engine", "ray"]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data.main(folder / "few", FEW)
        make_data.main(folder / "many", samples)
        start, whole = ({engine: _cost(folder / size, workers, engine, engines[engine]) for engine in engines}
                        for size in ("few", "many"))  # fmt: skip
        same = len({(folder / "many" / engine / "samples.jsonl").read_bytes() for engine in engines}) == 1
    print(f"{samples:,} samples, {workers} workers, with samples.jsonl; seconds of all processes, and by the clock")
    for engine in engines:
        print(f"  {engine:10} {whole[engine].processor:8.1f} {whole[engine].wall:8.1f}"
              f"   of which to start and end {start[engine].processor:5.1f} {start[engine].wall:5.1f}")  # fmt: skip
    ratios = [ray / pool for ray, pool in zip(whole["Ray"], whole["processes"], strict=True)]
    without = [
        (whole["Ray"][part] - start["Ray"][part]) / (whole["processes"][part] - start["processes"][part])
        for part in range(2)
    ]
    print(
        f"  Ray / processes {ratios[0]:.2f} {ratios[1]:.2f}   without start and end {without[0]:.2f} {without[1]:.2f}"
    )
    print(f"  promised: at most {PROMISED}; the same samples.jsonl: {'yes' if same else 'NO'}")


def _cost(folder: Path, workers: int, engine: str, options: list[str]) -> Cost:
    command = [
        *(sys.executable, "-m", "goldgate", "extraction", "--gold", str(folder / "gold.jsonl")),
        *("--predictions", str(folder / "predictions.jsonl"), "--schema", str(folder / "schema.json")),
        *("--out", str(folder / engine), "--quiet", "--workers", str(workers), *options),
    ]
    clock, seconds = time.perf_counter(), dict[tuple[str, str], float]()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        while running.poll() is None:
            seconds |= _descendants()
            time.sleep(EVERY)
        wall = time.perf_counter() - clock
        assert running.returncode == 0, f"exit status {running.returncode}"
    while seconds.keys() & _descendants().keys():  # Ray's processes take a moment to end
        time.sleep(EVERY)
    return Cost(sum(seconds.values()), wall)


def _descendants() -> dict[tuple[str, str], float]:
    """The processor's time of every process that we started, or that one of those did, by its number and start.

    Looked up while they run: Ray does not wait for its workers, and so nobody is told when they end.
    """
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
        except OSError:
            continue
        if fields and fields[0] != "Z":
            parents[entry.name] = fields[1]
            found[entry.name, fields[19]] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return {process: seconds for process, seconds in found.items() if _is_ours(process[0], parents)}


def _is_ours(process: str, parents: dict[str, str]) -> bool:
    while process in parents:
        process = parents[process]
        if process == str(os.getpid()):
            return True
    return False


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
