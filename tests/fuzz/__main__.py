"""`make fuzz`: every target under atheris, then the laws with fresh seeds, for a number of seconds in all.

What is found lies in fuzz/findings, beside a text with the command that shows it again; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.targets import ROOT, TARGETS

FINDINGS = ROOT / "fuzz" / "findings"
TESTS = ROOT / "tests"
OTHER_LAWS = ["tests/responses/test_laws.py"]  # random without hypothesis: LAWS_SEED makes their choices
_LAW = re.compile(r"^@.*\bgiven\(", re.MULTILINE)
SHARE_OF_LAWS = 0.4
LEAST = 1  # seconds for a target
START = 60  # seconds that a process may take beyond its share, to start and to stop


def main() -> int:
    """Fuzz; the exit status is 1 if something was found."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=int, default=60, help="how long, in all")
    options.add_argument("--seed", type=int, help="where random choices begin; without it they are fresh")
    options.add_argument("--target", choices=TARGETS, help="this one alone, without the laws")
    given = options.parse_args()
    FINDINGS.mkdir(parents=True, exist_ok=True)
    names = [given.target] if given.target else [*TARGETS]
    seed = random.SystemRandom().randrange(1, 2**31) if given.seed is None else given.seed
    print(f"seed {seed}; the same again: make fuzz SECONDS={given.seconds} SEED={seed}", flush=True)
    found: list[Path] = []
    if find_spec("atheris") is None:
        print("atheris is not installed (it has no build for this machine or this Python): only the laws are tried")
    else:
        share = given.seconds * (1 if given.target else 1 - SHARE_OF_LAWS) / len(names)
        found = fuzz(names, max(LEAST, round(share)), seed)
    end = time.monotonic() + given.seconds * SHARE_OF_LAWS
    while not given.target and not found and time.monotonic() < end:
        found += try_laws(seed, end - time.monotonic())
        seed += 1
    for path in found:
        print(f"\nFOUND {path.relative_to(ROOT)}\n{path.read_text(encoding='utf-8', errors='replace')}")
    return 1 if found else 0


def fuzz(names: list[str], seconds: int, seed: int) -> list[Path]:
    """Each target for some seconds, in a process of their own; the notes on what was found."""
    before = set(FINDINGS.iterdir())
    logs = {name: FINDINGS.parent / f"{name}.log" for name in names}
    for log in logs.values():
        log.unlink(missing_ok=True)
    command = ["-m", "tests.fuzz.guided", str(seconds), str(seed), *names]
    longest = START + len(names) * (seconds + START)
    subprocess.run([sys.executable, *command], cwd=ROOT, stderr=subprocess.DEVNULL, timeout=longest, check=False)
    notes = []
    for name, log in logs.items():
        output = log.read_text(encoding="utf-8", errors="replace") if log.exists() else "it did not start"
        units = next((line.split()[-1] for line in output.splitlines() if "number_of_executed_units" in line), None)
        inputs = sorted(path for path in set(FINDINGS.iterdir()) - before if path.name.startswith(f"{name}-"))
        print(f"{name}: {units or 'an unknown number of'} inputs{', FOUND' if inputs else ''}", flush=True)
        for path in inputs:
            notes.append(_note(path, f"{_python()} -m tests.fuzz.replay {name} {path.relative_to(ROOT)}", output))
        if units is None and not inputs:
            notes.append(_note(FINDINGS / f"{name}-failed", f"{_python()} {' '.join(command)}", output))
    return notes


def try_laws(seed: int, seconds: float) -> list[Path]:
    """The laws in a random order with a seed of their own, until the time is over; the note on what was found."""
    files = law_files()
    random.Random(seed).shuffle(files)
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "hypothesis or law"]
    command += ["--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", *files]
    try:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env={**os.environ, "LAWS_SEED": str(seed)},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        print(f"laws, seed {seed}: nothing found when the time was over", flush=True)
        return []
    print(f"laws, seed {seed}: {'nothing found' if done.returncode == 0 else 'FOUND'}", flush=True)
    if done.returncode == 0:
        return []
    shown = " ".join([f"LAWS_SEED={seed}", _python(), *map(shlex.quote, command)])
    return [_note(FINDINGS / f"laws-{seed}", shown, done.stdout + done.stderr)]


def law_files() -> list[str]:
    """Every test file with a law in it, whoever wrote it; this folder's own tests are about other things."""
    found = [path for path in sorted(TESTS.rglob("test_*.py")) if _LAW.search(path.read_text(encoding="utf-8"))]
    return [str(path.relative_to(ROOT)) for path in found if path.parent.name != "fuzz"] + OTHER_LAWS


def _python() -> str:
    """As a person would write it."""
    path = Path(sys.executable)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _note(finding: Path, command: str, output: str) -> Path:
    note = finding.with_name(f"{finding.name}.txt")
    note.write_text(f"Shown again by: {command}\n\n{output[-4_000:]}\n", encoding="utf-8")
    return note


if __name__ == "__main__":
    sys.exit(main())
