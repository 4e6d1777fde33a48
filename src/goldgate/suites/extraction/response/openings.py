"""Brackets that could open an answer, told apart from those of prose: [1], [#4711], [INST], [text](link), {#fff}."""

from __future__ import annotations

import re

from goldgate.suites.extraction.response.quoted import DOUBLE_QUOTES, QUOTES

BRACKETS = "[{｛［【"

# A bracket that could open an answer: behind it, blanks and comments aside, stands another bracket, a quotation
# mark, a key with its colon, or its own closing bracket. All others are prose.
_INSIDE = rf"[\[{{｛［【({QUOTES}]|\\\""
# Bounded, and blanks taken at once: a bracket in a comment must not look at all the comments that follow.
_REMARKS = r"(?:\s++|\\[nrt]|(?://|(?<=\s)\#)[^\n\]}]{0,400}\n|/\*.{0,400}?\*/){0,64}"
_OPENING = re.compile(
    rf"""
      [\[［]{_REMARKS}(?:{_INSIDE}|[\]］]|\Z)
    | [{{｛](?!\s*[{{｛]\s*[^\s{QUOTES}\[\]{{}}])               # {{{{ template }}}} is none
      {_REMARKS}(?:{_INSIDE}|[}}｝]|[^\W\d][\w./-]{{0,40}}\s{{0,8}}(?:[:：](?!//)|=>?(?!=))
        |[^\W\d][^{DOUBLE_QUOTES}{{}}\[\]\n]{{0,60}}[{QUOTES}]\s{{0,8}}[:：]|\Z)
    | 【\s{{0,8}}[{{｛{QUOTES}]
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKET = re.compile(rf"[{re.escape(BRACKETS)}]")


def opens_answer(text: str, at: int, limit: int) -> bool:
    """Whether the bracket at this place could open an answer."""
    return _OPENING.match(text, at, limit) is not None


def first_opening(text: str, start: int, limit: int) -> re.Match[str] | None:
    """The first bracket of a stretch that could open an answer.

    It asks for each bracket by itself, which is far faster where there are none, and only bearable once a stretch.
    """
    places = [at for bracket in BRACKETS if (at := text.find(bracket, start, limit)) >= 0]
    return next_opening(text, min(places), limit) if places else None


def next_opening(text: str, position: int, limit: int) -> re.Match[str] | None:
    """The next bracket that could open an answer."""
    bracket = _BRACKET.search(text, position, limit)  # from one to the next: far faster than searching for the pattern
    while bracket is not None:
        opening = _OPENING.match(text, bracket.start(), limit)
        if opening is not None:
            return opening
        bracket = _BRACKET.search(text, bracket.end(), limit)
    return None
