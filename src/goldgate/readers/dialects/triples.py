"""Relations as triples: each is an event with the relation as its type and the roles `head` and `tail`.

A record has them in a list, as `[head, relation, tail]` or as objects. A head or tail that stands once in the text gets
its place in it.
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, character_part, id_and_group, join_tokens

_LISTS = ("triples", "triplets", "triple_list", "relations", "relation_list", "spo_list")
_NAMES = (  # what head, relation and tail are called
    ("head", "subject", "h"),
    ("relation", "predicate", "relation_type", "type", "label", "r"),
    ("tail", "object", "t"),
)


def _triples(record: Any) -> Node | None:
    """The list of triples, if the first of them is one."""
    names = [name for name in _LISTS if isinstance(record.get(name), list)]
    triples = Node(record)[names[0]] if names else None
    return None if triples is None or any(_parts(item) is None for item in triples.items()[:1]) else triples


def _parts(item: Node) -> list[Node] | None:
    """Head, relation and tail; None if the value is not a triple."""
    if isinstance(item.value, dict):
        keys = [next((name for name in names if name in item.value), None) for names in _NAMES]
        return [item[key] for key in keys if key is not None] if None not in keys else None
    return item.items() if isinstance(item.value, list) and len(item.value) == 3 else None


def _recognizes(record: Any) -> bool:
    others = {"events", "event_list", "value", "response"}
    return isinstance(record, dict) and others.isdisjoint(record) and _triples(record) is not None


def _convert(record: Any) -> JsonObject:
    node = Node(record)
    triples = _triples(node.as_object())
    if triples is None:
        raise node.error("a list of triples")
    text = record.get("text", record.get("sentence"))
    if text is None and isinstance(record.get("tokens"), list):
        text = join_tokens(node["tokens"].tokens()).text
    return {
        **id_and_group(record),
        **({} if text is None else {"text": text}),
        "events": [_event(item, text) for item in triples.items()],
    }


def _event(item: Node, text: Any) -> JsonObject:
    parts = _parts(item)
    if parts is None:
        raise item.error("[head, relation, tail], or an object with these keys")
    ends = [{"role": role, **_argument(part, text)} for role, part in zip(("head", "tail"), parts[::2], strict=True)]
    return {"event_type": parts[1].text(), "arguments": ends}


def _argument(part: Node, text: Any) -> JsonObject:
    """A head or a tail: its text, or an object with the text and perhaps its offsets."""
    is_object = isinstance(part.value, dict)
    words = part.text("text" if "text" in part.value else "name") if is_object else part.text()
    start, end = (part.get("start"), part.get("end")) if is_object else (None, None)
    if start is None and isinstance(text, str) and text.count(words) == 1:
        start = text.index(words)
        end = start + len(words)
    return character_part(words, start, end, "argument")


TRIPLES = Dialect(
    "triples",
    "[head, relation, tail], or objects with these keys",
    _recognizes,
    _convert,
    ("text", "triples"),
    lambda record: bool(getattr(_triples(record), "value", None)),
)
