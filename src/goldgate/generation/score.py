"""Scoring generated answers: the ordinary report, with coverage and, where answers are missing, its bounds.

The bounds are the two extremes: every missing answer wrong (nothing extracted, which is how the
ordinary report counts it) and every missing answer right (the gold itself).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from goldgate.api import evaluate_files
from goldgate.core.evaluation import Evaluation
from goldgate.core.metric import Rate
from goldgate.errors import InputError, Place
from goldgate.generation.artifacts import SeedSummary, generation_signature
from goldgate.generation.files import temporary_folder, whole_file
from goldgate.generation.ladder import Ladder
from goldgate.pipeline import Progress
from goldgate.readers.index import id_of, index_files
from goldgate.readers.records import RecordStore, iterate, open_records

HEADLINE = "strict_f1"


class Sources(NamedTuple):
    """The files and settings that answers are scored with."""

    gold: Sequence[str]
    predictions: Path
    schema: str
    protocol: str | None
    workers: int = 1


def score(
    sources: Sources,
    ladder: Ladder,
    summary: SeedSummary,
    records: IO[bytes] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate the predictions of one seed; the report also says how complete they are and what was asked."""
    evaluation = _evaluate(sources, [sources.predictions], records, progress)
    bounds = None if summary.complete else _bounds(sources, evaluation)
    report = dict(evaluation.report)
    asked = generation_signature(ladder, summary.formats, summary.seed)
    report["signature"] = f"{report['signature']}|{asked}"
    report["generation"] = {
        "signature": asked,
        "coverage": summary.coverage.as_json(),
        "missing": dict(sorted(summary.missing.items())),
        "bounds": bounds,
    }
    return dataclasses.replace(evaluation, report=report)


def missing_error(evaluation: Evaluation, summary: SeedSummary, predictions: Path) -> InputError:
    """Why an incomplete run has no verdict, and between which values its score lies."""
    generation = evaluation.report["generation"]
    low, high = (generation["bounds"][side][HEADLINE] for side in ("all_wrong", "all_right"))
    causes = ", ".join(f"{cause} {count}" for cause, count in generation["missing"].items())
    seed = "" if summary.seed is None else f" for seed {summary.seed}"
    between = f"{_rate(low)} (all of them wrong) and {_rate(high)} (all right)"
    return InputError(
        "generation.missing_answers",
        f"{summary.documents - summary.answered} of {summary.documents} answers are missing{seed}",
        place=Place(str(predictions)),
        expected="an answer for every document",
        found=f"{causes}; {HEADLINE} is between {between}",
        advice="run the same command again to ask for what is missing, or add --allow-missing to score without it",
    )


def _bounds(sources: Sources, evaluation: Evaluation) -> dict[str, Any]:
    with temporary_folder() as folder:
        filled = folder / "filled.jsonl"
        _write_gold_answers(sources, filled)
        best = _evaluate(sources, [sources.predictions, filled], None, None)
    return {"all_wrong": _rates(evaluation), "all_right": _rates(best)}


def _rates(evaluation: Evaluation) -> dict[str, Any]:
    main = evaluation.report["metrics"]["main"]
    return {
        name: main[name] for name, metric in evaluation.metrics.items() if isinstance(metric, Rate) and name in main
    }


def _write_gold_answers(sources: Sources, path: Path) -> None:
    """The gold's own events as the prediction of each document that has none."""
    predicted = index_files([sources.predictions], "predictions")
    answered = {predicted.record_id(position) for position in range(len(predicted))}
    predicted.store.close()
    with whole_file(path) as out:
        for name in sources.gold:
            store = RecordStore([open_records(name, "gold")])
            for location, data in iterate(store.files[0]):
                record = store.decode(location, data)
                identity = id_of(record, store, location)
                if identity not in answered:
                    events = record.get("events", record.get("event_list")) or []
                    line = {"id": identity, "events": events}
                    out.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            store.close()


def _evaluate(
    sources: Sources, predictions: list[Path], records: IO[bytes] | None, progress: Progress | None
) -> Evaluation:
    return evaluate_files(
        sources.gold,
        predictions,
        sources.schema,
        sources.protocol,
        workers=sources.workers,
        records=records,
        progress=progress,
    )


def _rate(metric: dict[str, Any]) -> str:
    return str(Rate(metric["numerator"], metric["denominator"]))
