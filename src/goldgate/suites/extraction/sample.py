"""A sample: a gold record, what the model answered, and the facts about it that all measures share.

An answer may also come as chat messages, as reward functions get them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from goldgate.readers.layouts import chat
from goldgate.readers.layouts.chat import body_text, calls_text
from goldgate.suites.extraction.events.argument_text import Haystack
from goldgate.suites.extraction.events.event import Events, Unit, Value
from goldgate.suites.extraction.events.match import NamedMistake, UnitMatches
from goldgate.suites.extraction.response import Parsed

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
    texts, thoughts = _content_parts(content) if isinstance(content, (list, tuple)) else ([content], [])
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


def _content_parts(content: Any) -> tuple[list[str], list[str]]:
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


@dataclass(slots=True)
class Gold:
    """A gold record: its id, its source text (None if it has none), its events, its group."""

    id: str
    text: str | None
    events: Events
    group: str | None = None  # records that belong together count as one in intervals
    listed: Sequence[Any] = ()  # the events in our own form: profiles look for triggers in it
    shapes: tuple[str, ...] = ()  # other than our own, in which the record was written


@dataclass(slots=True)
class Sample:
    """Gold and what a model answered. Without a prediction both `response` and `events` are None."""

    gold: Gold
    response: str | None = None
    events: Any = None  # the decoded list of a structured prediction
    source: bytes | None = None  # the line that a structured prediction was decoded from
    thought: str = ""  # stored beside the response, as chat messages have it


# Text, chat messages, an endpoint's reply, decoded JSON, or None for no answer.
ResponseInput = str | list[Any] | tuple[Any, ...] | Mapping[str, Any] | None


def make_sample(response: ResponseInput, gold: Gold) -> Sample:
    """A sample of an answer as a caller has it, or of a record whose `response` it is; TypeError otherwise."""
    if isinstance(response, Mapping) and "response" in response:
        response = response["response"]
    if isinstance(response, Mapping) and chat.is_chat_record(response):
        if "messages" not in response:  # the whole reply of an endpoint
            return Sample(gold, body_text(response))
        response = response["messages"]
    if response is None or isinstance(response, str):
        return Sample(gold, response)
    if is_chat(response):
        answer = read_chat(response)
        return Sample(gold, answer.response, thought=answer.thought)
    if not isinstance(response, (list, dict)):
        raise TypeError(f"an answer is text, chat messages, decoded JSON or None, not {type(response).__name__}")
    return Sample(gold, None, response)


@dataclass(slots=True)
class Facts:
    """Computed once a sample, read by every measure and by the sample's record."""

    sample: Sample
    parsed: Parsed | None  # None where there is no prediction
    predicted: Events
    comparison: UnitMatches
    text: Haystack | None = None  # None where there is no source text
    unsupported: Sequence[Value] = ()
    mistakes: Sequence[NamedMistake] = ()
    thought: ThoughtCheck | None = None


@dataclass(slots=True)
class ThoughtCheck:
    """How the thought of a sample compares with its answer; only `bucket` where it was not checked."""

    bucket: str
    type_consistent: bool = False
    argument_consistent: bool = False
    mentioned: list[str] | None = None
    missing: Unit | None = None  # the first predicted argument that the thought does not have
    copied: bool = False  # the thought is the answer over again
