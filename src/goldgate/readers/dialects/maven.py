"""MAVEN and MAVEN-ERE: documents with events that have triggers and no arguments.

A trigger is some tokens of one sentence: they count from its beginning, and the end is exclusive. The test splits of
these and of MAVEN-Arg have candidates or event mentions instead of events: they are recognized, and refused.
https://github.com/THU-KEG/MAVEN-dataset
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    Record,
    in_order,
    in_tokens,
    mapped,
    mentioned,
    no_labels,
    numbered,
    token_span,
    word,
    words,
    wrong,
)
from goldgate.readers.tokens import TokenText, joined

_UNLABELLED = ("candidates", "event_mentions")  # what a test split has for events


def recognizes(record: Any) -> bool:
    if not isinstance(record, dict) or "id" not in record or "text" in record:
        return False
    is_document = isinstance(record.get("content"), list) or {"tokens", "sentences"} <= record.keys()
    if "events" in record:
        return is_document
    return (is_document or "document" in record) and any(name in record for name in _UNLABELLED)


def convert(record: Any) -> Record:
    record = mapped(record, "")
    for name in _UNLABELLED:
        if name in record and "events" not in record:
            raise no_labels("events", f"{name}, and no events")
    sentences = _sentences(record)
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence))
    tokens = [token for sentence in sentences for token in sentence]
    text = joined(tokens)
    events = []
    for path, event in numbered(record.get("events"), "events"):
        mentions = [
            _mention(mapped(mention, inner), inner, sentences, starts, text)
            for inner, mention in numbered(mapped(event, path).get("mention"), f"{path}.mention")
        ]
        kind = word(event.get("type"), f"{path}.type")
        events.append({"event_type": kind, **mentioned(in_order(mentions), "trigger"), "arguments": []})
    return {"id": record.get("id"), "text": text.text, "tokens": tokens, "events": events}


def _sentences(record: Mapping[str, Any]) -> list[list[str]]:
    if isinstance(record.get("content"), list):
        return [
            words(mapped(sentence, path).get("tokens"), f"{path}.tokens")
            for path, sentence in numbered(record["content"], "content")
        ]
    return [words(sentence, path) for path, sentence in numbered(record.get("tokens"), "tokens")]


def _mention(
    mention: Mapping[str, Any], path: str, sentences: list[list[str]], starts: list[int], text: TokenText
) -> Record:
    sentence, offset = mention.get("sent_id"), mention.get("offset")
    if type(sentence) is not int or not 0 <= sentence < len(sentences):
        raise wrong(f"{path}.sent_id", "the number of a sentence, from 0", sentence)
    if not isinstance(offset, list) or len(offset) != 2:
        raise wrong(f"{path}.offset", "the first token and the one after the last", offset)
    start, end = token_span(offset[0], offset[1], f"{path}.offset", sentences[sentence])
    return in_tokens(text, starts[sentence] + start, starts[sentence] + end, "text")


DIALECT = Dialect(
    "maven",
    "MAVEN and MAVEN-ERE: documents with triggers and no arguments",
    recognizes,
    convert,
    ("id", "content", "events"),
)
