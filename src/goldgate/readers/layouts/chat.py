"""Whole chats: records with `messages`, and whole replies of OpenAI-compatible endpoints (`choices`, `output`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, Place
from goldgate.readers.guess import SHOWN_KEYS
from goldgate.readers.layouts.layout import ANSWER_NAMES, Answer, RecordLayout, not_generated
from goldgate.readers.layouts.openai_batch import body_text, message_text


def recognizes(record: Any) -> bool:
    if not isinstance(record, dict) or any(name in record for name in ANSWER_NAMES):
        return False
    return is_reply(record) or record.get("choices") == [] or _is_messages(record.get("messages"))


def answer(record: Mapping[str, Any]) -> Answer | None:
    """The last message of the assistant, or the text of a reply; None where a request failed."""
    messages = record.get("messages")
    if messages is not None:
        turns = [turn for turn in messages if turn["role"] == "assistant"] if _is_messages(messages) else []
        if not turns:
            raise not_generated("messages", messages)
        return Answer(record_id(record), {"response": message_text(turns[-1])})
    if is_reply(record):
        return Answer(record_id(record), {"response": body_text(record)})
    if any(name in record for name in ANSWER_NAMES):
        raise _not_a_chat(record)
    if not record.get("choices") and not record.get("output"):
        return None
    raise not_generated("choices", record.get("choices"))


def _not_a_chat(record: Mapping[str, Any]) -> InputError:
    """The error for an answer in goldgate's own form behind chats: it must not pass for a request that failed."""
    return InputError(
        "predictions.mixed",
        "this record has another form than the first one of the file, which is a chat",
        place=Place(field=next(name for name in ANSWER_NAMES if name in record)),
        expected='"messages", or a reply with "choices" or "output"',
        found=f"the keys {', '.join(sorted(map(str, record))[:SHOWN_KEYS])}",
        advice="write all predictions of a file in one form, or each form to a file of its own",
    )


def is_reply(value: Any) -> bool:
    """Whether this is a chat completion, a plain completion, or a reply of the Responses API."""
    if not isinstance(value, Mapping):
        return False
    choices = value.get("choices")
    if isinstance(choices, list) and choices:
        return isinstance(choices[0], dict) and ("message" in choices[0] or "text" in choices[0])
    return value.get("object") == "response" and isinstance(value.get("output"), list)


def _is_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, dict) and isinstance(turn.get("role"), str) for turn in value)
    )


LAYOUT = RecordLayout("chat", "Chat messages, or replies of an OpenAI-compatible endpoint", recognizes, answer)
