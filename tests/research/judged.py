"""Evaluating a small tree, and looking at what came out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goldgate import evaluate_outputs
from goldgate.core.evaluation import Evaluation

from .trees import write_golden, write_run


def judged(folder: Path, protocol: str | None = None, **options: Any) -> Evaluation:
    """Evaluate `golden.json` and `outputs` of a folder; the protocol is given as YAML text."""
    path = None
    if protocol is not None:
        path = folder / "protocol.yaml"
        path.write_text(protocol, encoding="utf-8")
    (folder / "outputs").mkdir(exist_ok=True)
    return evaluate_outputs(folder / "golden.json", folder / "outputs", path, **options)


def judged_run(folder: Path, *queries: dict[str, Any], protocol: str | None = None, **files: Any) -> Evaluation:
    """Evaluate one run with these files against these queries."""
    write_golden(folder, *queries)
    write_run(folder / "outputs", **files)
    return judged(folder, protocol)


def counts(evaluation: Evaluation, metric: str) -> tuple[int, int]:
    """Numerator and denominator."""
    metrics = evaluation.report["metrics"]
    found = {**metrics["main"], **metrics["companions"]}[metric]
    return found["numerator"], found["denominator"]


def codes(evaluation: Evaluation) -> set[str]:
    return {finding["code"] for finding in evaluation.report["findings"]}


def finding(evaluation: Evaluation, code: str) -> dict[str, Any]:
    (found,) = (entry for entry in evaluation.report["findings"] if entry["code"] == code)
    return dict(found)


def run_entry(evaluation: Evaluation, name: str) -> dict[str, Any]:
    (found,) = (entry for entry in evaluation.report["runs"] if entry["run"] == name)
    return dict(found)


def broken(evaluation: Evaluation) -> dict[str, str]:
    return {run["run"]: run["reason"] for run in evaluation.report["runs"] if run["status"] == "broken"}


def unbalanced(evaluation: Evaluation) -> Iterator[str]:
    """The totals that are not the sum of their parts."""
    parts = {
        "queries": ("answered", "missing"),
        "trials": ("runs", "missing"),
        "directories": ("runs", "ignored"),
        "runs": ("evaluated", "broken"),
        "claims": ("verified", "candidate", "retracted"),
        "evidence": ("valid", "failed"),
        "steps": ("with_manifest", "without_manifest"),
    }
    for name, names in parts.items():
        balance = evaluation.report["conservation"][name]
        if balance["total"] != sum(balance[part] for part in names) or min(balance.values()) < 0:
            yield name
