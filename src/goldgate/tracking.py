"""Results in experiment trackers: metrics with the ends of their intervals, the verdict and the report folder.

A tracker sends to where its own settings say; without settings it keeps everything on this machine.
"""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldgate.core.metric import metrics_by_name
from goldgate.errors import ConfigError, MachineError, did_you_mean

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation

TRACKERS = ("mlflow", "wandb")
# Both packages report their use to their makers unless told not to; these are their own switches.
_QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}
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


def require_tracker(tracker: str) -> Any:
    """The package of a tracker; an error that says how to install it."""
    if tracker not in TRACKERS:
        advice = did_you_mean(tracker, TRACKERS)
        message = "there is no tracker of this name"
        raise ConfigError("track.unknown", message, expected=", ".join(TRACKERS), found=tracker, advice=advice)
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    try:
        package = import_module(tracker)
        if package.__file__ is None:  # a folder of this name, as both write one
            raise ImportError(f"{tracker} is not a package")
    except ImportError as problem:
        message = f"tracking with {tracker} needs the package {tracker}, which cannot be imported"
        raise ConfigError("track.missing", message, found=str(problem), advice=f"pip install {tracker}") from None
    return package


def _results(evaluation: Evaluation) -> tuple[dict[str, float], dict[str, str]]:
    """An evaluation as trackers take it: numbers and texts by name.

    Numbers are every metric, and what gates measured beside them, such as the rate of one event type.
    """
    report, metrics, undefined = evaluation.report, dict[str, float](), list[str]()
    gates: list[Any] = report["gates"]
    measured = {gate["metric"]: gate["measured"] for gate in gates} | metrics_by_name(report["metrics"])
    for name, entry in measured.items():
        if entry["value"] is None:
            undefined.append(f"{name}: {entry.get('reason')}")
            continue
        own = re.sub(r"\W+", "_", name).strip("_")[:_MAX_NAME_LENGTH]  # strict_f1_Attack for strict_f1[Attack]
        while own in metrics:
            own += "_"
        ends = entry.get("interval") or {}
        values = {own: entry["value"], f"{own}_low": ends.get("low"), f"{own}_high": ends.get("high")}
        metrics |= {key: float(value) for key, value in values.items() if value is not None}
    texts = {
        "status": evaluation.status,
        "suite": report["suite"],
        "protocol": "{name} {version}".format_map(report["protocol"]),
        "signature": report["signature"],
        "failed_gates": "; ".join(f"{gate['metric']}: {gate['reason']}" for gate in gates if gate["verdict"] != "PASS"),
        "undefined": "; ".join(undefined),
    }
    return metrics, {f"goldgate_{key}": text[:_MAX_TEXT_LENGTH] for key, text in texts.items() if text}


def _log_to_mlflow(mlflow: Any, evaluation: Evaluation, folder: str | None, name: str | None) -> str:
    metrics, texts = _results(evaluation)
    active = mlflow.active_run()
    with nullcontext(active) if active else mlflow.start_run(run_name=name) as run:
        mlflow.log_metrics(metrics)
        mlflow.set_tags(texts)
        if folder is None:
            mlflow.log_text(evaluation.to_json(), f"goldgate/{_REPORT}")
        else:
            mlflow.log_artifacts(folder, "goldgate")
        return str(run.info.run_id)


def _log_to_wandb(wandb: Any, evaluation: Evaluation, folder: str | None, name: str | None) -> str:
    metrics, texts = _results(evaluation)
    with nullcontext(wandb.run) if wandb.run else wandb.init(name=name, job_type="goldgate") as run:
        run.summary.update({**metrics, **texts})
        artifact = wandb.Artifact(f"goldgate-{run.id}", type="goldgate-report")
        if folder is None:
            with artifact.new_file(_REPORT, encoding="utf-8") as stream:
                stream.write(evaluation.to_json())
        else:
            artifact.add_dir(folder)
        run.log_artifact(artifact)
        return str(run.id)
