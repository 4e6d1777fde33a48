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
    JsonObject,
    character_part,
    format_error,
    items_with_paths,
    merge_mentions,
    require_list,
    require_object,
    require_text,
    sort_mentions,
)

_TITLE, _TEXT, _TYPE, _ARGUMENTS = range(4)


def _recognizes(record: Any) -> bool:
    return (
        isinstance(record, list)
        and len(record) == 4
        and isinstance(record[_TEXT], str)
        and isinstance(record[_TYPE], str)
        and (record[_ARGUMENTS] is None or isinstance(record[_ARGUMENTS], (str, list)))
    )


def _convert(record: Any) -> JsonObject:
    if not isinstance(record, list) or len(record) != 4:
        raise format_error("", "a list of title, text, event type and arguments", record)
    listed_arguments = items_with_paths(_arguments(record[_ARGUMENTS]), "[3]")
    arguments = [_argument(require_object(argument, path), path) for path, argument in listed_arguments]
    event = {"event_type": require_text(record[_TYPE], "[2]"), "arguments": arguments}
    return {"text": require_text(record[_TEXT], "[1]"), "events": [event]}


def _arguments(value: Any) -> list[Any]:
    if isinstance(value, str):
        import orjson  # here: the help of the commands lists the dialects, and needs no more

        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise format_error("[3]", "a list of arguments, or one as JSON", value) from None
    return require_list(value, "[3]")


def _argument(argument: Mapping[str, Any], path: str) -> JsonObject:
    role = {"role": require_text(argument.get("type"), f"{path}.type")}
    mentions = [
        character_part(require_object(mention, inner).get("text", argument.get("text")), *_offsets(mention), "text")
        for inner, mention in items_with_paths(argument.get("mention"), f"{path}.mention")
    ]
    if mentions:
        return role | merge_mentions(sort_mentions(mentions), "argument")
    return role | character_part(require_text(argument.get("text"), f"{path}.text"), *_offsets(argument), "argument")


def _offsets(value: Mapping[str, Any]) -> tuple[Any, Any]:
    return value.get("start"), value.get("end")


DOCEE = Dialect("docee", "DocEE: an array of title, text, event type and arguments", _recognizes, _convert)
