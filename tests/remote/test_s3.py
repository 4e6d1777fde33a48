"""Inputs and results in S3: the same files as from and to a disk, report.json last, and one run at a time."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goldgate.files.reading import read_text_file
from tests.remote.stores import BUCKET, SECRET_KEY

INPUTS = f"s3://{BUCKET}/in"
OUT = f"s3://{BUCKET}/out/run-1"


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


def stored(s3: Any, prefix: str = "out/run-1/") -> dict[str, bytes]:
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", ())
    return {
        each["Key"].removeprefix(prefix): s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read() for each in found
    }


def test_results_are_those_of_local_files(s3: Any, local: Path, tmp_path: Path) -> None:
    here = judge(str(local), str(tmp_path / "out"))
    there = judge(INPUTS, OUT, "--workers", "2")
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    files = stored(s3)
    assert sorted(files) == sorted(path.name for path in (tmp_path / "out").iterdir())
    for name in ("report.json", "report.md", "report.html", "junit.xml", "samples.jsonl"):
        assert files[name] == (tmp_path / "out" / name).read_bytes(), name
    assert f"wrote {OUT}: report.json" in there.stdout


def test_no_credential_is_stored_or_printed(s3: Any) -> None:
    done = judge(INPUTS, OUT)
    run = json.loads(stored(s3)["run.json"])
    assert run["inputs"]["gold"] == [f"{INPUTS}/gold.jsonl"]
    for content in (*stored(s3).values(), done.stdout.encode(), done.stderr.encode()):
        assert SECRET_KEY.encode() not in content
        assert b"someone" not in content


def test_an_error_is_written_there_as_to_a_disk(s3: Any) -> None:
    done = judge(INPUTS, OUT, predictions="nothing.jsonl")
    assert done.returncode == 2
    files = stored(s3)
    assert json.loads(files["report.json"])["error"]["code"] == "predictions.missing"
    assert json.loads(files["report.json"])["error"]["file"] == f"{INPUTS}/nothing.jsonl"
    assert "samples.jsonl" not in files
    assert ".goldgate.lock" not in files


def test_an_earlier_report_is_gone_before_the_first_file_is_written(s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there at every moment of the upload, as S3 itself tells it."""
    from goldgate.cli.out_folder import UploadedFolder
    from goldgate.files.remote import RemoteFolder

    for name in ("report.json", "samples.jsonl", "report.md"):
        s3.put_object(Bucket=BUCKET, Key=f"out/run-1/{name}", Body=b"old")
    seen: list[list[str]] = []
    upload = RemoteFolder.upload

    def watched(self: RemoteFolder, path: Path, name: str) -> None:
        seen.append(sorted(stored(s3)))
        upload(self, path, name)

    monkeypatch.setattr(RemoteFolder, "upload", watched)
    folder = UploadedFolder(OUT, ())
    folder.open_samples().write(b"{}\n")
    folder.publish({"report.json": b"new", "report.md": b"new"}, with_samples=True)
    folder.close()
    assert len(seen) == 3
    assert not any("report.json" in there for there in seen)
    assert stored(s3) == {"report.json": b"new", "report.md": b"new", "samples.jsonl": b"{}\n"}


def test_a_second_run_is_refused_while_the_first_one_writes(s3: Any) -> None:
    from goldgate.cli.out_folder import UploadedFolder

    folder = UploadedFolder(OUT, ())
    try:
        done = judge(INPUTS, OUT)
        assert done.returncode == 2
        assert "another run is writing to this folder" in done.stderr
        assert f"process {os.getpid()} on {platform.node()}" in done.stderr
    finally:
        folder.close()
    assert stored(s3) == {}
    assert judge(INPUTS, OUT).returncode == 0


def test_the_marker_of_a_killed_run_of_this_machine_harms_nobody(s3: Any) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    s3.put_object(
        Bucket=BUCKET, Key="out/run-1/.goldgate.lock", Body=f"{gone.stdout.strip()} on {platform.node()}\n".encode()
    )
    assert judge(INPUTS, OUT).returncode == 0
    s3.put_object(Bucket=BUCKET, Key="out/run-1/.goldgate.lock", Body=b"7 on another.machine\n")
    done = judge(INPUTS, OUT)
    assert done.returncode == 2
    assert "process 7 on another.machine" in done.stderr
    assert "remove .goldgate.lock" in done.stderr


@pytest.mark.parametrize("marker", [b"", f"{10**30} on {platform.node()}\n".encode(), b"\x1b[31m"])
def test_a_marker_that_no_run_wrote_is_said_to_be_one(s3: Any, marker: bytes) -> None:
    s3.put_object(Bucket=BUCKET, Key="out/run-1/.goldgate.lock", Body=marker)
    done = judge(INPUTS, OUT)
    assert done.returncode == 2
    assert "out.in_use" in done.stderr
    assert "remove .goldgate.lock" in " ".join(done.stderr.split())


def test_an_empty_report_is_written_over(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="out/run-1/report.json", Body=b"")
    assert judge(INPUTS, OUT).returncode == 0
    assert stored(s3)["report.json"]


def test_the_temporary_folder_is_removed_also_of_a_killed_run(
    s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    monkeypatch.setenv("TMPDIR", str(temporary))
    left = temporary / "goldgate-out-left"
    left.mkdir(parents=True)
    (left / ".goldgate.lock").write_text("1 on somewhere\n")
    assert judge(INPUTS, OUT).returncode == 0
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "code"),
    [
        ("https://example.invalid/out", "nothing can be written to a web server"),
        (f"{OUT}?versionId=1", "has no query"),
        ("s3://user:password@results/out", "this URL has a user or a password in it"),
        ("file:///tmp/out", "a file of this machine is named by its path"),
        (INPUTS.removesuffix("/in") + "-that-is-not-there/out", "a result cannot be written"),
        ("nowhere://bucket/out", "nowhere:// URLs are not supported"),
    ],
)
def test_what_cannot_be_written_to_is_refused_before_any_work(s3: Any, out: str, code: str) -> None:
    done = judge(INPUTS, out)
    assert done.returncode == 2
    assert code in done.stderr
    assert "Traceback" not in done.stderr
    assert "password@" not in done.stderr


@pytest.mark.parametrize("option", [["--out", OUT], ["--report", f"{OUT}/samples.jsonl"]], ids=["out", "report"])
@pytest.mark.parametrize("predictions", [OUT, OUT.replace("s3:", "s3a:"), OUT.replace("s3:", "S3:")])
def test_an_input_is_not_overwritten(s3: Any, predictions: str, option: list[str]) -> None:
    s3.put_object(Bucket=BUCKET, Key="out/run-1/samples.jsonl", Body=b"")
    done = goldgate(
        "extraction", "--gold", f"{INPUTS}/gold.jsonl", "--predictions", f"{predictions}/samples.jsonl",
        "--schema", f"{INPUTS}/schema.json", *option,
    )  # fmt: skip
    assert done.returncode == 2
    assert "would overwrite an input" in done.stderr
    assert stored(s3) == {"samples.jsonl": b""}


def test_results_of_another_suite_are_not_mixed_with(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="out/run-1/report.json", Body=b'{\n  "format_version": 1,\n  "suite": "research"')
    done = judge(INPUTS, OUT)
    assert done.returncode == 2
    assert "this folder has results of the research suite" in done.stderr
    assert sorted(stored(s3)) == ["report.json"]


def test_the_report_alone_goes_to_an_object(s3: Any, local: Path, tmp_path: Path) -> None:
    common = ["extraction", "--gold", f"{INPUTS}/gold.jsonl", "--predictions", f"{INPUTS}/backwards.jsonl"]
    done = goldgate(*common, "--schema", f"{INPUTS}/schema.json", "--report", f"{OUT}/only.json")
    assert done.returncode == 0, done.stderr
    assert json.loads(stored(s3)["only.json"])["suite"] == "extraction"


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
