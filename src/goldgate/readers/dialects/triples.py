"""Relations as triples: each is an event with the relation as its type and the roles `head` and `tail`.

A record has them in a list under one of a few names, as `[head, relation, tail]` or as objects; a record that has a
head, a relation and a tail itself has one. Texts that stand once in the source text get their place in it.
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, JsonObject, Node, character_part, join_tokens

_LISTS = ("triples", "triplets", "triple_list", "relations", "relation_list", "spo_list")
_NAMES = {  # what head, relation and tail are called
    "head": ("head", "subject", "subj", "h"),
    "relation": ("relation", "predicate", "relation_type", "type", "label", "r"),
    "tail": ("tail", "object", "obj", "t"),
}


def _list_name(record: dict[str, Any]) -> str | None:
    return next((name for name in _LISTS if isinstance(record.get(name), list)), None)


def _keys(item: dict[str, Any]) -> list[str]:
    """The keys of an object that has the three parts of a triple, or fewer."""
    names = (next((name for name in names if name in item), None) for names in _NAMES.values())
    return [name for name in names if name is not None]


def _is_triple(item: Any) -> bool:
    return len(_keys(item)) == 3 if isinstance(item, dict) else isinstance(item, list) and len(item) == 3


def _recognizes(record: Any) -> bool:
    if not isinstance(record, dict) or not {"events", "event_list", "value", "response"}.isdisjoint(record):
        return False
    name = _list_name(record)
    return record.keys() >= _NAMES.keys() if name is None else all(map(_is_triple, record[name][:1]))


def _convert(record: Any) -> JsonObject:
    node = Node(record)
    name = _list_name(node.as_object())
    text = record.get("text", record.get("sentence"))
    if text is None and isinstance(record.get("tokens"), list):
        text = join_tokens(node["tokens"].tokens()).text
    events = [_event(item, text) for item in ([node] if name is None else node.items(name))]
    kept = {key: record[key] for key in ("id", "group") if key in record}
    return {**kept, **({} if text is None else {"text": text}), "events": events}


def _event(item: Node, text: Any) -> JsonObject:
    if not _is_triple(item.value):
        raise item.error("[head, relation, tail], or an object with these keys")
    parts = item.items() if isinstance(item.value, list) else [item[key] for key in _keys(item.value)]
    head, relation, tail = parts
    return {"event_type": relation.text(), "arguments": [_argument("head", head, text), _argument("tail", tail, text)]}


def _argument(role: str, part: Node, text: Any) -> JsonObject:
    """A head or a tail: its text, or an object with the text and perhaps its offsets."""
    if isinstance(part.value, dict):
        words = part.text("text" if "text" in part.value else "name")
        start, end = part.get("start"), part.get("end")
    else:
        words, start, end = part.text(), None, None
    if start is None and isinstance(text, str) and text.count(words) == 1:
        start = text.index(words)
        end = start + len(words)
    return {"role": role, **character_part(words, start, end, "argument")}


def _has_any(record: Any) -> bool:
    name = _list_name(record)
    return name is None or bool(record[name])


TRIPLES = Dialect(
    "triples",
    "relations as triples: [head, relation, tail], or objects",
    _recognizes,
    _convert,
    ("text", "triples"),
    _has_any,
)
