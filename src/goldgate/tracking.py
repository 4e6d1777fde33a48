"""Results in experiment trackers: metrics with the ends of their intervals, the verdict and the report folder.

A tracker sends to where its own settings say; without settings it keeps everything on this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from goldgate.core.metric import metrics_by_name
from goldgate.errors import ConfigError, MachineError, did_you_mean

if TYPE_CHECKING:
    from goldgate.core.contracts import SuiteMetrics
    from goldgate.core.evaluation import Evaluation

TRACKERS = ("mlflow", "wandb")

# Both packages report their use to their makers unless told not to; these are their own switches.
_QUIET = {
    "mlflow": {"MLFLOW_DISABLE_TELEMETRY": "true"},
    "wandb": {"WANDB_ERROR_REPORTING": "false"},
}
_MAX_NAME_LENGTH, _MAX_TEXT_LENGTH = 200, 5_000  # MLflow takes names of 250 characters, older servers texts of 5,000
_REPORT = "report.json"


def track(evaluation: Evaluation, tracker: str, *, folder: str | Path | None = None, name: str | None = None) -> str:
    """Log an evaluation to MLflow or Weights & Biases: to the run that is active there, else to a new one (`name`).

    `folder` is a result folder, which is stored with the run; without it the report alone is. Returns the run's id.
    """
    package = require_tracker(tracker)
    log = _log_to_mlflow if tracker == "mlflow" else _log_to_wandb
    try:
        return log(package, evaluation, None if folder is None else str(folder), name)
    except Exception as problem:
        raise MachineError(
            "track.failed",
            f"{tracker} did not take the results",
            found=f"{type(problem).__name__}: {problem}"[:_MAX_TEXT_LENGTH],
            advice=f"see that {tracker} works by itself; goldgate judged the run before, and what it wrote is complete",
        ) from problem


def require_tracker(tracker: str) -> ModuleType:
    """The package of a tracker; an error that says how to install it."""
    if tracker not in TRACKERS:
        raise ConfigError(
            "track.unknown",
            "there is no tracker of this name",
            expected=", ".join(TRACKERS),
            found=tracker,
            advice=did_you_mean(tracker, TRACKERS),
        )
    for variable, value in _QUIET[tracker].items():
        os.environ.setdefault(variable, value)
    try:
        package = import_module(tracker)
        if package.__file__ is None:  # a folder of this name, as both write one
            raise ImportError(f"{tracker} is not a package")
    except ImportError as problem:
        raise ConfigError(
            "track.missing",
            f"tracking with {tracker} needs the package {tracker}, which cannot be imported",
            found=str(problem),
            advice=f"pip install {tracker}",
        ) from None
    return package


def _results(evaluation: Evaluation) -> tuple[dict[str, float], dict[str, str]]:
    """An evaluation as trackers take it: numbers and texts by name."""
    metrics: dict[str, float] = {}
    undefined: list[str] = []
    for name, entry in _measured(evaluation.report):
        if entry["value"] is None:
            undefined.append(f"{name}: {entry.get('reason')}")
            continue
        ends = entry.get("interval") or {}
        values = {"": entry["value"], "_low": ends.get("low"), "_high": ends.get("high")}
        own = _free_name(name, metrics)
        metrics.update({own + suffix: float(value) for suffix, value in values.items() if value is not None})
    report = evaluation.report
    protocol = report.get("protocol") or {}
    failed = [gate for gate in report["gates"] if gate["verdict"] != "PASS"]
    texts = {
        "status": evaluation.status,
        "suite": str(report["suite"]),
        "protocol": " ".join(str(protocol[key]) for key in ("name", "version") if protocol.get(key)),
        "signature": str(report.get("signature") or ""),
        "failed_gates": "; ".join(f"{gate['metric']}: {gate['reason']}" for gate in failed),
        "undefined": "; ".join(undefined),
    }
    return metrics, {f"goldgate_{key}": text[:_MAX_TEXT_LENGTH] for key, text in texts.items() if text}


def _measured(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every metric once, and what gates measured beside them, such as the rate of one event type."""
    entries: dict[str, Any] = {**metrics_by_name(cast("SuiteMetrics", report["metrics"]))}
    for gate in report["gates"]:
        entries.setdefault(gate["metric"], gate["measured"])
    return ((name, entry) for name, entry in entries.items() if isinstance(entry, Mapping) and "value" in entry)


def _free_name(name: str, taken: Mapping[str, float]) -> str:
    """A name of letters, digits and _ that no other metric has: strict_f1_Attack for `strict_f1[Attack]`."""
    plain = re.sub(r"\W+", "_", name).strip("_")[:_MAX_NAME_LENGTH] or "metric"
    free, number = plain, 1
    while any(free + suffix in taken for suffix in ("", "_low", "_high")):
        number += 1
        free = f"{plain}_{number}"
    return free


def _log_to_mlflow(mlflow: Any, evaluation: Evaluation, folder: str | None, name: str | None) -> str:
    metrics, texts = _results(evaluation)
    active = mlflow.active_run()
    run = active or mlflow.start_run(run_name=name)
    try:
        mlflow.log_metrics(metrics)
        mlflow.set_tags(texts)
        if folder is None:
            mlflow.log_text(evaluation.to_json(), f"goldgate/{_REPORT}")
        else:
            mlflow.log_artifacts(folder, "goldgate")
    finally:
        if active is None:
            mlflow.end_run()
    return str(run.info.run_id)


def _log_to_wandb(wandb: Any, evaluation: Evaluation, folder: str | None, name: str | None) -> str:
    metrics, texts = _results(evaluation)
    active = wandb.run
    run = active or wandb.init(name=name, job_type="goldgate", mode=_wandb_mode(wandb))
    try:
        run.summary.update({**metrics, **texts})
        artifact = wandb.Artifact(f"goldgate-{run.id}", type="goldgate-report")
        if folder is None:
            with artifact.new_file(_REPORT, encoding="utf-8") as stream:
                stream.write(evaluation.to_json())
        else:
            artifact.add_dir(folder)
        run.log_artifact(artifact)
    finally:
        if active is None:
            run.finish()
    return str(run.id)


def _wandb_mode(wandb: Any) -> str | None:
    """Offline where there is no login and no setting of the mode: wandb would ask for a key, or fail."""
    if "WANDB_MODE" in os.environ or wandb.setup().settings.mode != "online":
        return None
    try:
        logged_in = wandb.login(prompt=False, verify=False)
    except TypeError:  # before 0.31, a login always asked
        logged_in = bool(wandb.api.api_key)
    return None if logged_in else "offline"
