"""Messages as people and tools write them: the first question, the last answer, and the JSON that an answer holds.

Read are messages with a role and content or parts (OpenAI, OpenTelemetry), LangChain's with a type, serialized or not,
pairs of role and text, lists of such lists, and objects with a list of `messages` or of `generations`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from goldgate.imports.path import parsed

_USER = frozenset({"user", "human", "humanmessage", "humanmessagechunk"})
_ASSISTANT = frozenset({"assistant", "ai", "model", "aimessage", "aimessagechunk"})
_DEEPEST = 6  # lists in lists, objects in objects: LangChain has three
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\n```\Z", re.DOTALL)


class Message(NamedTuple):
    """Who said what."""

    role: str
    text: str


def question(value: Any) -> str | None:
    """What the user asked first. A plain text is a question by itself."""
    if isinstance(value, str) and parsed(value) is None:
        return value if value.strip() else None
    return next((message.text for message in _messages(value) if message.role in _USER and message.text.strip()), None)


def answer(value: Any) -> str | None:
    """What the assistant said last, tool calls left out. A plain text is an answer by itself."""
    if isinstance(value, str) and not isinstance(parsed(value), list):
        return value if value.strip() else None
    said = [message.text for message in _messages(value) if message.role in _ASSISTANT and message.text.strip()]
    return said[-1] if said else None


def answer_json(value: Any) -> Any:
    """The object or list that the last answer is, as JSON, fenced or not; None where it is other text."""
    said = answer(value)
    if said is None:
        return None
    fenced = _FENCED.match(said.strip())
    return parsed(fenced[1] if fenced else said)


def _messages(value: Any, depth: int = 0) -> Iterator[Message]:
    if isinstance(value, str):
        value = parsed(value)
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(item, str) for item in value) and parsed(value[1]) is None:
            yield Message(value[0].casefold(), value[1])
            return
        for item in value:
            yield from _messages(item, depth + 1)
        return
    found = _message(value)
    if found is not None:
        yield found
        return
    for key in ("messages", "generations", "message", "output", "choices"):
        if isinstance(value.get(key), dict | list):
            yield from _messages(value[key], depth + 1)
            return


def _message(value: dict[str, Any]) -> Message | None:
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
    return Message(role.casefold(), _text(content))


def _text(content: Any) -> str:
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
            said = part.get("text", part.get("content"))
            if isinstance(said, str):
                parts.append(said)
    return "\n".join(parts)
