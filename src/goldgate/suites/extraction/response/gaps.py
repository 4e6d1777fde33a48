"""What stands between the values of a broken answer: blanks, comments, a few words, something unreadable."""

from __future__ import annotations

import re

from goldgate.core.late_pattern import LatePattern
from goldgate.suites.extraction.response.quoted import BLANK, KEY_AHEAD, QUOTES, Note
from goldgate.suites.extraction.response.step import Step

_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_WORDS = LatePattern(rf"[^\n{QUOTES}\[\]{{}}｛｝［］【】,，:：;；]{{1,60}}(?=[,，;；}}\]｝］{{｛])")
# Where reading can go on after something unreadable.
_LANDMARK = LatePattern(
    rf"[}}\]｝］】]|[{{｛](?=\s*[{QUOTES}}}{{\[])|\[(?=\s*[{{\[{QUOTES}])|{KEY_AHEAD.pattern}|[,，](?=\s*[{QUOTES}{{\[])"
)
_INDENT = 200  # blanks before a place that are looked at for line breaks
FARTHEST_LANDMARK = 400  # characters that are skipped in search of one


def skip_blanks(text: str, pos: int, limit: int, note: Note, *, comments: bool) -> int:
    """The place of the next character that is neither blank nor, where there may be some, in a comment."""
    while pos < limit:
        character = text[pos]
        if character in " \n\t\r":
            pos = BLANK.match(text, pos, limit).end()  # type: ignore[union-attr]  # matches nothing at least
        elif character in "/#":
            comment = _COMMENT.match(text, pos, limit) if comments else None
            if comment is None:
                return pos
            note(Step.COMMENTS, pos)
            pos = comment.end()
        elif character in "\ufeff\u200b" or character.isspace():
            pos += 1
        elif character == "\\" and text[pos + 1 : pos + 2] in ("n", "r", "t"):  # an escape where a line break is meant
            note(Step.LENIENT_SYNTAX, pos)
            pos += 2
        else:
            return pos
    return limit


def skip_words(text: str, pos: int, limit: int) -> int:
    """The end of a few words behind a value, `"x" (about)` or `{…}, and {…}`; `pos` itself if there are none."""
    words = _WORDS.match(text, pos, limit)
    return pos if words is None else words.end()


def next_landmark(text: str, pos: int, limit: int) -> int:
    """Where structure begins again after something unreadable; -1 if that is not near, or in a new paragraph."""
    mark = _LANDMARK.search(text, pos + 1, min(limit, pos + 1 + FARTHEST_LANDMARK))
    return -1 if mark is None or "\n\n" in text[pos : mark.start()] else mark.start()


def line_breaks_before(text: str, at: int) -> int:
    """How many line breaks there are in the blanks before a place."""
    before = text[max(0, at - _INDENT) : at]
    return before[len(before.rstrip()) :].count("\n")
