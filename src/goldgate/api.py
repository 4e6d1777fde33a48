"""Evaluations of stored files, from Python: a function for each suite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from goldgate.core.evaluation import Evaluation
from goldgate.engines import EngineName
from goldgate.pipeline import Progress, evaluate_suite
from goldgate.protocol import ProtocolSource
from goldgate.suites import load_suite
from goldgate.suites.extraction.events.event_schema import SchemaSource

Paths = str | Path | Sequence[str | Path]


def evaluate_files(
    gold: Paths,
    predictions: Paths,
    schema: SchemaSource = None,
    protocol: ProtocolSource = None,
    *,
    dialect: str | None = None,
    id_field: str | None = None,
    response_field: str | None = None,
    workers: int | None = None,
    engine: EngineName = "processes",
    ray_address: str | None = None,
    records: IO[bytes] | bool | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score stored answers of an extraction model and judge them.

    `dialect` names the published format of the gold, `id_field` and `response_field` are dotted paths into predictions.
    `records` receives a line of JSON for each sample (what the command writes to samples.jsonl); with `records=True`,
    `evaluation.samples` keeps them. With the engine "ray" it is scored on the cluster at `ray_address`.
    """
    inputs = {
        "gold": _listed(gold),
        "predictions": _listed(predictions),
        "schema": _listed(schema),
        "dialect": _listed(dialect),
        "id_field": _listed(id_field),
        "response_field": _listed(response_field),
    }
    return _evaluate("extraction", inputs, protocol, workers, engine, ray_address, records, progress)


def evaluate_outputs(
    golden: str | Path,
    outputs: str | Path,
    protocol: ProtocolSource = None,
    *,
    corpus: str | Path | None = None,
    workers: int | None = None,
    engine: EngineName = "processes",
    ray_address: str | None = None,
    records: IO[bytes] | bool | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge stored runs of a research agent against golden queries.

    `corpus` is a list of hashes, or a directory, of sources that the evaluator knows. `records` receives a line of
    JSON for each run (what the command writes to runs.jsonl); with `records=True`, `evaluation.samples` keeps them.
    """
    inputs = {"golden": [str(golden)], "outputs": [str(outputs)], "corpus": _listed(corpus)}
    return _evaluate("research", inputs, protocol, workers, engine, ray_address, records, progress)


def _evaluate(
    suite: str,
    inputs: dict[str, list[Any]],
    protocol: ProtocolSource,
    workers: int | None,
    engine: EngineName,
    ray_address: str | None,
    records: IO[bytes] | bool | None,
    progress: Progress | None,
) -> Evaluation:
    if not (isinstance(records, bool) or records is None or hasattr(records, "write")):
        raise TypeError(f"records is True, or a file opened for writing bytes, not {type(records).__name__}")
    if records is True:
        with TemporaryFile() as stream:
            kept = _evaluate(suite, inputs, protocol, workers, engine, ray_address, stream, progress)
            stream.seek(0)
            return replace(kept, samples=[json.loads(line) for line in stream])
    return evaluate_suite(
        load_suite(suite), inputs, protocol,
        workers=workers, engine=engine, ray_address=ray_address, records=records or None, progress=progress,
    )  # fmt: skip


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]
