"""Gold and predictions joined by the hashes of their ids, in any order, one bucket of hashes after the other.

Whoever scores a pair compares the ids themselves.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from goldgate.core.suite import Mapper
from goldgate.engines.serial import Serial
from goldgate.errors import InputError, describe
from goldgate.readers.guess import endpoint_id, other_layout, swapped
from goldgate.readers.index import Index, Run
from goldgate.readers.noted import BUCKETS, HASH_BYTES

NOT_THERE = -1
_FEW = 20_000  # records: their join takes less time than giving it away


class Column(NamedTuple):
    """A bucket of an index: hashes, and places in runs, of which each has so many, counted from its base."""

    hashes: bytes
    order: bytes
    bases: array[int]
    counts: array[int]


class Bucket(NamedTuple):
    gold: Column
    predictions: Column


class Found(NamedTuple):
    """The pairs of a bucket; the first record of each side whose id came before; the first unknown prediction."""

    gold: array[int]
    predictions: array[int]
    duplicate_gold: int | None
    duplicate_prediction: int | None
    unknown: int | None


def join(gold: Index, predictions: Index, engine: Mapper | None = None) -> array[int]:
    """For each gold record the position of its prediction, or NOT_THERE.

    A duplicate id in either, or a prediction that no gold record asks for, is an error.
    """
    mapper = engine if engine is not None and len(gold) + len(predictions) > _FEW else Serial()
    partners = array("i" if len(predictions) < 1 << 31 else "q", [NOT_THERE]) * len(gold)
    problems = []
    buckets = (Bucket(_column(gold.runs, number), _column(predictions.runs, number)) for number in range(BUCKETS))
    for found in mapper.map(join_bucket, buckets):
        for position, partner in zip(found.gold, found.predictions, strict=True):
            partners[position] = partner
        problems.append(found[2:])
    duplicate_gold, duplicate_prediction, unknown = map(_first, zip(*problems, strict=True))
    if duplicate_gold is not None:
        raise _duplicate("gold", gold, duplicate_gold)
    if duplicate_prediction is not None:
        raise _duplicate("predictions", predictions, duplicate_prediction)
    if unknown is not None:
        for position in range(len(gold)):  # a gold file that was cut off is the cause, not the predictions
            gold.record_id(position)
        raise _unknown_id(gold, predictions, unknown)
    return partners


def join_bucket(bucket: Bucket) -> Found:
    """The pairs of one bucket. This is work for any process."""
    gold_keys, gold_positions = _entries(bucket.gold)
    keys, positions = _entries(bucket.predictions)
    wanted = dict(zip(gold_keys, gold_positions, strict=True))
    answered = dict(zip(keys, positions, strict=True))
    known, unknown = [*answered], None
    if not answered.keys() <= wanted.keys():
        known = [key for key in answered if key in wanted]
        unknown = min(position for key, position in answered.items() if key not in wanted)
    return Found(
        array("q", [wanted[key] for key in known]),
        array("q", [answered[key] for key in known]),
        _repeated(gold_keys, gold_positions) if len(wanted) < len(gold_keys) else None,
        _repeated(keys, positions) if len(answered) < len(keys) else None,
        unknown,
    )


def _column(runs: Iterable[Run], bucket: int) -> Column:
    hashes, order = [], []
    bases, counts = array("q"), array("q")
    for run in runs:
        begin, end = run.bounds[bucket], run.bounds[bucket + 1]
        if begin < end:
            hashes.append(run.hashes[begin * HASH_BYTES : end * HASH_BYTES])
            order.append(run.order[begin:end].tobytes())
            bases.append(run.base)
            counts.append(end - begin)
    return Column(b"".join(hashes), b"".join(order), bases, counts)


def _entries(column: Column) -> tuple[array[int], list[int]]:
    """The hashes as numbers, and the positions of their records."""
    order, begin = array("I", column.order), 0
    positions: list[int] = []
    for base, count in zip(column.bases, column.counts, strict=True):
        positions += map(base.__add__, order[begin : begin + count])
        begin += count
    return array("Q", column.hashes), positions


def _repeated(keys: Iterable[int], positions: Iterable[int]) -> int:
    """The first position whose key an earlier one has."""
    seen: set[int] = set()
    for position, key in sorted(zip(positions, keys, strict=True)):
        if key in seen:
            return position
        seen.add(key)
    raise ValueError("no key is there twice")


def _first(positions: Iterable[int | None]) -> int | None:
    return min((position for position in positions if position is not None), default=None)


def _unknown_id(gold: Index, predictions: Index, position: int) -> InputError:
    """The error for a prediction that no gold record asks for, with a guess at the reason."""
    identity, record = predictions.record_id(position), predictions.record(position)
    guess = other_layout(record) or endpoint_id(identity)
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


def _duplicate(kind: str, index: Index, second: int) -> InputError:
    """The error for the record at `second`, whose id an earlier record has too."""
    name = index.record_id(second)
    earlier = index.store.place(index.locations[next(index.positions(name))])
    earlier = earlier._replace(file=PurePath(earlier.file or "").name)  # a report has no path of the machine
    return InputError(
        f"{kind}.duplicate_id",
        "duplicate id",
        place=index.store.place(index.locations[second], "id"),
        expected="every id once",
        found=f"{describe(name)}, already at {earlier}",
    )
