"""A tolerant JSON reader that says what it mended, in one pass over the text.

It reads what models write instead of JSON: trailing commas, Python literals, comments,
full-width punctuation, smart quotes, answers that break off. Three promises:

- it never invents: a value that breaks off is dropped, not guessed, and a container that
  broke off before its first value is dropped with it;
- it never changes the text inside a string;
- it never goes back: where reading fails, what was complete so far is the value, and the
  caller goes on after that place. So the time is linear in the text, whatever the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

MAX_DEPTH = 500  # events nest four deep; orjson itself stops at 1,024


class Step(StrEnum):
    """What was mended, by the name that stands in a sample's record and in the report."""

    CLOSED_BRACKETS = "closed_brackets"
    COMMENTS = "comments"
    CONTROL_CHARACTERS = "control_characters"
    CUT_AT_ERROR = "cut_at_error"
    DROPPED_TRUNCATED_VALUE = "dropped_truncated_value"
    ELLIPSIS = "ellipsis"
    ESCAPED_QUOTES = "escaped_quotes"
    EXTRA_COMMAS = "extra_commas"
    FULLWIDTH_PUNCTUATION = "fullwidth_punctuation"
    INVALID_ESCAPES = "invalid_escapes"
    JOINED_OBJECTS = "joined_objects"
    LENIENT_SYNTAX = "lenient_syntax"
    LONE_SURROGATES = "lone_surrogates"
    MISSING_COMMAS = "missing_commas"
    MISSING_VALUES = "missing_values"
    NON_FINITE_NUMBERS = "non_finite_numbers"
    PYTHON_LITERALS = "python_literals"
    SINGLE_QUOTES = "single_quotes"
    SMART_QUOTES = "smart_quotes"
    STRAY_BRACKETS = "stray_brackets"
    TRAILING_COMMA = "trailing_comma"
    UNQUOTED_KEYS = "unquoted_keys"
    UNESCAPED_QUOTES = "unescaped_quotes"
    UNWRAPPED_STRING = "unwrapped_string"


@dataclass(frozen=True, slots=True)
class NumberText:
    """A JSON number kept as the text it was written in: `1.10` stays `1.10`."""

    text: str


def number_text(text: str) -> int | NumberText:
    """An integer whose text can be made again from its value, or else the text."""
    return int(text) if len(text) < 19 and text != "-0" else NumberText(text)


@dataclass(slots=True)
class Reading:
    """What could be read from one opening bracket on."""

    value: Any  # a list, a dict, or None where nothing was complete
    end: int  # where reading stopped; the caller goes on from here
    steps: set[Step]
    complete: bool  # the outermost bracket was closed


# Structure in its ASCII form. 、 separates items in Chinese; 【】 are brackets to some models.
_STRUCTURE = {
    **{c: c for c in "{}[],:"},
    "｛": "{",
    "｝": "}",
    "［": "[",
    "］": "]",
    "【": "[",
    "】": "]",
    "，": ",",
    "、": ",",
    "：": ":",
}
_DOUBLE_QUOTES = '"“”„‟＂〝〞'
_SINGLE_QUOTES = "'‘’‚‛＇"
_QUOTES = _DOUBLE_QUOTES + _SINGLE_QUOTES
# Before this, a quotation mark closes its string; anything else makes it part of the text.
_AFTER_STRING = frozenset("}],:｝］】，、：/#")

_BLANK = re.compile(r"[\s\ufeff\u200b]*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_PLAIN_STRING = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\r\n]*(?=[,:}\]])')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.%])", re.ASCII)
_WORD = re.compile(r"-?[^\W\d]\w*")
_KEY_AHEAD = re.compile(r"[" + _QUOTES + r"][^" + _QUOTES + r"\\\n]{1,64}[" + _QUOTES + r"]\s{0,8}[:：]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: Final[dict[str, tuple[object, Step | None]]] = {
    "true": (True, None),
    "false": (False, None),
    "null": (None, None),
    "True": (True, Step.PYTHON_LITERALS),
    "False": (False, Step.PYTHON_LITERALS),
    "None": (None, Step.PYTHON_LITERALS),
    "undefined": (None, Step.PYTHON_LITERALS),
    "NaN": (None, Step.NON_FINITE_NUMBERS),
    "nan": (None, Step.NON_FINITE_NUMBERS),
    "Infinity": (None, Step.NON_FINITE_NUMBERS),
    "-Infinity": (None, Step.NON_FINITE_NUMBERS),
    "inf": (None, Step.NON_FINITE_NUMBERS),
}

# How many quotation marks inside a string are passed over in search of the one that closes it.
# The bound keeps the whole reading linear.
_MAX_INNER_QUOTES = 10

_MAX_FAILURES = 12  # an answer broken in one place fails about four times, once a level
_SOUND_PART = 8_192  # characters; a larger part is read in smaller ones


def _not_json(constant: str) -> object:
    raise ValueError(constant)


# Decodes one value at a position and says where it ends; numbers whose text matters keep it.
_scan_sound = json.JSONDecoder(parse_float=NumberText, parse_int=number_text, parse_constant=_not_json).raw_decode

_TRUNCATED: Final = object()
_UNREADABLE: Final = object()
_SKIPPED: Final = object()


class _Open:
    """A container whose closing bracket has not come yet."""

    __slots__ = ("key", "value")

    def __init__(self, value: list[Any] | dict[str, Any]) -> None:
        self.value = value
        self.key: str | None = None  # for a dict: the key whose value is being read

    def put(self, item: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is not None:
            self.value[self.key] = item
            self.key = None


def read_tolerantly(text: str, start: int, limit: int) -> Reading:
    """Read one value from the bracket at `start`, not looking at `limit` or beyond."""
    return _Reader(text, start, limit).read()


class _Reader:
    """One reading: a position that only grows, a stack of open containers, the steps taken."""

    def __init__(self, text: str, start: int, limit: int) -> None:
        self.text = text
        self.pos = start
        self.limit = limit
        self.steps: set[Step] = set()
        self.stack: list[_Open] = []
        self.failures = 0

    def read(self) -> Reading:
        steps = self.steps
        after_value = False  # a value is complete: a comma or a closing bracket is due
        after_comma = False
        while True:
            character = self._next()
            if character is None:
                return self._broken_off(Step.DROPPED_TRUNCATED_VALUE if self._key_is_due_a_value() else None)
            structure = _STRUCTURE.get(character)
            if structure is not None and structure != character:
                steps.add(Step.FULLWIDTH_PUNCTUATION)
            if structure in ("}", "]"):
                if after_comma:
                    steps.add(Step.TRAILING_COMMA)
                finished = self._close(structure)
                if finished is not None:
                    return finished
                after_value, after_comma = True, False
                continue
            if structure == ",":
                self.pos += 1
                if self._key_is_due_a_value():
                    steps.add(Step.MISSING_VALUES)
                    self.stack[-1].put(None)
                elif not after_value:
                    steps.add(Step.EXTRA_COMMAS)
                after_value, after_comma = False, True
                continue
            if after_value:
                if structure is None and character not in _QUOTES:
                    return self._broken_off(Step.CUT_AT_ERROR)
                if structure == ":":
                    return self._broken_off(Step.CUT_AT_ERROR)
                steps.add(Step.MISSING_COMMAS)
                after_value = False
            after_comma = False
            if structure in ("{", "["):
                if len(self.stack) >= MAX_DEPTH:
                    return self._broken_off(Step.CUT_AT_ERROR)
                if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
                    return self._broken_off(Step.CUT_AT_ERROR)  # a container where a key is due
                if self.stack and self._read_sound_part():
                    after_value = True
                    continue
                self.stack.append(_Open({} if structure == "{" else []))
                self.pos += 1
                continue
            top = self.stack[-1]
            if isinstance(top.value, dict) and top.key is None:
                problem = self._read_key(top, character)
                if problem is not None:
                    return self._broken_off(problem)
                continue
            value = self._read_scalar(character)
            if value is _TRUNCATED:
                return self._broken_off(Step.DROPPED_TRUNCATED_VALUE)
            if value is _UNREADABLE:
                return self._broken_off(Step.CUT_AT_ERROR)
            if value is not _SKIPPED:
                top.put(value)
            after_value = True

    def _next(self) -> str | None:
        """The next character that is neither blank nor in a comment, or None at the limit."""
        text, limit = self.text, self.limit
        pos = self.pos
        while pos < limit:
            character = text[pos]
            if character in " \n\t\r":
                pos = _BLANK.match(text, pos, limit).end()  # type: ignore[union-attr]  # matches nothing at least
                continue
            if character in "/#":
                comment = _COMMENT.match(text, pos, limit)
                if comment is None:
                    break
                self.steps.add(Step.COMMENTS)
                pos = comment.end()
                continue
            if character in "\ufeff\u200b" or character.isspace():
                pos += 1
                continue
            break
        self.pos = pos
        return text[pos] if pos < limit else None

    def _read_sound_part(self) -> bool:
        """Read the container that begins here the fast way, if it is sound JSON.

        Most of a broken answer is. The number of failures and what each looks at are bounded, so
        that reading stays linear.
        """
        if self.failures >= _MAX_FAILURES:
            return False
        try:
            value, length = _scan_sound(self.text[self.pos : min(self.limit, self.pos + _SOUND_PART)])
        except (ValueError, RecursionError):
            self.failures += 1
            return False
        self.pos += length
        self.stack[-1].put(value)
        return True

    def _key_is_due_a_value(self) -> bool:
        top = self.stack[-1] if self.stack else None
        return top is not None and top.key is not None

    def _close(self, bracket: str) -> Reading | None:
        """Close the innermost container that this bracket fits, and those left open inside it."""
        wanted: type = dict if bracket == "}" else list
        stack = self.stack
        self.pos += 1
        depth = len(stack) - 1
        while depth >= 0 and type(stack[depth].value) is not wanted:
            depth -= 1
        if depth < 0:
            self.steps.add(Step.STRAY_BRACKETS)
            return None
        if depth < len(stack) - 1:
            self.steps.add(Step.CLOSED_BRACKETS)
        while len(stack) > depth:
            closed = stack.pop()
            if closed.key is not None:
                self.steps.add(Step.MISSING_VALUES)
                closed.put(None)
            if not stack:
                return Reading(closed.value, self.pos, self.steps, complete=True)
            stack[-1].put(closed.value)
        return None

    def _broken_off(self, step: Step | None) -> Reading:
        """Reading ends here: keep what is complete, drop what is not, close what holds something."""
        if step is not None:
            self.steps.add(step)
        self.steps.add(Step.CLOSED_BRACKETS)
        stack = self.stack
        value: list[Any] | dict[str, Any] | None = None
        while stack:
            value = stack.pop().value
            if stack and value:
                stack[-1].put(value)
        return Reading(value or None, self.pos, self.steps, complete=False)

    def _read_key(self, top: _Open, character: str) -> Step | None:
        """Read `"key":` into the open object; the step to record if it cannot be read."""
        if character in _QUOTES or (character == "\\" and self.text.startswith('\\"', self.pos)):
            key = self._read_string(character)
        elif character in ".…":
            return None if self._skip_ellipsis() else Step.CUT_AT_ERROR
        else:
            word = _WORD.match(self.text, self.pos, self.limit)
            if word is None:
                return Step.CUT_AT_ERROR
            key = word.group()
            colon = _BLANK.match(self.text, word.end(), self.limit).end()  # type: ignore[union-attr]  # as above
            if colon >= self.limit or self.text[colon] not in ":：":
                return Step.CUT_AT_ERROR
            self.pos = colon
            self.steps.add(Step.UNQUOTED_KEYS)
        if key is _TRUNCATED:
            return Step.DROPPED_TRUNCATED_VALUE
        colon_character = self._next()
        if colon_character is None:
            return Step.DROPPED_TRUNCATED_VALUE
        if colon_character not in ":：":
            return Step.CUT_AT_ERROR
        if colon_character == "：":
            self.steps.add(Step.FULLWIDTH_PUNCTUATION)
        self.pos += 1
        top.key = str(key)
        return None

    def _read_scalar(self, character: str) -> object:
        text, limit = self.text, self.limit
        if character in _QUOTES or (character == "\\" and text.startswith('\\"', self.pos)):
            return self._read_string(character)
        if character in ".…":
            return _SKIPPED if self._skip_ellipsis() else _UNREADABLE
        number = _NUMBER.match(text, self.pos, limit)
        if number is not None:
            if number.end() == limit:
                return _TRUNCATED  # 12 may be the beginning of 1,200
            self.pos = number.end()
            return NumberText(number.group())
        word = _WORD.match(text, self.pos, limit)
        if word is None:
            return _TRUNCATED if text[self.pos : limit] == "-" else _UNREADABLE
        if word.group() not in _LITERALS:
            at_end = word.end() == limit and any(name.startswith(word.group()) for name in _LITERALS)
            return _TRUNCATED if at_end else _UNREADABLE
        value, step = _LITERALS[word.group()]
        if step is not None:
            self.steps.add(step)
        self.pos = word.end()
        return value

    def _skip_ellipsis(self) -> bool:
        for dots in ("...", "…"):
            if self.text.startswith(dots, self.pos):
                self.pos += len(dots)
                self.steps.add(Step.ELLIPSIS)
                return True
        return False

    def _read_string(self, quote: str) -> object:
        """The string that begins here, or `_TRUNCATED` if it never ends."""
        plain = _PLAIN_STRING.match(self.text, self.pos, self.limit)
        if plain is not None:
            self.pos = plain.end()
            return plain.group(1)
        if quote == "\\":
            return self._read_escaped_string()
        begin = self.pos + 1
        end = self._end_of_string(begin, quote)
        if end < 0:
            self.pos = self.limit
            return _TRUNCATED
        if quote in _SINGLE_QUOTES:
            self.steps.add(Step.SINGLE_QUOTES if quote == "'" else Step.SMART_QUOTES)
        elif quote != '"':
            self.steps.add(Step.SMART_QUOTES)
        self.pos = end + 1
        return self._unescape(self.text[begin:end])

    def _read_escaped_string(self) -> object:
        begin = self.pos + 2
        end = self.text.find('\\"', begin, self.limit)
        if end < 0:
            self.pos = self.limit
            return _TRUNCATED
        self.steps.add(Step.ESCAPED_QUOTES)
        self.pos = end + 2
        return self._unescape(self.text[begin:end])

    def _end_of_string(self, begin: int, quote: str) -> int:
        """Where the string closes: at the first mark that something structural follows.

        If there is none near, it is the first mark of its kind; without any, -1.
        """
        closing = quote
        if quote != '"' and quote != "'":
            closing = _DOUBLE_QUOTES if quote in _DOUBLE_QUOTES else _SINGLE_QUOTES
        marks = _MARKS[closing]
        first, passed = -1, 0
        for mark in marks.finditer(self.text, begin, self.limit):
            at = mark.start()
            if self.text[at] == "\\":
                continue
            if self._closes(at + 1):
                if first >= 0:
                    self.steps.add(Step.UNESCAPED_QUOTES)
                return at
            if first < 0:
                first = at
            passed += 1
            if passed > _MAX_INNER_QUOTES:
                break
        return first

    def _closes(self, after: int) -> bool:
        """Whether what follows a quotation mark shows that it closed a string."""
        text, limit = self.text, self.limit
        ahead = _BLANK.match(text, after, limit).end()  # type: ignore[union-attr]  # matches nothing at least
        if ahead >= limit:
            return True
        following = text[ahead]
        if following in _AFTER_STRING:
            return True
        new_line = "\n" in text[after:ahead]
        if following in _QUOTES:
            return new_line or _KEY_AHEAD.match(text, ahead, limit) is not None
        return new_line and following in "{[｛［"

    def _unescape(self, content: str) -> str:
        if _CONTROL.search(content):
            self.steps.add(Step.CONTROL_CHARACTERS)
        if "\\" not in content:
            return content
        text = _ESCAPE.sub(self._escape, content)
        try:
            # Two \\u escapes of a surrogate pair become the one character that they mean.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            self.steps.add(Step.LONE_SURROGATES)
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text

    def _escape(self, escape: re.Match[str]) -> str:
        code, character = escape.groups()
        if code is not None:
            return chr(int(code, 16))
        if character in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[character]
        self.steps.add(Step.INVALID_ESCAPES)
        return "'" if character == "'" else escape.group()


_MARKS = {marks: re.compile(r"\\.|[" + marks + "]", re.DOTALL) for marks in ('"', "'", _DOUBLE_QUOTES, _SINGLE_QUOTES)}
