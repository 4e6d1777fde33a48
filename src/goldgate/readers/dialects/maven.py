"""MAVEN, MAVEN-ERE and MAVEN-Arg: documents with events that have triggers and, in MAVEN-Arg, arguments.

A trigger of MAVEN is some tokens of one sentence, counted from its beginning, the end exclusive. The test splits
have candidates or event mentions instead of events: they are recognized, and refused.
https://github.com/THU-KEG/MAVEN-dataset

Offsets of MAVEN-Arg are characters of `document`, the end exclusive. An event is one event however often it is
mentioned, and an entity one argument: its first mention is the argument, all of them are its mentions.
https://github.com/THU-KEG/MAVEN-Argument
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    TokenText,
    character_part,
    format_error,
    items_with_paths,
    join_tokens,
    merge_mentions,
    no_labels_error,
    require_object,
    require_text,
    require_tokens,
    sort_mentions,
    token_part,
    token_span,
)

_UNLABELLED = ("candidates", "event_mentions")  # what a test split has for events


def _recognizes(record: Any) -> bool:
    if not isinstance(record, dict) or "id" not in record or "text" in record:
        return False
    is_document = isinstance(record.get("content"), list) or {"tokens", "sentences"} <= record.keys()
    if "events" in record:
        return is_document
    return (is_document or "document" in record) and any(name in record for name in _UNLABELLED)


def _convert(record: Any) -> JsonObject:
    record = require_object(record, "")
    for name in _UNLABELLED:
        if name in record and "events" not in record:
            raise no_labels_error("events", f"{name}, and no events")
    sentences = _sentences(record)
    starts = [0, *accumulate(map(len, sentences))]
    tokens = [token for sentence in sentences for token in sentence]
    text = join_tokens(tokens)
    events = []
    for path, event in items_with_paths(record.get("events"), "events"):
        mentions = [
            _mention(require_object(mention, inner), inner, sentences, starts, text)
            for inner, mention in items_with_paths(require_object(event, path).get("mention"), f"{path}.mention")
        ]
        kind = require_text(event.get("type"), f"{path}.type")
        events.append({"event_type": kind, **merge_mentions(sort_mentions(mentions), "trigger"), "arguments": []})
    return {"id": record.get("id"), "text": text.text, "tokens": tokens, "events": events}


def _sentences(record: Mapping[str, Any]) -> list[list[str]]:
    if isinstance(record.get("content"), list):
        return [
            require_tokens(require_object(sentence, path).get("tokens"), f"{path}.tokens")
            for path, sentence in items_with_paths(record["content"], "content")
        ]
    return [require_tokens(sentence, path) for path, sentence in items_with_paths(record.get("tokens"), "tokens")]


def _mention(
    mention: Mapping[str, Any], path: str, sentences: list[list[str]], starts: list[int], text: TokenText
) -> JsonObject:
    sentence, offset = mention.get("sent_id"), mention.get("offset")
    if type(sentence) is not int or not 0 <= sentence < len(sentences):
        raise format_error(f"{path}.sent_id", "the number of a sentence, from 0", sentence)
    if not isinstance(offset, list) or len(offset) != 2:
        raise format_error(f"{path}.offset", "the first token and the one after the last", offset)
    start, end = token_span(offset[0], offset[1], f"{path}.offset", sentences[sentence])
    return token_part(text, starts[sentence] + start, starts[sentence] + end, "text")


MAVEN = Dialect(
    "maven",
    "MAVEN and MAVEN-ERE: documents with triggers and no arguments",
    _recognizes,
    _convert,
    ("id", "content", "events"),
)


def _recognizes_arg(record: Any) -> bool:
    return isinstance(record, dict) and {"id", "document", "events"} <= record.keys() and "text" not in record


def _convert_arg(record: Any) -> JsonObject:
    record = require_object(record, "")
    entities = {
        require_text(require_object(entity, path).get("id"), f"{path}.id"): _mentions(entity, path, "mention")
        for path, entity in items_with_paths(record.get("entities"), "entities")
    }
    events = [
        _event(require_object(event, path), path, entities)
        for path, event in items_with_paths(record.get("events"), "events")
    ]
    return {"id": record.get("id"), "text": require_text(record.get("document"), "document"), "events": events}


def _event(event: Mapping[str, Any], path: str, entities: Mapping[str, list[JsonObject]]) -> JsonObject:
    roles = require_object(event.get("argument") or {}, f"{path}.argument")
    return {
        "event_type": require_text(event.get("type"), f"{path}.type"),
        **merge_mentions(_mentions(event, path, "trigger_word"), "trigger"),
        "arguments": [
            _argument(require_object(filler, inner), inner, role, entities)
            for role, fillers in roles.items()
            for inner, filler in items_with_paths(fillers, f"{path}.argument.{role}")
        ],
    }


def _argument(filler: Mapping[str, Any], path: str, role: str, entities: Mapping[str, list[JsonObject]]) -> JsonObject:
    entity = filler.get("entity_id")
    if entity is None:
        content = require_text(filler.get("content"), f"{path}.content")
        return {"role": role, **character_part(content, *_offsets(filler.get("offset")), "argument")}
    mentions = entities.get(entity, []) if isinstance(entity, str) else []
    # One without a name is an argument that no answer can name.
    return {"role": role, "argument": None, **merge_mentions(mentions, "argument"), "entity": entity}


def _mentions(whole: Mapping[str, Any], path: str, name: str) -> list[JsonObject]:
    """The mentions of an event or an entity, in the order of the text."""
    return sort_mentions(
        [
            character_part(require_object(mention, inner).get(name), *_offsets(mention.get("offset")), "text")
            for inner, mention in items_with_paths(whole.get("mention"), f"{path}.mention")
        ]
    )


def _offsets(value: Any) -> tuple[Any, Any]:
    return (value[0], value[1]) if isinstance(value, list) and len(value) == 2 else (None, None)


MAVEN_ARG = Dialect(
    "maven-arg",
    "MAVEN-Arg: documents with events, entities and other arguments",
    _recognizes_arg,
    _convert_arg,
    ("id", "document", "events"),
)
