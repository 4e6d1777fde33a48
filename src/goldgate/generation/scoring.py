"""Score generated answers: the report of each seed with its coverage and bounds, and a summary of all seeds.

Where answers are missing, the bounds are the two extremes: every missing answer wrong (the ordinary report counts it
as an empty answer) and every missing answer equal to the gold.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TypedDict, cast

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.metric import Rate, mean
from goldgate.core.page import Cell, Column, MeasuredValue, Name, Page, Section, Table, interval_ends
from goldgate.core.task import ScoredTask
from goldgate.errors import InputError, Place
from goldgate.generation.artifacts import SeedSummary, artifact_file, generation_signature, temporary_folder
from goldgate.generation.journal_contents import FormatLadder

if TYPE_CHECKING:
    from goldgate.core.contracts import (
        BoundsValue,
        ComparedValue,
        EarlyStopValue,
        GenerationValue,
        IntervalValue,
        PlainCount,
        PlainEstimate,
        PlainRate,
        RateValue,
    )

_ADDRESS_ERRORS = frozenset({"not_json", "http_404", "http_405"})  # what a web server says that is no endpoint

EvaluatePredictions = Callable[[list[Path], IO[bytes] | None], Evaluation]  # files of predictions, where the records go


def score_answers(
    evaluate: EvaluatePredictions,
    predictions: Path,
    ladder: FormatLadder,
    summary: SeedSummary,
    currency: str,
    records: IO[bytes] | None = None,
    stopped: EarlyStopValue | None = None,
) -> Evaluation:
    """Evaluate the predictions of one seed; the report also says what was asked, what is missing, what it cost."""
    evaluation = evaluate([predictions], records)
    task = cast(ScoredTask, ladder.plan.task)
    bounds = None if summary.complete else _bounds(evaluate, predictions, task, summary, evaluation)
    asked = generation_signature(ladder, summary.formats, summary.seed)
    generation: GenerationValue = {
        "signature": asked,
        "coverage": summary.coverage.as_json(),
        "missing": dict(sorted(summary.missing.items())),
        "bounds": bounds,
        "cost": None if summary.cost is None else {"amount": summary.cost, "currency": currency},
    }
    if stopped is not None:
        generation["stopped"] = stopped
    signature = f"{evaluation.report['signature']}|{asked}"
    return dataclasses.replace(
        evaluation, report={**evaluation.report, "signature": signature, "generation": generation}
    )


def missing_error(
    evaluation: Evaluation, task: ScoredTask, summary: SeedSummary, predictions: Path, again: str = "again"
) -> InputError:
    """Why an incomplete run has no verdict, and between which values its score lies; `again` is how to ask for it."""
    generation = evaluation.report["generation"]
    low, high = (generation["bounds"][side][task.headline] for side in ("all_wrong", "all_right"))
    causes = ", ".join(_describe_cause(cause, count, summary) for cause, count in generation["missing"].items())
    seed = "" if summary.seed is None else f" for seed {summary.seed}"
    between = f"{_format_rate(low)} (all of them wrong) and {_format_rate(high)} (all right)"
    advice = f"run the same command {again} to ask for what is missing, or add --allow-missing to score without it"
    if not summary.answered and not _ADDRESS_ERRORS.isdisjoint(summary.missing):
        advice = f"is --base-url the part before /chat/completions? if so: {advice}"
    return InputError(
        "generation.missing_answers",
        f"{summary.documents - summary.answered} of {summary.documents} answers are missing{seed}",
        place=Place(str(predictions)),
        expected="an answer for every document",
        found=f"{causes}; {task.headline} is between {between}",
        advice=advice,
    )


def _describe_cause(cause: str, count: int, summary: SeedSummary) -> str:
    """How often it was so, with what the server said the first time."""
    detail = summary.details.get(cause)
    return f"{cause} {count} ({detail})" if detail else f"{cause} {count}"


def _bounds(
    evaluate: EvaluatePredictions, predictions: Path, task: ScoredTask, summary: SeedSummary, evaluation: Evaluation
) -> BoundsValue:
    with temporary_folder() as folder:
        perfect = folder / "perfect.jsonl"
        with artifact_file(perfect) as out:
            for position in summary.unanswered:
                out.write(orjson.dumps(task.perfect_prediction(position), option=orjson.OPT_APPEND_NEWLINE))
        best = evaluate([predictions, perfect], None)
    return {"all_wrong": _rates(evaluation), "all_right": _rates(best)}


def _rates(evaluation: Evaluation) -> dict[str, RateValue]:
    main = evaluation.report["metrics"]["main"]
    return {
        name: main[name] for name, metric in evaluation.metrics.items() if isinstance(metric, Rate) and name in main
    }


def _format_rate(metric: RateValue) -> str:
    return str(Rate(metric["numerator"], metric["denominator"]))


SEEDS_VERSION = 1  # of seeds.json


class SeedsMetric(TypedDict):
    """A metric over several seeds; the standard errors and the interval are those of its mean."""

    mean: float | None
    standard_deviation: float | None
    min: float | None
    max: float | None
    se_runs: float | None
    se_units: float | None
    interval: IntervalValue | None
    by_seed: dict[str, PlainRate | PlainCount | PlainEstimate]


class SeedsSummary(TypedDict):
    """seeds.json."""

    format_version: int
    seeds: list[int]
    statuses: dict[str, str]
    metrics: dict[str, SeedsMetric]


def summarize_seeds(
    evaluations: Mapping[int, Evaluation], spreads: Mapping[str, ComparedValue] | None = None
) -> SeedsSummary:
    """seeds.json: what a user quotes. The spread is the sample standard deviation, None for a single value.

    `spreads` has, for each rate, the standard errors of its mean from runs and from units, and an interval with both.
    """
    first = next(iter(evaluations.values()))
    metrics: dict[str, SeedsMetric] = {}
    for name in first.metrics:
        by_seed = {seed: evaluation.metrics[name] for seed, evaluation in evaluations.items()}
        rates = [metric for metric in by_seed.values() if isinstance(metric, Rate)]
        values = [float(metric.value) for metric in by_seed.values() if metric.value is not None]
        spread = (spreads or {}).get(name)
        average = mean(rates).value if rates else (statistics.fmean(values) if values else None)
        metrics[name] = {
            "mean": average,
            "standard_deviation": statistics.stdev(values) if len(values) > 1 else None,
            "min": min(values, default=None),
            "max": max(values, default=None),
            "se_runs": None if spread is None else spread.get("se_runs"),
            "se_units": None if spread is None else spread.get("se_units"),
            "interval": None if spread is None else spread["interval"],
            "by_seed": {str(seed): metric.as_json() for seed, metric in by_seed.items()},
        }
    return {
        "format_version": SEEDS_VERSION,
        "seeds": list(evaluations),
        "statuses": {str(seed): evaluation.status for seed, evaluation in evaluations.items()},
        "metrics": metrics,
    }


_SeedColumn = Literal["mean", "standard_deviation", "min", "max", "se_runs", "se_units"]
_SEED_COLUMNS: dict[_SeedColumn, str] = {"mean": "mean", "standard_deviation": "std. dev.", "min": "min", "max": "max"}
_STANDARD_ERRORS: dict[_SeedColumn, str] = {
    "se_runs": "se of seeds",
    "se_units": "se of samples",
}  # standard errors of the mean


def describe_seeds(seeds: SeedsSummary, headline: Sequence[str]) -> Page:
    """The summary of several seeds as a page, with the headline metrics that there are, or else all."""
    metrics = seeds["metrics"]
    names = [name for name in headline if name in metrics] or list(metrics)
    columns = _SEED_COLUMNS | (_STANDARD_ERRORS if any(metrics[name].get("interval") for name in names) else {})
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Name(name), *(_value(metrics[name], key) for key in columns)) for name in names
    )
    table = Table((Column("metric"), *map(Column, columns.values())), rows)
    return Page(suite="seeds", subject=", ".join(map(str, seeds["seeds"])), sections=(Section("Metrics", (table,)),))


def _value(metric: SeedsMetric, key: _SeedColumn) -> MeasuredValue:
    """The mean has the interval: of what other seeds and other documents might bring."""
    return MeasuredValue(metric.get(key), interval=interval_ends(metric.get("interval")) if key == "mean" else None)
