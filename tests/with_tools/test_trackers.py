"""Results in MLflow and Weights & Biases: the real packages, with their stores on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import mlflow
import pytest
import wandb
from click.testing import CliRunner

import goldgate
from goldgate.cli.main import goldgate as program
from goldgate.suites import SUITES
from tests.contract.inputs import NAMES, TOY, options, write_inputs

ROOT = Path(__file__).resolve().parents[2]
EXTRACTION = ROOT / "examples" / "extraction"
GOLD, SCHEMA = EXTRACTION / "gold.jsonl", EXTRACTION / "schema.json"
MODEL_B = EXTRACTION / "model-b.jsonl"
GATES = {"strict_f1": {"min": 0.99}, "strict_f1[质押]": {"min": 0.1}}


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stores in a folder of the test, and no login."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("WANDB_", "MLFLOW_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    yield tmp_path
    while mlflow.active_run() is not None:
        mlflow.end_run()
    wandb.teardown()


@pytest.fixture(scope="module")
def evaluation() -> goldgate.Evaluation:
    protocol = {"protocol": {"name": "release", "version": "1.0"}, "gates": GATES}
    return goldgate.evaluate_files(GOLD, MODEL_B, SCHEMA, protocol)


def test_mlflow_gets_metrics_with_their_bounds_the_verdict_and_the_report(evaluation: goldgate.Evaluation) -> None:
    run = mlflow.get_run(goldgate.track(evaluation, "mlflow", name="model-b"))
    low, high = evaluation.interval("strict_f1") or (None, None)
    metrics, tags = run.data.metrics, run.data.tags
    assert [metrics[name] for name in ("strict_f1", "strict_f1_low", "strict_f1_high")] == [430 / 752, low, high]
    assert metrics["strict_f1_质押"] == next(
        g.measured.value for g in evaluation.gates if g.metric == "strict_f1[质押]"
    )
    assert tags["goldgate_status"] == "FAIL"
    assert tags["goldgate_protocol"] == "release 1.0"
    assert tags["goldgate_failed_gates"].startswith("strict_f1: 430/752 is not ≥ 0.99")
    assert run.info.run_name == "model-b"
    assert run.info.status == "FINISHED"
    [file] = mlflow.artifacts.list_artifacts(run_id=run.info.run_id, artifact_path="goldgate")
    assert json.loads(mlflow.artifacts.load_text(f"{run.info.artifact_uri}/{file.path}"))["status"] == "FAIL"


def test_what_is_undefined_is_named_with_its_reason() -> None:
    nothing = goldgate.evaluate([], [], protocol={"metrics": {"schema": {"mode": "syntax_only"}}})
    data = mlflow.get_run(goldgate.track(nothing, "mlflow")).data
    assert "strict_f1" not in data.metrics
    assert data.metrics["total_samples"] == 0
    assert f"strict_f1: {nothing.metrics['strict_f1'].reason}" in data.tags["goldgate_undefined"]


def test_a_run_of_the_user_stays_open(evaluation: goldgate.Evaluation) -> None:
    with mlflow.start_run() as ours:
        assert goldgate.track(evaluation, "mlflow") == ours.info.run_id
        assert mlflow.active_run() is not None
    with wandb.init(mode="offline", project="judging") as run:
        assert goldgate.track(evaluation, "wandb") == run.id
        low, high = evaluation.interval("strict_f1") or (None, None)
        assert [run.summary[f"strict_f1{end}"] for end in ("", "_low", "_high")] == [430 / 752, low, high]
        assert run.summary["goldgate_status"] == "FAIL"
        assert wandb.run is run


def command(tracker: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "goldgate", "extraction", "--gold", str(GOLD), "--predictions",
         str(MODEL_B), "--schema", str(SCHEMA), "--protocol",
         str(EXTRACTION / "protocol-fail.yaml"), "--track", tracker, *more],
        capture_output=True, encoding="utf-8",
    )  # fmt: skip


def test_a_command_logs_its_folder_and_prints_only_its_report(stores: Path) -> None:
    done = command("mlflow", "--out", "out/model-b", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (1, "FAIL"), done.stderr
    [run] = mlflow.search_runs(output_format="list")
    assert run.info.run_name == "model-b"
    files = {
        Path(file.path).name
        for file in mlflow.artifacts.list_artifacts(run_id=run.info.run_id, artifact_path="goldgate")
    }
    assert files == {path.name for path in (stores / "out" / "model-b").iterdir() if not path.name.startswith(".")}
    assert files >= {"report.html", "report.json", "samples.jsonl"}


def test_every_suite_can_be_tracked_also_one_of_another_distribution(stores: Path) -> None:
    for suite in NAMES:
        inputs = options(write_inputs(suite, stores / suite))
        with patch.dict(SUITES, TOY):
            done = CliRunner().invoke(
                program, [suite, *inputs, "--track", "mlflow", "--report", f"{suite}.json", "--quiet"]
            )
        assert done.exit_code in (0, 1), done.output
        [run] = mlflow.search_runs(filter_string=f"tags.goldgate_suite = '{suite}'", output_format="list")
        assert run.data.tags["goldgate_status"] == json.loads(Path(f"{suite}.json").read_text())["status"]
        assert any(name.endswith("_low") for name in run.data.metrics), suite


def test_wandb_follows_its_own_settings(stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    done = command("wandb", "--out", "out", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (1, "FAIL"), done.stderr
    [run] = (stores / "wandb").glob("offline-run-*")
    [stored] = run.glob("*.wandb")
    assert b"report.html" in stored.read_bytes()


def test_a_tracker_that_fails_is_an_error_and_the_results_are_kept(stores: Path) -> None:
    (stores / "mlruns").write_text("in the way")
    done = command("mlflow", "--out", "out")
    assert done.returncode == 2
    assert "track.failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert (stores / "out" / "report.html").exists()
