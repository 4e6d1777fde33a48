"""WikiEvents and OneIE: records with entity and event mentions by token, the end of a span exclusive.

WikiEvents has a document per line. The offsets in its `sentences` belong to another version of the text, so the
tokens are searched for in `text`. Which mentions are of one entity is in separate files: with `clusters` of
mentions' ids in the record, an argument has all mentions of its entity.
https://github.com/raspberryice/gen-arg

OneIE's form of ACE and ERE, which TextEE uses for all its data sets, has a sentence or window per line. Sentences
of one document are a group. In files of either form that others wrote, offsets may count characters of the text: the
words of the mentions tell which.
https://blender.cs.illinois.edu/software/oneie, https://github.com/ej0cl6/TextEE
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    Node,
    PlacedWords,
    TokenText,
    align_or_join,
    as_characters,
    has_words,
    sort_mentions,
    token_part,
)

_KEYS = ("doc_id", "tokens", "event_mentions")


def _recognizes(record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= {*_KEYS} and not {"id", "sent_id", "wnd_id"} & record.keys()


def _convert(record: Any, *, in_characters: bool = False) -> JsonObject:
    node = Node(record)
    return {"id": node.text("doc_id"), **_mention_record(node, in_characters=in_characters)}


_Span = tuple[int, int]  # in tokens, or in characters


class _Document(NamedTuple):
    """The text of a record, and its entity mentions by their ids."""

    text: TokenText
    entities: Mapping[str, _Span]
    clusters: Mapping[str, list[_Span]]  # all mentions of an entity that has several, by the id of each


def _texts(record: Node) -> tuple[TokenText, TokenText]:
    """The text of a record with its tokens, and with its characters."""
    text = record.get("text")
    if not _recognizes(record.value):
        text = record.as_object().get("sentence", text)
    by_tokens = align_or_join(record["tokens"].tokens(), text)
    return by_tokens, as_characters(text if isinstance(text, str) else by_tokens.text)


def _mention_record(record: Node, *, in_characters: bool) -> JsonObject:
    """Text, tokens and events of a record with entity mentions and event mentions."""
    text, entities = _texts(record)[in_characters], {}
    for mention in record.items("entity_mentions"):
        span = _span(mention, text)
        if span is not None:
            entities[mention.text("id")] = span
    document = _Document(text, entities, _clusters(record, entities))
    events = [_event(event, document) for event in record.items("event_mentions")]
    return {"text": text.text, "tokens": record["tokens"].tokens(), "events": events}


def _mentions(record: Any) -> Iterator[PlacedWords]:
    """Every mention that has words and offsets."""
    node = Node(record)
    texts, events = _texts(node), node.items("event_mentions")
    arguments = [argument for event in events for argument in event.items("arguments")]
    for part in (*node.items("entity_mentions"), *(event["trigger"] for event in events), *arguments):
        words, start, end = (part.get(name) for name in ("text", "start", "end"))
        if isinstance(words, str) and words.strip() and type(start) is int and type(end) is int:
            fits = _span(part, texts[0]) is not None, _span(part, texts[1]) is not None
            yield PlacedWords(part.path, words, (start, end), fits)


def _span(part: Node, text: TokenText) -> _Span | None:
    """Where a part is, the end exclusive; None if it names no place of the text, or one where other words stand."""
    words, start, end = (part.get(name) for name in ("text", "start", "end"))
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text.spans):
        return None
    return (start, end) if words is None or has_words(text, start, end, words) else None


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
    span = _span(trigger, document.text)
    return {
        "event_type": event.text("event_type"),
        **_part_in_text(trigger, "trigger", document, span),
        "arguments": [_argument(argument, document) for argument in event.items("arguments")],
    }


def _argument(argument: Node, document: _Document) -> JsonObject:
    """An argument names the mention that fills the role, and has its place; its own offsets where it names none."""
    role, entity = argument.text("role"), argument.get("entity_id")
    name = entity if isinstance(entity, str) else ""
    span = document.entities.get(name) or _span(argument, document.text)
    converted = {"role": role, **_part_in_text(argument, "argument", document, span)}
    if isinstance(entity, str):
        converted["entity"] = entity
    if spans := document.clusters.get(str(entity)):
        converted["mentions"] = sort_mentions([token_part(document.text, *each, "text") for each in spans])
    return converted


def _part_in_text(part: Node, name: str, document: _Document, span: _Span | None) -> JsonObject:
    """What stands at some tokens or, where none are named, the text of a part without a place."""
    return {name: part.text("text")} if span is None else token_part(document.text, *span, name)


WIKIEVENTS = Dialect(
    "wikievents",
    "WikiEvents: documents with entity and event mentions",
    _recognizes,
    _convert,
    _KEYS,
    mentions=_mentions,
    convert_characters=partial(_convert, in_characters=True),
)


_IDS = ("wnd_id", "sent_id")


def _recognizes_oneie(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and {"tokens", "event_mentions"} <= record.keys()
        and any(name in record for name in _IDS)
        and "id" not in record
    )


def _convert_oneie(record: Any, *, in_characters: bool = False) -> JsonObject:
    node = Node(record)
    name = next((name for name in _IDS if name in node.as_object()), _IDS[-1])
    identity, document = node.text(name), record.get("doc_id")
    group = {"group": document} if isinstance(document, str) and document else {}
    return {"id": identity, **group, **_mention_record(node, in_characters=in_characters)}


ONEIE = Dialect(
    "oneie",
    "OneIE and TextEE: ACE, ERE and others by sentence or window",
    _recognizes_oneie,
    _convert_oneie,
    ("tokens", "event_mentions", "sent_id"),
    mentions=_mentions,
    convert_characters=partial(_convert_oneie, in_characters=True),
)
