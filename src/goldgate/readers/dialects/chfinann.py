"""ChFinAnn, and whatever else Doc2EDAG and its successors read: [id, {sentences, recguid_eventname_eventdict_list, …}].

The source text is the sentences, a line each. An event has one value for each role, null where there is none; in some
files a list of values. Where a value stands is known of every occurrence: sentence, first character, and the one after
the last, so an argument has all of them as its mentions.
https://github.com/dolphin-zs/Doc2EDAG
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from goldgate.core.finding import record_id
from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, merge_mentions

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
        raise Node(record).error("a list of an id and a document")
    name, document = Node(record).items()
    keys, identity = document.as_object().keys(), record_id({"id": name.value})
    if identity is None:
        raise name.error("an id: a string that is not empty, or an integer")
    if _EVENTS not in keys:
        raise document[_EVENTS].error("a list of events")
    sentences, places = document["sentences"].tokens(), document.section(_PLACES)
    starts = [0, *accumulate(len(sentence) + 1 for sentence in sentences)]

    def mentions(text: str) -> list[JsonObject]:
        """A text at its places in characters of the whole, but for those where the sentence does not have it."""
        spans = []
        for place in places.items(text):
            sentence, start, end = _place(place, len(sentences))
            if sentences[sentence][start:end] == text:
                spans.append({"text": text, "start": starts[sentence] + start, "end": starts[sentence] + end})
        return spans

    events = [_event(event, mentions) for event in document.items(_EVENTS)]
    return {"id": identity, "text": "\n".join(sentences), "events": events}


def _event(event: Node, mentions: Callable[[str], list[JsonObject]]) -> JsonObject:
    parts = event.items()
    if len(parts) != 3:
        raise event.error("a number, an event type and its roles")
    arguments = [
        {"role": role, "argument": text, **merge_mentions(mentions(text), "argument")}
        for role, filler in parts[2].as_object().items()
        if filler is not None
        for text in _values(Node(filler, parts[2], role))
    ]
    return {"event_type": parts[1].text(), "arguments": arguments}


def _values(value: Node) -> list[str]:
    """What fills a role: one text or several."""
    return [item.text() for item in value.items()] if isinstance(value.value, list) else [value.text()]


def _place(place: Node, sentences: int) -> tuple[int, int, int]:
    parts = place.as_list()
    if len(parts) != 3 or any(type(part) is not int for part in parts) or not 0 <= parts[0] < sentences:
        raise place.error("the number of a sentence, the first character and the one after the last")
    return parts[0], max(0, parts[1]), parts[2]


CHFINANN = Dialect("chfinann", "ChFinAnn and others for Doc2EDAG: an array of id and document", _recognizes, _convert)
