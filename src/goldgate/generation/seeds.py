"""Several seeds side by side: each metric's value for each seed, their mean and their spread."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from goldgate.core.evaluation import Evaluation
from goldgate.core.metric import Rate, mean

FORMAT_VERSION = 1  # of seeds.json


def summarize(
    evaluations: Mapping[int, Evaluation], spreads: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """seeds.json: what a user quotes. The spread is the sample standard deviation, None for a single value.

    `spreads` has, for each rate, the standard errors of its mean from runs and from units, and an interval with both.
    """
    first = next(iter(evaluations.values()))
    metrics: dict[str, Any] = {}
    for name in first.metrics:
        found = {seed: evaluation.metrics[name] for seed, evaluation in evaluations.items()}
        rates = [metric for metric in found.values() if isinstance(metric, Rate)]
        values = [float(metric.value) for metric in found.values() if metric.value is not None]
        average = mean(rates).value if rates else (statistics.fmean(values) if values else None)
        metrics[name] = {
            "mean": average,
            "standard_deviation": statistics.stdev(values) if len(values) > 1 else None,
            "min": min(values, default=None),
            "max": max(values, default=None),
            **{key: (spreads or {}).get(name, {}).get(key) for key in ("se_runs", "se_units", "interval")},
            "by_seed": {str(seed): metric.as_json() for seed, metric in found.items()},
        }
    return {
        "format_version": FORMAT_VERSION,
        "seeds": list(evaluations),
        "statuses": {str(seed): evaluation.status for seed, evaluation in evaluations.items()},
        "metrics": metrics,
    }
