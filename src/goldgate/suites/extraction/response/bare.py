"""Values and keys without quotation marks: numbers as their text, literals of several languages, bare text, dots.

Bare text is a value only after a key, as prose has brackets too, and only up to where structure says that it ends.
What stands at the very end of the text is dropped: 12 may be the beginning of 1,200.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from goldgate.core.late_pattern import LatePattern
from goldgate.suites.extraction.events.number import NumberText
from goldgate.suites.extraction.response.quoted import (
    BLANK,
    DOUBLE_QUOTES,
    KEY_AHEAD,
    QUOTES,
    Note,
    Slot,
    read_unopened,
)
from goldgate.suites.extraction.response.step import Step

TRUNCATED: Final = object()  # it breaks off with the text
UNREADABLE: Final = object()
SKIPPED: Final = object()  # there is no value: an ellipsis


class Bare(NamedTuple):
    """A value, or one of the marks above, and where reading goes on."""

    value: object
    end: int


class BareKey(NamedTuple):
    """A key, and where reading goes on."""

    name: str
    end: int


_KEY = LatePattern(rf"([^\W\d][^{QUOTES}{{}}\[\],，:：=\n]{{0,60}})[{QUOTES}]?\s{{0,8}}(?=[:：=])")
_UNOPENED_NAME = rf"[^\W\d][^{DOUBLE_QUOTES}{{}}\[\]\n]{{0,60}}"
_ENDS_UNOPENED_NAME = rf"[{QUOTES}]\s{{0,8}}(?=[:：=])"
_UNOPENED_KEY = re.compile(rf"({_UNOPENED_NAME}){_ENDS_UNOPENED_NAME}")
UNOPENED_KEY = _UNOPENED_NAME + _ENDS_UNOPENED_NAME  # a key without its first mark
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.%])", re.ASCII)
_MORE_DIGITS = re.compile(r"\s?[,，]\d")  # 1,200 is one number to a person
_ENDS = re.compile(rf"\s*(?:[,，、;；}}\]｝］】)]|//|/\*|#|\Z|{KEY_AHEAD.pattern})")
_UNQUOTED = re.compile(r"(?:[^,，}\]｝］\n\"“”{\[]|[,，](?=\d)){0,200}")
_ENDS_UNQUOTED = LatePattern(
    rf"""
      [}}\]｝］】] | {KEY_AHEAD.pattern}
    | [,，]\s*(?:
          {KEY_AHEAD.pattern} | [}}\]｝］】] | \\" | // | /\* | \# | \Z
        | [{QUOTES}]?[^{QUOTES}\n]{{0,100}}[{QUOTES}]?\s*\Z    # a key that breaks off
        | [^\W\d]\w{{0,40}}\s?[:：=]
      )
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[nN]/[aA](?![\w/])|-?[^\W\d]\w*")
_LITERALS: Final[dict[str, tuple[object, Step | None]]] = {
    "true": (True, None),
    "false": (False, None),
    "null": (None, None),
    "True": (True, Step.PYTHON_LITERALS),
    "False": (False, Step.PYTHON_LITERALS),
    **dict.fromkeys("None none NONE undefined NULL Null nil Nil N/A n/a N/a n/A".split(), (None, Step.PYTHON_LITERALS)),
    **dict.fromkeys("NaN nan Infinity -Infinity inf".split(), (None, Step.NON_FINITE_NUMBERS)),
}


def read_bare(text: str, start: int, limit: int, note: Note, slot: Slot, *, surely: bool) -> Bare:
    """The value that begins at `start` without a mark. `surely`: what it stands in is JSON without doubt."""
    for dots in ("...", "…"):
        if text.startswith(dots, start, limit):
            note(Step.ELLIPSIS, start)
            return Bare(SKIPPED, start + len(dots))
    number = _NUMBER.match(text, start, limit)
    if number is not None:
        if number.end() == limit:
            return Bare(TRUNCATED, limit)
        thousands = slot is Slot.VALUE and _MORE_DIGITS.match(text, number.end(), limit)
        if _ENDS.match(text, number.end(), limit) and not thousands:
            return Bare(NumberText(number.group()), number.end())
    word = _WORD.match(text, start, limit)
    if word is not None and word.group() in _LITERALS and word.end() < limit and _ENDS.match(text, word.end(), limit):
        value, step = _LITERALS[word.group()]
        if step is not None:
            note(step, start)
        return Bare(value, word.end())
    if slot is Slot.VALUE:
        return _read_unquoted(text, start, limit, note)
    return _read_unopened(text, start, limit, note, slot) if surely else Bare(UNREADABLE, start)


def read_bare_key(text: str, start: int, limit: int, note: Note) -> BareKey | None:
    """The key that begins at `start` without a mark, or with its second one only; None if no colon follows."""
    key = _UNOPENED_KEY.match(text, start, limit) or _KEY.match(text, start, limit)
    if key is None:
        return None
    note(Step.MISSING_QUOTES if text[key.end(1)] in QUOTES else Step.UNQUOTED_KEYS, start)
    return BareKey(key.group(1).strip(), key.end())


def begins_bare_key(text: str, start: int, limit: int) -> bool:
    """Whether a key without its first mark, and its colon, stand here."""
    return _KEY.match(text, start, limit) is not None


def _read_unquoted(text: str, start: int, limit: int, note: Note) -> Bare:
    """Bare text as it stands: `12%`, `1,200`, `甲公司`."""
    bare = _UNQUOTED.match(text, start, limit)
    assert bare is not None  # it matches nothing at least
    end = BLANK.match(text, bare.end(), limit).end()  # type: ignore[union-attr]  # as above
    if end == limit:
        return Bare(TRUNCATED, limit)
    if bare.group().strip() and _ENDS_UNQUOTED.match(text, end, limit):
        note(Step.UNQUOTED_VALUES, start)
        return Bare(bare.group().strip(), end)
    return _read_unopened(text, start, limit, note, Slot.VALUE)


def _read_unopened(text: str, start: int, limit: int, note: Note, slot: Slot) -> Bare:
    """A string whose first quotation mark is missing: `["a", b", "c"]`."""
    quoted = read_unopened(text, start, limit, note, slot)
    return Bare(UNREADABLE, start) if quoted.text is None else Bare(quoted.text, quoted.end)
