"""Where the records of files are and which id each has, in 24 bytes a record. All workers read the files, once."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.record_id import record_id
from goldgate.core.suite import Mapper
from goldgate.engines.serial import Serial
from goldgate.errors import InputError, Place
from goldgate.readers.noted import (
    HASH_BYTES,
    Noted,
    NoteRecords,
    bucket_of,
    id_hash,
    id_of,
    pieces,
    require_one_id,
)
from goldgate.readers.records import RecordFile, RecordStore, open_records

_SECRET_BYTES = 16


class Run(NamedTuple):
    """The ids of a piece: sorted hashes, and the place of each record from `base` on."""

    base: int
    hashes: bytes
    order: array[int]
    bounds: array[int]


class Index:
    """Where each record of some files is, and the hash of its id."""

    def __init__(self, store: RecordStore, secret: bytes) -> None:
        self.store = store
        self.secret = secret
        self.locations = array("Q")
        self.lengths = array("I")
        self.runs: list[Run] = []

    def __len__(self) -> int:
        return len(self.locations)

    def add(self, file: RecordFile, noted: Noted) -> None:
        """The next piece of a file."""
        if noted.lengths.typecode != self.lengths.typecode:  # a record of 4 GiB
            self.lengths = array("Q", self.lengths)
        file.records += len(noted.locations)
        self.runs.append(Run(len(self), noted.hashes, noted.order, noted.bounds))
        self.locations.extend(noted.locations)
        self.lengths.extend(array(self.lengths.typecode, noted.lengths))

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
        """Of all records that have this id, in their order; of others, by an accident with their hashes."""
        hashed = id_hash(identity, self.secret)
        bucket = bucket_of(hashed)
        for run in self.runs:
            begin, end = run.bounds[bucket], run.bounds[bucket + 1]
            hashes = array("Q", run.hashes[begin * HASH_BYTES : end * HASH_BYTES])
            key = array("Q", hashed)[0]
            if key in hashes:
                yield from sorted(
                    run.base + run.order[begin + number] for number, known in enumerate(hashes) if known == key
                )

    def record_id(self, position: int) -> str:
        location = self.locations[position]
        data = self.store.read(location, self.lengths[position])
        identity = id_of(self.store.decode(location, data), self.store, location)
        require_one_id(identity, data, self.store, location)
        return identity


Opener = Callable[[str | Path, str], RecordFile]  # a file by its path and kind


def index_files(paths: Sequence[str | Path], kind: str, opener: Opener = open_records) -> Index:
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


def index_stores(stores: Sequence[RecordStore], engine: Mapper | None = None) -> list[Index]:
    """Read the files of each store once and note where the records are; gold without any is an error."""
    mapper, secret = engine or Serial(), os.urandom(_SECRET_BYTES)
    cut = pieces(stores, mapper.workers)
    noted = mapper.map(NoteRecords(stores, secret), [piece for of_store in cut for piece in of_store])
    indexes = []
    for file in (file for store in stores for file in store.files):
        file.records = 0
    for store, of_store in zip(stores, cut, strict=True):
        index = Index(store, secret)
        for piece, found in zip(of_store, islice(noted, len(of_store)), strict=True):
            index.add(store.files[piece.file], found)
        if not len(index) and any(file.kind == "gold" for file in store.files):
            raise _no_gold(store)
        indexes.append(index)
    return indexes


def _no_gold(store: RecordStore) -> InputError:
    return InputError(
        "gold.empty",
        "there are no gold records",
        place=Place(", ".join(file.name for file in store.files)),
        expected="at least one record",
        advice="did the export that wrote the file fail?",
    )
