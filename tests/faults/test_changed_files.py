"""Inputs that change while a run goes on: what was hashed is what was scored, or there is no score."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import goldgate
from goldgate.errors import InputError
from goldgate.readers.joined_suite import SHARD_SAMPLES

SAMPLES = SHARD_SAMPLES * 2 + 1
SCHEMA = {"event_types": {"T": {"roles": ["R"]}}}


def lines(answer: str) -> bytes:
    events = [{"event_type": "T", "arguments": [{"role": "R", "argument": answer}]}]
    return b"".join(json.dumps({"id": str(n), "events": events}).encode() + b"\n" for n in range(SAMPLES))


def rewrite(path: Path, content: bytes) -> None:
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def put_in_place(path: Path, content: bytes) -> None:
    path.with_name("beside").write_bytes(content)
    os.replace(path.with_name("beside"), path)


@pytest.mark.parametrize("change", [rewrite, put_in_place])
@pytest.mark.parametrize("kind", ["gold", "predictions"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_input_that_changes_after_the_first_shard_stops_the_run(
    tmp_path: Path, change: Callable[[Path, bytes], None], kind: str, packed: bool
) -> None:
    require_stopped(tmp_path, change, kind, packed, workers=1)


def test_input_that_changes_while_workers_score_stops_the_run(tmp_path: Path) -> None:
    require_stopped(tmp_path, rewrite, "gold", False, workers=2)


@pytest.mark.slow  # one of them is the test before
@pytest.mark.parametrize("change", [rewrite, put_in_place])
@pytest.mark.parametrize("kind", ["gold", "predictions"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_any_input_that_changes_while_workers_score_stops_the_run(
    tmp_path: Path, change: Callable[[Path, bytes], None], kind: str, packed: bool
) -> None:
    require_stopped(tmp_path, change, kind, packed, workers=2)


def require_stopped(
    tmp_path: Path, change: Callable[[Path, bytes], None], kind: str, packed: bool, workers: int
) -> None:
    forms = [gzip.compress(lines(answer), mtime=0) if packed else lines(answer) for answer in "ab"]
    for name in ("gold", "predictions"):
        (tmp_path / f"{name}.jsonl").write_bytes(forms[0])
    changed: list[int] = []

    def progress(done: int, _: int) -> None:
        if not changed:
            change(tmp_path / f"{kind}.jsonl", forms[1])
        changed.append(done)

    with pytest.raises(InputError) as caught:
        goldgate.evaluate_files(
            tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", SCHEMA, workers=workers, progress=progress
        )
    assert caught.value.code == f"{kind}.changed"
    assert caught.value.place.file == str(tmp_path / f"{kind}.jsonl")


def test_damage_by_a_change_is_called_a_change(tmp_path: Path) -> None:
    for name in ("gold", "predictions"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines("a"))

    def progress(*_: int) -> None:
        (tmp_path / "predictions.jsonl").write_bytes(b"{" * len(lines("a")))

    with pytest.raises(InputError) as caught:
        goldgate.evaluate_files(tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", SCHEMA, progress=progress)
    assert caught.value.code == "predictions.changed"


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs /dev/stdin")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_file_from_standard_input_reaches_the_workers(tmp_path: Path, workers: str) -> None:
    import subprocess
    import sys

    for name in ("gold", "predictions"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines("a"))
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    line = [sys.executable, "-m", "goldgate", "extraction", "--gold", str(tmp_path / "gold.jsonl"), "--quiet"]
    line += ["--predictions", "/dev/stdin", "--schema", str(tmp_path / "schema.json"), "--workers", workers]
    with open(tmp_path / "predictions.jsonl", "rb") as stream:
        done = subprocess.run(line, stdin=stream, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "NO_GATES  no gates set; scores only\n")
