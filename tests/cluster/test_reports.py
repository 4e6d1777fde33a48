"""Whole evaluations on two nodes: the bytes of one process, or an error that says what is wrong."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from goldgate.engines.parts import FOLDER
from goldgate.errors import GoldgateError
from goldgate.pipeline import evaluate_suite
from goldgate.suites import load_suite
from tests.chaos.runs import Data, make_data
from tests.cluster.nodes import ROOT, Cluster, running, wait_for
from tests.contract.inputs import NAMES, options, write_inputs


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Enough samples for a while."""
    return make_data(tmp_path_factory.mktemp("data"), 20_000)


@pytest.fixture(scope="module")
def expected(data: Data, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that one process makes of them."""
    out = tmp_path_factory.mktemp("expected")
    judge("extraction", given(data), "--out", str(out))
    return files_of(out)


def given(data: Data) -> list[str]:
    inputs = {"gold": "gold.jsonl", "predictions": "other.jsonl", "schema": "schema.json"}
    return options({name: data.path(file) for name, file in inputs.items()})


def command(suite: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.toy", suite, *arguments]


def judge(suite: str, inputs: Sequence[str], *more: str, **how: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command(suite, *inputs, *more), capture_output=True, env=environment, check=False, **how)


def on(cluster: Cluster) -> list[str]:
    return ["--engine", "ray", "--ray-address", cluster.address]


def files_of(out: Path) -> dict[str, bytes]:
    """What a run has left, but for the file that says when and where it was."""
    return {path.name: path.read_bytes() for path in out.iterdir() if path.name not in ("run.json", ".goldgate.lock")}


def report_of(data: Data, cluster: Cluster, progress: Callable[[int, int], None] | None = None) -> Any:
    inputs = {"gold": ["gold.jsonl"], "predictions": ["other.jsonl"], "schema": ["schema.json"]}
    return evaluate_suite(
        load_suite("extraction"),
        {name: [str(data.path(file)) for file in files] for name, files in inputs.items()},
        engine="ray",
        ray_address=cluster.address,
        progress=progress,
    ).report


class Once:
    """Does something when the first samples are done."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action: Callable[[], object] | None = action

    def __call__(self, done: int, total: int) -> None:
        if self.action is not None:
            assert done < total
            self.action()
            self.action = None


@pytest.mark.parametrize("suite", NAMES)
def test_files_of_every_suite_are_those_of_one_process(cluster: Cluster, tmp_path: Path, suite: str) -> None:
    paths = write_inputs(suite, tmp_path / "inputs")
    inputs = options({name: path.relative_to(tmp_path) for name, path in paths.items()})  # nodes stand elsewhere
    one = judge(suite, inputs, "--out", "one", cwd=tmp_path)
    ray = judge(suite, inputs, "--out", "ray", *on(cluster), cwd=tmp_path)
    assert ray.returncode == one.returncode, ray.stderr.decode()
    assert ray.stderr == one.stderr
    assert ray.stdout.replace(b"ray/", b"one/").replace(b"wrote ray", b"wrote one") == one.stdout
    assert files_of(tmp_path / "ray") == files_of(tmp_path / "one")


def test_packed_and_piped_inputs_reach_the_nodes(
    cluster: Cluster, data: Data, expected: dict[str, bytes], tmp_path: Path
) -> None:
    packed = tmp_path / "gold.jsonl.gz"
    packed.write_bytes(gzip.compress(data.contents["gold.jsonl"], 1))
    inputs = ["--gold", str(packed), "--predictions", "-", "--schema", str(data.path("schema.json"))]
    done = judge("extraction", inputs, "--out", str(tmp_path / "out"), *on(cluster), input=data.contents["other.jsonl"])
    assert done.returncode == 0, done.stderr.decode()
    assert files_of(tmp_path / "out")["samples.jsonl"] == expected["samples.jsonl"]


def test_killed_raylet_changes_nothing(cluster: Cluster, data: Data, expected: dict[str, bytes]) -> None:
    report = report_of(data, cluster, Once(cluster.nodes[0].kill_raylet))
    assert report == json.loads(expected["report.json"])


@pytest.mark.parametrize("how", ["written to", "removed", "replaced"])
def test_file_that_changes_meanwhile_is_an_error(cluster: Cluster, data: Data, how: str) -> None:
    path = data.path("other.jsonl")

    def change() -> None:
        if how == "written to":
            with open(path, "ab") as stream:
                stream.write(b"\n")
        else:
            path.unlink()
        if how == "replaced":
            path.write_bytes(data.contents["other.jsonl"])

    try:
        with pytest.raises(GoldgateError) as caught:
            report_of(data, cluster, Once(change))
    finally:
        data.restore()
    assert caught.value.code == "predictions.changed"


def test_mistake_in_a_file_is_the_error_of_one_process(cluster: Cluster, data: Data, tmp_path: Path) -> None:
    lines = data.contents["other.jsonl"].splitlines(keepends=True)
    lines[15_000] = b'{"id": "15000", "response": 7}\n'
    wrong = tmp_path / "predictions.jsonl"
    wrong.write_bytes(b"".join(lines))
    inputs = [*given(data), "--predictions", str(wrong)]
    inputs.remove("--predictions")
    inputs.remove(str(data.path("other.jsonl")))
    one, ray = (judge("extraction", inputs, "--quiet", *engine) for engine in ([], on(cluster)))
    assert ray.stderr == one.stderr
    assert b":15001" in ray.stderr.replace(b"\n", b"")
    assert (ray.returncode, ray.stdout) == (2, b"")


@pytest.mark.parametrize(("number", "said"), [(signal.SIGKILL, ""), (signal.SIGTERM, "ended by SIGTERM\n")])
def test_run_that_is_ended_leaves_no_report_and_the_next_one_is_whole(
    cluster: Cluster, data: Data, expected: dict[str, bytes], tmp_path: Path, number: int, said: str
) -> None:
    out = tmp_path / "out"
    line = command("extraction", *given(data), "--out", str(out), *on(cluster))
    running = subprocess.Popen(line, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(list(out.glob(f"*{FOLDER}/*"))) > 1)
    running.send_signal(number)
    assert running.communicate()[1] == said
    assert not (out / "report.json").exists()
    assert judge("extraction", given(data), "--out", str(out), *on(cluster)).returncode == 0
    assert files_of(out) == expected


def test_cluster_that_is_not_there_is_an_error(data: Data) -> None:
    done = judge("extraction", given(data), "--quiet", "--engine", "ray", "--ray-address", "127.0.0.1:6398")
    assert done.returncode == 2
    assert b"ray.unreachable" in done.stderr
    assert b"Traceback" not in done.stderr


def test_without_a_cluster_a_ray_of_its_own_is_started_and_ended(
    data: Data, expected: dict[str, bytes], tmp_path: Path
) -> None:
    before = running("raylet") | running("gcs_server")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    line = command("extraction", *given(data), "--out", str(tmp_path / "out"), "--engine", "ray", "--workers", "2")
    home = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, capture_output=True, env=environment | home, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert files_of(tmp_path / "out") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # no token of Ray's in the user's home
    assert running("raylet") | running("gcs_server") == before
