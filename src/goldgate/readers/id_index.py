"""Index record files by id, and join the indexes of gold and predictions.

The index has the id, location and length of each record, in 24 bytes. Workers read the files once. An id is kept as a
64-bit hash with a secret of the run in it: two ids with the same hash are an accident that the next run does not have
and that no author of a file can prepare. The join compares hashes, one bucket of them after the other; reading a pair
compares the ids themselves.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate, chain, islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from goldgate.core.finding import record_id
from goldgate.core.suite import Mapper
from goldgate.engines import SerialEngine
from goldgate.errors import InputError, Place
from goldgate.readers.guess import (
    describe_id,
    endpoint_id_advice,
    swapped_advice,
    unknown_id_message,
    unread_layout_advice,
)
from goldgate.readers.records import (
    OFFSET_BITS,
    LocatedRecord,
    RecordFile,
    RecordStore,
    decode_record,
    iterate_records,
    leading_id,
    open_records,
)

BUCKETS = 64  # by the first bits of the hash: a join needs a dictionary for one bucket at a time
PIECE_BYTES = 4 << 20  # held in memory, twice, while it is read
_HASH_BYTES = 8
_SECRET_BYTES = 16
_SMALLEST_PIECE = 1 << 20  # less is read faster than it is given away
_PIECES_A_WORKER = 4

Opener = Callable[[str | Path, str], RecordFile]  # a file by its path and kind
Bucket = list[tuple[int, bytes, "array[int]"]]  # of each piece: its first position, hashes, and positions after that


class FilePiece(NamedTuple):
    """The lines of a file that begin between two of its bytes, or all records of an array."""

    store: int
    file: int
    begin: int = 0
    end: int = 0


class PieceIds(NamedTuple):
    """The ids of a piece, bucket by bucket: their hashes, and the positions of their records in the piece."""

    hashes: bytes
    positions: array[int]
    bounds: array[int]  # where each bucket begins among them, and where the last one ends

    def bucket(self, number: int) -> tuple[bytes, array[int]]:
        begin, end = self.bounds[number : number + 2]
        return self.hashes[begin * _HASH_BYTES : end * _HASH_BYTES], self.positions[begin:end]


class PieceIndex(NamedTuple):
    """The records of a piece in their order, and their ids."""

    locations: array[int]
    lengths: array[int]
    ids: PieceIds


class IndexPiece:
    """Indexes the records of a piece; one without an id is an error with its line. It can be sent to a worker."""

    def __init__(self, stores: Sequence[RecordStore], secret: bytes) -> None:
        self.stores = stores
        self.secret = secret

    def __call__(self, piece: FilePiece) -> PieceIndex:
        file, base = self.stores[piece.store].files[piece.file], piece.file << OFFSET_BITS
        locations, lengths = array("Q"), array("Q")
        buckets = [(bytearray(), array("I")) for _ in range(BUCKETS)]
        for position, (offset, data) in enumerate(iterate_records(file, piece.begin, piece.end)):
            identity = leading_id(data)
            if identity is None:
                identity = decode_record(file, offset, data).require_id().encode()
            locations.append(base + offset)
            lengths.append(len(data))
            hashed = _id_hash(identity, self.secret)
            hashes, positions = buckets[_bucket_number(hashed)]
            hashes += hashed
            positions.append(position)
        all_hashes = b"".join(hashes for hashes, _ in buckets)
        all_positions = array("I", chain.from_iterable(positions for _, positions in buckets))
        bounds = array("I", accumulate((len(positions) for _, positions in buckets), initial=0))
        return PieceIndex(locations, lengths, PieceIds(all_hashes, all_positions, bounds))


def _id_hash(identity: bytes, secret: bytes) -> bytes:
    return blake2b(secret + identity, digest_size=_HASH_BYTES).digest()


def _bucket_number(hashed: bytes) -> int:
    return hashed[0] * BUCKETS // 256


class IdIndex:
    """Where each record of some files is, and the hash of its id."""

    def __init__(self, store: RecordStore, secret: bytes) -> None:
        self.store = store
        self.secret = secret
        self.locations = array("Q")
        self.lengths = array("I")
        self.pieces: list[tuple[int, PieceIds]] = []  # the first position of each, and its ids

    def __len__(self) -> int:
        return len(self.locations)

    def add(self, file: RecordFile, piece: PieceIndex) -> None:
        """Append the records and ids of the next piece of a file."""
        file.records += len(piece.locations)
        self.pieces.append((len(self), piece.ids))
        self.locations.extend(piece.locations)
        if max(piece.lengths, default=0) >> 32:  # a record of 4 GiB
            self.lengths = array("Q", self.lengths)
        self.lengths.extend(array(self.lengths.typecode, piece.lengths))

    def data(self, position: int) -> bytes:
        """The bytes of a record."""
        return self.store.read(self.locations[position], self.lengths[position])

    def record(self, position: int) -> LocatedRecord:
        return self.store.decode(self.locations[position], self.data(position))

    def find(self, identity: str) -> dict[str, Any] | None:
        """The record with this id, the first if there are several; None if there is none."""
        for position in self.positions(identity):
            value = self.record(position).value
            if record_id(value) == identity:
                return value
        return None

    def positions(self, identity: str) -> list[int]:
        """The positions of all records with this id, in order, and rarely of others with the same hash."""
        hashed = _id_hash(identity.encode(), self.secret)
        matches = []
        for first, hashes, positions in self.bucket(_bucket_number(hashed)):
            at = hashes.find(hashed)
            while at >= 0:
                if at % _HASH_BYTES == 0:
                    matches.append(first + positions[at // _HASH_BYTES])
                at = hashes.find(hashed, at + 1)
        return matches

    def bucket(self, number: int) -> Bucket:
        """The ids whose hashes are in a bucket."""
        buckets = [(first, *ids.bucket(number)) for first, ids in self.pieces]
        return [bucket for bucket in buckets if bucket[1]]


def bucket_entries(bucket: Bucket) -> tuple[array[int], list[int]]:
    """The hashes of a bucket as numbers, and the positions of their records."""
    keys = array("Q")
    positions: list[int] = []
    for first, hashes, in_piece in bucket:
        keys.frombytes(hashes)
        positions += map(first.__add__, in_piece)
    return keys, positions


def index_files(paths: Sequence[str | Path], kind: str, opener: Opener = open_records) -> IdIndex:
    """The index of these files, which are read once."""
    store = open_store(paths, kind, opener)
    try:
        return index_stores([store])[0]
    except BaseException:
        store.close()
        raise


def open_store(paths: Sequence[str | Path], kind: str, opener: Opener = open_records) -> RecordStore:
    """The files, ready to be read, as one store."""
    store = RecordStore([])
    try:
        for path in paths:
            store.files.append(opener(path, kind))
    except BaseException:
        store.close()
        raise
    return store


def index_stores(stores: Sequence[RecordStore], engine: Mapper | None = None) -> list[IdIndex]:
    """The index of each store, whose files are read once; gold without any record is an error."""
    mapper, secret = engine or SerialEngine(), os.urandom(_SECRET_BYTES)
    share = sum(map(total_bytes, stores)) // (mapper.workers * _PIECES_A_WORKER)
    cut = [[*_cut_store(store, number, share)] for number, store in enumerate(stores)]
    piece_indexes = mapper.map(IndexPiece(stores, secret), [piece for of_store in cut for piece in of_store])
    indexes = []
    for file in (file for store in stores for file in store.files):
        file.records = 0
    for store, of_store in zip(stores, cut, strict=True):
        index = IdIndex(store, secret)
        for piece, piece_index in zip(of_store, islice(piece_indexes, len(of_store)), strict=True):
            index.add(store.files[piece.file], piece_index)
        if not len(index) and any(file.kind == "gold" for file in store.files):
            raise no_records_error("gold", "gold records", store)
        indexes.append(index)
    return indexes


def no_records_error(kind: str, records: str, store: RecordStore | None, more: str = "") -> InputError:
    """The error for files that hold none of the records that they are for."""
    place = Place(", ".join(file.name for file in store.files) if store is not None else kind)
    advice = f"did the export that wrote the file fail?{more}"
    return InputError(f"{kind}.empty", f"there are no {records}", place=place, expected="at least one", advice=advice)


def total_bytes(store: RecordStore) -> int:
    """What there is to read in a store."""
    return sum(file.plain.size() for file in store.files)


def _cut_store(store: RecordStore, number: int, share: int) -> Iterator[FilePiece]:
    """The files in pieces of about `share` bytes, which keep all workers busy. Arrays are not cut."""
    length = min(PIECE_BYTES, max(_SMALLEST_PIECE, share))
    for place, file in enumerate(store.files):
        if file.is_array:
            yield FilePiece(number, place)
        else:
            for begin in range(file.start, file.plain.size(), length):
                yield FilePiece(number, place, begin, begin + length)


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
        matched = sum(partner != NO_PREDICTION for partner in partners)
        raise _unknown_id_error(gold, predictions, unknown, matched)
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


_OTHER_GOLD = "are these predictions for another data set, or another split?"


def _unknown_id_error(gold: IdIndex, predictions: IdIndex, unknown: int, matched: int) -> InputError:
    """The error for a prediction that no gold record asks for, with a guess at the reason."""
    prediction = predictions.record(unknown)
    identity = prediction.require_one_id()
    guess = unread_layout_advice(prediction.value) or endpoint_id_advice(identity)
    if guess is None and len(gold):
        guess = swapped_advice(gold.record(0).value, prediction.value)
    message = unknown_id_message(matched, len(predictions), len(gold))
    others = "score these predictions with all of their gold" if "complete" in message else _OTHER_GOLD
    return InputError(
        "predictions.unknown_id",
        message,
        place=prediction.place("id"),
        expected="an id of the gold",
        found=describe_id(identity),
        advice=guess or others,
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
        found=f"{describe_id(identity)}, already at {earlier}",
    )
