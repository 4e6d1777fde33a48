"""Inputs by URL on a cluster: every node reads with the credentials of its own environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.nodes import ROOT, Cluster
from tests.remote.samples import write_all
from tests.remote.stores import BUCKET, s3_server

INPUTS = f"s3://{BUCKET}/in"
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def local(tmp_path: Path) -> Path:
    return write_all(tmp_path / "local")


@pytest.fixture
def s3(local: Path) -> Iterator[Any]:
    """The files of `local` in a bucket; where it is and who may read it is known to this process alone."""
    with pytest.MonkeyPatch.context() as environment, s3_server(environment) as client:
        for path in local.iterdir():
            client.put_object(Bucket=BUCKET, Key=f"in/{path.name}", Body=path.read_bytes())
        yield client


def judge(inputs: str, out: str, *more: str) -> subprocess.CompletedProcess[str]:
    names = {"gold": "gold.jsonl", "predictions": "predictions.jsonl", "schema": "schema.json"}
    line = [
        sys.executable,
        "-m",
        "goldgate",
        "extraction",
        "--out",
        out,
        *more,
        "--protocol",
        f"{inputs}/protocol.yaml",
    ]
    for option, name in names.items():
        line += [f"--{option}", f"{inputs}/{name}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_files_are_those_of_one_process(
    spoiled: Cluster, s3: Any, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {name: os.environ[name] for name in (*CREDENTIALS, "AWS_ENDPOINT_URL")}
    # A machine of its own: it sees neither the inputs on this disk nor the folder in which the results are made.
    spoiled.add(known, inside=["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none "{tmp_path}" && exec "$@"', "-"])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    here = judge(str(local), str(tmp_path / "out"))
    there = judge(INPUTS, str(tmp_path / "there"), "--engine", "ray", "--ray-address", spoiled.address)
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    for path in (tmp_path / "out").iterdir():
        if path.name != "run.json":
            assert (tmp_path / "there" / path.name).read_bytes() == path.read_bytes(), path.name


def test_credentials_are_not_sent_to_a_node_that_has_none(spoiled: Cluster, s3: Any, tmp_path: Path) -> None:
    spoiled.add({"AWS_ENDPOINT_URL": os.environ["AWS_ENDPOINT_URL"], **dict.fromkeys(CREDENTIALS, "")})
    done = judge(INPUTS, str(tmp_path / "out"), "--engine", "ray", "--ray-address", spoiled.address)
    assert (done.returncode, done.stdout) == (2, "")
    assert "gold.denied" in done.stderr
    assert "the environment of every process" in " ".join(done.stderr.split())
