"""Prints what generation promises: share of the ideal rate, CPU a request, nothing lost, killed and resumed.

The endpoint is tests/generation/server.py in a process of its own, on this machine.
"""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import make_data

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests" / "generation" / "server.py"
REQUESTS, LATENCY = 2_000, 0.2
KILLS = 20


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data.main(folder, REQUESTS)
        print(f"{REQUESTS:,} requests at {LATENCY * 1000:.0f} ms, against {LATENCY}s/connection as the ideal")
        for connections, wanted in ((64, 0.9), (256, 0.8)):
            _speed(folder, connections, wanted)
        print("Nothing lost")
        _faults(folder, "5 % 429, 2 % 500, 1 % resets", "--busy=0.05", "--broken=0.02", "--reset=0.01")
        _faults(folder, "30 % 429", "--busy=0.3")
        _killed(folder)


def _speed(folder: Path, connections: int, wanted: float) -> None:
    ideal = LATENCY + (REQUESTS - 1) * LATENCY / connections  # the first question is asked alone
    rounds = []
    for number in range(3):
        out = folder / f"speed-{connections}-{number}"
        with _server(folder, f"--latency={LATENCY}") as url:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.perf_counter()
            said = _generate(folder, url, out, connections)
            wall = time.perf_counter() - begin
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rounds.append((_phase(said), wall, cpu))
    phase, wall, cpu = min(rounds)
    share = ideal / phase
    print(
        f"  {connections:3} connections: {phase:.2f} s, {100 * share:.1f} % of the ideal {ideal:.2f} s"
        f" (promised: {100 * wanted:.0f} %), {1000 * cpu / REQUESTS:.2f} ms CPU a request, start-up included;"
        f" whole command {wall:.2f} s"
    )


def _faults(folder: Path, label: str, *faults: str) -> None:
    out = folder / f"faults-{len(faults)}"
    with _server(folder, "--latency=0.05", *faults) as url:
        said = _generate(folder, url, out, 64)
        asked = _stats(url)
    answered = _coverage(out)
    print(f"  {label}: {answered} of {REQUESTS} answered, {asked['requests']} attempts; {said.splitlines()[-1]}")


def _killed(folder: Path) -> None:
    """SIGKILL at random moments; then the answers, the questions asked twice, and the report's bytes."""
    rng = random.Random(4)
    with _server(folder, "--latency=0.05") as url:
        _evaluate(folder, url, folder / "whole")
        expected = (folder / "whole" / "report.json").read_bytes()
    with _server(folder, "--latency=0.05") as url:
        journal = folder / "killed" / "journal.jsonl"
        for _ in range(KILLS):
            stored = _answers(journal)
            size = _size(journal) + rng.randrange(100_000)  # about 75 answers at most, so that all kills find work
            process = subprocess.Popen(_command(folder, url, folder / "killed", 32, "--quiet"))
            while process.poll() is None and _size(journal) <= size:
                time.sleep(rng.uniform(0.0, 0.01))
            assert process.poll() is None, "it ended before it could be killed"
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert stored <= _answers(journal)
        _evaluate(folder, url, folder / "killed")
        lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
        keys = [line["key"] for line in lines if line["kind"] == "answer"]
        asked_again = len(keys) - len(set(keys))
        stats = _stats(url)
    same = (folder / "killed" / "report.json").read_bytes() == expected
    print(
        f"Killed {KILLS} times and resumed: {_coverage(folder / 'killed')} of {REQUESTS} answered,"
        f" {asked_again} of the journalled asked again, report {'identical' if same else 'DIFFERENT'}"
        f" ({stats['answers'] - REQUESTS} answers were in flight at a kill, of at most {KILLS * 32})"
    )


def _generate(folder: Path, url: str, out: Path, connections: int) -> str:
    done = subprocess.run(_command(folder, url, out, connections), check=True, capture_output=True, text=True)
    return done.stderr


def _evaluate(folder: Path, url: str, out: Path) -> None:
    command = _command(folder, url, out, 64, "--quiet")
    script = [sys.executable, str(ROOT / "evaluate_api.py"), *command[4:]]
    subprocess.run(script, check=True)


def _command(folder: Path, url: str, out: Path, connections: int, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "goldgate", "generate"),
        *("--gold", str(folder / "gold.jsonl"), "--schema", str(folder / "schema.json")),
        *("--model", "bench", "--base-url", url, "--out", str(out), "--concurrency", str(connections)),
        *more,
    ]


def _phase(said: str) -> float:
    found = re.search(r"in ([\d.]+) s \(", said)
    assert found is not None, said
    return float(found[1])


def _coverage(out: Path) -> int:
    return sum(
        int(seed["coverage"]["numerator"]) for seed in json.loads((out / "generation.json").read_bytes())["seeds"]
    )


def _size(journal: Path) -> int:
    return journal.stat().st_size if journal.exists() else 0


def _answers(journal: Path) -> set[str]:
    """Keys of the answers that are whole."""
    if not journal.exists():
        return set()
    lines = [line for line in journal.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return {record["key"] for record in map(json.loads, lines) if record["kind"] == "answer"}


def _stats(url: str) -> dict[str, Any]:
    with urlopen(url.removesuffix("/v1") + "/stats") as reply:
        stats: dict[str, Any] = json.load(reply)
    return stats


@contextmanager
def _server(folder: Path, *behaviour: str) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--gold", str(folder / "gold.jsonl"), "--port", str(_PORT), *behaviour]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


_PORT = _free_port()  # the same for every server: the address belongs to a request's key


if __name__ == "__main__":
    main()
