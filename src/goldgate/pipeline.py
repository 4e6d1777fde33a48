"""The line that every evaluation follows: read → parse → score → sum → divide → judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from goldgate.core.evaluation import Evaluation
from goldgate.core.tally import Tally
from goldgate.engines import start_engine
from goldgate.engines.aside import Promise, start_aside
from goldgate.protocol.load import ProtocolSource
from goldgate.readers.index import index_store, join, open_store
from goldgate.readers.records import Digest, RecordStore, held
from goldgate.suites.extraction.in_memory import SchemaSource, obtain_plan, obtain_schema
from goldgate.suites.extraction.report import judge
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.shards import ShardScorer, shards

Paths = str | Path | Sequence[str | Path]
Progress = Callable[[int, int], None]  # samples done, samples in all


def evaluate_files(
    gold: Paths,
    predictions: Paths,
    schema: SchemaSource = None,
    protocol: ProtocolSource = None,
    *,
    workers: int = 1,
    records: IO[bytes] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score stored answers and judge them: the same files give the same report, whatever `workers` is.

    `records` receives a line of JSON for each sample (what the command writes to samples.jsonl).
    """
    plan = obtain_plan(protocol)
    event_schema = obtain_schema(schema)
    scorer = Scorer(plan.protocol, event_schema)
    with ExitStack() as stack:
        engine = stack.enter_context(start_engine(workers, "goldgate.suites.extraction.shards"))
        stores: list[RecordStore] = []
        for paths, kind in ((gold, "gold"), (predictions, "predictions")):
            stores.append(open_store(_listed(paths), kind))
            stack.callback(stores[-1].close)
        hashes: Promise[list[list[str]]] = Promise()
        start_aside(lambda: hashes.keep(lambda: [store.sha256s() for store in stores]))  # takes no turn from the rest
        tally, done = Tally(), 0
        with held(stores):  # what was hashed is what was scored
            gold_index, predicted_index = (index_store(store) for store in stores)
            work = ShardScorer(plan.protocol, event_schema, stores[0], stores[1], keep_records=records is not None)
            for result in engine.map(work, shards(gold_index, predicted_index, join(gold_index, predicted_index))):
                tally += result.tally
                if records is not None:
                    records.write(result.records)
                done += result.samples
                if progress is not None:
                    progress(done, len(gold_index))
            digests = list(map(_digests, stores, hashes.result()))
        return judge(scorer, tally, plan, *digests)


def _digests(store: RecordStore, hashes: list[str]) -> list[Digest]:
    return [Digest(sha256, file.records) for file, sha256 in zip(store.files, hashes, strict=True)]


def _listed(paths: Paths) -> list[str | Path]:
    return [paths] if isinstance(paths, (str, Path)) else list(paths)
