"""The structure around values: opening, missing and stray brackets, blanks and comments.

`Cursor` is the second layer of the tolerant reader, between `StringReader` and `ValueReader`.
"""

from __future__ import annotations

import re
from typing import Any

from goldgate.response.parsed import AnswerForm, Step
from goldgate.response.repeated_keys import join_pairs, put_parts
from goldgate.response.strings import DOUBLE_QUOTES, KEY_AHEAD, QUOTES, StepBudget, StringReader, lazy_pattern

BRACKETS = "[{｛［【"

# A bracket that could open an answer: behind it, blanks and comments aside, stands another bracket, a quotation
# mark, a key with its colon, or its own closing bracket. All others are prose.
_INSIDE = rf"[\[{{｛［【({QUOTES}]|\\\""
# Bounded: a bracket in a comment must not look at all the comments that follow. And taken at once: a comment that might
# also end where a later one ends would be tried in all ways, whose number doubles with each comment.
_REMARKS = r"(?:\s++|\\[nrt]|(?://|(?<=\s)\#)[^\n\]}]{0,400}\n|(?>/\*.{0,400}?\*/)){0,64}+"
_OPENING = lazy_pattern(
    rf"""
      [\[［]{_REMARKS}(?:{_INSIDE}|[\]］]|\Z)
    | [{{｛](?!\s*[{{｛]\s*[^\s{QUOTES}\[\]{{}}])               # {{{{ template }}}} is none
      {_REMARKS}(?:{_INSIDE}|[}}｝]|[^\W\d][\w./-]{{0,40}}\s{{0,8}}(?:[:：](?!//)|=>?(?!=))
        |[^\W\d][^{DOUBLE_QUOTES}{{}}\[\]\n]{{0,60}}[{QUOTES}]\s{{0,8}}[:：]|\Z)
    | 【\s{{0,8}}[{{｛{QUOTES}]
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKET = lazy_pattern(rf"[{re.escape(BRACKETS)}]")


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


# Structure in its ASCII form. 、 separates items in Chinese; 【】 are brackets to some models.
STRUCTURE = dict(zip("{}[],:｛｝［］【】，、；;：", "{}[],:{}[][],,,,:", strict=True))


_LISTS_OF_OBJECTS = ("events", "event_list", "arguments")  # words in them are remarks


class OpenContainer:
    """A container whose closing bracket has not come yet."""

    __slots__ = ("broken", "damages", "dotted", "key", "last", "lost", "parts", "quoted", "reopened", "sealed", "value")

    def __init__(self, value: Any, damages: int) -> None:
        self.value = value  # a list or a dict
        self.damages = damages  # how many there were in the text before
        self.broken = False  # text was left out in it: what follows may belong elsewhere, and is not taken
        self.lost = False  # it began behind such a place
        self.dotted = False  # for a list: whether one of its strings has dots
        self.parts: list[dict[str, Any]] = []  # for a dict: what stands before a key that came again
        self.key: str | None = None  # for a dict: the key whose value is being read
        self.last: str | None = None  # for a dict: the key whose value was read last
        self.sealed = 0  # for a list: how many items stand before text that was left out
        self.reopened = 0  # for a dict that was closed and goes on: how many keys stand before its closing bracket
        self.quoted = False  # for a list: whether an item of it was in quotation marks

    def put(self, item: Any, *, belongs: bool = True) -> None:
        """Add an item, or the value of the key that is due one, unless it may not belong here."""
        if isinstance(self.value, list):
            if belongs:
                put_parts(self.value, item)
        elif self.key is not None:
            if belongs:
                self.value[self.key], self.last = item, self.key
            self.key = None

    def whole_value(self, form: AnswerForm, *, cut: bool = False) -> Any:
        """The value with its repeated keys joined; `cut`: it breaks off."""
        if not self.parts:
            return self.value
        return join_pairs([pair for part in (*self.parts, self.value) for pair in part.items()], form, cut=cut)

    @property
    def last_value(self) -> Any:
        """The value of a dict that was read last; None for a list."""
        return self.value.get(self.last) if isinstance(self.value, dict) else None

    def wrap_last(self) -> None:
        """Make the value that was read last a list of one."""
        self.value[self.last] = [self.value[self.last]]


_OBJECT = lazy_pattern(rf"[\s,，]*[{{｛]\s*({KEY_AHEAD.pattern})")
KEY_AFTER_COMMA = lazy_pattern(rf"\s*[,，]\s*({KEY_AHEAD.pattern})")
_OBJECT_GOES_ON = lazy_pattern(rf"\s*(?:[}}｝]|[,，]\s*{KEY_AHEAD.pattern})")
_CLOSERS = lazy_pattern(r"(?:\s*[}\]]){1,20}")
_COMMENT = lazy_pattern(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_DOTTED = lazy_pattern(r"[/#*\s]+(?:\.\.\.|…)")
_WORDS = lazy_pattern(rf"[^\n{QUOTES}\[\]{{}}｛｝［］【】,，:：;；]{{1,60}}(?=[,，;；}}\]｝］{{｛])")
# Where reading can go on after something unreadable.
_LANDMARK = lazy_pattern(
    rf"[}}\]｝］】]|[{{｛](?=\s*[{QUOTES}}}{{\[])|\[(?=\s*[{{\[{QUOTES}])|{KEY_AHEAD.pattern}|[,，](?=\s*[{QUOTES}{{\[])"
)
_INDENT = 200  # blanks before a place that are looked at for line breaks
FARTHEST_LANDMARK = 400  # characters that are skipped in search of one
_GAP = re.compile(r"[ \t\r\n]*+")
_MARKS = frozenset((*STRUCTURE, *QUOTES))  # neither blank nor the beginning of a comment


class Cursor(StringReader):
    """The place of one reading and the containers that are open there."""

    def __init__(self, text: str, start: int, limit: int, budget: StepBudget) -> None:
        super().__init__(text, start, limit, budget)
        self.stack: list[OpenContainer] = []
        self.after_value = False  # a value is complete: a comma or a closing bracket is due
        self.comma = -1  # where the comma stands that was read last, if nothing came after it

    def next_character(self) -> str | None:
        """Go to the next character that is neither blank nor in a comment; None at the limit."""
        at = _GAP.match(self.text, self.pos, self.limit).end()  # type: ignore[union-attr]  # it always matches
        if at < self.limit and self.text[at] in _MARKS:
            self.pos = at
            return self.text[at]
        self._skip_blanks(comments=self.is_json_without_doubt() or not (self.stack and self.stack[0].value))
        return self.text[self.pos] if self.pos < self.limit else None

    def leave_gap(self) -> None:
        """Note that something was left out here."""

    def _skip_blanks(self, *, comments: bool) -> None:
        """Go to the next character that is neither blank nor, if `comments`, in a comment."""
        while self.pos < self.limit:
            character = self.text[self.pos]
            if character in " \n\t\r":
                self.pos = self.behind_blanks(self.pos)
            elif character in "\ufeff\u200b" or character.isspace():
                self.pos += 1
            elif character == "\\" and self.text[self.pos + 1 : self.pos + 2] in ("n", "r", "t"):
                self.note(Step.LENIENT_SYNTAX, self.pos)  # an escape where a line break is meant
                self.pos += 2
            else:
                comment = self.match(_COMMENT, self.pos) if comments and character in "/#" else None
                if comment is None:
                    return
                self.note(Step.COMMENTS, self.pos)
                self.pos = comment.end()
                if self.stack and isinstance(self.stack[-1].value, dict) and _DOTTED.match(comment[0]):
                    self.leave_gap()  # "argument": /* ... */ "role": …

    def is_json_without_doubt(self) -> bool:
        """Whether what was read holds a key with its colon, or a container: then # begins a comment."""
        if len(self.stack) != 1:
            return len(self.stack) > 1
        outermost = self.stack[0]
        if outermost.parts:
            return True
        if isinstance(outermost.value, dict):
            return bool(outermost.value) or outermost.key is not None
        return bool(outermost.value) and isinstance(outermost.value[-1], (dict, list))

    def is_key_due(self) -> bool:
        """Whether the innermost container is an object that waits for its next key."""
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def is_list_of_words(self) -> bool:
        """Whether the innermost container is the list of a key, and may hold strings without any marks."""
        key, top = self.stack[-2].key if len(self.stack) > 1 else None, self.stack[-1]
        holds_containers = top.value and isinstance(top.value[-1], (dict, list))
        return not top.quoted and not holds_containers and key not in (None, *_LISTS_OF_OBJECTS)

    def is_value_due(self) -> bool:
        """Whether a key was read and its value was not."""
        return bool(self.stack) and self.stack[-1].key is not None

    def is_stray(self, bracket: str, depth: int) -> bool:
        """Whether the closing bracket before this place is one too many, though it would close all down to `depth`.

        It is, if what follows goes on with what the bracket would close.
        """
        top = self.stack[-1].value
        if bracket == "}" and depth < len(self.stack) - 1 and isinstance(top, list):
            # [{"role": …}}, {"role": …}]: the next object is of the kind that this list holds
            return _is_one_more(top, self.key_of_next_object()) or (
                self._closers_fit(self.stack) and not self._closers_fit(self.stack[:depth])
            )
        if len(self.stack) > 1:
            return False
        if bracket == "}":  # {"event_type": "A"}, "arguments": […]}
            following = self.match(KEY_AFTER_COMMA, self.pos)
            return following is not None and key_name(following[1]) not in top
        following = self.match(_OBJECT, self.pos)  # [{…}], {…}]
        return following is not None and following[0].lstrip()[0] in ",，" and _is_one_more(top, key_name(following[1]))

    def closes_unopened_list(self) -> bool:
        """Whether the `]` before this place ends a list of one object that was not opened: `"arguments": {…}]}`."""
        top = self.stack[-1]
        return (
            isinstance(top.last_value, dict) and top.key is None and self.match(_OBJECT_GOES_ON, self.pos) is not None
        )

    def line_breaks_before(self) -> int:
        """How many line breaks there are in the blanks before this place."""
        before = self.text[max(0, self.pos - _INDENT) : self.pos]
        return before[len(before.rstrip()) :].count("\n")

    def skip_words(self) -> bool:
        """Skip a few words between values of something that is JSON without doubt: `"x" (about)`, `{…}, and {…}`."""
        if not self.is_json_without_doubt() or self.is_value_due():
            return False  # [see above] is prose
        words = self.match(_WORDS, self.pos)
        if words is None:
            return False
        self.note(Step.SKIPPED_TEXT, self.pos)
        self.pos = words.end()
        return True

    def next_landmark(self) -> int:
        """Where structure begins again after something unreadable; -1 if that is not near, or in a new paragraph."""
        mark = _LANDMARK.search(self.text, self.pos + 1, min(self.limit, self.pos + 1 + FARTHEST_LANDMARK))
        return -1 if mark is None or "\n\n" in self.text[self.pos : mark.start()] else mark.start()

    def key_of_next_object(self) -> str | None:
        """The first key of the object ahead; None if none is."""
        following = self.match(_OBJECT, self.pos)
        return None if following is None else key_name(following[1])

    def _closers_fit(self, stack: list[OpenContainer]) -> bool:
        """Whether the closing brackets that follow close just what is open, innermost first."""
        run = self.match(_CLOSERS, self.pos)
        brackets = "" if run is None else "".join(run[0].split())
        expected = ["}" if isinstance(part.value, dict) else "]" for part in reversed(stack)]
        return list(brackets) == expected[: len(brackets)]


def key_name(written: str) -> str:
    """The name in `"key":`."""
    return written.rstrip(":：=> \t\r\n").strip(QUOTES + "\\")


def _is_one_more(items: Any, key: str | None) -> bool:
    """Whether an object that begins with this key is one of the kind that the list holds."""
    return bool(items) and isinstance(items[-1], dict) and key in items[-1]
