"""Chat messages, as reward functions get them: the text of the last assistant message, and its thought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from goldgate.readers.layouts.openai_batch import calls_text

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALLS = ("tool_calls", "function_call")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


class ChatAnswer(NamedTuple):
    """What a model wrote, and the thought that was stored beside it (empty if there is none)."""

    response: str
    thought: str


def is_chat(value: Any) -> bool:
    """Whether a decoded value is meant as one message or more, and not as events.

    A list of arguments has roles too, `{"role": "Employer", "argument": …}`: it is no chat.
    """
    messages = value if isinstance(value, (list, tuple)) else [value]
    if not messages or not all(isinstance(message, Mapping) for message in messages):
        return False
    return all(isinstance(message.get("role"), str) and "event_type" not in message for message in messages) and any(
        message["role"] in ROLES or "content" in message for message in messages
    )


def read_chat(value: Any) -> ChatAnswer:
    """The last assistant message; TypeError if there is none, or if it has no text that can be read."""
    messages = value if isinstance(value, (list, tuple)) else [value]
    answers = [message for message in messages if message["role"] == "assistant"]
    if not answers:
        roles = ", ".join(dict.fromkeys(message["role"] for message in messages))
        raise TypeError(f"chat messages need one with the role assistant; the roles are {roles}")
    message = answers[-1]
    content = message.get("content")
    texts, thoughts = _parts(content) if isinstance(content, (list, tuple)) else ([content], [])
    text = "".join(part for part in texts if isinstance(part, str))
    calls = any(message.get(key) for key in _CALLS)
    if not isinstance(content, (str, list, tuple)) and not (content is None and "content" in message) and not calls:
        found = type(content).__name__ if "content" in message else "no content; its keys are " + ", ".join(message)
        raise TypeError(f"the content of an assistant message is text or a list of parts with text, not {found}")
    if not text.strip() and calls:  # the reader knows how to take answers out of several calls
        text = calls_text(message)
    elif content is None and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    beside = next((message[key] for key in _THOUGHTS if isinstance(message.get(key), str)), "")
    return ChatAnswer(text, "\n".join(part for part in (beside, *thoughts) if part))


def _parts(content: Any) -> tuple[list[str], list[str]]:
    """The texts and the thoughts among the parts of a content; images and the like say nothing."""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if not isinstance(part, (str, Mapping)):
            raise TypeError(f"a part of a message's content is an object with text, not {type(part).__name__}")
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            thoughts += [part[key] for key in ("thinking", "reasoning") if isinstance(part.get(key), str)]
    return texts, thoughts
