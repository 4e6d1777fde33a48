"""The line that every evaluation follows: read → parse → score → sum → divide → judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import require_known, require_sensible
from goldgate.core.record_id import bad_id, record_id
from goldgate.core.tally import Tally
from goldgate.engines import start_engine
from goldgate.engines.aside import Promise, start_aside
from goldgate.errors import InputError, Place, describe
from goldgate.protocol.load import LoadedProtocol, ProtocolSource, obtain_protocol
from goldgate.readers.index import index_store, join, open_store
from goldgate.readers.records import Digest, RecordStore, held
from goldgate.suites.extraction.events.event_schema import EventSchema, load_event_schema, parse_event_schema
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.report import judge
from goldgate.suites.extraction.sample import Sample
from goldgate.suites.extraction.scorer import Scorer, known_metrics, known_rates
from goldgate.suites.extraction.shards import ShardScorer, shards

Paths = str | Path | Sequence[str | Path]
SchemaSource = str | Path | EventSchema | Mapping[str, Any] | None
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
    plan = _load_protocol(protocol)
    event_schema = _load_schema(schema)
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


def evaluate(
    gold: Iterable[Mapping[str, Any]],
    predictions: Iterable[Mapping[str, Any]],
    schema: SchemaSource = None,
    protocol: ProtocolSource = None,
) -> Evaluation:
    """Score records that are in memory: the same as `evaluate_files` on files that hold them."""
    plan = _load_protocol(protocol)
    scorer = Scorer(plan.protocol, _load_schema(schema))
    answers = _by_id(predictions, "predictions")
    tally = Tally()
    for identity, (number, record) in _by_id(gold, "gold").items():
        with _located("gold", number):
            sample = Sample(parse_gold(record, identity))
        if identity in answers:
            number, record = answers.pop(identity)
            with _located("predictions", number):
                sample.response, sample.events = parse_prediction(record)
        scorer.add(scorer.facts(sample), tally)
    for identity, (number, _) in answers.items():
        raise InputError(
            "predictions.unknown_id",
            "this prediction answers no gold record",
            place=_place("predictions", number, "id"),
            found=describe(identity),
        )
    return judge(scorer, tally, plan)


def load_scorer(schema: SchemaSource = None, protocol: ProtocolSource = None) -> Scorer:
    """A scorer for one response at a time, as in a training loop: `load_scorer("schema.json").score(text, gold)`."""
    return Scorer(_load_protocol(protocol).protocol, _load_schema(schema))


def _digests(store: RecordStore, hashes: list[str]) -> list[Digest]:
    return [Digest(sha256, file.records) for file, sha256 in zip(store.files, hashes, strict=True)]


def _by_id(records: Iterable[Mapping[str, Any]], kind: str) -> dict[str, tuple[int, Mapping[str, Any]]]:
    found: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for number, record in enumerate(records, 1):
        value = record_id(record) if isinstance(record, Mapping) else None
        if value is None:
            raise bad_id(record, kind, _place(kind, number, "id"))
        if value in found:
            raise InputError(
                f"{kind}.duplicate_id", "duplicate id", place=_place(kind, number, "id"), found=describe(value)
            )
        found[value] = number, record
    return found


def _place(kind: str, number: int, field: str | None) -> Place:
    return Place(f"{kind} record {number}", None, field)


@contextmanager
def _located(kind: str, number: int) -> Iterator[None]:
    """Adds to an error which record it was found in."""
    try:
        yield
    except InputError as error:
        error.place = _place(kind, number, error.place.field)
        raise


def _listed(paths: Paths) -> list[str | Path]:
    return [paths] if isinstance(paths, (str, Path)) else list(paths)


def _load_protocol(protocol: ProtocolSource) -> LoadedProtocol:
    loaded = obtain_protocol(protocol)
    require_known(loaded.protocol.gates, known_metrics(loaded.protocol), loaded.file, loaded.lines)
    require_sensible(loaded.protocol.gates, known_rates(loaded.protocol), loaded.file, loaded.lines)
    return loaded


def _load_schema(schema: SchemaSource) -> EventSchema | None:
    if schema is None or isinstance(schema, EventSchema):
        return schema
    if isinstance(schema, Mapping):
        return parse_event_schema(schema)
    return load_event_schema(schema)
