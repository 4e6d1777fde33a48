"""Thoughts cut out of a response: JSON inside a thought is never the answer."""

from __future__ import annotations

import re
from functools import lru_cache
from json import JSONDecodeError
from typing import NamedTuple

from goldgate.suites.extraction.response.decode import scan_exact
from goldgate.suites.extraction.response.parsed import ThoughtState

DEFAULT_THOUGHT_TAGS = ("thought", "think", "thinking")

_BRACKET = re.compile(r"[\[{]")
_MAX_FAILURES = 12  # brackets that begin no JSON; beyond that, tags are taken for tags


class ResponseWithoutThoughts(NamedTuple):
    """A response without its thoughts."""

    visible: str  # the response with blanks in place of its thoughts, so that places stay where they are
    thought: str  # the text of the thoughts
    state: str
    tail: int | None  # where the text after the tag of an unclosed thought begins
    spans: tuple[tuple[int, int], ...] = ()  # where closed thoughts stand, with their tags


def cut_thoughts(text: str, tags: tuple[str, ...]) -> ResponseWithoutThoughts:
    """The text outside thoughts, and the thoughts.

    A closing tag without an opening one ends a thought that began with the text: chat templates
    put the opening tag into the prompt. A tag inside a JSON value is text.
    """
    if not tags or "<" not in text:
        return ResponseWithoutThoughts(text, "", ThoughtState.NONE, None)
    values = _JsonValues(text)
    thought = ""
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    end = value_end = 0  # of the last thought; of the JSON value around a tag
    for tag in _tag_pattern(tags).finditer(text):
        if tag.start() < value_end:
            continue
        if opening is None:
            value_end = values.end_of_value_around(tag.start(), end)
            if tag.start() < value_end:
                continue
        if tag[1]:
            start, begin = (end, end) if opening is None else opening.span()
            thought += text[begin : tag.start()]
            opening, end = None, tag.end()
            spans.append((start, end))
        elif opening is None:
            opening = tag
    if opening is not None:
        visible = _blank_out(text, [*spans, (opening.start(), len(text))])
        return ResponseWithoutThoughts(visible, thought, ThoughtState.UNCLOSED, opening.end(), tuple(spans))
    state = ThoughtState.CLOSED if spans else ThoughtState.NONE
    return ResponseWithoutThoughts(_blank_out(text, spans), thought, state, None, tuple(spans))


@lru_cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"<(/?)(?:" + "|".join(map(re.escape, tags)) + r")\s*>", re.IGNORECASE)


def _blank_out(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with blanks in place of the spans."""
    parts: list[str] = []
    kept_to = 0
    for start, end in spans:
        parts += (text[kept_to:start], " " * (end - start))
        kept_to = end
    return "".join([*parts, text[kept_to:]])


class _JsonValues:
    """The JSON values of a text, read from the left as far as tags make it necessary."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0  # all before has been looked at
        self.failures = 0

    def end_of_value_around(self, at: int, begin: int) -> int:
        """Where the JSON value ends that begins after `begin` and holds the place `at`, or -1 if none does."""
        self.end = max(self.end, begin)
        while self.end <= at and self.failures < _MAX_FAILURES:
            bracket = _BRACKET.search(self.text, self.end, at)
            if bracket is None:
                self.end = at
                return -1
            try:
                _, self.end = scan_exact(self.text, bracket.start())
            except (ValueError, RecursionError) as error:
                self.failures += 1
                self.end = _resume_after(error, bracket.start(), at)
        return self.end if self.end > at else -1


def _resume_after(error: Exception, bracket: int, at: int) -> int:
    """Where to go on after a bracket that begins no JSON: behind `at` if the value breaks off only after that place."""
    if isinstance(error, JSONDecodeError):
        in_string = error.msg.startswith("Unterminated string") and error.pos > bracket
        if error.pos > at or in_string:  # it breaks off later, or in the string that holds the tag
            return max(error.pos, at + 1)
    return bracket + 1
