"""Runs of an agent in a store: listed and read there, and judged as from a disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.remote.stores import BUCKET
from tests.remote.test_s3 import goldgate, stored

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "eval" / "golden_queries.json"
RUNS = ROOT / "examples" / "research" / "passing"


@pytest.fixture
def runs(s3: Any) -> str:
    for path in RUNS.rglob("*"):
        if path.is_file():
            key = f"agent/{path.relative_to(RUNS).as_posix()}"
            s3.put_object(Bucket=BUCKET, Key=key, Body=path.read_bytes())
    s3.put_object(Bucket=BUCKET, Key="golden.json", Body=GOLDEN.read_bytes())
    return f"s3://{BUCKET}/agent"


def test_report_is_that_of_a_local_folder(s3: Any, runs: str, tmp_path: Path) -> None:
    here = goldgate("research", "--golden", str(GOLDEN), "--outputs", str(RUNS), "--out", str(tmp_path / "out"))
    there = goldgate(
        "research", "--golden", f"s3://{BUCKET}/golden.json", "--outputs", runs,
        "--workers", "2", "--out", str(tmp_path / "there"),
    )  # fmt: skip
    assert here.returncode == there.returncode == 0, there.stderr
    assert (tmp_path / "there" / "runs.jsonl").read_bytes() == (tmp_path / "out" / "runs.jsonl").read_bytes()
    named = (tmp_path / "there" / "report.json").read_bytes().replace(b"golden.json", b"golden_queries.json")
    assert named == (tmp_path / "out" / "report.json").read_bytes()


def test_nothing_is_written_beside_runs_elsewhere_unless_asked_for(s3: Any, runs: str, tmp_path: Path) -> None:
    before = stored(s3)
    done = goldgate("research", "--golden", str(GOLDEN), "--outputs", runs, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert stored(s3) == before
    assert list(tmp_path.iterdir()) == [tmp_path / "local"]


@pytest.mark.parametrize(
    ("outputs", "code"),
    [
        ("https://example.invalid/runs", "outputs.not_listed"),
        (f"s3://{BUCKET}/nothing", "outputs.missing"),
        (f"s3://{BUCKET}/agent/one/more", "outputs.missing"),
    ],
)
def test_a_folder_that_is_not_there_is_said(s3: Any, runs: str, tmp_path: Path, outputs: str, code: str) -> None:
    done = goldgate("research", "--golden", str(GOLDEN), "--outputs", outputs, folder=tmp_path)
    assert done.returncode == 2
    assert code in done.stderr


def test_a_corpus_is_read_from_a_store(s3: Any, runs: str, tmp_path: Path) -> None:
    s3.put_object(Bucket=BUCKET, Key="known.sha256", Body=b"0" * 64 + b"  a source\n")
    corpus = f"s3://{BUCKET}/known.sha256"
    common = ["research", "--golden", str(GOLDEN), "--outputs", str(RUNS), "--report", str(tmp_path / "report.json")]
    done = goldgate(*common, "--corpus", corpus)
    assert done.returncode in (0, 1), done.stderr
