"""A sample: a gold record, what the model answered, and the facts about it that all measures share.

An answer may also come as chat messages, as reward functions get them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldgate.core.value_text import Haystack
from goldgate.readers.layouts import chat
from goldgate.readers.layouts.chat import body_text, is_chat, read_chat
from goldgate.response import Parsed
from goldgate.suites.extraction.events.event import Events, Unit, Value
from goldgate.suites.extraction.events.match import NamedMistake, UnitMatches


@dataclass(slots=True)
class Gold:
    """A gold record: its id, its source text (None if it has none), its events, its group."""

    id: str
    text: str | None
    events: Events
    group: str | None = None  # records that belong together count as one in intervals
    event_list: Sequence[Any] = ()  # the events in our own form: profiles look for triggers in it
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
    copied: bool = False  # the thought repeats the answer
