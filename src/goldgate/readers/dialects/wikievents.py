"""WikiEvents and OneIE: records with entity and event mentions by token, the end of a span exclusive.

WikiEvents has a document per line. The offsets in its `sentences` belong to another version of the text, so the
tokens are searched for in `text`. Which mentions are of one entity is in separate files: with `clusters` of
mentions' ids in the record, an argument has all mentions of its entity.
https://github.com/raspberryice/gen-arg

OneIE's form of ACE and ERE, which TextEE uses for all its data sets, has a sentence or window per line. Sentences
of one document are a group.
https://blender.cs.illinois.edu/software/oneie, https://github.com/ej0cl6/TextEE
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    TokenText,
    align_or_join,
    items_with_paths,
    require_list,
    require_object,
    require_text,
    require_tokens,
    sort_mentions,
    token_part,
)

_KEYS = ("doc_id", "tokens", "event_mentions")


def _recognizes(record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= {*_KEYS} and not {"id", "sent_id", "wnd_id"} & record.keys()


def _convert(record: Any) -> JsonObject:
    record = require_object(record, "")
    return {"id": require_text(record.get("doc_id"), "doc_id"), **_mention_record(record, record.get("text"))}


def _mention_record(record: Mapping[str, Any], text: object) -> JsonObject:
    """Text, tokens and events of a record with entity mentions and event mentions in tokens."""
    tokens = require_tokens(record.get("tokens"), "tokens")
    token_text = align_or_join(tokens, text)
    entities = _entities(record, tokens)
    others = _shared_entities(record, entities)
    events = [
        _event(require_object(event, path), path, token_text, tokens, entities, others)
        for path, event in items_with_paths(record.get("event_mentions"), "event_mentions")
    ]
    return {"text": token_text.text, "tokens": tokens, "events": events}


_Entities = Mapping[str, tuple[int, int]]


def _entities(record: Mapping[str, Any], tokens: list[str]) -> _Entities:
    """The tokens of each entity mention, by its id."""
    entities: dict[str, tuple[int, int]] = {}
    for path, mention in items_with_paths(record.get("entity_mentions"), "entity_mentions"):
        place = _tokens_of(require_object(mention, path), tokens)
        if place is not None:
            entities[require_text(mention.get("id"), f"{path}.id")] = place
    return entities


def _shared_entities(record: Mapping[str, Any], entities: _Entities) -> dict[str, list[tuple[int, int]]]:
    """The places of all mentions of the same entity, by the id of each; of entities with several mentions."""
    mentions = {}
    for path, cluster in items_with_paths(record.get("clusters"), "clusters"):
        names = [require_text(name, path) for name in require_list(cluster, path)]
        places = sorted({entities[name] for name in names if name in entities})
        if len(places) > 1:
            mentions.update(dict.fromkeys(names, places))
    return mentions


def _event(
    event: Mapping[str, Any],
    path: str,
    text: TokenText,
    tokens: list[str],
    entities: _Entities,
    others: Mapping[str, list[tuple[int, int]]],
) -> JsonObject:
    trigger = require_object(event.get("trigger"), f"{path}.trigger")
    return {
        "event_type": require_text(event.get("event_type"), f"{path}.event_type"),
        **_part_in_text(trigger, f"{path}.trigger", "trigger", text, _tokens_of(trigger, tokens)),
        "arguments": [
            _argument(require_object(argument, inner), inner, text, tokens, entities)
            | _mentions(argument, text, others)
            for inner, argument in items_with_paths(event.get("arguments"), f"{path}.arguments")
        ],
    }


def _argument(
    argument: Mapping[str, Any], path: str, text: TokenText, tokens: list[str], entities: _Entities
) -> JsonObject:
    """An argument names the mention that fills the role, and has its place; its own offsets where it names none."""
    role, entity = require_text(argument.get("role"), f"{path}.role"), argument.get("entity_id")
    mention = entities.get(entity) if isinstance(entity, str) else None
    place = mention or _tokens_of(argument, tokens)
    converted = {"role": role, **_part_in_text(argument, path, "argument", text, place)}
    return converted | {"entity": entity} if isinstance(entity, str) else converted


def _mentions(argument: Mapping[str, Any], text: TokenText, others: Mapping[str, list[tuple[int, int]]]) -> JsonObject:
    places = others.get(str(argument.get("entity_id")))
    return {"mentions": sort_mentions([token_part(text, *place, "text") for place in places])} if places else {}


def _part_in_text(
    part: Mapping[str, Any], path: str, name: str, text: TokenText, place: tuple[int, int] | None
) -> JsonObject:
    """What stands at some tokens or, where none are named, the text of a part without a place."""
    return {name: require_text(part.get("text"), f"{path}.text")} if place is None else token_part(text, *place, name)


def _tokens_of(part: Mapping[str, Any], tokens: list[str]) -> tuple[int, int] | None:
    """The tokens that a part names, the end exclusive; None if it names none that there are."""
    start, end = part.get("start"), part.get("end")
    if type(start) is int and type(end) is int and 0 <= start < end <= len(tokens):
        return start, end
    return None


WIKIEVENTS = Dialect("wikievents", "WikiEvents: documents with entity and event mentions", _recognizes, _convert, _KEYS)


_IDS = ("wnd_id", "sent_id")


def _recognizes_oneie(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and {"tokens", "event_mentions"} <= record.keys()
        and any(name in record for name in _IDS)
        and "id" not in record
    )


def _convert_oneie(record: Any) -> JsonObject:
    record = require_object(record, "")
    name = next((name for name in _IDS if name in record), _IDS[-1])
    identity = require_text(record.get(name), name)
    document = record.get("doc_id")
    group = {"group": document} if isinstance(document, str) and document else {}
    text = record.get("sentence", record.get("text"))
    return {"id": identity, **group, **_mention_record(record, text)}


ONEIE = Dialect(
    "oneie",
    "OneIE and TextEE: ACE, ERE and others by sentence or window",
    _recognizes_oneie,
    _convert_oneie,
    ("tokens", "event_mentions", "sent_id"),
)
