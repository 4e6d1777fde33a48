"""Tokens with BIO tags: each entity is an event with its type and the role `mention`.

The tags are IOB2 (`B-PER`, `I-PER`, `O`), IOB1, where `B-` only parts neighbours, BIOES or BILOU. A tag that continues
nothing begins an entity, as in conlleval, and is listed where gold is converted or checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, align_or_join, token_part

_TAGS = ("tags", "ner_tags", "bio_tags", "labels", "ner")
_FORM = "O, or B, I, E, L, S or U with the type, such as B-PER"
_UNTYPED = "entity"  # the type of what is tagged B and I alone


class _Entity(NamedTuple):
    type: str
    start: int
    end: int  # exclusive, in tokens
    begins: bool  # False: its first tag was to continue something


def _tags_name(record: dict[str, Any]) -> str | None:
    return next((name for name in _TAGS if isinstance(record.get(name), list)), None)


def _recognizes(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("tokens"), list)
        and {"events", "event_list", "event_mentions", "value", "response"}.isdisjoint(record)
        and _tags_name(record) is not None
    )


def _entities(tags: Node) -> Iterator[_Entity]:
    """The entities that some tags mark, in order."""
    entity: _Entity | None = None
    for at, tag in enumerate(tags.items()):
        mark, _, name = str(tag.value).partition("-")
        if mark not in (*"OBIELSU",):
            raise tag.error(_FORM)
        name = name or _UNTYPED
        continues = mark in (*"IEL",)
        if entity is not None and not (continues and entity.type == name):
            yield entity
            entity = None
        if mark != "O":
            entity = _Entity(name, at, at + 1, not continues) if entity is None else entity._replace(end=at + 1)
            if mark in (*"SUEL",):
                yield entity
                entity = None
    if entity is not None:
        yield entity


def _convert(record: Any) -> JsonObject:
    node = Node(record)
    name = _tags_name(node.as_object()) or _TAGS[0]
    tokens, tags = node["tokens"].tokens(), node[name]
    if len(tokens) != len(tags.as_list()):
        raise tags.error(f"{len(tokens)} tags, one for each token", f"{len(tags.as_list())} tags")
    in_characters = all(len(token) == 1 for token in tokens)  # as Chinese is tagged
    text = align_or_join(tokens, record.get("text", "".join(tokens) if in_characters else None))
    events = [
        {
            "event_type": entity.type,
            "arguments": [{"role": "mention", **token_part(text, entity.start, entity.end, "argument")}],
        }
        for entity in _entities(tags)
    ]
    kept = {key: record[key] for key in ("id", "group") if key in record}
    return {**kept, "text": text.text, "tokens": tokens, "events": events}


def _oddities(record: Any) -> Iterator[tuple[str, str]]:
    """The places of tags that continue nothing, and what became of them."""
    name = _tags_name(record) or _TAGS[0]
    for entity in _entities(Node(record)[name]):
        if not entity.begins:
            yield f"{name}[{entity.start}]", f"{record[name][entity.start]} continues no entity: it begins one"


BIO = Dialect(
    "bio",
    "tokens with BIO tags: IOB2, IOB1, BIOES or BILOU",
    _recognizes,
    _convert,
    ("tokens", "tags"),
    oddities=_oddities,
)
