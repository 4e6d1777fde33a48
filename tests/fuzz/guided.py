"""Targets under atheris: bytes that reach new code are kept and changed further, until the time is over.

    python -m tests.fuzz.guided SECONDS SEED TARGET…

Each target gets SECONDS. What libFuzzer says of it is in fuzz/TARGET.log, what was found in fuzz/findings.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["goldgate"]):
    from tests.fuzz.targets import ROOT, TARGETS

from tests.laws.strategies import FRAGMENTS

WORK = ROOT / "fuzz"
LONGEST = 4_096  # bytes; what is longer is the matter of the tests on linear time
SLOWEST = 20  # seconds for one text: a finding too
MEMORY = 2_048  # megabytes


def main(seconds: int, seed: int, names: list[str]) -> None:
    """Fuzz the targets one after another, each in a child: libFuzzer ends its process, and importing takes long."""
    parent, folder = os.getpid(), tempfile.mkdtemp(prefix="goldgate-fuzz-")
    tempfile.tempdir = folder  # a child has no time to tidy up
    try:
        for name in names:
            child = os.fork()
            if child == 0:
                _fuzz(name, seconds, seed)
            os.waitpid(child, 0)
    finally:
        if os.getpid() == parent:  # a child that found something passes here too
            shutil.rmtree(folder)


def _fuzz(name: str, seconds: int, seed: int) -> None:
    """Fuzz one target. Does not come back."""
    target = TARGETS[name]
    corpus, seeds = WORK / "corpus" / name, WORK / "seeds" / name
    for folder in (corpus, seeds, WORK / "findings"):
        folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(target.seeds()):
        (seeds / f"{number:03}").write_bytes(content)
    log = os.open(WORK / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    options = {
        "max_total_time": seconds,
        "seed": seed,
        "max_len": LONGEST,
        "timeout": SLOWEST,
        "rss_limit_mb": MEMORY,
        "artifact_prefix": f"{WORK / 'findings'}/{name}-",
        "dict": _dictionary(WORK / "words.txt"),
        "print_final_stats": 1,
        "verbosity": 0,
    }
    arguments = [f"-{option}={value}" for option, value in options.items()]
    atheris.Setup([sys.argv[0], *arguments, str(corpus), str(seeds)], target.check)
    atheris.Fuzz()


def _dictionary(path: Path) -> Path:
    """The words that mutations put in: those of the laws."""
    words = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in FRAGMENTS)
    path.write_text("".join(f'"{word}"\n' for word in words), encoding="ascii")
    return path


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
