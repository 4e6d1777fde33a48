"""The index of record files: the id, location and length of each record, in 24 bytes. Workers read the files once.

An id is kept as a 64-bit hash with a secret of the run in it: two ids with the same hash are an accident that the
next run does not have and that no author of a file can prepare.
"""

from __future__ import annotations

import os
import re
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
from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.guess import bad_id_error
from goldgate.readers.records import OFFSET_BITS, RecordFile, RecordStore, iterate_records, open_records

BUCKETS = 64  # by the first bits of the hash: a join needs a dictionary for one bucket at a time
HASH_BYTES = 8
PIECE_BYTES = 4 << 20  # held in memory, twice, while it is read
_SMALLEST_PIECE = 1 << 20  # less is read faster than it is given away
_PIECES_A_WORKER = 4

# An id at the head of a plain line, the usual place: saves decoding the line twice.
_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]*)"')


class FilePiece(NamedTuple):
    """The lines of a file that begin between two of its bytes, or all records of an array."""

    store: int
    file: int
    begin: int = 0
    end: int = 0


class PieceIndex(NamedTuple):
    """The records of a piece in their order, and the hashes of their ids sorted, each with the place of its record."""

    locations: array[int]
    lengths: array[int]
    hashes: bytes
    order: array[int]
    bounds: array[int]  # where each bucket begins in `hashes`, and where the last one ends


def cut_pieces(stores: Sequence[RecordStore], workers: int) -> list[list[FilePiece]]:
    """The files of each store, in pieces that keep all workers busy. Arrays are not cut."""
    total = sum(map(total_bytes, stores))
    length = min(PIECE_BYTES, max(_SMALLEST_PIECE, total // (workers * _PIECES_A_WORKER)))
    return [
        [piece for file in range(len(store.files)) for piece in _cut_file(store.files[file], number, file, length)]
        for number, store in enumerate(stores)
    ]


def total_bytes(store: RecordStore) -> int:
    """What there is to read in a store."""
    return sum(file.plain.size() for file in store.files)


class IndexPiece:
    """Notes the records of a piece; one without an id is an error with its line. It can be sent to a worker."""

    def __init__(self, stores: Sequence[RecordStore], secret: bytes) -> None:
        self.stores = stores
        self.secret = secret

    def __call__(self, piece: FilePiece) -> PieceIndex:
        store, base = self.stores[piece.store], piece.file << OFFSET_BITS
        file = store.files[piece.file]
        locations, lengths, unsorted = array("Q"), array("Q"), []
        for offset, data in iterate_records(file, piece.begin, piece.end):
            location, identity = base + offset, leading_id(data)
            if identity is None:
                identity = require_id(store.decode(location, data), store, location).encode()
            locations.append(location)
            lengths.append(len(data))
            unsorted.append(id_hash(identity, self.secret))
        order = sorted(range(len(unsorted)), key=unsorted.__getitem__)
        hashes = [unsorted[place] for place in order]
        firsts = [(bucket * 256 // BUCKETS).to_bytes(1) for bucket in range(BUCKETS)]
        bounds = [*(bisect_left(hashes, first) for first in firsts), len(hashes)]
        return PieceIndex(locations, lengths, b"".join(hashes), array("I", order), array("I", bounds))


def id_hash(identity: bytes, secret: bytes) -> bytes:
    """The hash under which an id is indexed."""
    return blake2b(secret + identity, digest_size=HASH_BYTES).digest()


def leading_id(data: bytes) -> bytes | None:
    """The id of a line that begins with it, without decoding the line; None if it has to be decoded."""
    match = _LEADING_ID.match(data)
    return (match.group(1) or None) if match is not None else None


def require_id(record: dict[str, Any], store: RecordStore, location: int) -> str:
    """The record's id as text; an integer is its own text."""
    identity = record_id(record)
    if identity is None:
        raise bad_id_error(record, store.files[location >> OFFSET_BITS].kind, store.place(location, "id"))
    return identity


def require_one_id(identity: str, data: bytes, store: RecordStore, location: int) -> None:
    """Refuse a record with a second id, however it is written: the one at its head joins it, the last is decoded."""
    head = leading_id(data)
    if head is not None and head != identity.encode():
        raise InputError(
            f"{store.files[location >> OFFSET_BITS].kind}.duplicate_key",
            'duplicate key "id" in this record',
            place=store.place(location, "id"),
            expected="one id",
            found=f"{describe_value(head.decode(errors='replace'))} and {describe_value(identity)}",
        )


def _cut_file(file: RecordFile, store: int, number: int, length: int) -> Iterator[FilePiece]:
    if file.is_array:
        yield FilePiece(store, number)
        return
    for begin in range(file.start, file.plain.size(), length):
        yield FilePiece(store, number, begin, begin + length)


_SECRET_BYTES = 16


class HashRun(NamedTuple):
    """The ids of a piece: sorted hashes, and the place of each record from `base` on."""

    base: int
    hashes: bytes
    order: array[int]
    bounds: array[int]


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
        self.runs.append(HashRun(len(self), piece.hashes, piece.order, piece.bounds))
        self.locations.extend(piece.locations)
        if max(piece.lengths, default=0) >> 32:  # a record of 4 GiB
            self.lengths = array("Q", self.lengths)
        self.lengths.extend(array(self.lengths.typecode, piece.lengths))

    def record(self, position: int) -> dict[str, Any]:
        location = self.locations[position]
        return self.store.decode(location, self.store.read(location, self.lengths[position]))

    def find(self, identity: str) -> dict[str, Any] | None:
        """The record with this id, the first if there are several; None if there is none."""
        for position in self.positions(identity):
            record = self.record(position)
            if record_id(record) == identity:
                return record
        return None

    def positions(self, identity: str) -> Iterator[int]:
        """The positions of all records with this id, in order, and rarely of others with the same hash."""
        hashed = id_hash(identity.encode(), self.secret)
        bucket = hashed[0] * BUCKETS // 256
        for run in self.runs:
            begin, end = run.bounds[bucket], run.bounds[bucket + 1]
            hashes = array("Q", run.hashes[begin * HASH_BYTES : end * HASH_BYTES])
            key = array("Q", hashed)[0]
            if key in hashes:
                yield from sorted(
                    run.base + run.order[begin + number] for number, other in enumerate(hashes) if other == key
                )

    def record_id(self, position: int) -> str:
        location = self.locations[position]
        data = self.store.read(location, self.lengths[position])
        identity = require_id(self.store.decode(location, data), self.store, location)
        require_one_id(identity, data, self.store, location)
        return identity


Opener = Callable[[str | Path, str], RecordFile]  # a file by its path and kind


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
    cut = cut_pieces(stores, mapper.workers)
    piece_indexes = mapper.map(IndexPiece(stores, secret), [piece for of_store in cut for piece in of_store])
    indexes = []
    for file in (file for store in stores for file in store.files):
        file.records = 0
    for store, of_store in zip(stores, cut, strict=True):
        index = IdIndex(store, secret)
        for piece, piece_index in zip(of_store, islice(piece_indexes, len(of_store)), strict=True):
            index.add(store.files[piece.file], piece_index)
        if not len(index) and any(file.kind == "gold" for file in store.files):
            raise _no_gold_error(store)
        indexes.append(index)
    return indexes


def _no_gold_error(store: RecordStore) -> InputError:
    return InputError(
        "gold.empty",
        "there are no gold records",
        place=Place(", ".join(file.name for file in store.files)),
        expected="at least one record",
        advice="did the export that wrote the file fail?",
    )
