"""Shards: bounded in samples and in bytes, in the order of the gold."""

from __future__ import annotations

import json
from pathlib import Path

from goldgate.readers.joined_suite import SHARD_BYTES, SHARD_SAMPLES, PairShard, open_joined

KILOBYTE = 1 << 10


def cut(tmp_path: Path, gold: list[int], predicted: dict[int, int]) -> list[PairShard]:
    """The shards of gold records, and predictions, of so many bytes."""
    for name, sizes in (("gold", dict(enumerate(gold))), ("predictions", predicted)):
        with open(tmp_path / f"{name}.jsonl", "w") as stream:
            for identity, size in sizes.items():
                record = json.dumps({"id": str(identity), "events": [], "text": ""})
                stream.write(record.replace('""}', f'"{"x" * (size - len(record) - 1)}"}}') + "\n")
    with open_joined([tmp_path / "gold.jsonl"], [tmp_path / "predictions.jsonl"]) as files:
        return list(files.shards())


def sizes(shard: PairShard) -> list[int]:
    return [sum(pair) for pair in zip(shard.gold_lengths, shard.predicted_lengths, strict=True)]


def test_small_records_are_cut_by_their_number(tmp_path: Path) -> None:
    found = cut(tmp_path, [60] * (2 * SHARD_SAMPLES + 1), {})
    assert [len(shard.gold_locations) for shard in found] == [SHARD_SAMPLES, SHARD_SAMPLES, 1]


def test_large_records_are_cut_by_their_bytes(tmp_path: Path) -> None:
    gold = [900 * KILOBYTE] * 12
    found = cut(tmp_path, gold, dict.fromkeys(range(6), 500 * KILOBYTE))
    assert all(sum(sizes(shard)) <= SHARD_BYTES for shard in found)
    assert [size for shard in found for size in sizes(shard)] == [1400 * KILOBYTE] * 6 + [900 * KILOBYTE] * 6
    # Into 4,096 KB go 2 of 1,400 KB; the last 2 of them and 1 of 900 KB; 4 of 900 KB.
    assert [len(shard.gold_locations) for shard in found] == [2, 2, 3, 4, 1]


def test_record_above_the_bound_is_a_shard_of_its_own(tmp_path: Path) -> None:
    found = cut(tmp_path, [60, SHARD_BYTES + 1, 60, 60], {})
    assert [len(shard.gold_locations) for shard in found] == [1, 1, 2]
