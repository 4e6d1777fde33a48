"""Stored runs of the examples, made once, and made-up runs of any counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from goldgate import evaluate_files, evaluate_outputs
from goldgate.core.evaluation import render_json
from goldgate.runs.differences import compared_rates
from goldgate.suites import load_suite

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
GOLD, SCHEMA = EXAMPLES / "gold.jsonl", EXAMPLES / "schema.json"
MODELS = {name: EXAMPLES / f"model-{name}.jsonl" for name in ("a", "b")}


def store_extraction(folder: Path, predictions: Path, gold: Path = GOLD, workers: int = 1, **options: Any) -> Path:
    """What `goldgate extraction --out` leaves for a comparison."""
    folder.mkdir(parents=True)
    with open(folder / "samples.jsonl", "wb") as records:
        found = evaluate_files(gold, predictions, SCHEMA, workers=workers, records=records, **options)
    (folder / "report.json").write_bytes(render_json(found.report))
    return folder


def store_research(folder: Path, outputs: str) -> Path:
    folder.mkdir(parents=True)
    with open(folder / "runs.jsonl", "wb") as records:
        runs = ROOT / "examples" / "research" / outputs
        found = evaluate_outputs(ROOT / "eval" / "golden_queries.json", runs, records=records)
    (folder / "report.json").write_bytes(render_json(found.report))
    return folder


def store_counts(folder: Path, like: Path, units: Sequence[Mapping[str, Any]]) -> Path:
    """A run whose units count this in the table `matching`; its report is made to agree.

    A unit is {"id", "counts": (strict, relaxed, predicted, gold)}, and may have "parts" and "group".
    """
    folder.mkdir(parents=True)
    lines, total = [], [0, 0, 0, 0]
    for unit in units:
        counts = list(unit["counts"])
        total = [one + other for one, other in zip(total, counts, strict=True)]
        record = {"id": unit["id"], "units": {"matching": counts}}
        record |= {key: unit[key] for key in ("parts", "group") if key in unit}
        lines.append(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    (folder / "samples.jsonl").write_bytes(b"".join(lines))
    report = json.loads((like / "report.json").read_bytes())
    report["findings"] = []
    for metrics in report["metrics"].values():
        if not isinstance(metrics, dict):
            continue
        for name, rate in compared_rates(load_suite("extraction")).items():
            if name in metrics:
                pair = rate.form.of(tuple(total)) if rate.table == "matching" else (0, 0)
                metrics[name]["numerator"], metrics[name]["denominator"] = pair
    (folder / "report.json").write_bytes(render_json(report))
    return folder
