"""Gold and predictions joined by id, and cut into shards.

A shard names records by location, so a worker process reads only what it scores.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from orjson import JSONDecodeError, loads

from goldgate.core.suite import Mapper
from goldgate.engines.aside import Promise, start_aside
from goldgate.errors import InternalError
from goldgate.readers.given import JoinedGiven
from goldgate.readers.index import Index, Opener, index_stores, open_store
from goldgate.readers.join import NOT_THERE, join
from goldgate.readers.noted import id_of, require_one_id, total_bytes
from goldgate.readers.records import Digest, RecordStore, held, open_records

SHARD_SAMPLES = 1_000
SMALLEST_SHARD = 50
SHARD_BYTES = 4 << 20  # a shard is held in memory: a record larger than this is one of its own
WORTH_BYTES = 128 << 20  # less is searched for ids before the first worker has started
FILES_A_WORKER = 4  # files of one size, more or less: all workers are done with them at about the same time
SHARES = 3  # a worker's part of what is left, in so many shards


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

    def __init__(
        self, gold: Index, predictions: Index, hashes: Promise[list[list[str]]], engine: Mapper | None = None
    ) -> None:
        self._gold = gold
        self._predictions = predictions
        self._partners = join(gold, predictions, engine)
        self._hashes = hashes
        self._workers = engine.workers if engine is not None else 1
        self.reader = PairReader(gold.store, predictions.store)

    def __len__(self) -> int:
        return len(self._gold)

    def shards(self) -> Iterator[Shard]:
        """All samples in the order of the gold, cut into pieces of so many samples or so many bytes.

        Towards the end the pieces become smaller, so that all workers are done at about the same time.
        """
        begin = 0
        while begin < len(self):
            share = (len(self) - begin) // (self._workers * SHARES) if self._workers > 1 else SHARD_SAMPLES
            shard = self._shard(begin, min(SHARD_SAMPLES, max(share, SMALLEST_SHARD)))
            begin += len(shard.gold_locations)
            yield shard

    def _shard(self, begin: int, samples: int) -> Shard:
        """At most so many samples; fewer where they have too many bytes, but at least one."""
        gold, partners = self._gold, self._partners[begin : begin + samples]
        locations, lengths = self._predictions.locations, self._predictions.lengths
        shard = Shard(
            gold.locations[begin : begin + samples],
            gold.lengths[begin : begin + samples],
            array("Q", [0 if partner == NOT_THERE else locations[partner] for partner in partners]),
            array(lengths.typecode, [0 if partner == NOT_THERE else lengths[partner] for partner in partners]),
        )
        if sum(shard.gold_lengths) + sum(shard.predicted_lengths) <= SHARD_BYTES:
            return shard
        sizes = accumulate(map(int.__add__, shard.gold_lengths, shard.predicted_lengths))
        fitting = sum(1 for _ in takewhile(SHARD_BYTES.__ge__, sizes))
        return Shard(*(column[: fitting or 1] for column in shard))

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
    gold: Sequence[str | Path],
    predictions: Sequence[str | Path],
    opener: Opener = open_records,
    engine: Mapper | None = None,
) -> Iterator[JoinedFiles]:
    """The files, opened, hashed and joined. What was hashed is what is read inside, or it is an error."""
    with ExitStack() as stack:
        stores: list[RecordStore] = []
        for paths, kind in ((gold, "gold"), (predictions, "predictions")):
            stores.append(open_store(paths, kind, opener))
            stack.callback(stores[-1].close)
        worth = engine if sum(map(total_bytes, stores)) >= WORTH_BYTES else None
        with held(stores):
            hashes = _hashes(stores, worth)
            gold_index, predicted_index = index_stores(stores, worth)
            yield JoinedFiles(gold_index, predicted_index, hashes, engine)


class HashFiles:
    """The digest of a file as it is stored. It can be sent to a worker."""

    def __init__(self, stores: Sequence[RecordStore]) -> None:
        self.stores = stores

    def __call__(self, number: tuple[int, int]) -> str:
        store, file = number
        return self.stores[store].files[file].stored.sha256()


def _hashes(stores: Sequence[RecordStore], engine: Mapper | None) -> Promise[list[list[str]]]:
    """The digests: made beside everything else, or, where all workers get files enough, by them."""
    hashes: Promise[list[list[str]]] = Promise()
    numbers = [(number, file) for number, store in enumerate(stores) for file in range(len(store.files))]
    if engine is None or len(numbers) < engine.workers * FILES_A_WORKER:
        start_aside(lambda: hashes.keep(lambda: [store.sha256s() for store in stores]))  # takes no turn from the rest
        return hashes
    found = dict(zip(numbers, engine.map(HashFiles(stores), numbers), strict=True))
    hashes.keep(lambda: [[found[number, file] for file in range(len(s.files))] for number, s in enumerate(stores)])
    return hashes


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
