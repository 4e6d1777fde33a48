"""Runs that are ended at any moment: nobody is left behind, no report is lost, the next run is as good as the first."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from .runs import (
    FILES,
    Data,
    command,
    finished,
    new_mark,
    python_was_still_starting,
    report_of,
    require_no_leftovers,
    require_none_left,
    rounds,
    start,
)

LONGEST = 0.8  # seconds; a whole run takes about as long
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("workers", ["1", "3"])
def test_killed_at_any_moment(
    data: Data, expected: dict[str, bytes], tmp_path: Path, number: signal.Signals, workers: str
) -> None:
    older, newer = expected[data.sha256("other.jsonl")], expected[data.sha256("predictions.jsonl")]
    for turn, chance in enumerate(rounds(f"{number.name} {workers}")):
        out, mark = tmp_path / str(turn), new_mark()
        assert report_of(data, out, "other.jsonl") == older
        process = start(command(data, out, "--workers", workers), mark)
        time.sleep(chance.uniform(0.02, LONGEST))
        process.send_signal(number)
        status, said = finished(process)
        require_none_left(mark)
        if not python_was_still_starting(said):
            assert "Traceback" not in said
            assert status in (0, -number, 128 + number), said
        is_between_files = status == -signal.SIGKILL and not (out / "report.json").exists()
        assert is_between_files or _report(out) == (newer if status == 0 else older) or _was_done(out, newer)
        if number != signal.SIGKILL and status == 128 + number:
            require_no_leftovers(out)
        again, said = finished(start(command(data, out, "--workers", workers)))
        assert (again, said) == (0, "")
        assert {path.name for path in out.iterdir()} == FILES
        assert (out / "report.json").read_bytes() == newer


def test_killed_worker_is_an_error_that_names_the_signal(data: Data, tmp_path: Path) -> None:
    for _ in rounds("worker"):
        mark = new_mark()
        process = start(command(data, tmp_path, "--workers", "2"), mark)
        killed = _kill_a_worker(process.pid)
        status, said = finished(process)
        require_none_left(mark)
        require_no_leftovers(tmp_path)
        if killed and status != 0:  # 0: it had done its work
            assert status == 2
            assert "internal.worker_died" in said
            assert "SIGKILL" in said


def test_several_signals_at_once_are_no_worse_than_one(data: Data, tmp_path: Path) -> None:
    for turn, chance in enumerate(rounds("several")):
        mark = new_mark()
        process = start(command(data, tmp_path / str(turn), "--workers", "2"), mark)
        time.sleep(chance.uniform(0.3, LONGEST))
        for number in _some(chance):
            process.send_signal(number)
        status, said = finished(process)
        require_none_left(mark)
        if not python_was_still_starting(said):
            assert "internal.error" not in said
            assert status in (0, *(-number for number in SIGNALS), *(128 + number for number in SIGNALS)), said


def test_ignored_hangup_stays_ignored(data: Data, tmp_path: Path) -> None:
    """As under `nohup`."""
    for chance in rounds("nohup"):
        line = ["bash", "-c", 'trap "" HUP; exec "$@"', "bash", *command(data, tmp_path, "--workers", "2")]
        process = start(line)
        time.sleep(chance.uniform(0.1, LONGEST))
        process.send_signal(signal.SIGHUP)
        status, said = finished(process)
        if status != -signal.SIGHUP:  # that was bash, which had not yet come to its first word
            assert (status, said) == (0, "")


def _report(out: Path) -> bytes:
    return (out / "report.json").read_bytes()


def _was_done(out: Path, newer: bytes) -> bool:
    """The signal may come when the report has its name already, and the process is about to end."""
    return _report(out) == newer and {path.name for path in out.iterdir()} >= FILES


def _kill_a_worker(parent: int) -> bool:
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        children = Path(f"/proc/{parent}/task/{parent}/children")
        try:
            found = children.read_text().split()
        except OSError:
            return False
        if found:
            try:
                os.kill(int(found[0]), signal.SIGKILL)
                return True
            except ProcessLookupError:
                return False
        time.sleep(0.005)
    return False


def _some(chance: random.Random) -> list[signal.Signals]:
    return [chance.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGINT)) for _ in range(3)]
