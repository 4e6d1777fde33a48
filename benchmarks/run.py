"""Prints what `make bench` promises, all from one run: time, ratios, memory, speed-up, start-up.

The main row is a model that errs (`erring.py`); beside it stands one that hardly does. Machines are noisy: every
figure is the best of several rounds, and what is compared is measured in turn, so that the ratios hold where the
microseconds do not.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import make_data
import orjson
from slow_ways import slow_ways_only

from goldgate.core.tally import Tally
from goldgate.pipeline import CountShard
from goldgate.readers.joined_suite import open_joined
from goldgate.suites.extraction.events.event_schema import load_event_schema
from goldgate.suites.extraction.source import ExtractionWork
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan

MODES = ("include_or_char_overlap", "span_iou")
SMALL, LARGE = 10_000, 100_000
FIRST = 1_000
ROUNDS = 5

# As installed: modules are compiled once, not at every start.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for language in ("zh", "en"):
            make_data.main(folder / f"errs-{language}", SMALL, language, errs=True)
            make_data.main(folder / f"clean-{language}", SMALL, language)
        make_data.main(folder / "errs", LARGE, errs=True)
        make_data.main(folder / "clean", LARGE)
        make_data.main(folder / "small", SMALL)
        make_data.main(folder / "first", FIRST, errs=True)
        print("The whole command with samples.jsonl and intervals, start-up included")
        for kind in ("errs", "clean"):
            _whole_command(folder / kind, kind)
        print("In one process, without samples.jsonl: CPU time a sample, best of", ROUNDS, "rounds")
        for kind in ("errs", "clean"):
            for language in ("zh", "en"):
                _time_a_sample(folder / f"{kind}-{language}", f"{kind}  {language}")
        _memory(folder / "small", folder / "clean")
        _two_workers(folder / "errs")
        _start_up(folder / "first")


def _time_a_sample(folder: Path, label: str) -> None:
    """Read, parse and score, against decoding the same lines and doing nothing with them."""
    lines = _lines(folder)
    work: dict[str, Callable[[], object]] = {"bare orjson.loads": lambda: _decode(lines)}
    work["read the lines and decode them"] = lambda: _read_and_decode(folder)
    for mode in MODES:
        work[f"read, parse and score, {mode}"] = lambda mode=mode: _score(folder, mode)  # type: ignore[misc]
    work["the same by the slow ways alone"] = lambda: _score_slowly(folder)
    best = _best(work)
    bare = best["bare orjson.loads"]
    for name, seconds in best.items():
        print(f"  {label}  {name:48} {seconds / SMALL * 1e6:7.1f} µs  {seconds / bare:5.1f} x")
    slow = best["the same by the slow ways alone"] / best[f"read, parse and score, {MODES[0]}"]
    print(f"  {label}  slow ways over fast ways: {slow:.1f} (promised: at most 3)")


def _lines(folder: Path) -> list[bytes]:
    return [line for name in ("gold", "predictions") for line in (folder / f"{name}.jsonl").read_bytes().splitlines()]


def _decode(lines: list[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _read_and_decode(folder: Path) -> None:
    for name in ("gold", "predictions"):
        with open(folder / f"{name}.jsonl", "rb") as stream:
            for line in stream:
                orjson.loads(line)


def _score(folder: Path, mode: str) -> Tally:
    """The line from files to the tally, without digests, report and records."""
    plan = load_plan(SUITE, folder / f"{mode}.yaml")
    schema = load_event_schema(folder / "schema.json")
    tally = Tally()
    with open_joined([folder / "gold.jsonl"], [folder / "predictions.jsonl"]) as files:
        work = CountShard(ExtractionWork(plan.settings, schema, files.reader))
        for shard in files.shards():
            tally += work((shard, None)).total.tally
    return tally


def _score_slowly(folder: Path) -> Tally:
    with slow_ways_only():
        return _score(folder, MODES[0])


def _whole_command(folder: Path, kind: str) -> None:
    """The command with digests, samples.jsonl and report; what is decoded bare is measured in turn with it."""
    lines = _lines(folder)
    seconds = bare = float("inf")
    with tempfile.TemporaryDirectory() as out:
        for _ in range(3):
            seconds = min(seconds, _command_seconds(folder, Path(out), 1)[1])
            bare = min(bare, *(_cpu(lambda: _decode(lines)) for _ in range(3)))
        f1 = orjson.loads(Path(out, "report.json").read_bytes())["metrics"]["main"]["strict_f1"]["value"]
    print(
        f"  {kind:6} {LARGE:,} samples, both languages, strict F1 {f1:.2f}: {seconds / LARGE * 1e6:.1f} µs CPU a"
        f" sample, {seconds / bare:.1f} x bare orjson.loads ({bare / LARGE * 1e6:.1f} µs)",
        flush=True,
    )


def _memory(small: Path, large: Path) -> None:
    """Peak memory of the command at two sizes, in order and with the predictions in another order."""
    print("Peak memory of the command")
    for name in ("predictions", "shuffled"):
        peaks = [_peak(folder, name) for folder in (small, large)]
        a_sample = (peaks[1] - peaks[0]) / (LARGE - SMALL)
        print(
            f"  {name:12} {peaks[0] / 1e6:6.1f} MB at {SMALL:,}, {peaks[1] / 1e6:6.1f} MB at {LARGE:,}:"
            f" {a_sample:.0f} bytes a sample"
        )


def _two_workers(folder: Path) -> None:
    print(f"Workers, wall clock of the command, {LARGE:,} samples, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as out:
        walls = {workers: min(_command_seconds(folder, Path(out), workers)[0] for _ in range(2)) for workers in (1, 2)}
    print(f"  1: {walls[1]:.2f} s   2: {walls[2]:.2f} s   {walls[1] / walls[2]:.2f} times as fast")


def _start_up(folder: Path) -> None:
    command = [sys.executable, "-m", "goldgate", "--help"]
    walls, firsts, processor = [], [], []
    with tempfile.TemporaryDirectory() as out:
        for _ in range(10):
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
            walls.append(time.perf_counter() - begin)
            first = _command_seconds(folder, Path(out), 1)
            firsts.append(first[0])
            processor.append(first[1])
    print(
        f"Start-up: goldgate --help {min(walls):.3f} s; the command with {FIRST:,} samples {min(firsts):.3f} s,",
        end=" ",
    )
    print(f"{min(processor):.3f} s CPU (promised: at most 0.65 s)")


def _command(folder: Path, predictions: str, out: Path, workers: int) -> list[str]:
    return [
        *(sys.executable, "-m", "goldgate", "extraction"),
        *("--gold", str(folder / "gold.jsonl"), "--predictions", str(folder / f"{predictions}.jsonl")),
        *("--schema", str(folder / "schema.json"), "--protocol", str(folder / f"{MODES[0]}.yaml")),
        *("--out", str(out), "--workers", str(workers)),
    ]


def _command_seconds(folder: Path, out: Path, workers: int) -> tuple[float, float]:
    """Wall clock and CPU seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(_command(folder, "predictions", out, workers), check=True, capture_output=True, env=ENVIRONMENT)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _peak(folder: Path, predictions: str) -> int:
    """Peak resident bytes of the command, asked of a process of its own."""
    with tempfile.TemporaryDirectory() as out:
        command = _command(folder, predictions, Path(out), 1)
        ask = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True, capture_output=True);"
        ask += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        done = subprocess.run(
            [sys.executable, "-c", ask, *command], check=True, capture_output=True, text=True, env=ENVIRONMENT
        )
    return int(done.stdout) * 1024


def _best(work: dict[str, Callable[[], object]]) -> dict[str, float]:
    best = dict.fromkeys(work, float("inf"))
    for _ in range(ROUNDS):
        for name, run in work.items():
            best[name] = min(best[name], _cpu(run))
    return best


def _cpu(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
