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
from typing import Any, Final

from goldgate.extraction.quoted import BLANK, QUOTES, Place, opens_string, read_quoted
from goldgate.extraction.repair_step import Step

MAX_DEPTH = 500  # events nest four deep; orjson itself stops at 1,024


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
    ";": ",",
    "；": ",",
}

_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.%])", re.ASCII)
_MORE_DIGITS = re.compile(r"\s?[,，]\d")  # 1,200 is one number to a person
_UNQUOTED = re.compile(r"(?:[^,，}\]｝］\n\"'“”{\[]|[,，](?=\d)){0,200}")
_ENDS_NUMBER = re.compile(r"\s*(?:[,，、;；}\]｝］】]|//|/\*|#|\Z)")
_ENDS_UNQUOTED = re.compile(
    rf"[}}\]｝］】]|[,，](?:\s*(?:[{QUOTES}}}\]｝］】]|\\\"|//|/\*|#|\Z|[^\W\d]\w{{0,40}}\s?[:：]))"
)
_WORDS = re.compile(rf"[^\n{QUOTES}\[\]{{}}｛｝［］【】,，:：;；]{{1,60}}(?=[,，;；}}\]｝］{{｛])")
_WORD = re.compile(r"-?[^\W\d]\w*")
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

_MAX_FAILURES = 12  # an answer broken in one place fails about four times, once a level
_SOUND_PART = 8_192  # characters; a larger part is read in smaller ones


def _not_json(constant: str) -> object:
    raise ValueError(constant)


# Decodes one value at a position and says where it ends; numbers whose text matters keep it.
_scan_sound = json.JSONDecoder(parse_float=NumberText, parse_int=number_text, parse_constant=_not_json).raw_decode

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

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
                steps.add(Step.SEMICOLONS if character == ";" else Step.FULLWIDTH_PUNCTUATION)
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
                if structure is None and character not in QUOTES:
                    if self._skip_text():
                        continue
                    return self._broken_off(Step.CUT_AT_ERROR)
                if structure == ":":
                    return self._broken_off(Step.CUT_AT_ERROR)
                steps.add(Step.MISSING_COMMAS)
                after_value = False
            after_comma = False
            if structure in ("{", "["):
                if len(self.stack) >= MAX_DEPTH:
                    return self._broken_off(Step.CUT_AT_ERROR)
                if self._is_key_due() and not self._close_forgotten():
                    return self._broken_off(Step.CUT_AT_ERROR)
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
                self.pos = self.limit
                return self._broken_off(Step.DROPPED_TRUNCATED_VALUE)
            if value is _UNREADABLE:
                if self._skip_text():
                    continue
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
                pos = BLANK.match(text, pos, limit).end()  # type: ignore[union-attr]  # matches nothing at least
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
        part = self.text[self.pos : min(self.limit, self.pos + _SOUND_PART)]
        try:
            value, length = _scan_sound(part)
        except (ValueError, RecursionError):
            self.failures += 1
            return False
        if _SURROGATE.search(part, 0, length):  # the slow way knows what to do with half a pair
            return False
        self.pos += length
        self.stack[-1].put(value)
        return True

    def _is_key_due(self) -> bool:
        top = self.stack[-1] if self.stack else None
        return top is not None and isinstance(top.value, dict) and top.key is None

    def _close_forgotten(self) -> bool:
        """Close an object of a list where the next one begins: `[{"a": 1, {"a": 2}]` lacks a bracket."""
        if len(self.stack) < 2 or not self.stack[-1].value or not isinstance(self.stack[-2].value, list):
            return False
        self.steps.add(Step.CLOSED_BRACKETS)
        closed = self.stack.pop()
        self.stack[-1].put(closed.value)
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
        key: object
        if opens_string(self.text, self.pos):
            key = self._read_string(Place.KEY)
        elif character in ".…":
            return None if self._skip_ellipsis() else Step.CUT_AT_ERROR
        else:
            word = _WORD.match(self.text, self.pos, self.limit)
            if word is None:
                return Step.CUT_AT_ERROR
            key = word.group()
            colon = BLANK.match(self.text, word.end(), self.limit).end()  # type: ignore[union-attr]  # as above
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
        if key in top.value:  # two objects run together: what follows must not mix with what came before
            self.steps.add(Step.REPEATED_KEYS)
            top.value.clear()
        top.key = str(key)
        return None

    def _read_scalar(self, character: str) -> object:
        text, limit = self.text, self.limit
        if opens_string(text, self.pos):
            return self._read_string(Place.VALUE if self._key_is_due_a_value() else Place.ITEM)
        if character in ".…":
            return _SKIPPED if self._skip_ellipsis() else _UNREADABLE
        in_object = self._key_is_due_a_value()
        number = _NUMBER.match(text, self.pos, limit)
        if number is not None:
            if number.end() == limit:
                return _TRUNCATED  # 12 may be the beginning of 1,200
            thousands = in_object and _MORE_DIGITS.match(text, number.end(), limit)
            if _ENDS_NUMBER.match(text, number.end(), limit) and not thousands:
                self.pos = number.end()
                return NumberText(number.group())
        word = _WORD.match(text, self.pos, limit)
        if word is not None and word.group() in _LITERALS:
            value, step = _LITERALS[word.group()]
            if step is not None:
                self.steps.add(step)
            self.pos = word.end()
            return value
        return self._read_unquoted() if in_object else _UNREADABLE

    def _read_unquoted(self) -> object:
        """A value without quotation marks, as it stands: `12%`, `1,200`. Only after a key: prose has brackets too."""
        bare = _UNQUOTED.match(self.text, self.pos, self.limit)
        assert bare is not None  # it matches nothing at least
        end = BLANK.match(self.text, bare.end(), self.limit).end()  # type: ignore[union-attr]  # as above
        if end == self.limit:
            return _TRUNCATED
        if not bare.group().strip() or not _ENDS_UNQUOTED.match(self.text, end, self.limit):
            return _UNREADABLE
        self.steps.add(Step.UNQUOTED_VALUES)
        self.pos = end
        return bare.group().strip()

    def _skip_text(self) -> bool:
        """Skip a few words between values of something that is JSON without doubt: `"x" (about)`, `{…}, and {…}`."""
        top = self.stack[-1]
        if isinstance(top.value, list) and not (top.value and isinstance(top.value[-1], (dict, list))):
            return False  # [see above] is prose
        if top.key is not None:
            return False
        words = _WORDS.match(self.text, self.pos, self.limit)
        if words is None:
            return False
        self.steps.add(Step.SKIPPED_TEXT)
        self.pos = words.end()
        return True

    def _skip_ellipsis(self) -> bool:
        for dots in ("...", "…"):
            if self.text.startswith(dots, self.pos):
                self.pos += len(dots)
                self.steps.add(Step.ELLIPSIS)
                return True
        return False

    def _read_string(self, place: Place) -> object:
        """The string that begins here, or `_TRUNCATED` if it breaks off."""
        text, self.pos = read_quoted(self.text, self.pos, self.limit, self.steps, place)
        return _TRUNCATED if text is None else text
