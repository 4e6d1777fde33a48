"""Strings as models quote them: smart quotes, single quotes, quotation marks left unescaped inside.

The text between the marks is never changed; only its escapes are resolved.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from goldgate.extraction.repair_step import Step

DOUBLE_QUOTES = '"“”„‟＂〝〞'
SINGLE_QUOTES = "'‘’‚‛＇"
QUOTES = DOUBLE_QUOTES + SINGLE_QUOTES
BLANK = re.compile(r"[\s\ufeff\u200b]*")

_OPENING = "{[｛［"
# The usual string: nothing in it to resolve, and after it what leaves no doubt that it has ended.
_PLAIN = re.compile(
    r"""(?:"([^"\\\x00-\x1f]*)"|'([^'\\\x00-\x1f]*)')[ \t\r\n]*"""
    r"""(?=[:}\]]|,[ \t\r\n]*(?:[{}\]]|"[\w-]{1,40}"[ ]?:|'[\w-]{1,40}'[ ]?:))"""
)
_KEY_AHEAD = re.compile(rf"[{QUOTES}][^{QUOTES}\\\n]{{1,64}}[{QUOTES}]\s{{0,8}}[:：]")
# After a comma that ends a value in an object: a key, the end of the object, or a comment.
_AFTER_COMMA = re.compile(
    rf"\s*(?:[}}\]｝］】{{\[｛［]|//|/\*|#|\Z|[^\W\d]\w{{0,40}}\s?[:：]|\\\"|(?={_KEY_AHEAD.pattern}))"
)
_ESCAPED_MARK = re.compile(r'(?<!\\)\\"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The marks that may close a string, by the mark that opened it. Only smart ones are mixed up.
_MARKS = {
    **{mark: re.compile(rf"\\.|[{DOUBLE_QUOTES}]", re.DOTALL) for mark in DOUBLE_QUOTES},
    **{mark: re.compile(rf"\\.|[{SINGLE_QUOTES}]", re.DOTALL) for mark in SINGLE_QUOTES},
    '"': re.compile(r'\\.|"', re.DOTALL),
    "'": re.compile(r"\\.|'", re.DOTALL),
}

# How many quotation marks inside a string are passed over in search of the one that closes it.
# The bound keeps the whole reading linear.
_MAX_INNER_QUOTES = 10


class Place(Enum):
    """Where a string stands."""

    KEY = "key"
    VALUE = "value"  # of a key
    ITEM = "item"  # of a list


class Quoted(NamedTuple):
    """A string and where it ends; the text is None if it breaks off."""

    text: str | None
    end: int


def opens_string(text: str, at: int) -> bool:
    """Whether a string begins here: a quotation mark of any kind, or one that was escaped outside a string."""
    return text[at] in QUOTES or text.startswith('\\"', at)


def read_quoted(text: str, start: int, limit: int, steps: set[Step], place: Place) -> Quoted:
    """The string that begins at `start`; what had to be mended is added to `steps`.

    `place` is where the string stands: after a key comes a colon, after a value none.
    """
    plain = _PLAIN.match(text, start, limit)
    if plain is not None:
        double, single = plain.groups()
        if double is None:
            steps.add(Step.SINGLE_QUOTES)
        return Quoted(single if double is None else double, plain.end())
    quote = text[start]
    if quote == "\\":
        begin = start + 2
        mark = _ESCAPED_MARK.search(text, begin, limit)
        steps.add(Step.ESCAPED_QUOTES)
        if mark is None:
            return Quoted(None, limit)
        inner = _unescape(text[begin : mark.start()], set())  # the whole was escaped once more
        return Quoted(_unescape(inner, steps), mark.end())
    if quote == "'":
        steps.add(Step.SINGLE_QUOTES)
    elif quote != '"':
        steps.add(Step.SMART_QUOTES)
    begin = start + 1
    end = _closing_mark(text, begin, limit, steps, place)
    if end < 0:
        return Quoted(None, limit)
    return Quoted(_unescape(text[begin:end], steps), end + 1)


def _closing_mark(text: str, begin: int, limit: int, steps: set[Step], place: Place) -> int:
    """Where the string closes: at the first mark that is followed by what must follow a string.

    If there is none near, it is the first mark of its kind; without any, -1. A string does not
    reach over a brace in search of its end: arguments have none, and objects do.
    """
    first, passed = -1, 0
    for mark in _MARKS[text[begin - 1]].finditer(text, begin, limit):
        at = mark.start()
        if text[at] == "\\":
            continue
        if first >= 0 and ("{" in text[first:at] or "}" in text[first:at]):
            break
        if _closes(text, at + 1, limit, place):
            if first >= 0:
                steps.add(Step.UNESCAPED_QUOTES)
            return at
        if first < 0:
            first = at
        passed += 1
        if passed > _MAX_INNER_QUOTES:
            break
    return first


def _closes(text: str, after: int, limit: int, place: Place) -> bool:
    """Whether what follows a quotation mark shows that it closed a string."""
    ahead = BLANK.match(text, after, limit).end()  # type: ignore[union-attr]  # it matches nothing at least
    if ahead >= limit:
        return True
    following = text[ahead]
    if place is Place.KEY:
        return following in ":："
    if following in "}]｝］】" or text.startswith(("//", "/*", "#"), ahead):
        return True
    if following in ",，、;；":
        return place is Place.ITEM or _AFTER_COMMA.match(text, ahead + 1, limit) is not None
    new_line = "\n" in text[after:ahead]
    if following in QUOTES:
        if place is Place.ITEM:
            return ahead > after  # ["a" "b"]: a blank, but no comma
        return new_line or _KEY_AHEAD.match(text, ahead, limit) is not None
    return new_line and following in _OPENING


def _unescape(content: str, steps: set[Step]) -> str:
    if _CONTROL.search(content):
        steps.add(Step.CONTROL_CHARACTERS)
    if "\\" not in content:
        return content

    def resolve(escape: re.Match[str]) -> str:
        code, character = escape.groups()
        if code is not None:
            return chr(int(code, 16))
        if character in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[character]
        steps.add(Step.INVALID_ESCAPES)
        return "'" if character == "'" else escape.group()

    # Two escapes of a surrogate pair become the one character that they mean.
    encoded = _ESCAPE.sub(resolve, content).encode("utf-16-le", "surrogatepass")
    try:
        return encoded.decode("utf-16-le")
    except UnicodeDecodeError:
        steps.add(Step.LONE_SURROGATES)
        return encoded.decode("utf-16-le", "replace")
