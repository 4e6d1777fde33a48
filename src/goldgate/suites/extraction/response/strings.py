"""Strings, keys and values as models write them: in any quotation marks, unescaped, unclosed, or without marks."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from goldgate.core.text import LazyPattern
from goldgate.suites.extraction.events.argument_text import NumberText
from goldgate.suites.extraction.response.parsed import Step

DOUBLE_QUOTES = '"“”„‟＂〝〞「」『』'
SINGLE_QUOTES = "'‘’‚‛＇"
QUOTES = DOUBLE_QUOTES + SINGLE_QUOTES + "`"
BLANK = re.compile(r"(?:[\s\ufeff\u200b]|\\[nrt])*")  # some models write the escape of a line break between values

Note = Callable[[Step, int], None]  # what was mended, and where

_OPENING = "{[｛［"
_CLOSING = "}]｝］】"
# A string with nothing to resolve, and after it what leaves no doubt that it has ended.
_PLAIN_KEY = re.compile(r"""(?:"([^"\\\x00-\x1f]*)"|'([^'\\\x00-\x1f]*)')(?=[ \t\r\n]*:)""")
_PLAIN_VALUE = re.compile(
    r"""(?:"([^"\\\x00-\x1f]*)"|'([^'\\\x00-\x1f]*)')"""
    r"""(?=[ \t\r\n]*(?:[}\]]|,[ \t\r\n]*(?:[{}\]]|"[\w-]{1,40}"[ ]?:|'[\w-]{1,40}'[ ]?:)))"""
)
_KEY = (
    r'(?:"(?:[^"\\\n]|\\.){1,100}"|\'[^\'\\\n]{1,100}\'|""[^"\n]{1,100}""|\\"[^"\\\n]{1,100}\\"'
    rf"|[{DOUBLE_QUOTES}][^{DOUBLE_QUOTES}\\\n]{{1,100}}[{DOUBLE_QUOTES}]"
    rf"|[{QUOTES[1:]}][^{QUOTES}\\\n]{{1,100}}[{QUOTES[1:]}])"
)
_UNOPENED_KEY = rf"[^\W\d][^{DOUBLE_QUOTES}{{}}\[\]\n]{{0,60}}[{QUOTES}]\s?[:：=]"
_ITEM = r"(?:\"[^\"\\\n]{0,200}\"|'[^'\\\n]{0,200}')"
ITEM_AHEAD = re.compile(rf"{_ITEM}\s*[,\]]")
KEY_AHEAD = re.compile(rf"{_KEY}\s{{0,8}}(?:[:：]|=>?(?!=))")
# After a comma that ends a value in an object: a key (whole, or damaged in one place, or cut off), the end of
# the object, the next object, or a comment.
_AFTER_COMMA = re.compile(
    rf"""\s*(?:
      [}}\]｝］】{{\[｛［] | // | /\* | \# | \.\.\. | … | \Z | \\"
    | [^\W\d][\w/-]{{0,40}}\s?[:：=]                         # an unquoted key
    | {_UNOPENED_KEY}                                        # a key without its first mark
    | {KEY_AHEAD.pattern}
    | [{QUOTES}][\w/ :：'()-]{{1,60}}[:：](?:\s|[{QUOTES}\[{{\d-])   # a key without its second mark
    | (?:"[^"\n]*|'[^'\n]*|[{QUOTES}][^{QUOTES}\n]*)\Z       # a key that breaks off
    | {_KEY}\s{{0,8}}(?:[{QUOTES}\[{{\d-]|null\b|true\b|false\b|\Z)  # a key without its colon, or cut off
    | {_ITEM}\s*(?:\]|,\s*{_ITEM}\s*[,\]])                  # an item of a list that was not opened
    )""",
    re.VERBOSE,
)
_AFTER_ITEM_COMMA = LazyPattern(
    rf"\s*(?:[{QUOTES}\[\]{{}}()｛［｝］】]|-?\d|//|/\*|#|\\\"|\.\.\.|…|(?:null|true|false|None|True|False)\b|\Z)"
)
# An item without its first mark: ["a", b", "c"].
_UNOPENED_ITEM = LazyPattern(r"""\s*[,，]\s*[^\s"'\[\]{},，][^"\[\]{},，\n]{0,100}"\s*[,\]]""")
_ESCAPED_MARK = re.compile(r'(?<!\\)\\"')
_DOUBLED = re.compile(  # the escapes are bounded: a text may have such a mark at every place
    r'""(?![\s,:}\]])([^"\\]*+(?:\\(?:""|[^"])[^"\\]*+){0,200}+)""(?=\s*(?:[:,}\]]|\Z))'
)
_NO_REMARK = rf"{QUOTES}\[\]{{}},:()"
# Blanks are taken at once: a thought that was cut out leaves a run of them, and a pattern must not try all its parts.
_REMARK = LazyPattern(
    rf"(?:(?=\n*+[^\S\n])\s++|\s*+(?:\([^()\n{QUOTES}]{{1,60}}\)|[^\s{_NO_REMARK}](?:[^\n{_NO_REMARK}]{{0,58}}[^\s{_NO_REMARK}])?)\s*+)"
    r"[,，}\]｝］]"
)
# Bare words at the end of a list: ["v", "w", not present in text].
_BARE_WORDS = LazyPattern(rf"\s*[,，][^\n{DOUBLE_QUOTES}\[\]{{}}］]{{1,200}}[\]］]")
_PARENTHESIS = LazyPattern(rf"\s*\([^()\n{QUOTES}]{{1,60}}\)\s*[,，}}\]｝］]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The marks that may close a string, by the mark that opened it. Only smart ones are mixed up.
_MARKS = {
    **{mark: re.compile(rf"\\.|[{DOUBLE_QUOTES}]", re.DOTALL) for mark in DOUBLE_QUOTES},
    **{mark: re.compile(rf"\\.|[{SINGLE_QUOTES}]", re.DOTALL) for mark in SINGLE_QUOTES},
    '"': re.compile(r'\\.|"', re.DOTALL),
    "'": re.compile(r"\\.|'", re.DOTALL),
    "`": re.compile(r"\\.|`", re.DOTALL),
}
# What may stand before the mark that closes a string without its first one.
_TO_MARK = {mark: re.compile(rf"[^\\\n{{}}{mark}]*+(?:\\[^\n{{}}][^\\\n{{}}{mark}]*+)*+") for mark in ('"', "'")}
_MIXED_KEY = re.compile(r'"[^"“”\n]{1,100}”\s*[:：]')
_ENDS_LINE = re.compile(r"[ \t]*\n")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_COLON = re.compile(r"\s{0,8}[:：]")
_COLON_BEFORE_VALUE = re.compile(r"\s{0,8}[:：](?:\s|[\[{\d-]|\Z)")
_LINE_ENDS_IN_BRACKETS = re.compile(r"\s*[}\]｝］】][}\]｝］】\s,，]*\Z")

# How many quotation marks inside a string are passed over in search of the one that closes it.
# The bound keeps the whole reading linear.
_MAX_INNER_QUOTES = 10
_LONGEST_LINE = 2_000  # characters that are looked at for the end of a line that structure ends


class Slot(Enum):
    """Where a string stands."""

    KEY = "key"
    VALUE = "value"  # of a key
    ITEM = "item"  # of a list


class QuotedString(NamedTuple):
    """A string and where reading goes on behind it; the text is None if it breaks off."""

    text: str | None
    end: int
    in_vain: int = 0  # quotation marks behind it that were looked at in search of its end


class _StringEnd(NamedTuple):
    """Where the content of a string ends, and where reading goes on; `at` is -1 if it breaks off."""

    at: int
    after: int
    in_vain: int = 0


def opens_string(text: str, at: int) -> bool:
    """Whether a string begins here: a quotation mark of any kind, or one that was escaped outside a string."""
    return text[at] in QUOTES or text.startswith('\\"', at)


def read_quoted(text: str, start: int, limit: int, note: Note, slot: Slot, *, mixed: bool = False) -> QuotedString:
    """The string that begins at `start`; what had to be mended is noted.

    `mixed`: this answer opens strings with one kind of double mark and closes them with another.
    """
    plain = None if mixed else fast_quoted(text, start, limit, note, slot)
    return plain or slow_quoted(text, start, limit, note, slot, mixed=mixed)


def fast_quoted(text: str, start: int, limit: int, note: Note, slot: Slot) -> QuotedString | None:
    """The usual string, in one step; None for all others. `slow_quoted` comes to the same."""
    plain = (_PLAIN_KEY if slot is Slot.KEY else _PLAIN_VALUE).match(text, start, limit)
    if plain is None:
        return None
    double, single = plain.groups()
    if double is None:
        note(Step.SINGLE_QUOTES, start)
    return QuotedString(single if double is None else double, plain.end())


def slow_quoted(text: str, start: int, limit: int, note: Note, slot: Slot, *, mixed: bool = False) -> QuotedString:
    """The rule: what `read_quoted` says of any string."""
    quote = text[start]
    if quote == "\\":
        return _read_escaped(text, start, limit, note)
    if quote == '"' and text.startswith('""', start):
        doubled = _DOUBLED.match(text, start, limit)
        if doubled is not None and (doubled.group(1) or text.startswith('""""', start)):
            note(Step.DOUBLED_QUOTES, start)
            return QuotedString(_unescape(doubled.group(1).replace('\\""', '\\"'), start, note), doubled.end())
    if quote == '"' and (mixed or (slot is Slot.KEY and _MIXED_KEY.match(text, start, limit))):
        quote = "“"  # "key”: the marks are mixed up in this answer, so any of them closes
    if quote == "'":
        note(Step.SINGLE_QUOTES, start)
    elif quote != '"':
        note(Step.SMART_QUOTES, start)
    return _content(text, start + 1, limit, quote, note, slot)


def read_unopened(text: str, start: int, limit: int, note: Note, slot: Slot) -> QuotedString:
    """A string whose first mark is missing: `"role": r", "argument": …`. None if no mark closes it nearby."""
    for quote, to_mark in _TO_MARK.items():
        farthest = min(limit, start + _LONGEST_LINE)
        end = to_mark.match(text, start, farthest).end()  # type: ignore[union-attr]  # it matches nothing at least
        content = text[start:end] if text.startswith(quote, end, farthest) else ""
        if content.count("[") != content.count("]"):
            continue
        if content.strip() and _is_closing_mark(text, end + 1, limit, slot):
            note(Step.MISSING_QUOTES, start)
            return QuotedString(_unescape(content.strip(), start, note), end + 1)
    return QuotedString(None, start)


def _read_escaped(text: str, start: int, limit: int, note: Note) -> QuotedString:
    """A string in marks that were escaped although they stand outside strings: `\\"event_type\\"`."""
    begin = start + 2
    mark = _ESCAPED_MARK.search(text, begin, limit)
    note(Step.ESCAPED_QUOTES, start)
    if mark is None:
        return QuotedString(None, limit)
    inner = _unescape(text[begin : mark.start()], start, _ignore)  # the whole was escaped once more
    return QuotedString(_unescape(inner, start, note), mark.end())


def _ignore(step: Step, at: int) -> None:
    """For what is noted elsewhere."""


def _content(text: str, begin: int, limit: int, quote: str, note: Note, slot: Slot) -> QuotedString:
    end = _find_end(text, begin, limit, quote, note, slot)
    if end.at < 0:
        return QuotedString(None, end.after, end.in_vain)
    return QuotedString(_unescape(text[begin : end.at], begin, note), end.after, end.in_vain)


def _find_end(text: str, begin: int, limit: int, quote: str, note: Note, slot: Slot) -> _StringEnd:
    """Where the string ends: at the first mark that is followed by what must follow a string, or before structure.

    A string does not reach over a brace in search of its end: arguments have none, and objects do.
    """
    if slot is Slot.KEY:
        return _find_key_end(text, begin, limit, quote, note)
    first, passed = -1, 0
    for mark in _MARKS[quote].finditer(text, begin, limit):
        at = mark.start()
        if text[at] == "\\":
            continue
        if first >= 0 and ("{" in text[first:at] or "}" in text[first:at]):
            return _StringEnd(first, first + 1, passed)
        if _is_closing_mark(text, at + 1, limit, slot) or (first < 0 and _ENDS_LINE.match(text, at + 1, limit)):
            if first < 0:
                return _StringEnd(at, at + 1)
            if BLANK.match(text, at + 1, limit).end() >= limit:  # type: ignore[union-attr]  # matches nothing at least
                return _StringEnd(-1, limit)  # which of the marks closed it can't be told any more
            note(Step.UNESCAPED_QUOTES, first)
            return _StringEnd(at, at + 1)
        if first < 0:
            line = _line_end(text, begin, at)
            if line is not None:
                note(Step.MISSING_QUOTES, line.at)
                return line
            missing = _unclosed_end(text, begin, at, limit, slot)
            if missing is not None:
                if missing.at >= 0:
                    note(Step.MISSING_QUOTES, missing.at)
                return missing
            if _PARENTHESIS.match(text, at + 1, limit):
                return _StringEnd(at, at + 1)  # "x" (about), …
            if slot is Slot.ITEM and _UNOPENED_ITEM.match(text, at + 1, limit):
                return _StringEnd(at, at + 1)
            first = at
        elif _unclosed_end(text, begin, at, limit, slot) is not None:
            return _StringEnd(first, first + 1, passed)  # "x" about, "key": …
        passed += 1
        if passed > _MAX_INNER_QUOTES:
            return _StringEnd(first, first + 1, passed)
    if first >= 0:
        patterns = (_REMARK, _BARE_WORDS) if slot is Slot.ITEM else (_REMARK,)
        is_end = any(pattern.match(text, first + 1, limit) for pattern in patterns)
        return _StringEnd(first, first + 1, passed) if is_end else _StringEnd(-1, limit)
    line = _line_end(text, begin, limit)
    if line is not None:
        note(Step.MISSING_QUOTES, line.at)
        return line
    paragraph = _PARAGRAPH.search(text, begin, limit)
    return _StringEnd(-1, limit if paragraph is None else paragraph.start())


def _find_key_end(text: str, begin: int, limit: int, quote: str, note: Note) -> _StringEnd:
    """Where a key ends: at the mark before its colon, or at the colon where that mark is missing."""
    marks = _MARKS[quote].finditer(text, begin, limit)
    first = next((mark.start() for mark in marks if text[mark.start()] != "\\"), -1)
    if first >= 0 and _is_closing_mark(text, first + 1, limit, Slot.KEY):
        return _StringEnd(first, first + 1)
    line = text.find("\n", begin, min(limit, begin + _LONGEST_LINE))
    stop = min(end for end in (first, line, limit) if end >= 0)
    colon = _COLON_BEFORE_VALUE.search(text, begin, stop) or _COLON.search(text, begin, stop)
    if colon is not None and stop < limit and text[begin : colon.start()].strip():
        note(Step.MISSING_QUOTES, colon.start())
        return _StringEnd(colon.start(), colon.start())  # "role: "r", "a:b: "r"
    if first < 0 or first > stop:
        return _StringEnd(-1, stop)  # no key has a line break in it
    return _StringEnd(first, first + 1)  # "role" "r": the reader of keys misses the colon


def _is_closing_mark(text: str, after: int, limit: int, slot: Slot) -> bool:
    """Whether what follows a quotation mark shows that it closed a string."""
    ahead = BLANK.match(text, after, limit).end()  # type: ignore[union-attr]  # it matches nothing at least
    if ahead >= limit:
        return True
    following = text[ahead]
    if slot is Slot.KEY:
        return following in ":：" or (following == "=" and not text.startswith("==", ahead))
    if following in _CLOSING or text.startswith(("//", "/*", "#"), ahead):
        return True
    if following in ",，、;；":
        pattern = _AFTER_ITEM_COMMA if slot is Slot.ITEM else _AFTER_COMMA
        return pattern.match(text, ahead + 1, limit) is not None
    if following == ")":
        return slot is Slot.ITEM
    new_line = "\n" in text[after:ahead]
    if following in QUOTES:
        if slot is Slot.ITEM:
            return ahead > after or ITEM_AHEAD.match(text, ahead, limit) is not None  # ["a" "b"]: no comma
        return new_line or KEY_AHEAD.match(text, ahead, limit) is not None
    return new_line and following in _OPENING


def _unclosed_end(text: str, begin: int, at: int, limit: int, slot: Slot) -> _StringEnd | None:
    """Where a string whose closing mark is missing ends, if the mark at `at` opens what comes after it."""
    opens = _opens_item(text, at, limit) if slot is Slot.ITEM else KEY_AHEAD.match(text, at, limit) is not None
    if not opens:
        return None
    paragraph = _PARAGRAPH.search(text, begin, at)
    if paragraph is not None:
        return _StringEnd(-1, paragraph.start())  # it broke off, and a new paragraph begins
    tail = _structure_before(text, begin, at)
    return None if tail is None else _StringEnd(tail, tail)


def _opens_item(text: str, at: int, limit: int) -> bool:
    """Whether the mark opens the next string of a list: the one after it is followed by a comma or a bracket."""
    quote = text[at]
    marks = _MARKS[quote].finditer(text, at + 1, min(limit, at + 200))
    other = next((mark.start() for mark in marks if text[mark.start()] != "\\"), -1)
    if other < 0 or "\n" in text[at:other]:
        return KEY_AHEAD.match(text, at, limit) is not None
    ahead = BLANK.match(text, other + 1, limit).end()  # type: ignore[union-attr]  # it matches nothing at least
    return ahead < limit and text[ahead] in ",]:，］"


def _structure_before(text: str, begin: int, at: int) -> int | None:
    """Where the structure before `at` begins: closing brackets, a comma, opening ones. None if there is none."""
    tail = _skip_back(text, begin, at, " \t\r\n{[｛［")
    comma = tail > begin and text[tail - 1] in ",，"
    if not comma and not text[tail:at].strip():
        return None
    tail = _skip_back(text, begin, tail - comma, " \t\r\n}]｝］")
    open_brackets = {closing: _open_brackets(text[begin:tail], closing) for closing in "]}"}
    while tail < at and open_brackets.get(text[tail], 0) > 0:
        open_brackets[text[tail]] -= 1
        tail += 1  # a bracket of the text itself: "f[x], "role":
    return tail


def _skip_back(text: str, begin: int, at: int, characters: str) -> int:
    while at > begin and text[at - 1] in characters:
        at -= 1
    return at


def _open_brackets(content: str, closing: str) -> int:
    """How many more brackets of the kind that `closing` closes are opened in the content than closed."""
    opening = "[" if closing == "]" else "{"
    return content.count(opening) - content.count(closing)


def _line_end(text: str, begin: int, limit: int) -> _StringEnd | None:
    """The end of a string that lacks its mark where its line ends, told by brackets there or on the next line."""
    line_end = text.find("\n", begin, min(limit, begin + _LONGEST_LINE))
    if line_end < 0:
        return None
    line = text[begin:line_end]
    brackets = _LINE_ENDS_IN_BRACKETS.search(line)
    if brackets is not None and _open_brackets(line[: brackets.start()], brackets.group().strip()[0]) <= 0:
        return _StringEnd(begin + brackets.start(), begin + brackets.start())
    ahead = BLANK.match(text, line_end, limit).end()  # type: ignore[union-attr]  # as above
    if text[ahead : ahead + 1] and text[ahead] in _CLOSING:
        end = begin + len(line.rstrip())
        return _StringEnd(end, end)
    return None


def _unescape(content: str, at: int, note: Note) -> str:
    if _CONTROL.search(content):
        note(Step.CONTROL_CHARACTERS, at)
    if "\\" not in content:
        return content

    def resolve(escape: re.Match[str]) -> str:
        code, character = escape.groups()
        if code is not None:
            return chr(int(code, 16))
        if character in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[character]
        note(Step.INVALID_ESCAPES, at)
        return "'" if character == "'" else escape.group()

    # Two escapes of a surrogate pair become the one character that they mean.
    encoded = _ESCAPE.sub(resolve, content).encode("utf-16-le", "surrogatepass")
    try:
        return encoded.decode("utf-16-le")
    except UnicodeDecodeError:
        note(Step.LONE_SURROGATES, at)
        return encoded.decode("utf-16-le", "replace")


TRUNCATED: Final = object()  # it breaks off with the text
UNREADABLE: Final = object()
SKIPPED: Final = object()  # there is no value: an ellipsis


class BareValue(NamedTuple):
    """A value, or one of the marks above, and where reading goes on."""

    value: object
    end: int


class BareKey(NamedTuple):
    """A key, and where reading goes on."""

    name: str
    end: int


_BARE_KEY = LazyPattern(rf"([^\W\d][^{QUOTES}{{}}\[\],，:：=\n]{{0,60}})[{QUOTES}]?\s{{0,8}}(?=[:：=])")
_UNOPENED_NAME = rf"[^\W\d][^{DOUBLE_QUOTES}{{}}\[\]\n]{{0,60}}"
_ENDS_UNOPENED_NAME = rf"[{QUOTES}]\s{{0,8}}(?=[:：=])"
_UNOPENED_BARE_KEY = re.compile(rf"({_UNOPENED_NAME}){_ENDS_UNOPENED_NAME}")
UNOPENED_KEY = _UNOPENED_NAME + _ENDS_UNOPENED_NAME  # a key without its first mark
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.%])", re.ASCII)
_MORE_DIGITS = re.compile(r"\s?[,，]\d")  # 1,200 is one number to a person
_ENDS_VALUE = re.compile(rf"\s*(?:[,，、;；}}\]｝］】)]|//|/\*|#|\Z|{KEY_AHEAD.pattern})")
_UNQUOTED = re.compile(r"(?:[^,，}\]｝］\n\"“”{\[]|[,，](?=\d)){0,200}")
_ENDS_UNQUOTED = LazyPattern(
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


def read_bare(text: str, start: int, limit: int, note: Note, slot: Slot, *, surely: bool) -> BareValue:
    """The value that begins at `start` without a mark. `surely`: what it stands in is JSON without doubt."""
    for dots in ("...", "…"):
        if text.startswith(dots, start, limit):
            note(Step.ELLIPSIS, start)
            return BareValue(SKIPPED, start + len(dots))
    number = _NUMBER.match(text, start, limit)
    if number is not None:
        if number.end() == limit:
            return BareValue(TRUNCATED, limit)
        thousands = slot is Slot.VALUE and _MORE_DIGITS.match(text, number.end(), limit)
        if _ENDS_VALUE.match(text, number.end(), limit) and not thousands:
            return BareValue(NumberText(number.group()), number.end())
    word = _WORD.match(text, start, limit)
    if (
        word is not None
        and word.group() in _LITERALS
        and word.end() < limit
        and _ENDS_VALUE.match(text, word.end(), limit)
    ):
        value, step = _LITERALS[word.group()]
        if step is not None:
            note(step, start)
        return BareValue(value, word.end())
    if slot is Slot.VALUE:
        return _read_unquoted(text, start, limit, note)
    return _read_unopened_value(text, start, limit, note, slot) if surely else BareValue(UNREADABLE, start)


def read_bare_key(text: str, start: int, limit: int, note: Note) -> BareKey | None:
    """The key that begins at `start` without a mark, or with its second one only; None if no colon follows."""
    key = _UNOPENED_BARE_KEY.match(text, start, limit) or _BARE_KEY.match(text, start, limit)
    if key is None:
        return None
    note(Step.MISSING_QUOTES if text[key.end(1)] in QUOTES else Step.UNQUOTED_KEYS, start)
    return BareKey(key.group(1).strip(), key.end())


def begins_bare_key(text: str, start: int, limit: int) -> bool:
    """Whether a key without its first mark, and its colon, stand here."""
    return _BARE_KEY.match(text, start, limit) is not None


def _read_unquoted(text: str, start: int, limit: int, note: Note) -> BareValue:
    """Bare text as it stands: `12%`, `1,200`, `甲公司`."""
    bare = _UNQUOTED.match(text, start, limit)
    assert bare is not None  # it matches nothing at least
    end = BLANK.match(text, bare.end(), limit).end()  # type: ignore[union-attr]  # as above
    if end == limit:
        return BareValue(TRUNCATED, limit)
    if bare.group().strip() and _ENDS_UNQUOTED.match(text, end, limit):
        note(Step.UNQUOTED_VALUES, start)
        return BareValue(bare.group().strip(), end)
    return _read_unopened_value(text, start, limit, note, Slot.VALUE)


def _read_unopened_value(text: str, start: int, limit: int, note: Note, slot: Slot) -> BareValue:
    """A string whose first quotation mark is missing: `["a", b", "c"]`."""
    quoted = read_unopened(text, start, limit, note, slot)
    return BareValue(UNREADABLE, start) if quoted.text is None else BareValue(quoted.text, quoted.end)
