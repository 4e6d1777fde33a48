"""From what a model wrote to the JSON value that is its answer, and how it was found.

Thoughts are cut out, the answer is located (the whole text, a fenced block, or a value
embedded in prose), decoded as it stands or else repaired. No text makes this raise, and the
time grows linearly with the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from goldgate.extraction.event import event_list, reads_as_events
from goldgate.extraction.locate import Candidate, Method, locate
from goldgate.extraction.repair_step import Step
from goldgate.extraction.thoughts import DEFAULT_THOUGHT_TAGS, ThoughtState, cut_thoughts


class Status:
    """How the answer was decoded."""

    # Plain strings here, in Method and in ThoughtState, not enumerations: they are dictionary keys
    # and JSON in the inner loop.
    RAW = "raw"
    REPAIRED = "repaired"
    ERROR = "error"


@dataclass(slots=True)
class Parsed:
    """An answer as it was read. `value` is the decoded JSON, or None where nothing decoded."""

    status: str
    method: str
    value: Any = None
    source: str | None = None  # the text that decoded as it stands: numbers can be read again from it
    repairs: tuple[Step, ...] = ()
    thought_state: str = ThoughtState.NONE
    thought: str = ""  # the text of the thought blocks
    preamble: str = ""  # what stands before the answer, outside thoughts


def parse_response(text: str, thought_tags: tuple[str, ...] = DEFAULT_THOUGHT_TAGS) -> Parsed:
    """Read a raw model output."""
    usual = _usual_pattern(thought_tags).fullmatch(text)
    if usual is not None:
        thought, content = usual.groups()
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError:
            value = None
        if reads_as_events(value):
            state = ThoughtState.NONE if thought is None else ThoughtState.CLOSED
            return Parsed(Status.RAW, Method.FENCED, value, content, (), state, thought or "")
    stripped = _encodable(text).strip()
    if stripped[:1] in ("[", "{"):  # a text that is JSON as a whole has its thoughts, if any, in strings
        try:
            return Parsed(Status.RAW, Method.WHOLE, orjson.loads(stripped), stripped)
        except orjson.JSONDecodeError:
            pass
    visible, thought, state, tail = cut_thoughts(stripped, thought_tags)
    if tail is not None:
        answer = locate(stripped)
        in_answer = answer is not None and answer.start < len(stripped) - len(tail) <= answer.end
        if answer is not None and in_answer and not answer.steps and _yields_events(answer):
            return _parsed(answer, stripped, "", ThoughtState.NONE)  # the tag stands in a string of the answer
        answer = locate(tail)
        if answer is not None and _yields_events(answer):
            return _parsed(answer, tail, thought, state)
        thought += tail
    answer = locate(visible)
    if answer is None:
        return Parsed(Status.ERROR, Method.NO_JSON_FOUND, thought_state=state, thought=thought, preamble=visible)
    return _parsed(answer, visible, thought, state)


def _yields_events(answer: Candidate) -> bool:
    """Whether there is at least one event in it: an empty list in a thought is no answer."""
    return answer.decoded and reads_as_events(answer.value) and bool(event_list(answer.value).items)  # type: ignore[union-attr]


def _encodable(text: str) -> str:
    """The text with halves of surrogate pairs, which no file can hold, as U+FFFD."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parsed(answer: Candidate, text: str, thought: str, state: str) -> Parsed:
    status = Status.RAW
    if not answer.decoded:
        status = Status.ERROR
    elif answer.steps:
        status = Status.REPAIRED
    before = answer.start
    if answer.method == Method.FENCED:
        before = max(text.rfind("```", 0, before), text.rfind("~~~", 0, before) if "~" in text else -1, 0)
    repairs = tuple(sorted(answer.steps)) if answer.steps else ()
    return Parsed(status, answer.method, answer.value, answer.source, repairs, state, thought, text[:before])


@lru_cache
def _usual_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    """What most models write, read in one step: a thought, one fenced block, nothing else.

    The general way comes to the same and takes twice as long.
    """
    names = "|".join(map(re.escape, tags)) or "(?!)"
    return re.compile(rf"\s*(?:<(?i:{names})>([^<]*)</(?i:{names})>\s*)?```(?:json)?[ \t]*\n([^`]*)```\s*")
