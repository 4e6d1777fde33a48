"""Worked examples for a few-shot prompt: chosen from a training file by a seed, never the document asked about.

The choice depends on the seed and on the records' ids, not on their order or on Python's random numbers.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from goldgate.errors import ConfigError, InputError, Place
from goldgate.readers.dialect_file import GoldOpener
from goldgate.readers.noted import id_of
from goldgate.readers.records import RecordStore, iterate
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.prompts.template import Example
from goldgate.suites.extraction.records import parse_gold, source_text


class ExamplePool:
    """The training records that may be shown, best ranked first. One more than asked for, to have a spare."""

    def __init__(self, ranked: Sequence[Example], count: int) -> None:
        self._ranked = list(ranked)
        self._count = count

    def without(self, text: str) -> list[Example]:
        """The examples for a question about `text`; a training record with that very text is passed over."""
        return [example for example in self._ranked if example.text != text][: self._count]


def load_examples(
    path: str | Path, count: int, seed: int, dialect: str | None = None, schema: EventSchema | None = None
) -> ExamplePool:
    """Choose `count` records of a training file (in the form of gold); `schema` has the roles of flat events."""
    store = RecordStore([GoldOpener(dialect)(path, "train")])
    best: dict[str, tuple[bytes, Example]] = {}  # by text, so that no text is shown twice
    try:
        for location, data in iterate(store.files[0]):  # of the only file, offset and location are the same
            record = store.decode(location, data)
            identity = id_of(record, store, location)
            try:
                gold = parse_gold(record, identity, data, schema)
            except InputError as error:
                raise store.at(error, location) from None
            if gold.text is None:
                continue
            rank = hashlib.sha256(f"{seed}:{identity}".encode()).digest()
            if len(best) > count and gold.text not in best:
                worst = max(best, key=lambda text: best[text][0])
                if best[worst][0] <= rank:
                    continue
                del best[worst]
            if gold.text not in best or rank < best[gold.text][0]:
                best[gold.text] = rank, _example(record, gold.listed)
    finally:
        store.close()
    ranked = [example for _, example in heapq.nsmallest(count + 1, best.values(), key=lambda entry: entry[0])]
    if len(ranked) < count:
        raise ConfigError(
            "train.too_few",
            f"{count} examples are asked for, and the training file has fewer",
            place=Place(str(path)),
            found=f"{len(ranked)} different texts",
        )
    return ExamplePool(ranked, count)


def no_examples() -> ExamplePool:
    """Zero-shot."""
    return ExamplePool((), 0)


def _example(record: dict[str, Any], listed: Sequence[Any]) -> Example:
    events = [
        {
            "event_type": event["event_type"],
            "arguments": [
                {"role": a["role"], "argument": a["argument"]} for a in event["arguments"] if a["argument"] is not None
            ],
        }
        for event in listed
    ]
    lines: list[str] = []
    for event in events:
        lines.append(str(event["event_type"]))
        lines += [f"{argument['role']}: {_shown(argument['argument'])}" for argument in event["arguments"]]
    return Example(source_text(record), orjson.dumps({"events": events}).decode(), "\n".join(lines) or "—")


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
