"""Tokens with BIO tags: each entity is an event with its type and the role `mention`.

The tags are IOB2 (`B-PER`, `I-PER`, `O`), IOB1, where `B-` only parts neighbours, BIOES or BILOU. A tag that continues
nothing begins an entity, as in conlleval, and is listed where gold is converted or checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, align_or_join, id_and_group, token_part

_TAGS = ("tags", "ner_tags", "bio_tags", "labels", "ner")
_OTHER = {"events", "event_list", "event_mentions", "value", "response"}  # keys of other records with tokens
_UNTYPED = "entity"  # the type of what is tagged B and I alone


def _tags(record: Node) -> Node:
    return record[next((name for name in _TAGS if isinstance(record.get(name), list)), _TAGS[0])]


def _recognizes(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("tokens"), list)
        and _OTHER.isdisjoint(record)
        and (_tags(Node(record)).value is not None)
    )


def _entities(tags: Node) -> Iterator[tuple[str, int, int]]:
    """The type of each entity that some tags mark, its first token, and the one after its last."""
    start, open_type = 0, None
    for at, tag in enumerate([*tags.items(), Node("O")]):
        mark, _, name = str(tag.value).partition("-")
        if mark not in (*"OBIELSU",):
            raise tag.error("O, or B, I, E, L, S or U with a type, such as B-PER")
        name = name or _UNTYPED
        if open_type is not None and (mark not in (*"IEL",) or name != open_type):
            yield open_type, start, at
            open_type = None
        if mark != "O" and open_type is None:
            start, open_type = at, name
        if mark in (*"ELSU",):
            yield name, start, at + 1
            open_type = None


def _convert(record: Any) -> JsonObject:
    node = Node(record)
    tokens, tags = node["tokens"].tokens(), _tags(node)
    if "tokens" not in record:
        raise node["tokens"].error("tokens with their tags", "another record")
    if len(tokens) != len(tags.as_list()):
        raise tags.error(f"{len(tokens)} tags, one for each token", f"{len(tags.as_list())} tags")
    in_characters = all(len(token) == 1 for token in tokens)  # as Chinese is tagged
    text = align_or_join(tokens, record.get("text", "".join(tokens) if in_characters else None))
    events = [
        {"event_type": name, "arguments": [{"role": "mention", **token_part(text, start, end, "argument")}]}
        for name, start, end in _entities(tags)
    ]
    return {**id_and_group(record), "text": text.text, "tokens": tokens, "events": events}


def _oddities(record: Any) -> Iterator[tuple[str, str]]:
    """The places of tags that continue nothing, and how they were read."""
    tags = _tags(Node(record))
    for _, start, _ in _entities(tags):
        if (tag := tags.value[start])[0] in "IEL":
            yield f"{tags.path}[{start}]", f"{tag} continues no entity: it begins one"


BIO = Dialect(
    *("bio", "tokens with BIO tags: IOB2, IOB1, BIOES or BILOU", _recognizes, _convert, ("tokens", "tags")),
    oddities=_oddities,
)
