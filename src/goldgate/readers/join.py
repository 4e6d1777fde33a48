"""Gold and predictions joined by id, in any order, and cut into shards.

The join compares hashes of ids, one bucket of hashes after the other; reading a pair compares the ids themselves.
A shard names records by location, so a worker process reads only what it scores.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import accumulate, takewhile
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from goldgate.core.process import Promise, start_background_thread
from goldgate.core.suite import Inputs, Mapper
from goldgate.engines import SerialEngine
from goldgate.errors import InputError, InternalError, describe_value
from goldgate.files.reading import RandomAccess
from goldgate.readers.guess import endpoint_id_advice, swapped_advice, unread_layout_advice
from goldgate.readers.id_index import (
    BUCKETS,
    Bucket,
    IdIndex,
    Opener,
    bucket_entries,
    index_files,
    index_stores,
    open_store,
    total_bytes,
)
from goldgate.readers.records import LocatedRecord, RecordFile, RecordStore, open_records, require_unchanged_files

if TYPE_CHECKING:
    from goldgate.core.contracts import FileDigest

JOINED_KINDS = ("gold", "predictions")
_RECHECK_SECONDS = 10.0  # for which a store elsewhere need not be asked again


class JoinedInputs:
    """Indexes of open files. What was changed since they were opened is left out: it was not scored."""

    def __init__(self, indexes: Mapping[str, IdIndex]) -> None:
        self._indexes = indexes

    def for_unit(self, record: Mapping[str, Any]) -> dict[str, Any]:
        inputs: dict[str, Any] = {}
        for name, index in self._indexes.items():
            try:
                value = index.find(str(record["id"]))
                index.store.require_unchanged(_RECHECK_SECONDS)  # after reading: what was read is what was there before
            except InputError:
                continue
            if value is not None:
                inputs[name] = value
        return inputs


@contextmanager
def open_joined_inputs(inputs: Inputs, opener: Opener = open_records) -> Iterator[JoinedInputs]:
    """The files that are named of gold and predictions, opened and indexed."""
    with ExitStack() as stack:
        indexes: dict[str, IdIndex] = {}
        for name in JOINED_KINDS:
            if inputs.get(name):
                indexes[name] = index_files(inputs[name], name, opener)
                stack.callback(indexes[name].store.close)
        yield JoinedInputs(indexes)


NO_PREDICTION = -1
_SERIAL_RECORDS = 20_000  # records: their join takes less time than giving it away


class BucketMatches(NamedTuple):
    """The pairs of a bucket; the first record of each side whose id came before; the first unknown prediction."""

    gold: array[int]
    predictions: array[int]
    duplicate_gold: int | None
    duplicate_prediction: int | None
    unknown: int | None


def join_indexes(gold: IdIndex, predictions: IdIndex, engine: Mapper | None = None) -> array[int]:
    """For each gold record the position of its prediction, or NO_PREDICTION.

    A duplicate id in either, or a prediction that no gold record asks for, is an error.
    """
    mapper = engine if engine is not None and len(gold) + len(predictions) > _SERIAL_RECORDS else SerialEngine()
    partners = array("i" if len(predictions) < 1 << 31 else "q", [NO_PREDICTION]) * len(gold)
    problems = []
    buckets = ((gold.bucket(number), predictions.bucket(number)) for number in range(BUCKETS))
    for matches in mapper.map(join_bucket, buckets):
        for position, partner in zip(matches.gold, matches.predictions, strict=True):
            partners[position] = partner
        problems.append(matches[2:])
    duplicate_gold, duplicate_prediction, unknown = (
        min((position for position in positions if position is not None), default=None)
        for positions in zip(*problems, strict=True)
    )
    if duplicate_gold is not None:
        raise _duplicate_id_error("gold", gold, duplicate_gold)
    if duplicate_prediction is not None:
        raise _duplicate_id_error("predictions", predictions, duplicate_prediction)
    if unknown is not None:
        for position in range(len(gold)):  # a gold file that was cut off is the cause, not the predictions
            gold.record(position).require_one_id()
        raise _unknown_id_error(gold, predictions.record(unknown))
    return partners


def join_bucket(bucket: tuple[Bucket, Bucket]) -> BucketMatches:
    """The pairs of one bucket of gold and predictions. It can be sent to a worker."""
    gold_keys, gold_positions = bucket_entries(bucket[0])
    keys, positions = bucket_entries(bucket[1])
    gold_by_key = dict(zip(gold_keys, gold_positions, strict=True))
    predicted_by_key = dict(zip(keys, positions, strict=True))
    matched, unknown = [*predicted_by_key], None
    if not predicted_by_key.keys() <= gold_by_key.keys():
        matched = [key for key in predicted_by_key if key in gold_by_key]
        unknown = min(position for key, position in predicted_by_key.items() if key not in gold_by_key)
    return BucketMatches(
        array("q", [gold_by_key[key] for key in matched]),
        array("q", [predicted_by_key[key] for key in matched]),
        _first_duplicate(gold_keys, gold_positions) if len(gold_by_key) < len(gold_keys) else None,
        _first_duplicate(keys, positions) if len(predicted_by_key) < len(keys) else None,
        unknown,
    )


def _first_duplicate(keys: Iterable[int], positions: Iterable[int]) -> int:
    """The first position whose key an earlier one has."""
    seen: set[int] = set()
    for position, key in sorted(zip(positions, keys, strict=True)):
        if key in seen:
            return position
        seen.add(key)
    raise ValueError("no key is there twice")


def _unknown_id_error(gold: IdIndex, prediction: LocatedRecord) -> InputError:
    """The error for a prediction that no gold record asks for, with a guess at the reason."""
    identity = prediction.require_one_id()
    guess = unread_layout_advice(prediction.value) or endpoint_id_advice(identity)
    if guess is None and len(gold):
        guess = swapped_advice(gold.record(0).value, prediction.value)
    return InputError(
        "predictions.unknown_id",
        "no gold record has the id of this prediction",
        place=prediction.place("id"),
        expected="an id of the gold",
        found=describe_value(identity),
        advice=guess or "are these predictions for another data set, or another split?",
    )


def _duplicate_id_error(kind: str, index: IdIndex, second: int) -> InputError:
    """The error for the record at `second`, whose id an earlier record has too."""
    record = index.record(second)
    identity = record.require_one_id()
    earlier = index.store.place(index.locations[index.positions(identity)[0]])
    earlier = earlier._replace(file=PurePath(earlier.file or "").name)  # a report has no path of the machine
    return InputError(
        f"{kind}.duplicate_id",
        "duplicate id",
        place=record.place("id"),
        expected="every id once",
        found=f"{describe_value(identity)}, already at {earlier}",
    )


SHARD_SAMPLES = 1_000
SMALLEST_SHARD = 50
SHARD_BYTES = 4 << 20  # a shard is held in memory: a record larger than this is one of its own
WORTH_BYTES = 128 << 20  # less is searched for ids before the first worker has started
FILES_PER_WORKER = 4  # files of one size, more or less: all workers are done with them at about the same time
SHARDS_PER_SHARE = 3  # shards that a worker's part of the rest is cut into


class PairShard(NamedTuple):
    """Where the gold and the predictions of some samples are; a prediction of length 0 is not there."""

    gold_locations: array[int]
    gold_lengths: array[int]
    predicted_locations: array[int]
    predicted_lengths: array[int]


RecordPair = tuple[str, LocatedRecord, LocatedRecord | None]  # an id, its gold record, and its prediction if any


class PairReader:
    """Reads the pairs of a shard; a mistake in a record is an error with its line. It can be sent to a worker."""

    def __init__(self, gold: RecordStore, predictions: RecordStore) -> None:
        self.gold = gold
        self.predictions = predictions

    def pairs(self, shard: PairShard) -> Iterator[RecordPair]:
        lines = self.gold.read_many(shard.gold_locations, shard.gold_lengths)
        answers = self.predictions.read_many(shard.predicted_locations, shard.predicted_lengths)
        for at, line, predicted_at, answer in zip(
            shard.gold_locations, lines, shard.predicted_locations, answers, strict=True
        ):
            gold = self.gold.decode(at, line)
            identity = gold.require_one_id()
            prediction = self.predictions.decode(predicted_at, answer) if answer else None
            if prediction is not None and prediction.require_one_id() != identity:
                raise InternalError("internal.hash_collision", "two ids have the same hash; run the command again")
            yield identity, gold, prediction


class JoinedFiles:
    """Open files of gold and predictions, and which records belong together."""

    def __init__(
        self, gold: IdIndex, predictions: IdIndex, hashes: Promise[list[str]], engine: Mapper | None = None
    ) -> None:
        self._gold = gold
        self._predictions = predictions
        self._partners = join_indexes(gold, predictions, engine)
        self._hashes = hashes
        self._workers = engine.workers if engine is not None else 1
        self.reader = PairReader(gold.store, predictions.store)

    def __len__(self) -> int:
        return len(self._gold)

    def shards(self) -> Iterator[PairShard]:
        """All samples in the order of the gold, cut into pieces by number of samples and by bytes.

        Towards the end the pieces become smaller, so that all workers are done at about the same time.
        """
        begin = 0
        while begin < len(self):
            share = (len(self) - begin) // (self._workers * SHARDS_PER_SHARE) if self._workers > 1 else SHARD_SAMPLES
            shard = self._shard(begin, min(SHARD_SAMPLES, max(share, SMALLEST_SHARD)))
            begin += len(shard.gold_locations)
            yield shard

    def _shard(self, begin: int, samples: int) -> PairShard:
        """A shard of at most `samples` samples; fewer if they have too many bytes, but at least one."""
        gold, partners = self._gold, self._partners[begin : begin + samples]
        locations, lengths = self._predictions.locations, self._predictions.lengths
        shard = PairShard(
            gold.locations[begin : begin + samples],
            gold.lengths[begin : begin + samples],
            array("Q", [0 if partner == NO_PREDICTION else locations[partner] for partner in partners]),
            array(lengths.typecode, [0 if partner == NO_PREDICTION else lengths[partner] for partner in partners]),
        )
        if sum(shard.gold_lengths) + sum(shard.predicted_lengths) <= SHARD_BYTES:
            return shard
        sizes = accumulate(map(int.__add__, shard.gold_lengths, shard.predicted_lengths))
        fitting = sum(1 for _ in takewhile(SHARD_BYTES.__ge__, sizes))
        return PairShard(*(column[: fitting or 1] for column in shard))

    def lookup(self) -> JoinedInputs:
        """The records of a sample, by its id."""
        return JoinedInputs({"gold": self._gold, "predictions": self._predictions})

    def forms(self) -> dict[str, str]:
        """In which forms other programs wrote the files, by kind; a kind of which all are ours is left out."""
        stores = {"dialect": self._gold.store, "layout": self._predictions.store}
        forms = {kind: {file.form for file in store.files if file.form is not None} for kind, store in stores.items()}
        return {kind: "+".join(sorted(names)) for kind, names in forms.items() if names}

    def digests(self) -> dict[str, list[FileDigest]]:
        """What a report says of the files, sorted: in what order they were named changes nothing."""
        stores = {"gold": self._gold.store, "predictions": self._predictions.store}
        hashes = iter(self._hashes.result())
        return {
            kind: sorted(map(_file_digest, store.files, hashes), key=lambda digest: (*digest.values(),))
            for kind, store in stores.items()
        }


def _file_digest(file: RecordFile, sha256: str) -> FileDigest:
    digest: FileDigest = {"sha256": sha256, "samples": file.records}
    return digest if file.form is None else {**digest, "form": file.form}


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
        with require_unchanged_files(stores):
            hashes = _start_hashing(stores, worth)
            gold_index, predicted_index = index_stores(stores, worth)
            yield JoinedFiles(gold_index, predicted_index, hashes, engine)


def _start_hashing(stores: Sequence[RecordStore], engine: Mapper | None) -> Promise[list[str]]:
    """The digests of all files: made beside everything else, or, where all workers get files enough, by them."""
    hashes: Promise[list[str]] = Promise()
    files = [file.stored for store in stores for file in store.files]
    if engine is None or len(files) < engine.workers * FILES_PER_WORKER:
        start_background_thread(  # takes no turn from the rest
            lambda: hashes.keep(lambda: [digest for store in stores for digest in store.sha256s()])
        )
    else:
        digests = [*engine.map(partial(_file_sha256, files), range(len(files)))]
        hashes.keep(lambda: digests)
    return hashes


def _file_sha256(files: Sequence[RandomAccess], number: int) -> str:
    return files[number].sha256()
