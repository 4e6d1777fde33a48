"""Scoring generated answers: the ordinary report, with coverage and, where answers are missing, its bounds.

The bounds are the two extremes: every missing answer wrong (nothing said, which is how the
ordinary report counts it) and every missing answer right (what the gold says itself).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.metric import Rate
from goldgate.core.task import Task
from goldgate.errors import InputError, Place
from goldgate.generation.artifacts import SeedSummary, generation_signature
from goldgate.generation.files import temporary_folder, whole_file
from goldgate.generation.ladder import Ladder

_WRONG_ADDRESS = frozenset({"not_json", "http_404", "http_405"})  # what a web server says that is no endpoint

Evaluate = Callable[[list[Path], IO[bytes] | None], Evaluation]  # files of predictions, where the records go


def score(
    evaluate: Evaluate,
    predictions: Path,
    ladder: Ladder,
    summary: SeedSummary,
    currency: str,
    records: IO[bytes] | None = None,
    stopped: dict[str, Any] | None = None,
) -> Evaluation:
    """Evaluate the predictions of one seed; the report also says what was asked, what is missing, what it cost."""
    evaluation = evaluate([predictions], records)
    bounds = None if summary.complete else _bounds(evaluate, predictions, ladder.plan.task, summary, evaluation)
    report = dict(evaluation.report)
    asked = generation_signature(ladder, summary.formats, summary.seed)
    report["signature"] = f"{report['signature']}|{asked}"
    report["generation"] = {
        "signature": asked,
        "coverage": summary.coverage.as_json(),
        "missing": dict(sorted(summary.missing.items())),
        "bounds": bounds,
        "cost": None if summary.cost is None else {"amount": summary.cost, "currency": currency},
        **({} if stopped is None else {"stopped": stopped}),
    }
    return dataclasses.replace(evaluation, report=report)


def missing_error(
    evaluation: Evaluation, task: Task, summary: SeedSummary, predictions: Path, again: str = "again"
) -> InputError:
    """Why an incomplete run has no verdict, and between which values its score lies; `again` is how to ask for it."""
    generation = evaluation.report["generation"]
    low, high = (generation["bounds"][side][task.headline] for side in ("all_wrong", "all_right"))
    causes = ", ".join(_cause(cause, count, summary) for cause, count in generation["missing"].items())
    seed = "" if summary.seed is None else f" for seed {summary.seed}"
    between = f"{_rate(low)} (all of them wrong) and {_rate(high)} (all right)"
    advice = f"run the same command {again} to ask for what is missing, or add --allow-missing to score without it"
    if not summary.answered and not _WRONG_ADDRESS.isdisjoint(summary.missing):
        advice = f"is --base-url what stands before /chat/completions? if so: {advice}"
    return InputError(
        "generation.missing_answers",
        f"{summary.documents - summary.answered} of {summary.documents} answers are missing{seed}",
        place=Place(str(predictions)),
        expected="an answer for every document",
        found=f"{causes}; {task.headline} is between {between}",
        advice=advice,
    )


def _cause(cause: str, count: int, summary: SeedSummary) -> str:
    """How often it was so, with what the server said the first time."""
    said = summary.said.get(cause)
    return f"{cause} {count} ({said})" if said else f"{cause} {count}"


def _bounds(
    evaluate: Evaluate, predictions: Path, task: Task, summary: SeedSummary, evaluation: Evaluation
) -> dict[str, Any]:
    with temporary_folder() as folder:
        perfect = folder / "perfect.jsonl"
        with whole_file(perfect) as out:
            for position in summary.unanswered:
                out.write(orjson.dumps(task.perfect_prediction(position), option=orjson.OPT_APPEND_NEWLINE))
        best = evaluate([predictions, perfect], None)
    return {"all_wrong": _rates(evaluation), "all_right": _rates(best)}


def _rates(evaluation: Evaluation) -> dict[str, Any]:
    main = evaluation.report["metrics"]["main"]
    return {
        name: main[name] for name, metric in evaluation.metrics.items() if isinstance(metric, Rate) and name in main
    }


def _rate(metric: dict[str, Any]) -> str:
    return str(Rate(metric["numerator"], metric["denominator"]))
