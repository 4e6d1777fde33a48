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
from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, TokenText, align_or_join, token_part

_KEYS = ("doc_key", "sentences", "evt_triggers", "gold_evt_links")
_ROLE = re.compile(r"evt\d+arg\d+(.+)", re.DOTALL)


class _Document(NamedTuple):
    """The text of a record with its tokens, and whether the ends of its spans are inclusive."""

    text: TokenText
    inclusive: bool


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


def _convert(record: Any, *, inclusive: bool = True) -> JsonObject:
    node = Node(record)
    tokens = [token for sentence in node.items("sentences") for token in sentence.tokens()]
    in_characters = not inclusive and all(len(token) == 1 for token in tokens)
    text = align_or_join(tokens, "".join(tokens) if in_characters else None)
    document = _Document(text, inclusive)
    events: list[JsonObject] = []
    by_trigger: dict[tuple[int, int], list[JsonObject]] = {}
    for trigger in node.items("evt_triggers"):
        span = _span(trigger, document)
        event = {"event_type": _event_type(trigger), **token_part(text, *span, "trigger"), "arguments": []}
        by_trigger.setdefault(span, []).append(event)
        events.append(event)
    for link in node.items("gold_evt_links"):
        _add_argument(link, document, by_trigger)
    source = record.get("source_url")
    group = {"group": source} if isinstance(source, str) and source else {}
    return {"id": node.text("doc_key"), **group, "text": text.text, "tokens": tokens, "events": events}


def _add_argument(link: Node, document: _Document, events: dict[tuple[int, int], list[JsonObject]]) -> None:
    parts = link.items()
    if len(parts) < 3:
        raise link.error("a trigger, an argument and a role")
    trigger = _span(parts[0], document)
    if trigger not in events:
        raise parts[0].error("the span of one of evt_triggers")
    role = parts[2].text()
    match = _ROLE.fullmatch(role)
    argument = {
        "role": match[1] if match else role,
        **token_part(document.text, *_span(parts[1], document), "argument"),
    }
    for event in events[trigger]:
        event["arguments"].append(dict(argument))


def _span(node: Node, document: _Document) -> tuple[int, int]:
    """The tokens of a span: RAMS names the last one, OEE-CFC the one after it."""
    numbers, tokens = node.as_list()[:2], len(document.text.spans)
    if len(numbers) < 2 or any(type(number) is not int for number in numbers):
        raise node.error("the first and the last token")
    start, end = numbers[0], numbers[1] + document.inclusive
    if document.inclusive and 0 <= start < end == tokens + 1:
        raise _other_ends_error(node, f"a last token below {tokens}, the number of tokens", f"{numbers[1]}", document)
    if not document.inclusive and 0 <= start == end < tokens:
        raise _other_ends_error(node, "an end after the start", f"{start} to {end}", document)
    return node.token_span(start, end, tokens)


def _other_ends_error(node: Node, expected: str, found: str, document: _Document) -> InputError:
    error = node.error(expected, found)
    ends, other = ("exclusive", "oee-cfc") if document.inclusive else ("inclusive", "rams")
    error.advice = f"are the ends of its spans {ends}? then --dialect {other}"
    return error


def _event_type(trigger: Node) -> str:
    """The first of the types that the trigger is given, each with its probability."""
    types = Node(trigger.value[2], trigger, 2).as_list() if len(trigger.value) > 2 else []
    first = types[0] if types else None
    return Node(first[0] if isinstance(first, list) and first else first, trigger, 2).text()


RAMS = Dialect("rams", "RAMS: five sentences around a trigger", _recognizes, _convert, _KEYS, _has_triggers)
OEE_CFC = Dialect(
    "oee-cfc",
    "OEE-CFC: keys of RAMS, exclusive ends, types without probabilities",
    _recognizes_oee_cfc,
    partial(_convert, inclusive=False),
    _KEYS,
    _has_triggers,
)
