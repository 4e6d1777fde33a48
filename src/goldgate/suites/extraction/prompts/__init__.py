"""The built-in prompts of extraction, and worked examples for few-shot prompts.

Examples are chosen from a training file by a seed, never the document asked about.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import orjson

from goldgate.errors import ConfigError, Place
from goldgate.generation.prompt import Example, Template, find_template
from goldgate.readers.gold_files import GoldOpener
from goldgate.readers.records import read_records
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.records import parse_gold, source_text

BUILT_IN = ("en", "en-thought", "zh", "zh-thought")


def load_template(name: str) -> Template:
    """A built-in template by its name, or a file of the user's own."""
    return find_template(name, BUILT_IN, resources.files(__package__ or ""))


def schema_values(schema: EventSchema) -> dict[str, str]:
    """What an event schema gives to a template: the same for all documents."""
    lines = (f"{_json(name)}: {_json(list(roles))}" for name, roles in schema.role_order.items())
    return {"schema": "\n".join(lines), "json_schema": _json(schema.json_schema())}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


class ExamplePool:
    """The training records that may be examples, best ranked first: one more than needed, to have a spare."""

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
    best: dict[str, tuple[bytes, Example]] = {}  # by text, so that no text is an example twice
    with closing(GoldOpener(dialect)(path, "train")) as file:
        for record in read_records(file):
            identity = record.require_id()
            with record.locate_errors():
                gold = parse_gold(record.value, identity, record.data, schema)
            if gold.text is None:
                continue
            rank = hashlib.sha256(f"{seed}:{identity}".encode()).digest()
            if len(best) > count and gold.text not in best:
                worst = max(best, key=lambda text: best[text][0])
                if best[worst][0] <= rank:
                    continue
                del best[worst]
            if gold.text not in best or rank < best[gold.text][0]:
                best[gold.text] = rank, _example(record.value, gold.event_list)
    ranked = [example for _, example in heapq.nsmallest(count + 1, best.values(), key=lambda entry: entry[0])]
    if len(ranked) < count:
        raise ConfigError(
            "train.too_few",
            f"{count} examples are asked for, and the training file has fewer",
            place=Place(str(path)),
            found=f"{len(ranked)} different texts",
        )
    return ExamplePool(ranked, count)


def _example(record: dict[str, Any], gold_events: Sequence[Any]) -> Example:
    events = [
        {
            "event_type": event["event_type"],
            "arguments": [
                {"role": a["role"], "argument": a["argument"]} for a in event["arguments"] if a["argument"] is not None
            ],
        }
        for event in gold_events
    ]
    lines: list[str] = []
    for event in events:
        lines.append(str(event["event_type"]))
        lines += [f"{argument['role']}: {_example_json(argument['argument'])}" for argument in event["arguments"]]
    return Example(source_text(record), orjson.dumps({"events": events}).decode(), "\n".join(lines) or "—")


def _example_json(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
