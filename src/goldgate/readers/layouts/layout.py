"""What a layout of predictions is: how another program's file is recognized, and the answers in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, Place, describe, did_you_mean
from goldgate.readers.records import RecordFile

_SHOWN_KEYS = 8
_EVENTS = ("events", "event_list")


class Answer(NamedTuple):
    """An answer: the id of what was asked, or its place in the data set from 0, or neither; and what it says."""

    id: str | None
    said: dict[str, Any]  # `response`, or `events`
    position: int | None = None
    part: bool = False  # one of several records that are one answer, all of the same id


class Fields(NamedTuple):
    """Where a record has the id and the response: dotted paths. None stands for our own names."""

    id: str | None = None
    response: str | None = None


OUR_NAMES = Fields()


class RecordLayout(NamedTuple):
    """One answer a record. `answer` gives None for a request that failed: it has no answer."""

    name: str
    about: str
    recognizes: Callable[[Any], bool]
    answer: Callable[[Mapping[str, Any]], Answer | None]
    in_order: bool = False  # it never has ids, and is in the order of the data set
    in_tokens: bool = False  # its events name tokens of the gold record
    view: Callable[[Mapping[str, Any]], object] = lambda _: None  # only records with that of the first one count


class FileLayout(NamedTuple):
    """Answers in a file of another kind, each with its line; of one without lines, the number of the answer."""

    name: str
    about: str
    recognizes: Callable[[RecordFile], bool]
    answers: Callable[[RecordFile, Fields], Iterator[tuple[int, Answer | None]]]


def pick(record: Mapping[str, Any], fields: Fields) -> Answer:
    """The answer of a record with these fields; InputError where one is named that the record does not have."""
    identity = value_at(record, fields.id) if fields.id is not None else record.get("id")
    found = record_id({"id": identity})
    if fields.id is not None and found is None:
        raise _no_field("predictions.bad_id", fields.id, "an id: a string that is not empty, or an integer", identity)
    if fields.response is None:
        return Answer(found, {name: record[name] for name in ("response", *_EVENTS) if name in record})
    return Answer(found, said(value_at(record, fields.response)))


def said(value: Any) -> dict[str, Any]:
    """What a model said, as a prediction has it: text as it stands, a list as decoded events."""
    return {"events": value} if isinstance(value, list) else {"response": value}


def value_at(record: Any, path: str) -> Any:
    """What is at a dotted path; a number is a place in a list. InputError if there is nothing."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    value = record
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            keys = ", ".join(list(map(str, value))[:_SHOWN_KEYS]) if isinstance(value, Mapping) else None
            found = describe(value) if keys is None else f"the keys {keys}"
            raise InputError(
                "predictions.no_field",
                f"there is no {part} here",
                place=Place(field=path),
                expected="the field that --id-field or --response-field names",
                found=found,
                advice=did_you_mean(part, value) if isinstance(value, Mapping) else None,
            )
    return value


def not_generated(path: str, found: object) -> InputError:
    """The error for a record of another kind of task, in which no model wrote anything."""
    return InputError(
        "predictions.not_generated",
        "this record has no text that a model wrote",
        place=Place(field=path),
        expected="a generated answer",
        found=describe(found),
        advice="was this a task of another kind, such as multiple choice or embeddings?",
    )


def _no_field(code: str, path: str, expected: str, found: Any) -> InputError:
    return InputError(
        code, "this prediction cannot be joined", place=Place(field=path), expected=expected, found=describe(found)
    )
