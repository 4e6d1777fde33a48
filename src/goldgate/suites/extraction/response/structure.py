"""The structure around values: opening, missing and stray brackets, blanks and comments, and the reading position."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from goldgate.core.text import LazyPattern
from goldgate.suites.extraction.response.parsed import Step
from goldgate.suites.extraction.response.strings import BLANK, DOUBLE_QUOTES, KEY_AHEAD, QUOTES, Note

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


# Structure in its ASCII form. 、 separates items in Chinese; 【】 are brackets to some models.
STRUCTURE = {
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


class OpenContainer:
    """A container whose closing bracket has not come yet."""

    __slots__ = ("key", "last", "value")

    def __init__(self, value: Any) -> None:
        self.value = value  # a list or a dict
        self.key: str | None = None  # for a dict: the key whose value is being read
        self.last: str | None = None  # for a dict: the key whose value was read last

    def put(self, item: Any) -> None:
        """Add an item, or the value of the key that is due one."""
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is not None:
            self.value[self.key] = item
            self.key, self.last = None, self.key

    @property
    def last_value(self) -> Any:
        """The value of a dict that was read last; None for a list."""
        return self.value.get(self.last) if isinstance(self.value, dict) else None

    def wrap_last(self) -> None:
        """Make the value that was read last a list of one."""
        self.value[self.last] = [self.value[self.last]]


class TextAhead(NamedTuple):
    """A text, from a place on."""

    text: str
    at: int
    limit: int

    def match(self, pattern: re.Pattern[str] | LazyPattern) -> re.Match[str] | None:
        return pattern.match(self.text, self.at, self.limit)


_OBJECT = re.compile(rf"[\s,，]*[{{｛]\s*({KEY_AHEAD.pattern})")
_KEY_AFTER_COMMA = LazyPattern(rf"\s*[,，]\s*({KEY_AHEAD.pattern})")
_OBJECT_GOES_ON = LazyPattern(rf"\s*(?:[}}｝]|[,，]\s*{KEY_AHEAD.pattern})")
_CLOSERS = re.compile(r"(?:\s*[}\]]){1,20}")


def is_stray(stack: list[OpenContainer], bracket: str, depth: int, ahead: TextAhead) -> bool:
    """Whether a closing bracket is one too many: what follows goes on with what it would close, down to `depth`."""
    top = stack[-1].value
    if bracket == "}" and depth < len(stack) - 1 and isinstance(top, list):
        # [{"role": …}}, {"role": …}]: the next object is of the kind that this list holds
        following = ahead.match(_OBJECT)
        if following is not None and _is_one_more(top, key_name(following.group(1))):
            return True
        return _closers_fit(stack, ahead) and not _closers_fit(stack[:depth], ahead)
    if len(stack) > 1:
        return False
    if bracket == "}":  # {"event_type": "A"}, "arguments": […]}
        following = ahead.match(_KEY_AFTER_COMMA)
        return following is not None and key_name(following.group(1)) not in top
    following = ahead.match(_OBJECT)  # [{…}], {…}]
    if following is None or following.group().lstrip()[0] not in ",，":
        return False
    return _is_one_more(top, key_name(following.group(1)))


def begins_another(top: OpenContainer, ahead: TextAhead) -> bool:
    """Whether the object ahead is of the same kind as the one that is open: its first key is one of that one's."""
    following = ahead.match(_OBJECT)
    return following is not None and key_name(following.group(1)) in top.value


def closes_unopened_list(top: OpenContainer, ahead: TextAhead) -> bool:
    """Whether `]` ends a list of one object that was not opened: `"arguments": {…}]}`."""
    return isinstance(top.last_value, dict) and top.key is None and ahead.match(_OBJECT_GOES_ON) is not None


def key_name(written: str) -> str:
    """The name in `"key":`."""
    return written.rstrip(":：=> \t\r\n").strip(QUOTES + "\\")


def _is_one_more(items: Any, key: str) -> bool:
    """Whether an object that begins with this key is one of the kind that the list holds."""
    return bool(items) and isinstance(items[-1], dict) and key in items[-1]


def _closers_fit(stack: list[OpenContainer], ahead: TextAhead) -> bool:
    """Whether the closing brackets that follow close just what is open, innermost first."""
    run = ahead.match(_CLOSERS)
    brackets = "" if run is None else "".join(run.group().split())
    wanted = ["}" if isinstance(part.value, dict) else "]" for part in reversed(stack)]
    return list(brackets) == wanted[: len(brackets)]


_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_WORDS = LazyPattern(rf"[^\n{QUOTES}\[\]{{}}｛｝［］【】,，:：;；]{{1,60}}(?=[,，;；}}\]｝］{{｛])")
# Where reading can go on after something unreadable.
_LANDMARK = LazyPattern(
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


_FEWEST_STEPS = 400  # of a short response
_CHARACTERS_A_STEP = 2
MOST_PLACES = 1_000  # repairs whose places are kept; every name is, whatever the number

_GAP = re.compile(r"[ \t\r\n]*+")
_MARKS = frozenset((*STRUCTURE, *QUOTES))  # neither blank nor the beginning of a comment


class StepBudget:
    """How much the tolerant reader may still try in a response, so that a hostile one costs no more than its length.

    A step is a mark or a value that is read by itself, a quotation mark that is looked past in vain, or a search for
    structure. Damaged answers of models take a step for ten characters or more.
    """

    __slots__ = ("failures", "steps")

    def __init__(self, length: int, failures: int = 0) -> None:
        self.steps = _FEWEST_STEPS + length // _CHARACTERS_A_STEP
        self.failures = failures  # values that may still be tried as they stand: each may look at all of the text


class Cursor:
    """The state of one reading."""

    def __init__(self, text: str, start: int, limit: int, budget: StepBudget) -> None:
        self.text = text
        self.pos = start
        self.limit = limit
        self.budget = budget
        self.places: list[tuple[Step, int]] = []
        self.noted: set[Step] = set()  # what was mended, once there are too many places
        self.stack: list[OpenContainer] = []
        self.after_value = False  # a value is complete: a comma or a closing bracket is due
        self.comma = -1  # where the comma stands that was read last, if nothing came after it

    def note(self, step: Step, at: int) -> None:
        """Keep what was mended, and where."""
        if len(self.places) >= MOST_PLACES:
            self.noted = self.noted or {step for step, _ in self.places}
            if step in self.noted:
                return
            self.noted.add(step)
        self.places.append((step, at))

    def note_all(self, places: list[tuple[Step, int]]) -> None:
        """Keep several repairs."""
        if len(self.places) + len(places) <= MOST_PLACES:
            self.places += places
        else:
            for step, at in places:
                self.note(step, at)

    def next_character(self) -> str | None:
        """Go to the next character that is neither blank nor in a comment; None at the limit."""
        at = _GAP.match(self.text, self.pos, self.limit).end()  # type: ignore[union-attr]  # matches nothing at least
        if at < self.limit and self.text[at] in _MARKS:
            self.pos = at
            return self.text[at]
        comments = self.is_json_without_doubt() or not (self.stack and self.stack[0].value)
        self.pos = skip_blanks(self.text, self.pos, self.limit, self.note, comments=comments)
        return self.text[self.pos] if self.pos < self.limit else None

    def is_json_without_doubt(self) -> bool:
        """Whether what was read holds a key with its colon, or a container: then # begins a comment."""
        if len(self.stack) != 1:
            return len(self.stack) > 1
        outermost = self.stack[0]
        if isinstance(outermost.value, dict):
            return bool(outermost.value) or outermost.key is not None
        return bool(outermost.value) and isinstance(outermost.value[-1], (dict, list))

    def is_key_due(self) -> bool:
        """Whether the innermost container is an object that waits for its next key."""
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def key_is_due_a_value(self) -> bool:
        """Whether a key was read and its value was not."""
        return bool(self.stack) and self.stack[-1].key is not None

    def ahead(self) -> TextAhead:
        """The text from here on."""
        return TextAhead(self.text, self.pos, self.limit)
