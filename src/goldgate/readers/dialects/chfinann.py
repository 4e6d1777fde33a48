"""ChFinAnn, and whatever else Doc2EDAG and its successors read: [id, {sentences, recguid_eventname_eventdict_list, …}].

The source text is the sentences, a line each. An event has one value for each role, null where there is none; in some
files a list of values. Where a value stands is known of every occurrence: sentence, first character, and the one after
the last, so an argument has all of them as its mentions.
https://github.com/dolphin-zs/Doc2EDAG
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from goldgate.core.finding import record_id
from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    format_error,
    items_with_paths,
    merge_mentions,
    require_list,
    require_object,
    require_text,
    require_tokens,
    sort_mentions,
)

_EVENTS, _PLACES = "recguid_eventname_eventdict_list", "ann_mspan2dranges"


def _recognizes(record: Any) -> bool:
    return (
        isinstance(record, list)
        and len(record) == 2
        and isinstance(record[1], dict)
        and {"sentences", _EVENTS} <= record[1].keys()
    )


def _convert(record: Any) -> JsonObject:
    if not isinstance(record, list) or len(record) != 2:
        raise format_error("", "a list of an id and a document", record)
    document = require_object(record[1], "[1]")
    identity = record_id({"id": record[0]})
    if identity is None:
        raise format_error("[0]", "an id: a string that is not empty, or an integer", record[0])
    if _EVENTS not in document:
        raise format_error(f"[1].{_EVENTS}", "a list of events", None)
    sentences = require_tokens(document.get("sentences"), "[1].sentences")
    places = require_object(document.get(_PLACES) or {}, f"[1].{_PLACES}")
    starts = [0, *accumulate(len(sentence) + 1 for sentence in sentences)]

    def mentions(text: str) -> list[JsonObject]:
        ranges = items_with_paths(places.get(text), f"[1].{_PLACES}.{text}")
        return sort_mentions(
            [mention for path, each in ranges for mention in _mention(each, path, text, sentences, starts)]
        )

    events = [_event(event, path, mentions) for path, event in items_with_paths(document[_EVENTS], f"[1].{_EVENTS}")]
    return {"id": identity, "text": "\n".join(sentences), "events": events}


def _event(event: Any, path: str, mentions: Callable[[str], list[JsonObject]]) -> JsonObject:
    parts = require_list(event, path)
    if len(parts) != 3:
        raise format_error(path, "a number, an event type and its roles", event)
    arguments = [
        {"role": role, "argument": text, **merge_mentions(mentions(text), "argument")}
        for role, value in require_object(parts[2], f"{path}[2]").items()
        for text in _values(value, f"{path}[2].{role}")
    ]
    return {"event_type": require_text(parts[1], f"{path}[1]"), "arguments": arguments}


def _values(value: Any, path: str) -> Iterator[str]:
    """What fills a role: nothing, one text or several."""
    if isinstance(value, list):
        for inner, each in items_with_paths(value, path):
            yield require_text(each, inner)
    elif value is not None:
        yield require_text(value, path)


def _mention(place: Any, path: str, text: str, sentences: list[str], starts: list[int]) -> Iterator[JsonObject]:
    """A text at its place in characters of the whole; nothing where the sentence does not have it there."""
    parts = require_list(place, path)
    if len(parts) != 3 or any(type(part) is not int for part in parts) or not 0 <= parts[0] < len(sentences):
        raise format_error(path, "the number of a sentence, the first character and the one after the last", place)
    sentence, start, end = parts[0], max(0, parts[1]), parts[2]
    if sentences[sentence][start:end] == text:
        yield {"text": text, "start": starts[sentence] + start, "end": starts[sentence] + end}


CHFINANN = Dialect("chfinann", "ChFinAnn and others for Doc2EDAG: an array of id and document", _recognizes, _convert)
