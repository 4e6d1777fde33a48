"""Inputs in S3: the results are those of the same files on a disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goldgate.files.reading import read_text_file
from tests.remote.stores import BUCKET, SECRET_KEY

INPUTS = f"s3://{BUCKET}/in"


def goldgate(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "goldgate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)


def judge(
    inputs: str, out: str, *more: str, predictions: str = "predictions.jsonl"
) -> subprocess.CompletedProcess[str]:
    return goldgate(
        "extraction", "--gold", f"{inputs}/gold.jsonl", "--predictions", f"{inputs}/{predictions}",
        "--schema", f"{inputs}/schema.json", "--protocol", f"{inputs}/protocol.yaml", "--out", out, *more,
    )  # fmt: skip


def stored(s3: Any) -> dict[str, bytes]:
    listed = s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())
    return {each["Key"]: s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read() for each in listed}


def test_results_are_those_of_local_files(s3: Any, local: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    assert judge(str(local), str(here)).returncode == 0
    done = judge(INPUTS, str(there), "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in there.iterdir()) == sorted(path.name for path in here.iterdir())
    for name in ("report.json", "report.md", "report.html", "junit.xml", "samples.jsonl"):
        assert (there / name).read_bytes() == (here / name).read_bytes(), name
    assert json.loads((there / "run.json").read_bytes())["inputs"]["gold"] == [f"{INPUTS}/gold.jsonl"]
    for content in (*(path.read_bytes() for path in there.iterdir()), done.stdout.encode(), done.stderr.encode()):
        assert not [word for word in (SECRET_KEY.encode(), b"someone") if word in content]


def test_an_error_names_the_object(s3: Any, tmp_path: Path) -> None:
    done = judge(INPUTS, str(tmp_path / "out"), predictions="nothing.jsonl")
    assert done.returncode == 2
    error = json.loads((tmp_path / "out" / "report.json").read_bytes())["error"]
    assert (error["code"], error["file"]) == ("predictions.missing", f"{INPUTS}/nothing.jsonl")


def test_nothing_is_written_to_a_store(s3: Any, tmp_path: Path) -> None:
    before = stored(s3)
    done = judge(INPUTS, f"s3://{BUCKET}/out")
    assert (done.returncode, "expected a path on this machine" in done.stderr) == (2, True)
    assert judge(INPUTS, str(tmp_path / "out")).returncode == 0
    assert stored(s3) == before


@pytest.mark.parametrize("name", ["a::b", "a b", "a%20b", "a*[b]", "../a", "a#b", "质", "a'b\"c"])
def test_an_object_may_have_any_name(s3: Any, name: str) -> None:
    s3.put_object(Bucket=BUCKET, Key=f"odd/{name}", Body=b"{}")
    assert read_text_file(f"S3://{BUCKET}/odd/{name}", "schema").text == "{}"


def test_a_missing_object_and_a_missing_bucket_are_said(s3: Any, tmp_path: Path) -> None:
    for inputs in (f"s3://{BUCKET}/elsewhere", "s3://no-such-bucket/in"):
        done = judge(inputs, str(tmp_path / "out"))
        assert done.returncode == 2
        assert "protocol.missing" in done.stderr
        assert f"{inputs}/protocol.yaml" in done.stderr


def test_wrong_credentials_are_said_without_them(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    done = judge(INPUTS, str(tmp_path / "out"))
    assert done.returncode == 2
    assert "protocol.denied" in done.stderr
    assert "NoCredentialsError" in done.stderr
    assert "docs/remote.md" in done.stderr
