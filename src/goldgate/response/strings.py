"""Strings, keys and values as models write them: in any quotation marks, unescaped, unclosed, or without marks.

`StringReader` is the first of three layers of the tolerant reader: `Cursor` adds the structure around values, and
`ValueReader` reads a whole value. Each layer moves `pos` and notes what it repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, cast

from goldgate.core.value_text import NumberText
from goldgate.response.parsed import MAX_PLACES, Step


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, value)  # the next time there is nothing to be looked for
        return value


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first used: all of those here together take 20 ms."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


DOTS = lazy_pattern(r"\.\.\.|…|。。。")
GAP = lazy_pattern(r"\.\.\.|…|。。。|[\x00-\x1f]")  # no key has any of it
_GAP_BEHIND = lazy_pattern(r"\s{0,8}(?:[,，:：}\]]|\.\.\.|…)")
DOUBLE_QUOTES = '"“”„‟＂〝〞「」『』'
SINGLE_QUOTES = "'‘’‚‛＇"
QUOTES = DOUBLE_QUOTES + SINGLE_QUOTES + "`"
_BLANK = re.compile(r"(?:[\s\ufeff\u200b]|\\[nrt])*")  # some models write the escape of a line break between values

_OPENING = "{[｛［"
_CLOSING = "}]｝］】"
_KEY = (
    r'(?:"(?:[^"\\\n]|\\.){1,100}"|\'[^\'\\\n]{1,100}\'|""[^"\n]{1,100}""|\\"[^"\\\n]{1,100}\\"'
    rf"|[{DOUBLE_QUOTES}][^{DOUBLE_QUOTES}\\\n]{{1,100}}[{DOUBLE_QUOTES}]"
    rf"|[{QUOTES[1:]}][^{QUOTES}\\\n]{{1,100}}[{QUOTES[1:]}])"
)
_UNOPENED_NAME = rf"[^\W\d][^{DOUBLE_QUOTES}{{}}\[\]\n]{{0,60}}"
_ITEM = r"(?:\"[^\"\\\n]{0,200}\"|'[^'\\\n]{0,200}')"
ITEM_AHEAD = lazy_pattern(rf"{_ITEM}\s*[,\]]")
KEY_AHEAD = lazy_pattern(rf"{_KEY}\s{{0,8}}(?:[:：]|=>?(?!=))")
# After a comma that ends a value in an object: a key (whole, or damaged in one place, or cut off), the end of
# the object, the next object, or a comment.
_AFTER_COMMA = lazy_pattern(
    rf"""\s*(?:
      [}}\]｝］】{{\[｛［] | // | /\* | \# | \.\.\. | … | \Z | \\"
    | [^\W\d][\w/-]{{0,40}}\s?[:：=]                         # an unquoted key
    | {_UNOPENED_NAME}[{QUOTES}]\s?[:：=]                      # a key without its first mark
    | [{QUOTES}][\w/ :：'().…-]{{1,60}}[:：](?:\s|[{QUOTES}\[{{\d-])   # a key without its second mark
    | (?:"[^"\n]*|'[^'\n]*|[{QUOTES}][^{QUOTES}\n]*)\Z       # a key that breaks off
    | {_KEY}\s{{0,8}}(?:[:：]|=>?(?!=)|[{QUOTES}\[{{\d-]|null\b|true\b|false\b|\Z)  # a key, its colon there or not
    | {_ITEM}\s*(?:\]|,\s*{_ITEM}\s*[,\]])                  # an item of a list that was not opened
    )""",
    re.VERBOSE,
)
_AFTER_ITEM_COMMA = lazy_pattern(
    rf"\s*(?:[{QUOTES}\[\]{{}}()｛［｝］】]|-?\d|//|/\*|#|\\\"|\.\.\.|…|(?:null|true|false|None|True|False)\b|\Z)"
)
# An item without its first mark: ["a", b", "c"].
_UNOPENED_ITEM = lazy_pattern(r"""\s*[,，]\s*[^\s"'\[\]{},，][^"\[\]{},，\n]{0,100}"\s*[,\]]""")
_ESCAPED_MARK = lazy_pattern(r'(?<!\\)\\"')
_DOUBLED = lazy_pattern(  # the escapes are bounded: a text may have such a mark at every place
    r'""(?![\s,:}\]])([^"\\]*+(?:\\(?:""|[^"])[^"\\]*+){0,200}+)""(?=\s*(?:[:,}\]]|\Z))'
)
_NO_REMARK = rf"{QUOTES}\[\]{{}},:()"
# Blanks are taken at once: a thought that was cut out leaves a run of them, and a pattern must not try all its parts.
_REMARK = lazy_pattern(
    rf"(?:(?=\n*+[^\S\n])\s++|\s*+(?:\([^()\n{QUOTES}]{{1,60}}\)|[^\s{_NO_REMARK}](?:[^\n{_NO_REMARK}]{{0,58}}[^\s{_NO_REMARK}])?)\s*+)"
    r"[,，}\]｝］]"
)
# Bare words at the end of a list: ["v", "w", not present in text].
_BARE_WORDS = lazy_pattern(rf"\s*[,，][^\n{DOUBLE_QUOTES}\[\]{{}}］]{{1,200}}[\]］]")
# A bare word of a list of such: [Alice, O'Neil & Co].
_NO_WORD = rf"{DOUBLE_QUOTES}\[\]{{}}｛｝［］【】,，、;；"
_LISTED_WORD = lazy_pattern(
    rf"([^\s:：{QUOTES}{_NO_WORD}](?:(?:[^\n:：{_NO_WORD}]|:(?!\s)){{0,198}}[^\s:：{QUOTES}{_NO_WORD}])?)\s*(?=[,，、;；\]］])"
)
_PARENTHESIS = lazy_pattern(rf"\s*\([^()\n{QUOTES}]{{1,60}}\)\s*[,，}}\]｝］]")
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|(.)|\Z)", re.DOTALL)
_CONTROL = lazy_pattern(r"[\x00-\x1f]")
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# The marks that may close a string, by the mark that opened it. Only smart ones are mixed up.
_MARKS = {
    **{mark: lazy_pattern(rf"\\.|[{DOUBLE_QUOTES}]", re.DOTALL) for mark in DOUBLE_QUOTES},
    **{mark: lazy_pattern(rf"\\.|[{SINGLE_QUOTES}]", re.DOTALL) for mark in SINGLE_QUOTES},
    '"': lazy_pattern(r'\\.|"', re.DOTALL),
    "'": lazy_pattern(r"\\.|'", re.DOTALL),
    "`": lazy_pattern(r"\\.|`", re.DOTALL),
}
# What may stand before the mark that closes a string without its first one.
_TO_MARK = {mark: lazy_pattern(rf"[^\\\n{{}}{mark}]*+(?:\\[^\n{{}}][^\\\n{{}}{mark}]*+)*+") for mark in ('"', "'")}
_MIXED_KEY = lazy_pattern(r'"[^"“”\n]{1,100}”\s*[:：]')
_ENDS_LINE = lazy_pattern(r"[ \t]*\n")
_PARAGRAPH = lazy_pattern(r"\n[ \t]*\n")
_COLON = lazy_pattern(r"\s{0,8}[:：]")
_COLON_BEFORE_VALUE = lazy_pattern(r"\s{0,8}[:：](?:\s|[\[{\d-]|\Z)")
_LINE_ENDS_IN_BRACKETS = lazy_pattern(r"\s*[}\]｝］】][}\]｝］】\s,，]*\Z")

# How many quotation marks inside a string are passed over in search of the one that closes it.
# The bound keeps the whole reading linear.
_MAX_INNER_QUOTES = 10
_LONGEST_LINE = 2_000  # characters that are looked at for the end of a line that structure ends


_BARE_KEY = lazy_pattern(rf"([^\W\d][^{QUOTES}{{}}\[\],，:：=\n]{{0,60}})[{QUOTES}]?\s{{0,8}}(?=[:：=])")
_UNOPENED_KEY = lazy_pattern(rf"({_UNOPENED_NAME})[{QUOTES}]\s{{0,8}}(?=[:：=])")  # a key without its first mark
_NUMBER = lazy_pattern(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.%])", re.ASCII)
_MORE_DIGITS = lazy_pattern(r"\s?[,，]\d")  # 1,200 is one number to a person
_ENDS_VALUE = lazy_pattern(rf"\s*(?:[,，、;；}}\]｝］】)]|//|/\*|#|\Z|{KEY_AHEAD.pattern})")
_UNQUOTED = lazy_pattern(r"(?:[^,，}\]｝］\n\"“”{\[]|[,，](?=\d)){0,200}")
_ENDS_UNQUOTED = lazy_pattern(
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
_WORD = lazy_pattern(r"[nN]/[aA](?![\w/])|-?[^\W\d]\w*")
_LITERALS: Final[dict[str, tuple[object, Step | None]]] = {
    "true": (True, None),
    "false": (False, None),
    "null": (None, None),
    "True": (True, Step.PYTHON_LITERALS),
    "False": (False, Step.PYTHON_LITERALS),
    **dict.fromkeys("None none NONE undefined NULL Null nil Nil N/A n/a N/a n/A".split(), (None, Step.PYTHON_LITERALS)),
    **dict.fromkeys("NaN nan Infinity -Infinity inf".split(), (None, Step.NON_FINITE_NUMBERS)),
}


_FEWEST_STEPS = 400  # of a short response
_CHARACTERS_A_STEP = 2
_MAX_STEPS = 200_000  # some two seconds; a damaged answer of a megabyte takes half as many


class StepBudget:
    """How much the tolerant reader may still try in a response, so that a hostile one costs no more than its length.

    A step is a bracket, or a value with its key and the comma before it, a quotation mark that is looked past in vain,
    or a search for structure. Damaged answers of models take a step for ten characters or more.
    """

    __slots__ = ("failures", "steps")

    def __init__(self, length: int, failures: int = 0) -> None:
        self.steps = min(_FEWEST_STEPS + length // _CHARACTERS_A_STEP, _MAX_STEPS)
        self.failures = failures  # values that may still be tried as they stand: each may look at all of the text


class Slot(Enum):
    """The position of a string in a JSON value."""

    KEY = "key"
    VALUE = "value"  # of a key
    ITEM = "item"  # of a list
    WORD = "word"  # of a list in which no item has marks


class NoValue(Enum):
    """Why no string or value could be read."""

    TRUNCATED = "truncated"  # it breaks off with the text
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"  # an ellipsis in place of a value


_DAMAGES = frozenset(
    {
        *(Step.CLOSED_BRACKETS, Step.OPENED_BRACKETS, Step.STRAY_BRACKETS, Step.SKIPPED_TEXT, Step.ELLIPSIS),
        *(Step.MISSING_QUOTES, Step.UNESCAPED_QUOTES, Step.MISSING_COMMAS, Step.MISSING_VALUES, Step.MISSING_COLONS),
    }
)


class _StringEnd(NamedTuple):
    """Where the content of a string ends, and where reading goes on; `at` is -1 if it breaks off."""

    at: int
    after: int


class StringReader:
    """Reads strings and bare values at `pos`, moves behind them, and notes what it repaired."""

    def __init__(self, text: str, start: int, limit: int, budget: StepBudget) -> None:
        self.text = text
        self.pos = start
        self.limit = limit  # nothing at this place or behind it is looked at
        self.budget = budget
        self.places: list[tuple[Step, int]] = []
        self.damages = 0  # repairs of structure, or of where a string ends
        self._noted: set[Step] = set()  # the repairs, once there are too many places
        self.mixed = False  # strings are opened with one kind of double mark and closed with another

    def note(self, step: Step, at: int) -> None:
        """Keep a repair and its place; beyond 1,000 places, only the first place of each further repair."""
        self.damages += step in _DAMAGES
        if len(self.places) >= MAX_PLACES:
            self._noted = self._noted or {step for step, _ in self.places}
            if step in self._noted:
                return
            self._noted.add(step)
        self.places.append((step, at))

    def match(self, pattern: re.Pattern[str], at: int) -> re.Match[str] | None:
        """Match a pattern at a place, up to the limit."""
        return pattern.match(self.text, at, self.limit)

    def opens_string(self) -> bool:
        """Whether a string begins here: a quotation mark of any kind, or one that was escaped outside a string."""
        return self.text[self.pos] in QUOTES or self.text.startswith('\\"', self.pos)

    def read_string(self, slot: Slot) -> str | NoValue:
        """The string that begins here, or `TRUNCATED` if it breaks off."""
        start = self.pos
        value = self._read_string(slot)
        if slot is Slot.KEY and isinstance(value, str) and self.text[start] == '"':
            self.mixed = self.mixed or self.text[self.pos - 1] == "”"
        return value

    def _read_string(self, slot: Slot) -> str | NoValue:
        start, quote = self.pos, self.text[self.pos]
        if quote == "\\":
            return self._read_escaped()
        if quote == '"' and self.text.startswith('""', start):
            doubled = self.match(_DOUBLED, start)
            if doubled is not None and (doubled[1] or self.text.startswith('""""', start)):
                self.note(Step.DOUBLED_QUOTES, start)
                self.pos = doubled.end()
                return self._unescape(doubled[1].replace('\\""', '\\"'), start)
        if quote == '"' and (self.mixed or (slot is Slot.KEY and self.match(_MIXED_KEY, start))):
            quote = "“"  # "key”: the marks are mixed up in this answer, so any of them closes
        if quote != '"':
            self.note(Step.SINGLE_QUOTES if quote == "'" else Step.SMART_QUOTES, start)
        end, self.pos = self._find_end(start + 1, quote, slot)
        return NoValue.TRUNCATED if end < 0 else self._unescape(self.text[start + 1 : end], start + 1)

    def read_bare(self, slot: Slot, *, surely: bool) -> object:
        """The value that begins here without a mark, or a `NoValue`. `surely`: it stands in JSON without doubt."""
        start = self.pos
        for dots in ("...", "…", "。。。"):
            if self.text.startswith(dots, start, self.limit):
                self.note(Step.ELLIPSIS, start)
                self.pos += len(dots)
                return NoValue.SKIPPED
        number = self.match(_NUMBER, start)
        if number is not None:
            if number.end() == self.limit:
                return self._truncated()
            thousands = slot is Slot.VALUE and self.match(_MORE_DIGITS, number.end())
            if self.match(_ENDS_VALUE, number.end()) and not thousands:
                self.pos = number.end()
                return NumberText(number[0])
        word = self.match(_WORD, start)
        if word is not None and word[0] in _LITERALS and word.end() < self.limit:
            value, step = _LITERALS[word[0]]
            if self.match(_ENDS_VALUE, word.end()):
                if step is not None:
                    self.note(step, start)
                self.pos = word.end()
                return value
        if slot is Slot.VALUE:
            return self._read_unquoted()
        item = self.match(_LISTED_WORD, start) if slot is Slot.WORD else None
        if item is not None:
            self.note(Step.UNQUOTED_VALUES, start)
            self.pos = item.end()
            return item[1]
        return self._read_unopened(Slot.KEY if slot is Slot.KEY else Slot.ITEM) if surely else NoValue.UNREADABLE

    def begins_bare_key(self) -> bool:
        """Whether a key without its first mark, and its colon, stand here."""
        return self.match(_BARE_KEY, self.pos) is not None

    def read_bare_key(self) -> str | None:
        """The key that begins here without a mark, or with its second one only; None if no colon follows."""
        key = self.match(_UNOPENED_KEY, self.pos) or self.match(_BARE_KEY, self.pos)
        if key is None:
            return None
        self.note(Step.MISSING_QUOTES if self.text[key.end(1)] in QUOTES else Step.UNQUOTED_KEYS, self.pos)
        self.pos = key.end()
        return key[1].strip()

    def _truncated(self) -> NoValue:
        self.pos = self.limit
        return NoValue.TRUNCATED

    def _read_unquoted(self) -> str | NoValue:
        """Bare text as it stands: `12%`, `1,200`, `甲公司`."""
        bare = self.match(_UNQUOTED, self.pos)
        assert bare is not None  # it matches nothing at least
        end = self.behind_blanks(bare.end())
        if end == self.limit:
            return self._truncated()
        if bare[0].strip() and self.match(_ENDS_UNQUOTED, end):
            self.note(Step.UNQUOTED_VALUES, self.pos)
            self.pos = end
            return bare[0].strip()
        return self._read_unopened(Slot.VALUE)

    def _read_unopened(self, slot: Slot) -> str | NoValue:
        """A string whose first mark is missing, `["a", b", "c"]`; `UNREADABLE` if no mark closes it nearby."""
        start, farthest = self.pos, min(self.limit, self.pos + _LONGEST_LINE)
        for quote, to_mark in _TO_MARK.items():
            end = to_mark.match(self.text, start, farthest).end()  # type: ignore[union-attr]  # it always matches
            content = self.text[start:end] if self.text.startswith(quote, end, farthest) else ""
            if content.count("[") != content.count("]"):
                continue
            if content.strip() and self._is_closing_mark(end + 1, slot):
                self.note(Step.MISSING_QUOTES, start)
                self.pos = end + 1
                return self._unescape(content.strip(), start)
        return NoValue.UNREADABLE

    def _read_escaped(self) -> str | NoValue:
        """A string in marks that were escaped although they stand outside strings: `\\"event_type\\"`."""
        start = self.pos
        mark = _ESCAPED_MARK.search(self.text, start + 2, self.limit)
        self.note(Step.ESCAPED_QUOTES, start)
        if mark is None:
            return self._truncated()
        self.pos = mark.end()
        inner, _ = _resolve_escapes(self.text[start + 2 : mark.start()])  # the whole was escaped once more
        return self._unescape(inner, start)

    def _unescape(self, content: str, at: int) -> str:
        resolved, steps = _resolve_escapes(content)
        for step in steps:
            self.note(step, at)
        return resolved

    def behind_blanks(self, at: int) -> int:
        return _BLANK.match(self.text, at, self.limit).end()  # type: ignore[union-attr]  # it always matches

    def _marks(self, quote: str, begin: int, limit: int) -> Iterator[int]:
        """The places of the marks that may close a string that `quote` opened."""
        for mark in _MARKS[quote].finditer(self.text, begin, limit):
            if self.text[mark.start()] != "\\":
                yield mark.start()

    def _find_end(self, begin: int, quote: str, slot: Slot) -> _StringEnd:
        """Where the string ends: at the first mark that is followed by what must follow a string, or before structure.

        A string does not reach over a brace in search of its end: arguments have none, and objects do.
        """
        if slot is Slot.KEY:
            return self._find_key_end(begin, quote)
        first, passed = -1, 0
        for at in self._marks(quote, begin, self.limit):
            if first < 0:
                end = self._end_at_first_mark(begin, at, slot)
                if end is not None:
                    return end
                first = at
            elif "{" in self.text[first:at] or "}" in self.text[first:at]:
                break
            elif self._is_closing_mark(at + 1, slot):
                if self.behind_blanks(at + 1) >= self.limit:
                    return _StringEnd(-1, self.limit)  # which of the marks closed it is unknown
                if self._has_gap(begin, first, at):
                    break
                self.note(Step.UNESCAPED_QUOTES, first)
                return _StringEnd(at, at + 1)
            elif self._unclosed_end(begin, at, slot) is not None:
                break  # "x" about, "key": …
            passed += 1
            if passed > _MAX_INNER_QUOTES:
                break
        else:
            if first < 0:
                return self._end_without_mark(begin)
            if not self._is_remark(first + 1, slot):
                return _StringEnd(-1, self.limit)
        self.budget.steps -= 2 * passed
        tail = self._unclosed_before(begin, first)
        if tail is not None:
            self.note(Step.MISSING_QUOTES, tail)  # ["x], "key" "y"
            return _StringEnd(tail, tail)
        return _StringEnd(first, first + 1)

    def _has_gap(self, begin: int, first: int, at: int) -> bool:
        """Whether a string cannot go on behind its first inner mark: structure follows, with dots or a break in it."""
        if self.text[begin:first].rstrip().endswith(("...", "…")) or self._unclosed_before(begin, first) is not None:
            return True
        if self.match(_GAP_BEHIND, first + 1) is None:
            return False
        inner = self.text[first:at]
        return GAP.search(inner) is not None or inner.count("[") != inner.count("]")

    def _unclosed_before(self, begin: int, first: int) -> int | None:
        """Where closing brackets stand before an inner mark that opens what comes next: `"x], "key" "y"`."""
        tail = _structure_before(self.text, begin, first)
        is_bracket = tail is not None and self.text[tail] in _CLOSING
        return tail if is_bracket and not self.match(_GAP_BEHIND, first + 1) else None

    def _end_at_first_mark(self, begin: int, at: int, slot: Slot) -> _StringEnd | None:
        """Where the string ends if its first inner mark closes it, or shows that its closing mark is missing."""
        if self._is_closing_mark(at + 1, slot) or self.match(_ENDS_LINE, at + 1):
            return _StringEnd(at, at + 1)
        missing = self._line_end(begin, at) or self._unclosed_end(begin, at, slot)
        if missing is not None:
            if missing.at >= 0:
                self.note(Step.MISSING_QUOTES, missing.at)
            return missing
        is_end = self.match(_PARENTHESIS, at + 1) or (slot is Slot.ITEM and self.match(_UNOPENED_ITEM, at + 1))
        return _StringEnd(at, at + 1) if is_end else None  # "x" (about), …

    def _end_without_mark(self, begin: int) -> _StringEnd:
        """Where a string ends that no mark closes: with its line, or it breaks off with its paragraph."""
        line = self._line_end(begin, self.limit)
        if line is not None:
            self.note(Step.MISSING_QUOTES, line.at)
            return line
        paragraph = _PARAGRAPH.search(self.text, begin, self.limit)
        return _StringEnd(-1, self.limit if paragraph is None else paragraph.start())

    def _is_remark(self, at: int, slot: Slot) -> bool:
        """Whether words that are not part of the value stand here, and structure behind them."""
        return bool(self.match(_REMARK, at) or (slot is Slot.ITEM and self.match(_BARE_WORDS, at)))

    def _find_key_end(self, begin: int, quote: str) -> _StringEnd:
        """Where a key ends: at the mark before its colon, or at the colon where that mark is missing."""
        first = next(self._marks(quote, begin, self.limit), -1)
        if first >= 0 and self._is_closing_mark(first + 1, Slot.KEY):
            return _StringEnd(first, first + 1)
        line = self.text.find("\n", begin, min(self.limit, begin + _LONGEST_LINE))
        stop = min(end for end in (first, line, self.limit) if end >= 0)
        colon = _COLON_BEFORE_VALUE.search(self.text, begin, stop) or _COLON.search(self.text, begin, stop)
        if colon is not None and stop < self.limit and self.text[begin : colon.start()].strip():
            self.note(Step.MISSING_QUOTES, colon.start())
            return _StringEnd(colon.start(), colon.start())  # "role: "r", "a:b: "r"
        if first < 0 or first > stop:
            return _StringEnd(-1, stop)  # no key has a line break in it
        return _StringEnd(first, first + 1)  # "role" "r": the reader of keys misses the colon

    def _is_closing_mark(self, after: int, slot: Slot) -> bool:
        """Whether what follows a quotation mark shows that it closed a string."""
        text, ahead = self.text, self.behind_blanks(after)
        if ahead >= self.limit:
            return True
        following = text[ahead]
        if slot is Slot.KEY:
            return following in ":：" or (following == "=" and not text.startswith("==", ahead))
        if following in _CLOSING or text.startswith(("//", "/*", "#"), ahead):
            return True
        if following in ",，、;；":
            return self.match(_AFTER_ITEM_COMMA if slot is Slot.ITEM else _AFTER_COMMA, ahead + 1) is not None
        if following == ")":
            return slot is Slot.ITEM
        new_line = "\n" in text[after:ahead]
        if following in QUOTES:
            if slot is Slot.ITEM:
                return ahead > after or self.match(ITEM_AHEAD, ahead) is not None  # ["a" "b"]: no comma
            return new_line or self.match(KEY_AHEAD, ahead) is not None
        return new_line and following in _OPENING

    def _unclosed_end(self, begin: int, at: int, slot: Slot) -> _StringEnd | None:
        """Where a string whose closing mark is missing ends, if the mark at `at` opens what comes after it."""
        opens = self._opens_item(at) if slot is Slot.ITEM else self.match(KEY_AHEAD, at) is not None
        if not opens:
            return None
        paragraph = _PARAGRAPH.search(self.text, begin, at)
        if paragraph is not None:
            return _StringEnd(-1, paragraph.start())  # it broke off, and a new paragraph begins
        tail = _structure_before(self.text, begin, at)
        return None if tail is None else _StringEnd(tail, tail)

    def _opens_item(self, at: int) -> bool:
        """Whether the mark opens the next string of a list: the one after it is followed by a comma or a bracket."""
        other = next(self._marks(self.text[at], at + 1, min(self.limit, at + 200)), -1)
        if other < 0 or "\n" in self.text[at:other]:
            return self.match(KEY_AHEAD, at) is not None
        ahead = self.behind_blanks(other + 1)
        return ahead < self.limit and self.text[ahead] in ",]:，］"

    def _line_end(self, begin: int, limit: int) -> _StringEnd | None:
        """The end of a string that lacks its mark where its line ends, as brackets there or on the next line show."""
        line_end = self.text.find("\n", begin, min(limit, begin + _LONGEST_LINE))
        if line_end < 0:
            return None
        line = self.text[begin:line_end]
        brackets = _LINE_ENDS_IN_BRACKETS.search(line)
        if brackets is not None and _open_brackets(line[: brackets.start()], brackets[0].strip()[0]) <= 0:
            return _StringEnd(begin + brackets.start(), begin + brackets.start())
        ahead = _BLANK.match(self.text, line_end, limit).end()  # type: ignore[union-attr]  # it always matches
        if ahead < len(self.text) and self.text[ahead] in _CLOSING:
            end = begin + len(line.rstrip())
            return _StringEnd(end, end)
        return None


def _structure_before(text: str, begin: int, at: int) -> int | None:
    """Where the structure before `at` begins: closing brackets, a comma, opening ones. None if there is none."""
    tail = begin + len(text[begin:at].rstrip(" \t\r\n{[｛［"))
    comma = tail > begin and text[tail - 1] in ",，"
    if not comma and not text[tail:at].strip():
        return None
    tail = begin + len(text[begin : tail - comma].rstrip(" \t\r\n}]｝］"))
    open_brackets = {closing: _open_brackets(text[begin:tail], closing) for closing in "]}"}
    while tail < at and open_brackets.get(text[tail], 0) > 0:
        open_brackets[text[tail]] -= 1
        tail += 1  # a bracket of the text itself: "f[x], "role":
    return tail


def _open_brackets(content: str, closing: str) -> int:
    """How many more brackets of the kind that `closing` closes are opened in the content than closed."""
    opening = "[" if closing == "]" else "{"
    return content.count(opening) - content.count(closing)


def _resolve_escapes(content: str) -> tuple[str, list[Step]]:
    """The text that the content of a string means, and a repair for each thing in it that JSON does not allow."""
    steps = [Step.CONTROL_CHARACTERS] if _CONTROL.search(content) else []
    if "\\" not in content:
        return content, steps

    def resolve(escape: re.Match[str]) -> str:
        code, character = escape.groups()
        if code is not None:
            return chr(int(code, 16))
        if character in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[character]
        steps.append(Step.INVALID_ESCAPES)
        return "'" if character == "'" else escape[0]

    # Two escapes of a surrogate pair become the one character that they mean.
    encoded = _ESCAPE.sub(resolve, content).encode("utf-16-le", "surrogatepass")
    try:
        return encoded.decode("utf-16-le"), steps
    except UnicodeDecodeError:
        return encoded.decode("utf-16-le", "replace"), [*steps, Step.LONE_SURROGATES]
