"""Evaluations of stored files, from Python: what the functions of each suite share."""

from __future__ import annotations

import json
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO, Any

from goldgate.core.evaluation import Evaluation
from goldgate.engines import EngineName
from goldgate.pipeline import Progress, evaluate_suite
from goldgate.protocol import ProtocolSource
from goldgate.suites import load_suite


def evaluate_stored(
    suite: str,
    inputs: dict[str, Any],
    protocol: ProtocolSource,
    workers: int | None,
    engine: EngineName,
    ray_address: str | None,
    records: IO[bytes] | bool | None,
    progress: Progress | None,
) -> Evaluation:
    """The evaluation of what is stored. An input is a value, a list of them, or None.

    `records` receives a line of JSON for each unit; with `records=True`, `evaluation.samples` keeps them.
    """
    if not (isinstance(records, bool) or records is None or hasattr(records, "write")):
        raise TypeError(f"records is True, or a file opened for writing bytes, not {type(records).__name__}")
    if records is True:
        with TemporaryFile() as stream:
            kept = evaluate_stored(suite, inputs, protocol, workers, engine, ray_address, stream, progress)
            stream.seek(0)
            return replace(kept, samples=[json.loads(line) for line in stream])
    return evaluate_suite(
        load_suite(suite), {name: _as_list(value) for name, value in inputs.items()}, protocol,
        workers=workers, engine=engine, ray_address=ray_address, records=records or None, progress=progress,
    )  # fmt: skip


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
