"""Joining gold and predictions by id, in any order, with an index of about 70 bytes a sample.

Both files are read once for their ids. What is kept of a record is a 64-bit hash of its id,
its location and its length; the hashes lie in buckets, so that the join needs a dictionary
for one bucket at a time. Whoever scores a pair compares the ids themselves.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, Place, describe
from goldgate.readers.guess import bad_id, other_layout, swapped
from goldgate.readers.records import OFFSET_BITS, RecordFile, RecordStore, iterate, open_records

BUCKETS = 256
NOT_THERE = -1

# An id at the head of a plain line, the usual place: saves decoding the line twice.
_ID_FIRST = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]*)"')


class Index:
    """Where each record of some files is, and the hash of its id."""

    def __init__(self, store: RecordStore) -> None:
        self.store = store
        self.locations = array("Q")
        self.lengths = array("Q")
        self.buckets = [array("q") for _ in range(BUCKETS)]  # hash, position, hash, position, …

    def __len__(self) -> int:
        return len(self.locations)

    def record(self, position: int) -> dict[str, Any]:
        location = self.locations[position]
        return self.store.decode(location, self.store.read(location, self.lengths[position]))

    def find(self, identity: str) -> dict[str, Any] | None:
        """The record with this id, the first if there are several; None if there is none."""
        key = hash(identity.encode())
        for known, position in _pairs(self.buckets[key & (BUCKETS - 1)]):
            if known == key:
                record = self.record(position)
                if record_id(record) == identity:
                    return record
        return None

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
        return index_store(store)
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


def index_store(store: RecordStore) -> Index:
    """Read the files of a store once and note where the records are; gold without any is an error."""
    index = Index(store)
    _note_records(index)
    if not len(index) and any(file.kind == "gold" for file in store.files):
        raise InputError(
            "gold.empty",
            "there are no gold records",
            place=Place(", ".join(file.name for file in store.files)),
            expected="at least one record",
            advice="did the export that wrote the file fail?",
        )
    return index


def _note_records(index: Index) -> None:
    locations, lengths, buckets = index.locations, index.lengths, index.buckets
    position = 0
    for number, file in enumerate(index.store.files):
        base = number << OFFSET_BITS
        before = position
        for offset, data in iterate(file):
            head = id_at_head(data)
            if head is not None:
                key = hash(head)
            else:
                location = base + offset
                key = hash(id_of(index.store.decode(location, data), index.store, location).encode())
            locations.append(base + offset)
            lengths.append(len(data))
            bucket = buckets[key & (BUCKETS - 1)]
            bucket.append(key)
            bucket.append(position)
            position += 1
        file.records = position - before


def id_at_head(data: bytes) -> bytes | None:
    """The id of a line that begins with it, without decoding the line; None if it has to be decoded."""
    match = _ID_FIRST.match(data)
    return (match.group(1) or None) if match is not None else None


def id_of(record: dict[str, Any], store: RecordStore, location: int) -> str:
    """The record's id as text; an integer is its own text."""
    identity = record_id(record)
    if identity is None:
        raise bad_id(record, store.files[location >> OFFSET_BITS].kind, store.place(location, "id"))
    return identity


def require_one_id(identity: str, data: bytes, store: RecordStore, location: int) -> None:
    """Refuse a record with a second id, however it is written: the one at its head joins it, the last is decoded."""
    head = id_at_head(data)
    if head is not None and head != identity.encode():
        raise InputError(
            f"{store.files[location >> OFFSET_BITS].kind}.duplicate_key",
            'duplicate key "id" in this record',
            place=store.place(location, "id"),
            expected="one id",
            found=f"{describe(head.decode(errors='replace'))} and {describe(identity)}",
        )


def join(gold: Index, predictions: Index) -> array[int]:
    """For each gold record the position of its prediction, or NOT_THERE.

    A duplicate id in either, or a prediction that no gold record asks for, is an error.
    """
    partners = array("q", [NOT_THERE]) * len(gold)
    unknown: int | None = None
    duplicates: dict[str, int] = {}
    for gold_bucket, predicted_bucket in zip(gold.buckets, predictions.buckets, strict=True):
        wanted = dict(zip(gold_bucket[0::2], gold_bucket[1::2], strict=True))
        if len(wanted) * 2 < len(gold_bucket):
            _note_duplicate(duplicates, "gold", gold_bucket)
        answered = dict(zip(predicted_bucket[0::2], predicted_bucket[1::2], strict=True))
        if len(answered) * 2 < len(predicted_bucket):
            _note_duplicate(duplicates, "predictions", predicted_bucket)
        for key, position in answered.items():
            gold_position = wanted.get(key)
            if gold_position is None:
                unknown = position if unknown is None else min(unknown, position)
            else:
                partners[gold_position] = position
    for kind, index in (("gold", gold), ("predictions", predictions)):
        if kind in duplicates:
            raise _duplicate(kind, index, duplicates[kind])
    if unknown is not None:
        for position in range(len(gold)):  # a gold file that was cut off is the cause, not the predictions
            gold.record_id(position)
        raise _unknown_id(gold, predictions, unknown)
    return partners


def _unknown_id(gold: Index, predictions: Index, position: int) -> InputError:
    """The error for a prediction that no gold record asks for, with a guess at the reason."""
    identity, record = predictions.record_id(position), predictions.record(position)
    guess = other_layout(record)
    if guess is None and len(gold):
        guess = swapped(gold.record(0), record)
    return InputError(
        "predictions.unknown_id",
        "no gold record has the id of this prediction",
        place=predictions.store.place(predictions.locations[position], "id"),
        expected="an id of the gold",
        found=describe(identity),
        advice=guess or "are these predictions for another data set, or another split?",
    )


def _note_duplicate(duplicates: dict[str, int], kind: str, bucket: array[int]) -> None:
    seen: set[int] = set()
    for key, position in _pairs(bucket):
        if key in seen:
            duplicates[kind] = min(position, duplicates.get(kind, position))
            return
        seen.add(key)


def _pairs(bucket: array[int]) -> Iterator[tuple[int, int]]:
    return zip(bucket[0::2], bucket[1::2], strict=True)


def _duplicate(kind: str, index: Index, second: int) -> InputError:
    """The error for the record at `second`, whose id an earlier record has too."""
    name = index.record_id(second)
    key = hash(name.encode())
    first = min(position for k, position in _pairs(index.buckets[key & (BUCKETS - 1)]) if k == key)
    earlier = index.store.place(index.locations[first])
    earlier = replace(earlier, file=PurePath(earlier.file or "").name)  # a report has no path of the machine
    return InputError(
        f"{kind}.duplicate_id",
        "duplicate id",
        place=index.store.place(index.locations[second], "id"),
        expected="every id once",
        found=f"{describe(name)}, already at {earlier}",
    )
