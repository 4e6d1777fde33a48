"""Joined files cut into shards, and the work on one: read, parse, score, sum.

A shard names records by location, so a worker process reads only what it scores.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from orjson import JSONDecodeError, loads

from goldgate.core.tally import Tally
from goldgate.errors import InputError, InternalError
from goldgate.protocol.model import Protocol
from goldgate.readers.index import NOT_THERE, Index, id_of, require_one_id
from goldgate.readers.records import RecordStore
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.sample import Sample
from goldgate.suites.extraction.sample_record import render_record
from goldgate.suites.extraction.scorer import Scorer

SHARD_SAMPLES = 500
SHARD_BYTES = 4 << 20  # a shard is held in memory: a record larger than this is one of its own


class Shard(NamedTuple):
    """Where the gold and the predictions of some samples are; a prediction of length 0 is not there."""

    gold_locations: array[int]
    gold_lengths: array[int]
    predicted_locations: array[int]
    predicted_lengths: array[int]


class ShardResult(NamedTuple):
    """The tally of a shard, and its samples' records as JSON Lines."""

    samples: int
    tally: Tally
    records: bytes


def shards(gold: Index, predictions: Index, partners: array[int]) -> Iterator[Shard]:
    """All samples in the order of the gold, cut into pieces of so many samples or so many bytes."""
    shard, held = _empty(), 0
    for at, length, partner in zip(gold.locations, gold.lengths, partners, strict=True):
        predicted_at, predicted_length = 0, 0
        if partner != NOT_THERE:
            predicted_at, predicted_length = predictions.locations[partner], predictions.lengths[partner]
        size = length + predicted_length
        if shard.gold_locations and (held + size > SHARD_BYTES or len(shard.gold_locations) == SHARD_SAMPLES):
            yield shard
            shard, held = _empty(), 0
        held += size
        for column, value in zip(shard, (at, length, predicted_at, predicted_length), strict=True):
            column.append(value)
    if shard.gold_locations:
        yield shard


def _empty() -> Shard:
    return Shard(array("Q"), array("Q"), array("Q"), array("Q"))


class ShardScorer:
    """Scores shards of joined files. It can be sent to another process."""

    def __init__(
        self,
        protocol: Protocol,
        schema: EventSchema | None,
        gold: RecordStore,
        predictions: RecordStore,
        *,
        keep_records: bool,
    ) -> None:
        self._made_of = (protocol, schema, gold, predictions, keep_records)
        self.scorer = Scorer(protocol, schema)
        self.gold = gold
        self.predictions = predictions
        self.keep_records = keep_records

    def __reduce__(self) -> tuple[object, ...]:
        return (_make, self._made_of)

    def __call__(self, shard: Shard) -> ShardResult:
        tally = Tally()
        records: list[bytes] = []
        scorer, keep_records = self.scorer, self.keep_records
        for sample in self.samples(shard):
            facts = scorer.facts(sample)
            scorer.add(facts, tally)
            if keep_records:
                records.append(render_record(facts))
        return ShardResult(len(shard.gold_locations), tally, b"".join(records))

    def samples(self, shard: Shard) -> Iterator[Sample]:
        """Read the samples of a shard; a mistake in a record is an error with its line."""
        lines = self.gold.read_many(shard.gold_locations, shard.gold_lengths)
        answers = self.predictions.read_many(shard.predicted_locations, shard.predicted_lengths)
        for at, line, predicted_at, answer in zip(
            shard.gold_locations, lines, shard.predicted_locations, answers, strict=True
        ):
            try:
                record = loads(line)
            except JSONDecodeError:
                record = None
            if type(record) is not dict:
                record = self.gold.decode(at, line)  # a second try, or the error with its line
            identity = id_of(record, self.gold, at)
            require_one_id(identity, line, self.gold, at)
            try:
                gold = parse_gold(record, identity, line)
            except InputError as error:
                raise self.gold.at(error, at) from None
            if not answer:
                yield Sample(gold)
                continue
            try:
                record = loads(answer)
            except JSONDecodeError:
                record = None
            if type(record) is not dict:
                record = self.predictions.decode(predicted_at, answer)
            answered = id_of(record, self.predictions, predicted_at)
            require_one_id(answered, answer, self.predictions, predicted_at)
            if answered != identity:
                raise InternalError("internal.hash_collision", "two ids have the same hash; run the command again")
            try:
                response, events = parse_prediction(record)
            except InputError as error:
                raise self.predictions.at(error, predicted_at) from None
            yield Sample(gold, response, events, answer)


def _make(
    protocol: Protocol, schema: EventSchema | None, gold: RecordStore, predictions: RecordStore, keep_records: bool
) -> ShardScorer:
    return ShardScorer(protocol, schema, gold, predictions, keep_records=keep_records)
