"""The index of record files: the id, location and length of each record, in 24 bytes. Workers read the files once.

An id is kept as a 64-bit hash with a secret of the run in it: two ids with the same hash are an accident that the
next run does not have and that no author of a file can prepare.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.finding import record_id
from goldgate.core.suite import Mapper
from goldgate.engines import SerialEngine
from goldgate.errors import InputError, Place
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
Bucket = list[tuple[int, bytes, "array[int]"]]  # of each run with ids in it: the base, the hashes, and their places


class FilePiece(NamedTuple):
    """The lines of a file that begin between two of its bytes, or all records of an array."""

    store: int
    file: int
    begin: int = 0
    end: int = 0


class HashRun(NamedTuple):
    """The ids of a piece: sorted hashes, and the place of each record from `base` on."""

    base: int
    hashes: bytes
    order: array[int]
    bounds: array[int]  # where each bucket begins in `hashes`, and where the last one ends


class PieceIndex(NamedTuple):
    """The records of a piece in their order, and their ids."""

    locations: array[int]
    lengths: array[int]
    ids: HashRun


class IndexPiece:
    """Notes the records of a piece; one without an id is an error with its line. It can be sent to a worker."""

    def __init__(self, stores: Sequence[RecordStore], secret: bytes) -> None:
        self.stores = stores
        self.secret = secret

    def __call__(self, piece: FilePiece) -> PieceIndex:
        file, base = self.stores[piece.store].files[piece.file], piece.file << OFFSET_BITS
        locations, lengths, unsorted = array("Q"), array("Q"), []
        for offset, data in iterate_records(file, piece.begin, piece.end):
            identity = leading_id(data)
            if identity is None:
                identity = decode_record(file, offset, data).require_id().encode()
            locations.append(base + offset)
            lengths.append(len(data))
            unsorted.append(_id_hash(identity, self.secret))
        order = sorted(range(len(unsorted)), key=unsorted.__getitem__)
        hashes = [unsorted[place] for place in order]
        firsts = [(bucket * 256 // BUCKETS).to_bytes(1) for bucket in range(BUCKETS)]
        bounds = [*(bisect_left(hashes, first) for first in firsts), len(hashes)]
        return PieceIndex(locations, lengths, HashRun(0, b"".join(hashes), array("I", order), array("I", bounds)))


def _id_hash(identity: bytes, secret: bytes) -> bytes:
    return blake2b(secret + identity, digest_size=_HASH_BYTES).digest()


class IdIndex:
    """Where each record of some files is, and the hash of its id."""

    def __init__(self, store: RecordStore, secret: bytes) -> None:
        self.store = store
        self.secret = secret
        self.locations = array("Q")
        self.lengths = array("I")
        self.runs: list[HashRun] = []

    def __len__(self) -> int:
        return len(self.locations)

    def add(self, file: RecordFile, piece: PieceIndex) -> None:
        """The next piece of a file."""
        file.records += len(piece.locations)
        self.runs.append(piece.ids._replace(base=len(self)))
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
        bucket, positions = hashed[0] * BUCKETS // 256, []
        for run in self.runs:
            end = run.bounds[bucket + 1] * _HASH_BYTES
            at = run.hashes.find(hashed, run.bounds[bucket] * _HASH_BYTES, end)
            while at >= 0:
                if at % _HASH_BYTES == 0:
                    positions.append(run.base + run.order[at // _HASH_BYTES])
                at = run.hashes.find(hashed, at + 1, end)
        return sorted(positions)

    def bucket(self, number: int) -> Bucket:
        """The ids whose hashes are in a bucket."""
        return [
            (run.base, run.hashes[begin * _HASH_BYTES : end * _HASH_BYTES], run.order[begin:end])
            for run in self.runs
            if (begin := run.bounds[number]) < (end := run.bounds[number + 1])
        ]


def bucket_entries(bucket: Bucket) -> tuple[array[int], list[int]]:
    """The hashes of a bucket as numbers, and the positions of their records."""
    keys = array("Q")
    positions: list[int] = []
    for base, hashes, order in bucket:
        keys.frombytes(hashes)
        positions += map(base.__add__, order)
    return keys, positions


def index_files(paths: Sequence[str | Path], kind: str, opener: Opener = open_records) -> IdIndex:
    """Read the files once and note where the records are."""
    store = open_store(paths, kind, opener)
    try:
        return index_stores([store])[0]
    except BaseException:
        store.close()
        raise


def open_store(paths: Sequence[str | Path], kind: str, opener: Opener = open_records) -> RecordStore:
    """The files, ready to be read; nothing of them is known yet."""
    store = RecordStore([])
    try:
        for path in paths:
            store.files.append(opener(path, kind))
    except BaseException:
        store.close()
        raise
    return store


def index_stores(stores: Sequence[RecordStore], engine: Mapper | None = None) -> list[IdIndex]:
    """Read the files of each store once and note where the records are; gold without any is an error."""
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
            raise InputError(
                "gold.empty",
                "there are no gold records",
                place=Place(", ".join(file.name for file in store.files)),
                expected="at least one record",
                advice="did the export that wrote the file fail?",
            )
        indexes.append(index)
    return indexes


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
