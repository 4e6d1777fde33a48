"""What one answer of 5 MB may cost, whatever is in it: CPU time, memory, and the files of a result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# In seconds more than an empty answer, and megabytes; tests/unit/extraction/test_limits.py has the counts.
MAX_CPU, MAX_MEMORY, MAX_REPORT, MAX_OTHER = 5.0, 400, 12, 25


def in_role(values: list[object]) -> str:
    return json.dumps([{"event_type": "Buy", "arguments": [{"role": "buyer", "argument": values}]}])


def one_value(name: str, role: str) -> dict[str, object]:
    return {"event_type": name, "arguments": [{"role": role, "argument": "x"}]}


def many_roles(name: str, count: int) -> str:
    return json.dumps(
        [{"event_type": name, "arguments": [{"role": f"r{n}", "argument": f"{n}"} for n in range(count)]}]
    )


ANSWERS: dict[str, Callable[[], str]] = {
    "types": lambda: json.dumps([one_value(f"T{n}", "r") for n in range(70_000)]),
    "roles": lambda: many_roles("Buy", 100_000),
    "arguments": lambda: '[{"event_type": "Buy", "arguments": [' + "1," * 2_499_900 + "1]}]",
    "scalars": lambda: "[" + "12," * 1_600_000 + "1]",
    "values": lambda: in_role([*range(650_000)]),
    "zeros": lambda: json.dumps([{"event_type": "Buy", "arguments": [{"role": "buyer", "argument": 0}] * 120_000}]),
    "thought": lambda: "<think>" + "I think Buy buyer Zeta. " * 200_000 + "</think>[]",
    "long-name": lambda: many_roles("T" * 4_000_000, 900),
    "expanding": lambda: in_role(["\ufdfa" * 800_000]),  # one character is 15 when normalized, and 18 with its blanks
    "lines": lambda: "<think>" + "Buy\n" * 1_200_000 + "</think>[]",
    "damaged": lambda: "[" + "12," * 1_600_000,
    "fences": lambda: "```json\n[]\n```\n" * 330_000,
    "keys": lambda: "[" + '{"role":0},' * 450_000 + "{}]",
}

SETTINGS = {  # with which an answer costs more than without
    "expanding": "blanks: keep",
    "keys": "response: {null_words: [none]}",
}


# The peak of `rusage` begins with that of the process that forked: a worker of pytest is larger than what is measured.
WITH_PEAK = """
import atexit, sys
from pathlib import Path
from goldgate.cli.main import main

atexit.register(lambda: Path("status").write_text(Path("/proc/self/status").read_text()))
sys.argv[0] = "goldgate"
main()
"""


def cost(response: str, folder: Path, setting: str = "") -> tuple[float, int]:
    """CPU seconds and peak megabytes of an evaluation of one answer."""
    folder.mkdir()
    gold = {
        "id": "1",
        "text": "Zeta bought Yotta.",
        "events": [{"event_type": "Buy", "arguments": [{"role": "buyer", "argument": "Zeta"}]}],
    }
    (folder / "gold.jsonl").write_text(json.dumps(gold), encoding="utf-8")
    (folder / "answers.jsonl").write_text(json.dumps({"id": "1", "response": response}), encoding="utf-8")
    (folder / "protocol.yaml").write_text(f"metrics: {{{setting}}}\n", encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        WITH_PEAK,
        "extraction",
        "--gold",
        "gold.jsonl",
        "--predictions",
        "answers.jsonl",
        "--protocol",
        "protocol.yaml",
        "--out",
        "out",
    ]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    peak = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmHWM"))
    return usage.ru_utime + usage.ru_stime, int(peak.split()[1]) // 1024


@pytest.mark.slow  # tests/unit/extraction/test_limits.py has the quick test of each limit
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_no_answer_of_five_megabytes_costs_more_than_the_limits(tmp_path: Path) -> None:
    empty, _ = cost("[]", tmp_path / "empty")
    for name, make in ANSWERS.items():
        seconds, megabytes = cost(make(), tmp_path / name, SETTINGS.get(name, ""))
        sizes = {file.name: file.stat().st_size / 1e6 for file in (tmp_path / name / "out").iterdir()}
        assert seconds - empty < MAX_CPU, name
        assert megabytes < MAX_MEMORY, name
        assert sizes.pop("report.json") < MAX_REPORT, name
        assert max(sizes.values()) < MAX_OTHER, (name, sizes)
