"""JSON read strictly, and by a tolerant reader that names each repair and its place, in one pass over the text.

Numbers are kept as their text where that is needed.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import orjson

from goldgate.core.value_text import NumberText, number_text
from goldgate.response.parsed import AnswerForm, JsonForm, Step, TolerantReading
from goldgate.response.repeated_keys import Parts, join_repeated_keys
from goldgate.response.strings import DOTS, GAP, ITEM_AHEAD, KEY_AHEAD, QUOTES, NoValue, Slot, StepBudget, lazy_pattern
from goldgate.response.structure import (
    FARTHEST_LANDMARK,
    STRUCTURE,
    Cursor,
    OpenContainer,
    key_name,
    opens_answer,
)

_ANY_FORM: AnswerForm = JsonForm()
MAX_DEPTH = 500  # events nest four deep; orjson itself stops at 1,024

_TUPLE = lazy_pattern(rf"\(\s*[{QUOTES}\[{{(]")
_OPENS_STRING = frozenset(QUOTES + "\\")
_JUNK = lazy_pattern(rf"[^{QUOTES}\[\]{{}},:.…]{{1,60}}[\[{{]")
_STRAY_MARK = lazy_pattern(r"""["'][ \t]*(?:[\]}]|[,，]\s*["'\[{\]}])""")
_MAX_FAILURES = 12  # an answer broken in one place fails about four times, once a level


def repair_value(
    text: str, start: int, limit: int, budget: StepBudget, form: AnswerForm = _ANY_FORM, *, unopened: bool = False
) -> TolerantReading:
    """Read one value from the bracket at `start`, not looking at `limit` or beyond, as far as the budget goes.

    `unopened`: the object's opening bracket is missing, and its first key stands at `start`.
    """
    reader = ValueReader(text, start, limit, budget, form)
    if unopened:
        reader.note(Step.OPENED_BRACKETS, start)
        reader.push({})
    return reader.read()


class ValueReader(Cursor):
    """Reads one value, mark by mark: the third layer of the tolerant reader."""

    def __init__(self, text: str, start: int, limit: int, budget: StepBudget, form: AnswerForm) -> None:
        super().__init__(text, start, limit, budget)
        self.form = form
        self.failures = 0  # containers that are not JSON as they stand
        self.result: TolerantReading | None = None  # once reading has ended

    def read(self) -> TolerantReading:
        while self.result is None:
            self.budget.steps -= 1
            if self.budget.steps < 0 and self.stack:
                self._break_off(Step.CUT_AT_ERROR)
            else:
                self._read_next()
        return self.result

    def _read_next(self) -> None:
        """Read the next mark of structure, or value with its key."""
        character = self.next_character()
        if character is None:
            dropped = self.is_value_due() or not self.stack[-1].value
            self._break_off(Step.DROPPED_TRUNCATED_VALUE if dropped else None)
            return
        structure = STRUCTURE.get(character)
        if structure is not None and structure != character:
            self.note(Step.SEMICOLONS if character == ";" else Step.FULLWIDTH_PUNCTUATION, self.pos)
        if self.after_value and self._has_ended(character, structure):
            self.note(Step.CLOSED_BRACKETS, self.pos)
            self._finish(self.stack[0].whole_value(self.form), complete=True)
        elif structure is None:
            self._read_unstructured(character)
        elif structure in "}]":
            self._close(structure)
        elif structure in "{[":
            self._open(structure)
        elif structure == ",":
            self._read_comma()
        elif self.is_value_due():
            self.note(Step.SKIPPED_TEXT, self.pos)  # "key":: "value"
            self.pos += 1
        else:
            self._find_landmark()

    def _read_unstructured(self, character: str) -> None:
        """Read what is not structure to JSON: a string, a bare value, a parenthesis, or words to be skipped."""
        if character == "(" and self._is_tuple():
            self.note(Step.TUPLES, self.pos)
            self._open("[")
        elif character == ")" and self.stack and isinstance(self.stack[-1].value, list):
            self._close("]")
        elif self.after_value and character not in _OPENS_STRING:
            self._skip_unreadable()
        else:
            self._read_key_or_value(character)

    def push(self, value: Any) -> None:
        """Open a container."""
        container = OpenContainer(value, self.damages)
        container.lost = bool(self.stack) and self.stack[-1].broken
        self.stack.append(container)

    def _put(self, value: Any, closed: OpenContainer | None = None) -> None:
        """Put a value, or the container that was `closed`, where it belongs; behind a gap only events are sure to."""
        top = self.stack[-1]
        belongs = not top.broken or (closed is not None and not closed.lost)
        top.put(value, belongs=belongs)
        if belongs:
            if closed is not None and closed.broken:
                top.sealed = len(top.value)
            return
        parts = next((each.value for each in reversed(self.stack) if not each.broken), None)
        if isinstance(parts, list):
            parts += [part for part in (value if isinstance(value, Parts) else [value]) if self.form.is_event(part)]

    def leave_gap(self) -> None:
        """Note that dots stand here, perhaps for brackets: what follows in the same event may be another one's."""
        stack, form = self.stack, self.form
        first = 1
        if isinstance(stack[0].value, dict):
            if stack[0].key in form.list_keys:
                first = 2
            elif form.part_keys and not form.flat:
                first = 0
        if not form.part_keys:  # any item of a list is a part of its own
            items = (at for at in range(len(stack) - 1, 0, -1) if isinstance(stack[at - 1].value, list))
            first = max(1, next(items, 1))
        for container in stack[first:]:
            container.broken = True
        stack[-1].sealed = len(stack[-1].value)

    def _finish(self, value: Any, *, complete: bool) -> None:
        self.result = TolerantReading(value, self.pos, self.places, complete)

    def _has_ended(self, character: str, structure: str | None) -> bool:
        """Whether the outermost bracket is missing: its last value ended with a line, and prose goes on."""
        if len(self.stack) != 1 or structure not in (None, "["):
            return False
        if character in _OPENS_STRING or (structure and opens_answer(self.text, self.pos, self.limit)):
            return False
        lines = self.line_breaks_before()
        return lines > 1 or (lines == 1 and not self.begins_bare_key())

    def _is_tuple(self) -> bool:
        """Whether a parenthesis opens a tuple: a value is due, and one of JSON's kinds follows."""
        due = self.is_value_due() or (isinstance(self.stack[-1].value, list) and not self.after_value)
        return due and self.match(_TUPLE, self.pos) is not None

    def _read_comma(self) -> None:
        if self.is_value_due():
            self.note(Step.MISSING_VALUES, self.pos)
            self._put(None)
        elif not self.after_value:
            self.note(Step.EXTRA_COMMAS, self.pos)
        ended_value, self.after_value, self.comma = self.after_value, False, self.pos
        self.pos += 1
        if ended_value:
            self._read_next()  # in the same step

    def _begin_value(self) -> None:
        """Note a comma that is missing before the key or value that begins here."""
        if self.after_value:
            self.note(Step.MISSING_COMMAS, self.pos)
        self.after_value, self.comma = False, -1

    def _open(self, bracket: str) -> None:
        """An opening bracket: a value begins, or one that was left open has ended."""
        self._begin_value()
        if len(self.stack) >= MAX_DEPTH:
            self._break_off(Step.CUT_AT_ERROR)
        elif self.is_key_due():
            self._open_for_key(bracket)
        elif self.stack and self._read_sound_part():
            self.after_value = True
        else:
            self.push({} if bracket == "{" else [])
            self.pos += 1

    def _open_for_key(self, bracket: str) -> None:
        """An opening bracket where a key is due: a bracket before it is missing."""
        top = self.stack[-1]
        outermost = len(self.stack) == 1
        if bracket == "[":
            self._find_landmark()
        elif isinstance(top.last_value, dict) and self.key_of_next_object() not in top.value:
            self._open_list_of_last()  # "arguments": {…}, {…}]: the list was not opened
        elif outermost and not top.value and not self.places:  # {{"a": 1}}
            self.note(Step.STRAY_BRACKETS, self.pos)
            self.pos += 1
        elif outermost and top.value:  # {"a": 1 {"a": 2}: two objects in a row, the first not closed
            self.note(Step.CLOSED_BRACKETS, self.pos)
            self._finish(top.whole_value(self.form), complete=True)
        elif not outermost and isinstance(self.stack[-2].value, list):  # [{"a": 1, {"a": 2}]
            self.note(Step.CLOSED_BRACKETS, self.pos)
            self.stack.pop()
            if whole := top.whole_value(self.form):
                self._put(whole, top)
        else:
            self._find_landmark()

    def _read_sound_part(self) -> bool:
        """Read the container that begins here the fast way, if it is JSON as it stands: most of a broken answer is.

        The number of failures and what each looks at are bounded, so that reading stays linear.
        """
        part = scan_part(self.text, self.pos, self.limit, self.form) if self.failures < _MAX_FAILURES else None
        if part is None:
            self.failures += 1
            return False
        if part[2]:
            self.note(Step.REPEATED_KEYS, self.pos)
        self._put(part[0])
        self.pos = part[1]
        return True

    def _close(self, bracket: str) -> None:
        """Close the innermost container that this bracket fits, and those left open inside it."""
        if self.comma >= 0:
            self.note(Step.TRAILING_COMMA, self.comma)
        self.after_value, self.comma = True, -1
        at, stack = self.pos, self.stack
        self.pos += 1
        if bracket == "]" and self.is_value_due():  # "arguments": ]
            self.note(Step.OPENED_BRACKETS, at)
            self._put([])
            return
        kind: type = dict if bracket == "}" else list
        depth = innermost = len(stack) - 1
        while depth >= 0 and type(stack[depth].value) is not kind:
            depth -= 1
        if bracket == "]" and depth < innermost and self.closes_unopened_list():
            self.note(Step.OPENED_BRACKETS, at)
            stack[-1].wrap_last()
        elif depth < 0 or self.is_stray(bracket, depth):
            self.note(Step.STRAY_BRACKETS, at)
        else:
            if depth < innermost:
                self.note(Step.CLOSED_BRACKETS, at)
            self._close_down_to(depth, at)

    def _close_down_to(self, depth: int, at: int) -> None:
        """Close the open containers from the innermost to the one at `depth`; reading ends with the outermost."""
        while len(self.stack) > depth:
            closed = self.stack.pop()
            if closed.key is not None:
                self.note(Step.MISSING_VALUES, at)
                closed.put(None, belongs=not closed.broken)
            value = closed.whole_value(self.form)
            if self.stack:
                self._put(value, closed)
            else:
                self._finish(value, complete=True)

    def _break_off(self, step: Step | None) -> None:
        """End reading here: keep what is complete, drop what is not, close what holds something."""
        if step is not None:
            self.note(step, self.pos)
        end = self.pos
        while self.text[end - 1].isspace():  # the bracket before it is not blank
            end -= 1
        self.note(Step.CLOSED_BRACKETS, end)
        value: list[Any] | dict[str, Any] | None = None
        while self.stack:
            closed = self.stack.pop()
            value = closed.whole_value(self.form, cut=True)
            if self.stack and value:
                self._put(value, closed)
        self._finish(value or None, complete=False)

    def _read_key_or_value(self, character: str) -> None:
        """Read a key, or a value that is not a container."""
        if self.after_value and self.match(_STRAY_MARK, self.pos):
            self.note(Step.SKIPPED_TEXT, self.pos)  # ["x" ", "y"]
            self.pos += 1
            return
        self._begin_value()
        opens_string = self.opens_string()
        if opens_string and isinstance(self.stack[-1].value, list):
            key = self.match(KEY_AHEAD, self.pos)
            if key is not None:
                self._put_key_in_list(key_name(key[0]))
        if self.is_key_due() and not self._goes_on_as_list():
            self._read_key(character)
            return
        top = self.stack[-1]
        slot = Slot.ITEM if top.key is None else Slot.VALUE
        if opens_string:
            top.quoted = True
            value: object = self._read_value_string(slot)
        else:
            bare = Slot.WORD if slot is Slot.ITEM and self.is_list_of_words() else slot
            value = self.read_bare(bare, surely=self.is_json_without_doubt())
        if value is NoValue.SKIPPED:
            self.leave_gap()
        if value is NoValue.TRUNCATED:
            self._break_off(Step.DROPPED_TRUNCATED_VALUE)
        elif value is NoValue.UNREADABLE:
            self.budget.steps -= 8
            self._skip_unreadable()
        else:
            if value is not NoValue.SKIPPED:
                self._put(value)
            self.after_value = True

    def _read_value_string(self, slot: Slot) -> str | NoValue:
        """The string that begins here; dots in it are a gap, unless it is written as a whole string is."""
        damages, start = self.damages, self.pos
        value = self.read_string(slot)
        if isinstance(value, str) and DOTS.search(value):
            self.stack[-1].dotted = True
            behind = self.behind_blanks(self.pos)
            is_closed = behind < self.limit and self.text[behind] in ",}]，｝］"
            if self.damages > damages or not is_closed or "\n" in self.text[start : self.pos]:
                self.leave_gap()
        return value

    def _goes_on_as_list(self) -> bool:
        """Whether a string where a key is due is one more value of the last key: `"argument": "x", "y"]`."""
        last = self.stack[-1].last_value
        item = self.match(ITEM_AHEAD, self.pos) if isinstance(last, str) else None
        if item is None or DOTS.search(last) or DOTS.search(item[0]) or last.count("[") > last.count("]"):
            return False
        self._open_list_of_last()
        return True

    def _open_list_of_last(self) -> None:
        """Make the last value of an object the first item of a list whose opening bracket is missing."""
        self.note(Step.OPENED_BRACKETS, self.pos)
        top = self.stack[-1]
        top.key = top.last
        self.push([top.last_value])

    def _put_key_in_list(self, key: str) -> None:
        """A key where an item is due: the list was not closed, or the object not opened, or closed too early."""
        top = self.stack[-1]
        last = top.value[-1] if len(top.value) > top.sealed else None
        if top.dotted:
            self.leave_gap()  # its closing bracket, perhaps
        in_object = len(self.stack) > 1 and isinstance(self.stack[-2].value, dict)
        repeats = isinstance(last, dict) and key in last
        if isinstance(last, dict) and not repeats and (not in_object or key in ("role", "argument")):
            self.note(Step.STRAY_BRACKETS, self.pos)  # [{"event_type": "A"}, "arguments": …
            self.push(top.value.pop())
            self.stack[-1].broken, self.stack[-1].lost = top.broken, False
            self.stack[-1].reopened = len(last)
        elif top.value and in_object and not repeats:
            self.note(Step.CLOSED_BRACKETS, self.pos)  # "arguments": [{…}, "trigger": …
            self.stack.pop()
            self._put(top.value, top)
        else:
            self.note(Step.OPENED_BRACKETS, self.pos)  # ["role": …
            self.push({})

    def _read_key(self, character: str) -> None:
        """Read `"key":` into the open object."""
        at = self.pos
        key: str | NoValue | None
        if self.opens_string():
            key = self.read_string(Slot.KEY)
        elif character in ".…":
            if self.read_bare(Slot.KEY, surely=True) is NoValue.SKIPPED:
                self.leave_gap()
            else:
                self._find_landmark()
            return
        else:
            key = self.read_bare_key()
        if key is None:
            self._find_landmark()
            return
        # Escapes of a whole key are its own; between marks that were escaped they are what they stand for.
        if isinstance(key, str) and GAP.search(key if self.text[at] == "\\" else self.text[at : self.pos]):
            self.leave_gap()
            if any(bracket in key for bracket in "{}[]"):
                self.pos = at + 1  # "x...}]}, {": the brackets are structure
                self._find_landmark()
                return
        if key is NoValue.TRUNCATED and self.pos < self.limit:  # it breaks off with its line
            self.leave_gap()
            self._find_landmark()
            return
        colon = None if key is NoValue.TRUNCATED else self.next_character()
        if colon is None:
            self._break_off(Step.DROPPED_TRUNCATED_VALUE)
        elif self._read_colon(colon):
            top = self.stack[-1]
            if key in top.value and not top.broken:
                self.note(Step.REPEATED_KEYS, at)
                self._begin_again(top)
                top = self.stack[-1]
            top.key = str(key)
            if self.next_character() == character and self._key_comes_again(top.key):  # "role": "role": "x"
                self.note(Step.MISSING_VALUES, self.pos)
                self.budget.steps -= 4
                top.key = None
                return
            self._read_next()  # its value, in the same step
        else:
            self._find_landmark()

    def _key_comes_again(self, key: str) -> bool:
        """Whether a key of the form, or this one again, stands where its value is due."""
        ahead = self.match(KEY_AHEAD, self.pos)
        return ahead is not None and key_name(ahead[0]) in (key, *self.form.keys)

    def _begin_again(self, top: OpenContainer) -> None:
        """A key comes again: what follows must not mix with what came before."""
        if top.reopened and not top.parts:  # another item: the bracket that is missing is its first one
            pairs = [*top.value.items()]
            top.value = dict(pairs[: top.reopened])
            self._put_item(dict(pairs[top.reopened :]))
        elif top.damages < self.damages and len(self.stack) > 1 and isinstance(self.stack[-2].value, list):
            self._put_item({})  # the bracket between two items is lost
        else:
            top.parts.append(top.value)
            top.value = {}

    def _put_item(self, following: dict[str, Any]) -> None:
        """End the item of a list that is open, and begin the next one."""
        top = self.stack.pop()
        self._put(top.whole_value(self.form), top)
        self.push(following)

    def _read_colon(self, character: str) -> bool:
        """Move behind what stands for the colon after a key; False if neither that nor a value stands here."""
        if character in ":：=":
            if character != ":":
                self.note(Step.EQUALS_SIGNS if character == "=" else Step.FULLWIDTH_PUNCTUATION, self.pos)
            self.pos += 2 if self.text.startswith("=>", self.pos) else 1
        elif character in QUOTES or STRUCTURE.get(character) in ("[", "{") or character in "-0123456789ntfN":
            self.note(Step.MISSING_COLONS, self.pos)
        else:
            return False
        return True

    def _skip_unreadable(self) -> None:
        """Skip a few words, or all up to the next structure; reading ends here if there is none near."""
        start = self.pos
        if not self.skip_words():
            self._find_landmark()
        elif DOTS.search(self.text, start, self.pos):
            self.leave_gap()

    def _find_landmark(self) -> None:
        """Go on at the next structure after something unreadable, or end reading here if there is none near."""
        mark = -1
        if self.is_json_without_doubt():
            mark = self.next_landmark()
            end = mark if mark >= 0 else self.pos + FARTHEST_LANDMARK
            self.budget.steps -= 4 + (end - self.pos) // 16 + self.text.count('"', self.pos, end) // 2
        if mark < 0:
            self._break_off(Step.CUT_AT_ERROR)
            return
        self.note(Step.SKIPPED_TEXT, self.pos)
        top = self.stack[-1]
        if top.dotted or DOTS.search(self.text, self.pos, mark):
            self.leave_gap()
        top.last = None
        if not (self.text[mark] in "{[" and self.match(_JUNK, self.pos)):  # "key": oops [
            top.key = None
        self.pos = mark
        self.after_value = STRUCTURE.get(self.text[mark]) in ("}", "]", ",")
        self.comma = -1


class DecodedValue(NamedTuple):
    """A value, and the text that it can be read from again (None where its numbers are texts already)."""

    value: Any
    source: str | None
    steps: tuple[Step, ...] = ()


def _not_json(constant: str) -> object:
    raise ValueError(constant)


_exact = json.JSONDecoder(parse_float=NumberText, parse_int=number_text, parse_constant=_not_json)
scan_exact = _exact.raw_decode  # one value at a position, and where it ends; numbers keep their text

# No JSON begins so: its first key stands in other marks, or no colon follows it.
_NOT_SOUND = lazy_pattern(r"""(?:\[[ \t\r\n]*+)*+\{[ \t\r\n]*+(?:[^"} \t\r\n]|"[^"\\]*+"[ \t\r\n]*+[^: \t\r\n])""")
_LONGEST_PART = 8_192  # characters; a larger part is read in smaller ones
# Dots in a key: no key has them, and they may stand for brackets.
_DOTTED_KEY = lazy_pattern(r'(?:\.\.\.|…)[^"\\]*+"\s*+:')
_SURROGATE = lazy_pattern(r"\\u[dD][89a-fA-F]")


def decode_answer(text: str, form: AnswerForm) -> DecodedValue | None:
    """The value of a JSON text, repeated keys joined, or None if it is not JSON. Blanks may stand around it."""
    decoded: DecodedValue | None
    try:
        decoded = DecodedValue(orjson.loads(text), text)
    except orjson.JSONDecodeError as error:
        # JSON that orjson does not read: `1e400` is a number, though no double holds it
        decoded = decode_exactly(text) if str(error).startswith("number is infinity") else None
    joined = None if decoded is None else join_repeated_keys(text, decoded.value, form)
    return decoded if joined is None else DecodedValue(joined, None, (Step.REPEATED_KEYS,))


def decode_exactly(text: str) -> DecodedValue | None:
    """The value of a JSON text with every number as its text, or None if it is not JSON."""
    try:
        value = _exact.decode(text)
    except (ValueError, RecursionError):
        return None
    return None if _has_lone_surrogate(text, value) else DecodedValue(value, None)


def with_number_texts(value: Any, source: str | None) -> Any:
    """The value with every number as its text: what is taken out of it has no source to read them from again."""
    decoded = None if source is None else decode_exactly(source)
    return value if decoded is None else decoded.value


def scan_json(text: str, start: int, limit: int) -> tuple[Any, int] | None:
    """The JSON value that begins at `start`, numbers as their text, and where it ends; None if it is not JSON.

    A failure may look at all of the text (and its error counts the lines): callers bound how many there are.
    """
    try:
        value, end = scan_exact(text, start)
    except (ValueError, RecursionError):
        return None
    return None if end > limit or _has_lone_surrogate(text[start:end], value) else (value, end)


def scan_part(text: str, start: int, limit: int, form: AnswerForm) -> tuple[Any, int, bool] | None:
    """What `scan_json` gives for a container of at most 8,192 characters, and whether repeated keys were joined.

    A failure looks at no more than these.
    """
    end = min(limit, start + _LONGEST_PART)
    if _NOT_SOUND.match(text, start, end) is not None:
        return None
    part = scan_json(text[start:end], 0, end - start)
    if part is None or (DOTS.search(text, start, start + part[1]) and _DOTTED_KEY.search(text, start, start + part[1])):
        return None
    joined = join_repeated_keys(text[start : start + part[1]], part[0], form)
    return (part[0] if joined is None else joined), start + part[1], joined is not None


def _has_lone_surrogate(text: str, value: Any) -> bool:
    """Whether an escape in the text left half of a surrogate pair in the value: no file can hold it."""
    if _SURROGATE.search(text) is None:
        return False
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False
