"""Thoughts cut out of a response: JSON inside a thought is never the answer."""

from __future__ import annotations

import re
from functools import lru_cache
from json import JSONDecodeError
from typing import NamedTuple

from goldgate.suites.extraction.response.decode import scan_exact

DEFAULT_THOUGHT_TAGS = ("thought", "think", "thinking")


class ThoughtState:
    """Whether a thought block stands in the response."""

    NONE = "none"
    CLOSED = "closed"
    UNCLOSED = "unclosed"


THOUGHT_STATES = (ThoughtState.NONE, ThoughtState.CLOSED, ThoughtState.UNCLOSED)


class ResponseWithoutThoughts(NamedTuple):
    """A response without its thoughts."""

    visible: str  # the response with blanks in place of its thoughts, so that places stay where they are
    thought: str  # the text of the thoughts
    state: str
    tail: int | None  # where the text after the tag of an unclosed thought begins
    spans: tuple[tuple[int, int], ...] = ()  # where thoughts stand, with their tags


@lru_cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"<(/?)(?:" + "|".join(map(re.escape, tags)) + r")\s*>", re.IGNORECASE)


_BRACKET = re.compile(r"[\[{]")
_MAX_FAILURES = 12  # brackets that begin no JSON; beyond that, tags are taken for tags


def cut_thoughts(text: str, tags: tuple[str, ...]) -> ResponseWithoutThoughts:
    """The text outside thoughts, and the thoughts.

    A closing tag without an opening one ends a thought that began with the text: chat templates
    put the opening tag into the prompt. A tag inside a JSON value is text.
    """
    at = text.find("<") if tags else -1
    if at < 0:
        return ResponseWithoutThoughts(text, "", ThoughtState.NONE, None)
    pattern = _tag_pattern(tags)
    values = _SoundValues(text)
    visible: list[str] = []
    spans: list[tuple[int, int]] = []
    thought = ""
    kept_to = 0  # all before is in one of the two
    opened = -1
    state = ThoughtState.NONE
    while at >= 0:  # from one `<` to the next: far faster than searching with the pattern
        tag = pattern.match(text, at)
        if tag is None:
            at = text.find("<", at + 1)
            continue
        if opened < 0:
            inside = values.end_of_value_around(at, kept_to)
            if inside > at:
                at = text.find("<", inside)
                continue
        if tag.group(1):
            begin = kept_to if opened < 0 else opened
            thought += text[begin:at]
            visible.append(" " * (tag.end() - kept_to))
            spans.append((kept_to, tag.end()))
            opened, kept_to, state = -1, tag.end(), ThoughtState.CLOSED
        elif opened < 0:
            visible.append(text[kept_to:at])
            kept_to = at
            opened = tag.end()
        at = text.find("<", tag.end())
    if opened >= 0:
        visible.append(" " * (len(text) - kept_to))
        return ResponseWithoutThoughts("".join(visible), thought, ThoughtState.UNCLOSED, opened, tuple(spans))
    visible.append(text[kept_to:])
    return ResponseWithoutThoughts("".join(visible), thought, state, None, tuple(spans))


class _SoundValues:
    """The sound JSON values of a text, found from the left as far as tags make it necessary."""

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
            except JSONDecodeError as error:
                self.failures += 1
                if error.pos > at or (error.msg.startswith("Unterminated string") and error.pos > bracket.start()):
                    self.end = max(error.pos, at + 1)  # it breaks off later, or in the string that holds the tag
                else:
                    self.end = bracket.start() + 1
            except (ValueError, RecursionError):
                self.failures += 1
                self.end = bracket.start() + 1
        return self.end if self.end > at else -1
