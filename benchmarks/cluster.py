"""What Ray costs: the same evaluation with worker processes and on a Ray of this machine, in turn.

    python benchmarks/cluster.py [SAMPLES [WORKERS]]

Time is that of all processes together, those of Ray too; wall-clock time stands beside it for a machine that is idle.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import make_data

SAMPLES, WORKERS, FEW = 200_000, 2, 100
PROMISED = 1.3
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
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - clock
    while True:  # whatever it left behind: Ray's processes take a moment to end
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
