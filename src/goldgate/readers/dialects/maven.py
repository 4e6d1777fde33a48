"""MAVEN, MAVEN-ERE and MAVEN-Arg: documents with events that have triggers and, in MAVEN-Arg, arguments.

A trigger of MAVEN is some tokens of one sentence, counted from its beginning, the end exclusive. The test splits
have candidates or event mentions instead of events: they are recognized, and refused.
https://github.com/THU-KEG/MAVEN-dataset

Offsets of MAVEN-Arg are characters of `document`, the end exclusive. An event is one event however often it is
mentioned, and an entity one argument: its first mention is the argument, all of them are its mentions.
https://github.com/THU-KEG/MAVEN-Argument
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from goldgate.errors import InputError, Place
from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    Node,
    TokenText,
    character_part,
    join_tokens,
    merge_mentions,
    token_part,
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
    document = Node(record)
    for name in _UNLABELLED:
        if name in document.as_object() and "events" not in record:
            raise InputError(
                "gold.no_labels",
                "this split was published without its labels, so there is nothing to score by",
                place=Place(field="events"),
                expected="events",
                found=f"{name}, and no events",
                advice="score on a split that has them, such as train or valid",
            )
    if isinstance(record.get("content"), list):
        sentences = [sentence["tokens"].tokens() for sentence in document.items("content")]
    else:
        sentences = [sentence.tokens() for sentence in document.items("tokens")]
    starts = [0, *accumulate(map(len, sentences))]
    tokens = [token for sentence in sentences for token in sentence]
    text = join_tokens(tokens)
    events = []
    for event in document.items("events"):
        mentions = [_mention(mention, sentences, starts, text) for mention in event.items("mention")]
        events.append({"event_type": event.text("type"), **merge_mentions(mentions, "trigger"), "arguments": []})
    return {"id": record.get("id"), "text": text.text, "tokens": tokens, "events": events}


def _mention(mention: Node, sentences: list[list[str]], starts: list[int], text: TokenText) -> JsonObject:
    sentence, offset = mention.get("sent_id"), mention["offset"]
    if type(sentence) is not int or not 0 <= sentence < len(sentences):
        raise mention["sent_id"].error("the number of a sentence, from 0")
    if not isinstance(offset.value, list) or len(offset.value) != 2:
        raise offset.error("the first token and the one after the last")
    start, end = offset.token_span(offset.value[0], offset.value[1], len(sentences[sentence]))
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
    document = Node(record)
    entities = {entity.text("id"): _mentions(entity, "mention") for entity in document.items("entities")}
    events = [
        {
            "event_type": event.text("type"),
            **merge_mentions(_mentions(event, "trigger_word"), "trigger"),
            "arguments": [
                _argument(filler, role, entities)
                for role in event.section("argument").value
                for filler in event.section("argument").items(role)
            ],
        }
        for event in document.items("events")
    ]
    return {"id": record.get("id"), "text": document.text("document"), "events": events}


def _argument(filler: Node, role: str, entities: dict[str, list[JsonObject]]) -> JsonObject:
    entity = filler.get("entity_id")
    if entity is None:
        return {"role": role, **character_part(filler.text("content"), *_offsets(filler), "argument")}
    mentions = entities.get(entity, []) if isinstance(entity, str) else []
    # One without a name is an argument that no answer can name.
    return {"role": role, "argument": None, **merge_mentions(mentions, "argument"), "entity": entity}


def _mentions(whole: Node, name: str) -> list[JsonObject]:
    """The mentions of an event or an entity."""
    return [character_part(each.get(name), *_offsets(each), "text") for each in whole.items("mention")]


def _offsets(part: Node) -> tuple[Any, Any]:
    value = part.get("offset")
    return (value[0], value[1]) if isinstance(value, list) and len(value) == 2 else (None, None)


MAVEN_ARG = Dialect(
    "maven-arg",
    "MAVEN-Arg: documents with events, entities and other arguments",
    _recognizes_arg,
    _convert_arg,
    ("id", "document", "events"),
)
