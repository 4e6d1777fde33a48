"""WikiEvents: a document a line, its events by token; the end of a span is exclusive, tokens count from its beginning.

The offsets in `sentences` belong to another version of the text, so the tokens are looked for in `text` themselves.
Which mentions are of one entity is in files of its own; whoever has read them puts `clusters` of mentions' ids into the
record, and an argument then has all mentions of its entity.
https://github.com/raspberryice/gen-arg
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    Record,
    in_order,
    in_tokens,
    listed,
    mapped,
    numbered,
    word,
    words,
)
from goldgate.readers.tokens import TokenText, aligned_or_joined

_KEYS = ("doc_id", "tokens", "event_mentions")


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= {*_KEYS} and not {"id", "sent_id", "wnd_id"} & record.keys()


def convert(record: Any) -> Record:
    record = mapped(record, "")
    return {"id": word(record.get("doc_id"), "doc_id"), **mention_record(record, record.get("text"))}


def mention_record(record: Mapping[str, Any], text: object) -> Record:
    """Text, tokens and events of a record with entity mentions and event mentions in tokens."""
    tokens = words(record.get("tokens"), "tokens")
    placed = aligned_or_joined(tokens, text)
    entities = _entities(record, tokens)
    others = _others(record, entities)
    events = [
        _event(mapped(event, path), path, placed, tokens, entities, others)
        for path, event in numbered(record.get("event_mentions"), "event_mentions")
    ]
    return {"text": placed.text, "tokens": tokens, "events": events}


Entities = Mapping[str, tuple[int, int]]


def _entities(record: Mapping[str, Any], tokens: list[str]) -> Entities:
    """The tokens of each entity mention, by its id."""
    found: dict[str, tuple[int, int]] = {}
    for path, mention in numbered(record.get("entity_mentions"), "entity_mentions"):
        place = _tokens_of(mapped(mention, path), tokens)
        if place is not None:
            found[word(mention.get("id"), f"{path}.id")] = place
    return found


def _others(record: Mapping[str, Any], entities: Entities) -> dict[str, list[tuple[int, int]]]:
    """The places of all mentions of the same entity, by the id of each; of entities with several mentions."""
    found = {}
    for path, cluster in numbered(record.get("clusters"), "clusters"):
        names = [word(name, path) for name in listed(cluster, path)]
        places = sorted({entities[name] for name in names if name in entities})
        if len(places) > 1:
            found.update(dict.fromkeys(names, places))
    return found


def _event(
    event: Mapping[str, Any],
    path: str,
    text: TokenText,
    tokens: list[str],
    entities: Entities,
    others: Mapping[str, list[tuple[int, int]]],
) -> Record:
    trigger = mapped(event.get("trigger"), f"{path}.trigger")
    return {
        "event_type": word(event.get("event_type"), f"{path}.event_type"),
        **_placed(trigger, f"{path}.trigger", "trigger", text, _tokens_of(trigger, tokens)),
        "arguments": [
            _argument(mapped(argument, inner), inner, text, tokens, entities) | _mentions(argument, text, others)
            for inner, argument in numbered(event.get("arguments"), f"{path}.arguments")
        ],
    }


def _argument(argument: Mapping[str, Any], path: str, text: TokenText, tokens: list[str], entities: Entities) -> Record:
    """An argument names the mention that fills the role, and has its place; its own offsets where it names none."""
    role, entity = word(argument.get("role"), f"{path}.role"), argument.get("entity_id")
    named = entities.get(entity) if isinstance(entity, str) else None
    place = named or _tokens_of(argument, tokens)
    found = {"role": role, **_placed(argument, path, "argument", text, place)}
    return found | {"entity": entity} if isinstance(entity, str) else found


def _mentions(argument: Mapping[str, Any], text: TokenText, others: Mapping[str, list[tuple[int, int]]]) -> Record:
    places = others.get(str(argument.get("entity_id")))
    return {"mentions": in_order([in_tokens(text, *place, "text") for place in places])} if places else {}


def _placed(part: Mapping[str, Any], path: str, name: str, text: TokenText, place: tuple[int, int] | None) -> Record:
    """What stands at some tokens or, where none are named, the text of a part without a place."""
    return {name: word(part.get("text"), f"{path}.text")} if place is None else in_tokens(text, *place, name)


def _tokens_of(part: Mapping[str, Any], tokens: list[str]) -> tuple[int, int] | None:
    """The tokens that a part names, the end exclusive; None if it names none that there are."""
    start, end = part.get("start"), part.get("end")
    if type(start) is int and type(end) is int and 0 <= start < end <= len(tokens):
        return start, end
    return None


DIALECT = Dialect("wikievents", "WikiEvents: documents with entity and event mentions", recognizes, convert, _KEYS)
