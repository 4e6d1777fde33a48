"""Gold and predictions joined by id, and cut into shards.

A shard names records by location, so a worker process reads only what it scores.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orjson import JSONDecodeError, loads

from goldgate.engines.aside import Promise, start_aside
from goldgate.errors import InternalError
from goldgate.readers.given import JoinedGiven
from goldgate.readers.index import NOT_THERE, Index, Opener, id_of, index_store, join, open_store, require_one_id
from goldgate.readers.records import Digest, RecordStore, held, open_records

SHARD_SAMPLES = 500
SHARD_BYTES = 4 << 20  # a shard is held in memory: a record larger than this is one of its own


class Shard(NamedTuple):
    """Where the gold and the predictions of some samples are; a prediction of length 0 is not there."""

    gold_locations: array[int]
    gold_lengths: array[int]
    predicted_locations: array[int]
    predicted_lengths: array[int]


class Record(NamedTuple):
    """A decoded record, the bytes that it was decoded from, and where they are."""

    value: dict[str, Any]
    data: bytes
    location: int


class Pair(NamedTuple):
    """A gold record and its prediction, if there is one."""

    id: str
    gold: Record
    prediction: Record | None


class PairReader:
    """Reads the pairs of a shard; a mistake in a record is an error with its line. It can be sent to a worker."""

    def __init__(self, gold: RecordStore, predictions: RecordStore) -> None:
        self.gold = gold
        self.predictions = predictions

    def pairs(self, shard: Shard) -> Iterator[Pair]:
        lines = self.gold.read_many(shard.gold_locations, shard.gold_lengths)
        answers = self.predictions.read_many(shard.predicted_locations, shard.predicted_lengths)
        for at, line, predicted_at, answer in zip(
            shard.gold_locations, lines, shard.predicted_locations, answers, strict=True
        ):
            record, identity = _read(self.gold, at, line)
            if not answer:
                yield Pair(identity, Record(record, line, at), None)
                continue
            prediction, answered = _read(self.predictions, predicted_at, answer)
            if answered != identity:
                raise InternalError("internal.hash_collision", "two ids have the same hash; run the command again")
            yield Pair(identity, Record(record, line, at), Record(prediction, answer, predicted_at))


class JoinedFiles:
    """Open files of gold and predictions, and which records belong together."""

    def __init__(self, gold: Index, predictions: Index, hashes: Promise[list[list[str]]]) -> None:
        self._gold = gold
        self._predictions = predictions
        self._partners = join(gold, predictions)
        self._hashes = hashes
        self.reader = PairReader(gold.store, predictions.store)

    def __len__(self) -> int:
        return len(self._gold)

    def shards(self) -> Iterator[Shard]:
        """All samples in the order of the gold, cut into pieces of so many samples or so many bytes."""
        predictions = self._predictions
        shard, size = _empty(), 0
        for at, length, partner in zip(self._gold.locations, self._gold.lengths, self._partners, strict=True):
            predicted_at, predicted_length = 0, 0
            if partner != NOT_THERE:
                predicted_at, predicted_length = predictions.locations[partner], predictions.lengths[partner]
            more = length + predicted_length
            if shard.gold_locations and (size + more > SHARD_BYTES or len(shard.gold_locations) == SHARD_SAMPLES):
                yield shard
                shard, size = _empty(), 0
            size += more
            for column, value in zip(shard, (at, length, predicted_at, predicted_length), strict=True):
                column.append(value)
        if shard.gold_locations:
            yield shard

    def given(self) -> JoinedGiven:
        """The records of a sample, by its id."""
        return JoinedGiven({"gold": self._gold, "predictions": self._predictions})

    def forms(self) -> dict[str, str]:
        """In which forms other programs wrote the files, by kind; a kind of which all are ours is left out."""
        stores = {"dialect": self._gold.store, "layout": self._predictions.store}
        named = {kind: {file.form for file in store.files if file.form is not None} for kind, store in stores.items()}
        return {kind: "+".join(sorted(forms)) for kind, forms in named.items() if forms}

    def digests(self) -> dict[str, list[Digest]]:
        """What a report says of the files, sorted: in what order they were named changes nothing."""
        stores = {"gold": self._gold.store, "predictions": self._predictions.store}
        return {
            kind: sorted(
                Digest(sha256, file.records, file.form or "") for file, sha256 in zip(store.files, hashes, strict=True)
            )
            for (kind, store), hashes in zip(stores.items(), self._hashes.result(), strict=True)
        }


@contextmanager
def open_joined(
    gold: Sequence[str | Path], predictions: Sequence[str | Path], opener: Opener = open_records
) -> Iterator[JoinedFiles]:
    """The files, opened, hashed and joined. What was hashed is what is read inside, or it is an error."""
    with ExitStack() as stack:
        stores: list[RecordStore] = []
        for paths, kind in ((gold, "gold"), (predictions, "predictions")):
            stores.append(open_store(paths, kind, opener))
            stack.callback(stores[-1].close)
        hashes: Promise[list[list[str]]] = Promise()
        start_aside(lambda: hashes.keep(lambda: [store.sha256s() for store in stores]))  # takes no turn from the rest
        with held(stores):
            yield JoinedFiles(index_store(stores[0]), index_store(stores[1]), hashes)


def _read(store: RecordStore, location: int, data: bytes) -> tuple[dict[str, Any], str]:
    """A decoded record and its id."""
    try:
        record = loads(data)
    except JSONDecodeError:
        record = None
    if type(record) is not dict:
        record = store.decode(location, data)  # a second try, or the error with its line
    identity = id_of(record, store, location)
    require_one_id(identity, data, store, location)
    return record, identity


def _empty() -> Shard:
    return Shard(array("Q"), array("Q"), array("Q"), array("Q"))
