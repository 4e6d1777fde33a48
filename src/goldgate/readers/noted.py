"""Noting where records are and which ids they have, piece by piece of a file: pieces are read by any number of workers.

What is noted of a record is a 64-bit hash of its id, its location and its length. The hash has a secret of the run in
it: two ids with the same one are an accident that the next run does not have, and nobody can prepare it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, describe
from goldgate.files.random_access import BLOCK
from goldgate.readers.guess import bad_id
from goldgate.readers.records import OFFSET_BITS, UNCHECKED, RecordFile, RecordStore, check_record, iterate

BUCKETS = 64  # by the first bits of the hash: a join needs a dictionary for one bucket at a time
HASH_BYTES = 8
PIECE_BYTES = 4 << 20  # held in memory, twice, while it is read
_SMALLEST_PIECE = 1 << 20  # less is read faster than it is given away
_PIECES_A_WORKER = 4

# An id at the head of a plain line, the usual place: saves decoding the line twice.
_BLANK_LINES = re.compile(rb"\s*\n")
_ID_FIRST = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]*)"')


class Piece(NamedTuple):
    """The lines of a file that begin between two of its bytes, or all records of an array."""

    store: int
    file: int
    begin: int = 0
    end: int = 0


class Noted(NamedTuple):
    """The records of a piece in their order, and the hashes of their ids sorted, each with the place of its record."""

    locations: array[int]
    lengths: array[int]
    hashes: bytes
    order: array[int]
    bounds: array[int]  # where each bucket begins in `hashes`, and where the last one ends


def pieces(stores: Sequence[RecordStore], workers: int) -> list[list[Piece]]:
    """The files of each store, in pieces that keep so many workers busy. Arrays are not cut."""
    total = sum(map(total_bytes, stores))
    length = min(PIECE_BYTES, max(_SMALLEST_PIECE, total // (workers * _PIECES_A_WORKER)))
    return [
        [piece for file in range(len(store.files)) for piece in _pieces(store.files[file], number, file, length)]
        for number, store in enumerate(stores)
    ]


def total_bytes(store: RecordStore) -> int:
    """What there is to read in a store."""
    return sum(_size(file) for file in store.files)


class NoteRecords:
    """Notes the records of a piece; one without an id is an error with its line. It can be sent to a worker."""

    def __init__(self, stores: Sequence[RecordStore], secret: bytes) -> None:
        self.stores = stores
        self.secret = secret

    def __call__(self, piece: Piece) -> Noted:
        store, base = self.stores[piece.store], piece.file << OFFSET_BITS
        file = store.files[piece.file]
        heads = _elements(file) if file.is_array else _lines(file, piece.begin, piece.end)
        locations, lengths, found = array("Q"), array("Q"), []
        secret = self.secret
        for offset, length, identity in heads:
            location = base + offset
            if identity is None:
                identity = id_of(store.decode(location, store.read(location, length)), store, location).encode()
            locations.append(location)
            lengths.append(length)
            found.append(blake2b(secret + identity, digest_size=HASH_BYTES).digest())
        order = sorted(range(len(found)), key=found.__getitem__)
        hashes = [found[place] for place in order]
        firsts = [(bucket * 256 // BUCKETS).to_bytes(1) for bucket in range(BUCKETS)]
        bounds = [*(bisect_left(hashes, first) for first in firsts), len(hashes)]
        return Noted(locations, compact(lengths), b"".join(hashes), array("I", order), array("I", bounds))


def id_hash(identity: str, secret: bytes) -> bytes:
    """What is noted of an id."""
    return blake2b(secret + identity.encode(), digest_size=HASH_BYTES).digest()


def bucket_of(hashed: bytes) -> int:
    return hashed[0] * BUCKETS // 256


def compact(values: Iterable[int]) -> array[int]:
    """The numbers in four bytes each, if they fit."""
    found = array("Q", values)
    return array("I", found) if not found or max(found) < 1 << 32 else found


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


def _size(file: RecordFile) -> int:
    return file.plain.size()


def _pieces(file: RecordFile, store: int, number: int, length: int) -> Iterator[Piece]:
    if file.is_array:
        yield Piece(store, number)
        return
    for begin in range(file.start, _size(file), length):
        yield Piece(store, number, begin, begin + length)


_Head = tuple[int, int, bytes | None]  # offset and length of a record, and the id that it begins with


def _elements(file: RecordFile) -> Iterator[_Head]:
    return ((offset, len(data), id_at_head(data)) for offset, data in iterate(file))


def _lines(file: RecordFile, begin: int, end: int) -> Iterator[_Head]:
    """Each line that begins there. Blank lines are no records. A line is looked at where it lies, and not copied."""
    offset = begin if begin == file.start else begin - 1  # whether a line begins at `begin`, the byte before says
    data = file.plain.read(offset, min(end, _size(file)) - offset)
    at = 0 if offset == begin else data.find(b"\n") + 1
    if offset < begin and not at:
        return
    find, match = data.find, _ID_FIRST.match
    while stop := find(b"\n", at) + 1:
        head = match(data, at, stop)
        if stop - at > UNCHECKED:
            check_record(file, offset + at, data[at:stop])
        if head is not None:
            yield offset + at, stop - at, head[1] or None
        elif blank := _BLANK_LINES.match(data, at):  # millions of them are passed over at once
            stop = blank.end()
        else:
            yield offset + at, stop - at, None
        at = stop
    if offset + at < end:
        last = data[at:] + b"".join(_rest(file, offset + len(data), file.limit - (len(data) - at)))
        if len(last) > UNCHECKED:
            check_record(file, offset + at, last)
        if last and not last.isspace():
            yield offset + at, len(last), id_at_head(last)


def _rest(file: RecordFile, offset: int, limit: int) -> Iterator[bytes]:
    """What is left of a line, with its end; a block more than `limit` at most."""
    while limit >= 0 and (block := file.plain.read_some(offset, BLOCK)):
        end = block.find(b"\n") + 1
        yield block[:end] if end else block
        if end:
            return
        offset += len(block)
        limit -= len(block)
