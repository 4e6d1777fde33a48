"""Predictions in a published format of gold, as TextEE and others write them: each record converted as gold would be.

DuEE's formats are left out: what they have under `event_list` is read as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, Place
from goldgate.readers.dialects import recognize
from goldgate.readers.dialects.dialect import Dialect, Record
from goldgate.readers.layouts.layout import Answer

_READ_AS_THEY_ARE = ("duee", "duee-fin")
_OF_EVENT, _OF_ARGUMENT = ("event_type", "trigger", "start", "end", "mentions"), ("role", "argument", "start", "end")
_IN_TEXT = ("wikievents", "oneie")  # tokens that are looked for in a text

GoldText = Callable[[str], Any]  # the text of the gold record with this id


def published_form(record: Any) -> Dialect | None:
    """The dialect that a prediction is written in; none where it has a response of its own."""
    if isinstance(record, dict) and "response" in record:
        return None
    found = recognize(record)
    return None if found is None or found.name in _READ_AS_THEY_ARE else found


def published_answer(record: Any, dialect: Dialect, gold_text: GoldText) -> Answer:
    """What a record predicts. Offsets must be those of the gold's text: a prediction with another one is an error."""
    try:
        converted = dialect.convert(record)
        identity = record_id(converted)
        text = gold_text(identity) if identity is not None else None
        if isinstance(text, str) and dialect.name in _IN_TEXT and "text" not in record and "sentence" not in record:
            converted = dialect.convert({**record, "text": text})
    except InputError as error:
        error.code = error.code.replace("gold.", "predictions.", 1)
        raise
    if isinstance(text, str) and converted["text"] != text:
        raise InputError(
            "predictions.other_text",
            "this prediction has another text than the gold, so its offsets are not those of the gold",
            place=Place(field="text"),
            expected="the text of the gold record with this id",
            found="another, or tokens that are not in it",
            advice="score it by the gold that it was made from",
        )
    return Answer(identity, {"events": [_event(event) for event in converted["events"]]})


def _event(event: Mapping[str, Any]) -> Record:
    arguments = [_part(each, _OF_ARGUMENT) for each in event["arguments"] if each["argument"] is not None]
    return {**_part(event, _OF_EVENT), "arguments": arguments}


def _part(part: Mapping[str, Any], names: tuple[str, ...]) -> Record:
    return {name: part[name] for name in names if name in part}
