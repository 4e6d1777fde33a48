"""MAVEN-Arg: documents with events that have several triggers, and arguments that are entities or parts of the text.

Offsets are characters of `document`, the end exclusive. An event is one event however often it is mentioned, and an
entity one argument: its first mention is the argument, all of them are its mentions.
https://github.com/THU-KEG/MAVEN-Argument
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    Record,
    in_characters,
    in_order,
    mapped,
    mentioned,
    numbered,
    word,
)


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and {"id", "document", "events"} <= record.keys() and "text" not in record


def convert(record: Any) -> Record:
    record = mapped(record, "")
    entities = {
        word(mapped(entity, path).get("id"), f"{path}.id"): _mentions(entity, path, "mention")
        for path, entity in numbered(record.get("entities"), "entities")
    }
    events = [_event(mapped(event, path), path, entities) for path, event in numbered(record.get("events"), "events")]
    return {"id": record.get("id"), "text": word(record.get("document"), "document"), "events": events}


def _event(event: Mapping[str, Any], path: str, entities: Mapping[str, list[Record]]) -> Record:
    roles = mapped(event.get("argument") or {}, f"{path}.argument")
    return {
        "event_type": word(event.get("type"), f"{path}.type"),
        **mentioned(_mentions(event, path, "trigger_word"), "trigger"),
        "arguments": [
            _argument(mapped(filler, inner), inner, role, entities)
            for role, fillers in roles.items()
            for inner, filler in numbered(fillers, f"{path}.argument.{role}")
        ],
    }


def _argument(filler: Mapping[str, Any], path: str, role: str, entities: Mapping[str, list[Record]]) -> Record:
    entity = filler.get("entity_id")
    if entity is None:
        content = word(filler.get("content"), f"{path}.content")
        return {"role": role, **in_characters(content, *_offsets(filler.get("offset")), "argument")}
    mentions = entities.get(entity, []) if isinstance(entity, str) else []
    # Where nobody says what it is called, it is an argument that no answer can name.
    return {"role": role, "argument": None, **mentioned(mentions, "argument"), "entity": entity}


def _mentions(whole: Mapping[str, Any], path: str, name: str) -> list[Record]:
    """The mentions of an event or an entity, in the order of the text."""
    return in_order(
        [
            in_characters(mapped(mention, inner).get(name), *_offsets(mention.get("offset")), "text")
            for inner, mention in numbered(whole.get("mention"), f"{path}.mention")
        ]
    )


def _offsets(value: Any) -> tuple[Any, Any]:
    return (value[0], value[1]) if isinstance(value, list) and len(value) == 2 else (None, None)


DIALECT = Dialect(
    "maven-arg",
    "MAVEN-Arg: documents with events, entities and other arguments",
    recognizes,
    convert,
    ("id", "document", "events"),
)
