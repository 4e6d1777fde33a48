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
from typing import Any, NamedTuple

from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    Node,
    TokenText,
    align_or_join,
    sort_mentions,
    token_part,
)

_KEYS = ("doc_id", "tokens", "event_mentions")


def _recognizes(record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= {*_KEYS} and not {"id", "sent_id", "wnd_id"} & record.keys()


def _convert(record: Any) -> JsonObject:
    node = Node(record)
    return {"id": node.text("doc_id"), **_mention_record(node, record.get("text"))}


_Span = tuple[int, int]  # in tokens


class _Document(NamedTuple):
    """The text of a record, and its entity mentions by their ids."""

    text: TokenText
    entities: Mapping[str, _Span]
    clusters: Mapping[str, list[_Span]]  # all mentions of an entity that has several, by the id of each


def _mention_record(record: Node, text: object) -> JsonObject:
    """Text, tokens and events of a record with entity mentions and event mentions in tokens."""
    tokens = record["tokens"].tokens()
    entities = {}
    for mention in record.items("entity_mentions"):
        span = _span(mention, len(tokens))
        if span is not None:
            entities[mention.text("id")] = span
    document = _Document(align_or_join(tokens, text), entities, _clusters(record, entities))
    events = [_event(event, document) for event in record.items("event_mentions")]
    return {"text": document.text.text, "tokens": tokens, "events": events}


def _span(part: Node, tokens: int) -> _Span | None:
    """The tokens that a part names, the end exclusive; None if it names none that there are."""
    values = part.as_object()
    start, end = values.get("start"), values.get("end")
    return (start, end) if type(start) is int and type(end) is int and 0 <= start < end <= tokens else None


def _clusters(record: Node, entities: Mapping[str, _Span]) -> dict[str, list[_Span]]:
    mentions = {}
    for cluster in record.items("clusters"):
        names = [name.text() for name in cluster.items()]
        spans = sorted({entities[name] for name in names if name in entities})
        if len(spans) > 1:
            mentions.update(dict.fromkeys(names, spans))
    return mentions


def _event(event: Node, document: _Document) -> JsonObject:
    trigger = event["trigger"]
    span = _span(trigger, len(document.text.spans))
    return {
        "event_type": event.text("event_type"),
        **_part_in_text(trigger, "trigger", document, span),
        "arguments": [_argument(argument, document) for argument in event.items("arguments")],
    }


def _argument(argument: Node, document: _Document) -> JsonObject:
    """An argument names the mention that fills the role, and has its place; its own offsets where it names none."""
    role, entity = argument.text("role"), argument.get("entity_id")
    name = entity if isinstance(entity, str) else ""
    span = document.entities.get(name) or _span(argument, len(document.text.spans))
    converted = {"role": role, **_part_in_text(argument, "argument", document, span)}
    if isinstance(entity, str):
        converted["entity"] = entity
    if spans := document.clusters.get(str(entity)):
        converted["mentions"] = sort_mentions([token_part(document.text, *each, "text") for each in spans])
    return converted


def _part_in_text(part: Node, name: str, document: _Document, span: _Span | None) -> JsonObject:
    """What stands at some tokens or, where none are named, the text of a part without a place."""
    return {name: part.text("text")} if span is None else token_part(document.text, *span, name)


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
    node = Node(record)
    name = next((name for name in _IDS if name in node.as_object()), _IDS[-1])
    identity, document = node.text(name), record.get("doc_id")
    group = {"group": document} if isinstance(document, str) and document else {}
    return {"id": identity, **group, **_mention_record(node, record.get("sentence", record.get("text")))}


ONEIE = Dialect(
    "oneie",
    "OneIE and TextEE: ACE, ERE and others by sentence or window",
    _recognizes_oneie,
    _convert_oneie,
    ("tokens", "event_mentions", "sent_id"),
)
