"""Thoughts cut out of a response: JSON inside a thought is never the answer."""

from __future__ import annotations

import re
from functools import lru_cache

DEFAULT_THOUGHT_TAGS = ("thought", "think", "thinking")


class ThoughtState:
    """Whether a thought block stands in the response."""

    NONE = "none"
    CLOSED = "closed"
    UNCLOSED = "unclosed"


THOUGHT_STATES = (ThoughtState.NONE, ThoughtState.CLOSED, ThoughtState.UNCLOSED)


@lru_cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"<(/?)(?:" + "|".join(map(re.escape, tags)) + r")\s*>", re.IGNORECASE)


Cut = tuple[str, str, str, str | None]  # visible text, thoughts, their state, what follows an unclosed one


def cut_thoughts(text: str, tags: tuple[str, ...]) -> Cut:
    """The text outside thoughts, and the thoughts.

    A closing tag without an opening one ends a thought that began with the text: chat templates
    put the opening tag into the prompt.
    """
    at = text.find("<") if tags else -1
    if at < 0:
        return text, "", ThoughtState.NONE, None
    match = _tag_pattern(tags).match
    visible = thought = ""
    kept_to = 0  # all before is in one of the two
    opened = -1
    state = ThoughtState.NONE
    while at >= 0:  # from one `<` to the next: far faster than searching with the pattern
        tag = match(text, at)
        if tag is None:
            at = text.find("<", at + 1)
            continue
        if tag.group(1):
            thought += text[kept_to if opened < 0 else opened : at]
            opened, kept_to, state = -1, tag.end(), ThoughtState.CLOSED
        elif opened < 0:
            visible += text[kept_to:at]
            opened = tag.end()
        at = text.find("<", tag.end())
    if opened >= 0:
        return visible, thought, ThoughtState.UNCLOSED, text[opened:]
    return visible + text[kept_to:], thought, state, None
