"""Runs that are disturbed: by each other, by changing files, by a disk without room, by a folder that is gone."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .runs import FILES, SEED, Data, command, finished, report_of, require_no_leftovers, rounds, start


def test_two_runs_on_one_folder(data: Data, expected: dict[str, bytes], tmp_path: Path) -> None:
    for turn, chance in enumerate(rounds("two")):
        out = tmp_path / str(turn)
        first = start(command(data, out, "--workers", "2"))
        time.sleep(chance.uniform(0, 0.6))
        second = start(command(data, out))
        ends = [finished(process) for process in (first, second)]
        assert any(status == 0 for status, _ in ends), ends
        for (status, said), other in zip(ends, (second, first), strict=True):
            if status != 0:
                assert status == 2
                assert "out.in_use" in said
                assert f"process {other.pid}" in said
        assert {path.name for path in out.iterdir()} == FILES
        assert (out / "report.json").read_bytes() == expected[data.sha256("predictions.jsonl")]


def in_place(path: Path, content: bytes) -> None:
    """Other bytes of the same number, and the time of the last change set back."""
    times = path.stat()
    with open(path, "r+b", buffering=0) as stream:
        stream.write(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def put_in_place(path: Path, content: bytes) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(content)
    os.replace(beside, path)


def shorter(path: Path, content: bytes) -> None:
    os.truncate(path, len(content) // 3)


def longer(path: Path, content: bytes) -> None:
    with open(path, "ab") as stream:
        stream.write(b'{"id": "0", "response": ""}\n')


def removed(path: Path, content: bytes) -> None:
    path.unlink()


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("change", [in_place, put_in_place, shorter, longer, removed])
def test_predictions_that_change_during_the_run(
    data: Data,
    expected: dict[str, bytes],
    tmp_path: Path,
    change: Callable[[Path, bytes], None],
    workers: str,
) -> None:
    for turn, chance in enumerate(rounds(f"{change.__name__} {workers}")):
        data.restore()
        out = tmp_path / str(turn)
        process = start(command(data, out, "--workers", workers))
        time.sleep(chance.uniform(0.1, 0.7))
        change(data.path("predictions.jsonl"), data.contents["other.jsonl"])
        require_scored_as_hashed(out, expected, *finished(process))


def test_predictions_that_are_replaced_again_and_again(data: Data, expected: dict[str, bytes], tmp_path: Path) -> None:
    """The other file is under the name half of the time: what was hashed must be what was scored."""
    contents, ended = [data.contents["other.jsonl"], data.contents["predictions.jsonl"]], threading.Event()

    def replace() -> None:
        chance = random.Random(SEED)
        while not ended.wait(chance.uniform(0.01, 0.3)):
            put_in_place(data.path("predictions.jsonl"), contents[0])
            contents.reverse()

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for turn, _ in enumerate(rounds("again and again")):
            out = tmp_path / str(turn)
            require_scored_as_hashed(out, expected, *finished(start(command(data, out, "--workers", "2"))))
    finally:
        ended.set()
        thread.join()


def require_scored_as_hashed(out: Path, expected: dict[str, bytes], status: int, said: str) -> None:
    """Either the report of just these bytes, or an error that names the file."""
    report = json.loads((out / "report.json").read_bytes())
    assert status in (0, 2), said
    if status == 2:
        assert report["error"]["code"].startswith("predictions."), said  # .changed, or damaged before it was opened
        assert report["error"]["file"] == "predictions.jsonl"
        return
    (given,) = report["inputs"]["predictions"]
    if given["sha256"] in expected:  # otherwise it was opened when it had just been cut: its digest says so
        assert (out / "report.json").read_bytes() == expected[given["sha256"]]


def test_no_room_for_the_results(data: Data, tmp_path: Path) -> None:
    """The report says so, or, where there is no room even for that, the older one is still there."""
    report_of(data, tmp_path)
    samples = (tmp_path / "samples.jsonl").stat().st_size
    for chance in rounds("full"):
        older = report_of(data, tmp_path)
        room = int(samples ** chance.random())  # as often below the size of a report as above
        process = start(command(data, tmp_path, "--workers", "2"), preexec_fn=lambda room=room: _limit(room))
        status, said = finished(process)
        assert status == 2
        assert "out.unwritable" in said
        assert "File too large" in said
        require_no_leftovers(tmp_path)
        report = (tmp_path / "report.json").read_bytes()
        assert report == older or json.loads(report)["error"]["code"] == "out.unwritable"
        assert (report == older) is (tmp_path / "samples.jsonl").exists()


def test_no_room_to_unpack(data: Data, tmp_path: Path) -> None:
    packed = tmp_path / "gold.jsonl.gz"
    packed.write_bytes(gzip.compress(data.contents["gold.jsonl"]))
    line = command(data, tmp_path / "out")
    line[line.index("--gold") + 1] = str(packed)
    status, said = finished(start(line, preexec_fn=lambda: _limit(20_000)))
    assert status == 2
    assert "machine.temporary_folder" in said
    assert "TMPDIR" in said


def _limit(room: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_report_that_cannot_be_printed(data: Data, tmp_path: Path) -> None:
    line = [word for word in command(data, tmp_path) if word != "--quiet"]
    with open("/dev/full", "wb") as full:
        status, said = finished(start(line, stdout=full))
    assert status == 2
    assert "stdout.unwritable" in said
    closed = ["bash", "-c", 'exec "$@" >&-', "bash", *line]
    status, said = finished(start(closed))
    assert status == 2
    assert "stdout.unwritable" in said
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_working_directory_that_is_gone(data: Data, expected: dict[str, bytes], tmp_path: Path) -> None:
    gone = "import os, sys, tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d); "
    line = [sys.executable, "-c", gone + "os.execv(sys.argv[1], sys.argv[1:])"]
    status, said = finished(start([*line, *command(data, tmp_path / "out", "--workers", "2")]))
    assert (status, said) == (0, "")
    assert (tmp_path / "out" / "report.json").read_bytes() == expected[data.sha256("predictions.jsonl")]
    status, said = finished(start([*line, *command(data, Path("out"))]))
    assert status == 2
    assert "machine.no_working_directory" in said
