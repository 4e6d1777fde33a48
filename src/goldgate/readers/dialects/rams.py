"""RAMS: five sentences around one trigger; spans are tokens of the whole document, and their ends are inclusive.

A role is written `evt089arg02victim`: only what follows the numbers is its name. Records of one article are a group.
https://nlp.jhu.edu/rams
"""

from __future__ import annotations

import re
from typing import Any

from goldgate.readers.dialects.dialect import (
    Dialect,
    Record,
    in_tokens,
    listed,
    mapped,
    numbered,
    token_span,
    word,
    words,
    wrong,
)
from goldgate.readers.tokens import TokenText, joined

_KEYS = ("doc_key", "sentences", "evt_triggers", "gold_evt_links")
_ROLE = re.compile(r"evt\d+arg\d+(.+)", re.DOTALL)


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= {*_KEYS}


def convert(record: Any) -> Record:
    record = mapped(record, "")
    tokens = [
        token for path, sentence in numbered(record.get("sentences"), "sentences") for token in words(sentence, path)
    ]
    text = joined(tokens)
    events: dict[tuple[int, int], list[Record]] = {}
    ordered: list[Record] = []
    for path, trigger in numbered(record.get("evt_triggers"), "evt_triggers"):
        place = _span(trigger, path, tokens)
        event = {"event_type": _event_type(trigger, path), **in_tokens(text, *place, "trigger"), "arguments": []}
        events.setdefault(place, []).append(event)
        ordered.append(event)
    for path, link in numbered(record.get("gold_evt_links"), "gold_evt_links"):
        _add_argument(link, path, text, tokens, events)
    source = record.get("source_url")
    group = {"group": source} if isinstance(source, str) and source else {}
    return {
        "id": word(record.get("doc_key"), "doc_key"),
        **group,
        "text": text.text,
        "tokens": tokens,
        "events": ordered,
    }


def _add_argument(
    link: Any, path: str, text: TokenText, tokens: list[str], events: dict[tuple[int, int], list[Record]]
) -> None:
    parts = listed(link, path)
    if len(parts) < 3:
        raise wrong(path, "a trigger, an argument and a role", link)
    trigger = _span(parts[0], f"{path}[0]", tokens)
    if trigger not in events:
        raise wrong(f"{path}[0]", "the span of one of evt_triggers", parts[0])
    role = word(parts[2], f"{path}[2]")
    named = _ROLE.fullmatch(role)
    place = _span(parts[1], f"{path}[1]", tokens)
    argument = {"role": named[1] if named else role, **in_tokens(text, *place, "argument")}
    for event in events[trigger]:
        event["arguments"].append(dict(argument))


def _span(value: Any, path: str, tokens: list[str]) -> tuple[int, int]:
    """Tokens whose last one is named too."""
    parts = listed(value, path)
    if len(parts) < 2 or type(parts[1]) is not int:
        raise wrong(path, "the first and the last token", value)
    return token_span(parts[0], parts[1] + 1, path, tokens)


def _event_type(trigger: list[Any], path: str) -> str:
    """The first of the types that the trigger is given, each with its probability."""
    types = listed(trigger[2], f"{path}[2]") if len(trigger) > 2 else []
    first = types[0] if types else None
    return word(first[0] if isinstance(first, list) and first else first, f"{path}[2]")


DIALECT = Dialect("rams", "RAMS: five sentences around a trigger", recognizes, convert, _KEYS)
