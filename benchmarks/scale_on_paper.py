"""What a cluster of many nodes would do with very many samples, worked out from what was measured on two processors.

    python benchmarks/scale_on_paper.py [SAMPLES [NODES [PROCESSORS OF A NODE]]]

The figures are those of `benchmarks/cluster.py` and the sizes of what is sent; docs/scale.md says how they were taken.
"""

from __future__ import annotations

import sys
from typing import NamedTuple


class Measured(NamedTuple):
    """Of a sample of the benchmark: a document of 900 characters with 10 arguments, and an answer with a thought."""

    gold: float = 2_500  # bytes
    prediction: float = 1_590
    record: float = 1_740  # in samples.jsonl
    score: float = 145e-6  # seconds of a processor, with its record
    note: float = 4e-6  # to find its two ids
    driver: float = 0.6e-6  # seconds of the process that evaluates: shards, results, sums
    pair: float = 0.23e-6  # and to note which two records belong together
    speaking: float = 1.1e-6  # seconds of the process that speaks with Ray
    shard: float = 24  # bytes to the nodes
    result: float = 8  # bytes from the nodes
    noted: float = 48  # bytes from the nodes while ids are looked for, and again to them and back for the join
    indexed: float = 52  # bytes that stay: hash, order, place and length of two records, and which belong together


DISK = 1e9  # bytes a second that one machine reads from, or writes to, a shared file system
NETWORK = 10e9 / 8  # bytes a second of one machine
JOINED = 120  # bytes that a node needs for a sample while it joins
BUCKETS = 64  # into which the ids are divided to be joined


def main(samples: int = 1_000_000_000, nodes: int = 100, processors: int = 32) -> None:
    of = Measured()
    workers = nodes * processors
    print(f"{samples:,} samples, {nodes} nodes of {processors} processors")
    print("the nodes, together")
    _line("read, twice", 2 * (of.gold + of.prediction) * samples / (nodes * DISK), "s")
    _line("look for ids", of.note * samples / workers, "s")
    _line("score and write", of.score * samples / workers, "s")
    _line("write records", of.record * samples / (nodes * DISK), "s")
    print("the driver, alone")
    _line("notes pairs, makes shards, adds up", (of.pair + of.driver) * samples, "s")
    _line("speaks with Ray, beside it", of.speaking * samples, "s")
    _line("joins the parts of samples.jsonl", of.record * samples / DISK, "s")
    _line("its network, without records", (of.shard + of.result + 3 * of.noted) * samples / NETWORK, "s")
    print("what is held")
    _line("the index, by the driver", of.indexed * samples / 1e9, "GB")
    _line("a bucket of ids, by a worker", JOINED * samples / BUCKETS / 1e9, "GB")
    print("processors that the driver keeps busy")
    alone = of.pair + of.driver
    _line("with samples.jsonl in one file", of.score / max(of.speaking, alone + of.record / DISK), "")
    _line("where the file system joins its parts (copy_file_range)", of.score / max(of.speaking, alone), "")


def _line(what: str, value: float, unit: str) -> None:
    print(f"  {what:58}{value:12,.0f} {unit}".rstrip() if value >= 10 else f"  {what:58}{value:12,.1f} {unit}".rstrip())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
