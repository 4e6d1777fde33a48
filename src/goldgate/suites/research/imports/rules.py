"""The rules of a mapping applied to a trace: the first value that fits, and the id of its span.

Rules can read messages: with a role and content or parts (OpenAI, OpenTelemetry), LangChain's with a type,
serialized or not, pairs of role and text, lists of such lists, and objects with `messages` or `generations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from goldgate.suites.research.imports.mapping import Rule, look_up, parse_nested, span_matches
from goldgate.suites.research.imports.spans import Trace, TraceSpan

_USER = frozenset({"user", "human", "humanmessage", "humanmessagechunk"})
_ASSISTANT = frozenset({"assistant", "ai", "model", "aimessage", "aimessagechunk"})
_MAX_NESTING = 6  # lists in lists, objects in objects: LangChain has three
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\n```\Z", re.DOTALL)


class ChatMessage(NamedTuple):
    """Role and text of a message."""

    role: str
    text: str


def first_question(value: Any) -> str | None:
    """What the user asked first. A plain text is a question by itself."""
    if isinstance(value, str) and parse_nested(value) is None:
        return value if value.strip() else None
    return next((message.text for message in _messages(value) if message.role in _USER and message.text.strip()), None)


def last_answer(value: Any) -> str | None:
    """What the assistant said last, tool calls left out. A plain text is an answer by itself."""
    if isinstance(value, str) and not isinstance(parse_nested(value), list):
        return value if value.strip() else None
    texts = [message.text for message in _messages(value) if message.role in _ASSISTANT and message.text.strip()]
    return texts[-1] if texts else None


def last_answer_json(value: Any) -> Any:
    """The object or list that the last answer is, as JSON, fenced or not; None where it is other text."""
    answer = last_answer(value)
    if answer is None:
        return None
    fenced = _FENCED.match(answer.strip())
    return parse_nested(fenced[1] if fenced else answer)


def _messages(value: Any, depth: int = 0) -> Iterator[ChatMessage]:
    if isinstance(value, str):
        value = parse_nested(value)
    if depth > _MAX_NESTING or not isinstance(value, dict | list):
        return
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(item, str) for item in value) and parse_nested(value[1]) is None:
            yield ChatMessage(value[0].casefold(), value[1])
            return
        for item in value:
            yield from _messages(item, depth + 1)
        return
    message = _message(value)
    if message is not None:
        yield message
        return
    for key in ("messages", "generations", "message", "output", "choices"):
        if isinstance(value.get(key), dict | list):
            yield from _messages(value[key], depth + 1)
            return


def _message(value: dict[str, Any]) -> ChatMessage | None:
    inner = value
    for key in ("kwargs", "data"):  # LangChain's serialized forms
        if isinstance(value.get(key), dict):
            inner = value[key]
    role = inner.get("role") or value.get("role") or inner.get("type") or value.get("type")
    path = value.get("id")
    if role == "constructor" and isinstance(path, list) and path and isinstance(path[-1], str):
        role = path[-1]
    content = inner.get("content", inner.get("parts"))
    if not isinstance(role, str) or content is None:
        return None
    return ChatMessage(role.casefold(), _message_text(content))


def _message_text(content: Any) -> str:
    """The text of a message; its parts with a line between them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict) and part.get("type", "text") in ("text", "input_text", "output_text"):
            text = part.get("text", part.get("content"))
            if isinstance(text, str):
                parts.append(text)
    return "\n".join(parts)


_READERS: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "question": first_question,
    "answer": last_answer,
    "answer_json": last_answer_json,
}
_ANY_WORD = "*"


class RuleMatch(NamedTuple):
    """A value, and the id of its span."""

    value: Any
    span: str


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def is_list(value: Any) -> bool:
    return isinstance(decode_nested(value), list)


def first_match(trace: Trace, rules: Sequence[Rule], fits: Callable[[Any], bool]) -> RuleMatch | None:
    """What the first rule gives that gives something fitting."""
    return next(filter(None, (_rule_match(trace, rule, fits) for rule in rules)), None)


def _rule_match(trace: Trace, rule: Rule, fits: Callable[[Any], bool]) -> RuleMatch | None:
    spans = [span for span in trace.spans if span_matches(span, rule.where)]
    if rule.pick == "all":
        items = [(item, span.id) for span in spans for item in _items(_rule_value(span, rule))]
        return RuleMatch([item for item, _ in items], items[0][1]) if items else None
    if rule.pick == "last":
        spans = spans[-1:]
    elif spans:
        least = min(trace.depths[span.id] for span in spans)
        if rule.pick == "outermost":
            spans = [span for span in spans if trace.depths[span.id] == least][-1:]
        else:
            spans.sort(key=lambda span: trace.depths[span.id])
    values = ((_rule_value(span, rule), span.id) for span in spans)
    return next((RuleMatch(value, span) for value, span in values if fits(value)), None)


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _rule_value(span: TraceSpan, rule: Rule) -> Any:
    value = look_up(_READERS[rule.read](look_up(span.fields, rule.take)), rule.at)
    if rule.each or rule.pick == "all":
        value = decode_nested(value)
    if rule.words and type(value) in (str, int):
        return rule.words.get(str(value), rule.words.get(_ANY_WORD, str(value)))
    if rule.each:
        items = value if isinstance(value, list) else [value]
        return [_entry(item, rule) for item in items if isinstance(item, dict)] if value is not None else None
    return value


def decode_nested(value: Any) -> Any:
    """A list or an object that an attribute holds as JSON text; any other value as it is."""
    nested = parse_nested(value) if isinstance(value, str) else None
    return value if nested is None else nested


def _entry(item: dict[str, Any], rule: Rule) -> dict[str, Any]:
    """One of our records from one of theirs; a field that it lacks is left out."""
    entry: dict[str, Any] = {}
    for target, path in rule.each.items():
        value = look_up(item, path)
        if value is None:
            continue
        if rule.words and isinstance(value, str):
            value = rule.words.get(value, value)
        *outer, last = target.split(".")
        inside = entry
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = value
    return entry
