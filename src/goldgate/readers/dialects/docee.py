"""DocEE: an array of [title, text, event type, arguments], one event a document, without triggers and without ids.

The arguments are a list, or that list as JSON inside a string; their offsets are characters of the text, the end
exclusive. Documents are numbered from 1 in the order of the file. Some titles are NaN, which is read as null.
https://github.com/tongmeihan1995/DocEE
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, character_part, merge_mentions

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
    document = Node(record)
    if not isinstance(record, list) or len(record) != 4:
        raise document.error("a list of title, text, event type and arguments")
    _, text, event_type, arguments = document.items()
    if isinstance(arguments.value, str):
        import orjson  # here: the help of the commands lists the dialects, and needs no more

        try:
            arguments.value = orjson.loads(arguments.value)
        except orjson.JSONDecodeError:
            raise arguments.error("a list of arguments, or one as JSON") from None
    converted = [_argument(argument) for argument in arguments.items()]
    return {"text": text.text(), "events": [{"event_type": event_type.text(), "arguments": converted}]}


def _argument(argument: Node) -> JsonObject:
    role = {"role": argument.text("type")}
    mentions = [
        character_part(mention.as_object().get("text", argument.get("text")), *_offsets(mention), "text")
        for mention in argument.items("mention")
    ]
    if mentions:
        return role | merge_mentions(mentions, "argument")
    return role | character_part(argument.text("text"), *_offsets(argument), "argument")


def _offsets(part: Node) -> tuple[Any, Any]:
    return part.get("start"), part.get("end")


DOCEE = Dialect("docee", "DocEE: an array of title, text, event type and arguments", _recognizes, _convert)
