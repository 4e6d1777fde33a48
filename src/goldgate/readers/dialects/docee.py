"""DocEE: an array of [title, text, event type, arguments], one event a document, without triggers and without ids.

The arguments are a list, or that list as JSON inside a string; their offsets are characters of the text, the end
exclusive. Documents are numbered from 1 in the order of the file. Some titles are NaN, which is read as null.
https://github.com/tongmeihan1995/DocEE
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    Record,
    in_characters,
    in_order,
    listed,
    mapped,
    mentioned,
    numbered,
    word,
    wrong,
)

_TITLE, _TEXT, _TYPE, _ARGUMENTS = range(4)


def recognizes(record: Any) -> bool:
    return (
        isinstance(record, list)
        and len(record) == 4
        and isinstance(record[_TEXT], str)
        and isinstance(record[_TYPE], str)
        and (record[_ARGUMENTS] is None or isinstance(record[_ARGUMENTS], (str, list)))
    )


def convert(record: Any) -> Record:
    if not isinstance(record, list) or len(record) != 4:
        raise wrong("", "a list of title, text, event type and arguments", record)
    listed_arguments = numbered(_arguments(record[_ARGUMENTS]), "[3]")
    arguments = [_argument(mapped(argument, path), path) for path, argument in listed_arguments]
    event = {"event_type": word(record[_TYPE], "[2]"), "arguments": arguments}
    return {"text": word(record[_TEXT], "[1]"), "events": [event]}


def _arguments(value: Any) -> list[Any]:
    if isinstance(value, str):
        import orjson  # here: the help of the commands lists the dialects, and needs no more

        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise wrong("[3]", "a list of arguments, or one as JSON", value) from None
    return listed(value, "[3]")


def _argument(argument: Mapping[str, Any], path: str) -> Record:
    role = {"role": word(argument.get("type"), f"{path}.type")}
    mentions = [
        in_characters(mapped(mention, inner).get("text", argument.get("text")), *_offsets(mention), "text")
        for inner, mention in numbered(argument.get("mention"), f"{path}.mention")
    ]
    if mentions:
        return role | mentioned(in_order(mentions), "argument")
    return role | in_characters(word(argument.get("text"), f"{path}.text"), *_offsets(argument), "argument")


def _offsets(value: Mapping[str, Any]) -> tuple[Any, Any]:
    return value.get("start"), value.get("end")


DIALECT = Dialect("docee", "DocEE: an array of title, text, event type and arguments", recognizes, convert)
