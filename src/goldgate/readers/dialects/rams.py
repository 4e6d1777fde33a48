"""RAMS: five sentences around one trigger; spans are tokens of the whole document, and their ends are inclusive.

A role is written `evt089arg02victim`: only what follows the numbers is its name. Records of one article are a group.
https://nlp.jhu.edu/rams

OEE-CFC has the same keys and exclusive ends, several triggers in a record or none, and no probabilities: a type is
`["generalEvents"]` where RAMS has `[["life.die", 1.0]]`. Its tokens are characters, and its text has no blanks between
them. https://github.com/view98/OEE-CFC
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, NamedTuple

from goldgate.errors import InputError
from goldgate.readers.dialects.dialect import (
    Dialect,
    JsonObject,
    TokenText,
    align_or_join,
    format_error,
    items_with_paths,
    require_list,
    require_object,
    require_text,
    require_tokens,
    token_part,
    token_span,
)

_KEYS = ("doc_key", "sentences", "evt_triggers", "gold_evt_links")
_ROLE = re.compile(r"evt\d+arg\d+(.+)", re.DOTALL)


_OTHER_DIALECT = {"rams": "oee-cfc", "oee-cfc": "rams"}


class _Document(NamedTuple):
    """The tokens of a record, their text, and how the ends of its spans count."""

    tokens: list[str]
    text: TokenText
    dialect: str


def _recognizes(record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= {*_KEYS} and not _recognizes_oee_cfc(record)


def _recognizes_oee_cfc(record: Any) -> bool:
    """Whether a record with RAMS's keys has types without probabilities, and no span that exclusive ends make empty."""
    if not isinstance(record, dict) or not record.keys() >= {*_KEYS}:
        return False
    parts = [part for key in ("evt_triggers", "ent_spans") for part in _parts(record.get(key))]
    return any(map(_has_plain_type, parts)) and not any(part[0] == part[1] for part in parts)


def _has_triggers(record: Any) -> bool:
    return bool(record.get("evt_triggers"))


def _parts(value: Any) -> list[Any]:
    """Spans with what they are named."""
    return [part for part in value if isinstance(part, list) and len(part) > 2] if isinstance(value, list) else []


def _has_plain_type(part: list[Any]) -> bool:
    event_type = part[2]
    return isinstance(event_type[0] if isinstance(event_type, list) and event_type else event_type, str)


def _convert(record: Any, dialect: str = "rams") -> JsonObject:
    record = require_object(record, "")
    tokens = [
        token
        for path, sentence in items_with_paths(record.get("sentences"), "sentences")
        for token in require_tokens(sentence, path)
    ]
    in_characters = dialect != "rams" and all(len(token) == 1 for token in tokens)
    text = align_or_join(tokens, "".join(tokens) if in_characters else None)
    document = _Document(tokens, text, dialect)
    events: dict[tuple[int, int], list[JsonObject]] = {}
    ordered: list[JsonObject] = []
    for path, trigger in items_with_paths(record.get("evt_triggers"), "evt_triggers"):
        place = _span(trigger, path, document)
        event = {"event_type": _event_type(trigger, path), **token_part(text, *place, "trigger"), "arguments": []}
        events.setdefault(place, []).append(event)
        ordered.append(event)
    for path, link in items_with_paths(record.get("gold_evt_links"), "gold_evt_links"):
        _add_argument(link, path, document, events)
    source = record.get("source_url")
    group = {"group": source} if isinstance(source, str) and source else {}
    return {
        "id": require_text(record.get("doc_key"), "doc_key"),
        **group,
        "text": text.text,
        "tokens": tokens,
        "events": ordered,
    }


def _add_argument(link: Any, path: str, document: _Document, events: dict[tuple[int, int], list[JsonObject]]) -> None:
    parts = require_list(link, path)
    if len(parts) < 3:
        raise format_error(path, "a trigger, an argument and a role", link)
    trigger = _span(parts[0], f"{path}[0]", document)
    if trigger not in events:
        raise format_error(f"{path}[0]", "the span of one of evt_triggers", parts[0])
    role = require_text(parts[2], f"{path}[2]")
    match = _ROLE.fullmatch(role)
    place = _span(parts[1], f"{path}[1]", document)
    argument = {"role": match[1] if match else role, **token_part(document.text, *place, "argument")}
    for event in events[trigger]:
        event["arguments"].append(dict(argument))


def _span(value: Any, path: str, document: _Document) -> tuple[int, int]:
    """The tokens of a span: RAMS names the last one, OEE-CFC the one after it."""
    parts, dialect = require_list(value, path), document.dialect
    if len(parts) < 2 or type(parts[0]) is not int or type(parts[1]) is not int:
        raise format_error(path, "the first and the last token", value)
    start, end = parts[0], parts[1] + (dialect == "rams")
    if dialect == "rams" and 0 <= start < end == len(document.tokens) + 1:
        raise _other_ends_error(path, f"a last token below {end - 1}, the number of tokens", f"{parts[1]}", dialect)
    if dialect != "rams" and 0 <= start == end < len(document.tokens):
        raise _other_ends_error(path, "an end after the start", f"{start} to {end}", dialect)
    return token_span(start, end, path, document.tokens)


def _other_ends_error(path: str, expected: str, found: str, dialect: str) -> InputError:
    error = format_error(path, expected, found)
    ends = "exclusive" if dialect == "rams" else "inclusive"
    error.found = found
    error.advice = f"are the ends of its spans {ends}? then --dialect {_OTHER_DIALECT[dialect]}"
    return error


def _event_type(trigger: list[Any], path: str) -> str:
    """The first of the types that the trigger is given, each with its probability."""
    types = require_list(trigger[2], f"{path}[2]") if len(trigger) > 2 else []
    first = types[0] if types else None
    return require_text(first[0] if isinstance(first, list) and first else first, f"{path}[2]")


RAMS = Dialect("rams", "RAMS: five sentences around a trigger", _recognizes, _convert, _KEYS, _has_triggers)
OEE_CFC = Dialect(
    "oee-cfc",
    "OEE-CFC: keys of RAMS, exclusive ends, types without probabilities",
    _recognizes_oee_cfc,
    partial(_convert, dialect="oee-cfc"),
    _KEYS,
    _has_triggers,
)
