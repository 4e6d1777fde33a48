"""A tolerant JSON reader that names each repair and its place, in one pass over the text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from goldgate.suites.extraction.events.argument_text import NumberText
from goldgate.suites.extraction.response.decode import can_be_sound, scan_part
from goldgate.suites.extraction.response.parsed import Step, TolerantReading
from goldgate.suites.extraction.response.strings import (
    DOUBLE_QUOTES,
    ITEM_AHEAD,
    KEY_AHEAD,
    QUOTES,
    SKIPPED,
    TRUNCATED,
    UNOPENED_KEY,
    UNREADABLE,
    Slot,
    begins_bare_key,
    opens_string,
    read_bare,
    read_bare_key,
    read_quoted,
)
from goldgate.suites.extraction.response.structure import (
    FARTHEST_LANDMARK,
    STRUCTURE,
    Cursor,
    OpenContainer,
    StepBudget,
    begins_another,
    closes_unopened_list,
    is_stray,
    key_name,
    line_breaks_before,
    next_landmark,
    opens_answer,
    skip_words,
)

_SMART = DOUBLE_QUOTES[1:]
_GAP = r"[ \t\r\n]*+"
# What begins a key for certain: each is among the ways in which `quoted` sees one behind a comma.
_KEY_BEGINS = (
    r'"[^"\\\n]{1,100}"\s{0,8}[:：]'
    r"|'[^'\\\n]{1,100}'\s{0,8}[:：]"
    rf"|[{_SMART}][^{DOUBLE_QUOTES}\\\n]{{1,100}}[{DOUBLE_QUOTES}]\s{{0,8}}[:：]"
    r"|[^\W\d][\w/-]{0,40}\s?[:：=]"
)
# The groups: the key by the kind of its marks, the colon, the value by the kind of its marks, the comma.
_PAIR = re.compile(
    rf"""
    (?:"([^"“”\\\x00-\x1f]++)"{_GAP}
      |'([^'\\\x00-\x1f]++)'{_GAP}
      |[{_SMART}]([^{DOUBLE_QUOTES}\\\x00-\x1f]++)[{DOUBLE_QUOTES}]{_GAP}
      |(?!{UNOPENED_KEY})([^\W\d]\w{{0,40}})[ ]?
    )([:：]){_GAP}
    (?:"([^"\\\x00-\x1f]++)"
      |'([^'\\\x00-\x1f]++)'
      |[{_SMART}]([^{DOUBLE_QUOTES}\\\x00-\x1f]++)[{DOUBLE_QUOTES}]
      |(null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)
    ){_GAP}
    (?:([,，]){_GAP}(?={_KEY_BEGINS}|[{{}}\]])|(?=[}}\]]))
    """,
    re.VERBOSE,
)
# From the end of an object in a list into the next one; blanks of other kinds are the reader's.
NEXT_OBJECT = re.compile(rf"\}}{_GAP}([,，]){_GAP}(\{{){_GAP}(?![\\\s\ufeff\u200b])")
_COLON, _IN_SINGLE, _IN_SMART, _COMMA = 5, 7, 8, 10
# Members of an enumeration are slow to look up.
_SINGLE_QUOTES, _SMART_QUOTES = Step.SINGLE_QUOTES, Step.SMART_QUOTES
_UNQUOTED_KEYS, _FULLWIDTH = Step.UNQUOTED_KEYS, Step.FULLWIDTH_PUNCTUATION


class PlainPairs(NamedTuple):
    """Where reading goes on behind plain pairs, where the comma stands that the last one ends with (or -1), repairs."""

    end: int
    comma: int
    places: list[tuple[Step, int]]


def read_pairs(text: str, start: int, limit: int, into: OpenContainer) -> PlainPairs | None:
    """Read the plain pairs from `start` on, where a key is due, into an open object; None if there are none."""
    pos, comma = start, -1
    places: list[tuple[Step, int]] = []
    value = into.value
    while (pair := _PAIR.match(text, pos, limit)) is not None:
        double, single, smart, bare, colon, in_double, in_single, in_smart, literal, ends = pair.groups()
        key = double or single or smart or bare
        if key in value:
            break  # two objects run together, perhaps
        if double is None:
            places.append((_SINGLE_QUOTES if single else _SMART_QUOTES if smart else _UNQUOTED_KEYS, pos))
        if colon != ":":
            places.append((_FULLWIDTH, pair.start(_COLON)))
        if in_double is not None:
            value[key] = in_double
        elif in_single is not None:
            places.append((_SINGLE_QUOTES, pair.start(_IN_SINGLE) - 1))
            value[key] = in_single
        elif in_smart is not None:
            places.append((_SMART_QUOTES, pair.start(_IN_SMART) - 1))
            value[key] = in_smart
        else:
            value[key] = None if literal == "null" else NumberText(literal)
        into.last = key
        pos = pair.end()
        if ends is None:
            return PlainPairs(pos, -1, places)
        comma = pair.start(_COMMA)
        if ends != ",":
            places.append((_FULLWIDTH, comma))
    return PlainPairs(pos, comma, places) if comma >= 0 else None


MAX_DEPTH = 500  # events nest four deep; orjson itself stops at 1,024

_TUPLE = re.compile(rf"\(\s*[{QUOTES}\[{{(]")
_MAX_FAILURES = 12  # an answer broken in one place fails about four times, once a level


def repair_value(text: str, start: int, limit: int, budget: StepBudget, *, unopened: bool = False) -> TolerantReading:
    """Read one value from the bracket at `start`, not looking at `limit` or beyond, as far as the budget goes.

    `unopened`: the object's opening bracket is missing, and its first key stands at `start`.
    """
    return _Reader(text, start, limit, budget, at_once=True).read(unopened=unopened)


def slow_repair_value(
    text: str, start: int, limit: int, budget: StepBudget, *, unopened: bool = False
) -> TolerantReading:
    """The rule: what `repair_value` says of any text, but for the steps that it takes from the budget."""
    return _Reader(text, start, limit, budget, at_once=False).read(unopened=unopened)


class _Reader(Cursor):
    """One reading."""

    def __init__(self, text: str, start: int, limit: int, budget: StepBudget, *, at_once: bool) -> None:
        super().__init__(text, start, limit, budget)
        self.at_once = at_once  # what is plain is read in one step
        self.failures = 0
        self.mixed = False  # strings are opened with one kind of mark and closed with another

    def read(self, *, unopened: bool = False) -> TolerantReading:
        if unopened:
            self.note(Step.OPENED_BRACKETS, self.pos)
            self.stack.append(OpenContainer({}))
        finished: TolerantReading | None = None
        while True:
            self.budget.steps -= 1
            if self.budget.steps < 0 and self.stack:
                return self._broken_off(Step.CUT_AT_ERROR)
            character = self.next_character()
            if character is None:
                dropped = self.key_is_due_a_value() or not self.stack[-1].value
                return self._broken_off(Step.DROPPED_TRUNCATED_VALUE if dropped else None)
            structure = STRUCTURE.get(character)
            if structure is not None and structure != character:
                self.note(Step.SEMICOLONS if character == ";" else Step.FULLWIDTH_PUNCTUATION, self.pos)
            if self.after_value and self._has_ended(structure):
                self.note(Step.CLOSED_BRACKETS, self.pos)
                return TolerantReading(self.stack[0].value, self.pos, self.places, complete=True)
            if structure in ("}", "]"):
                finished = self._close(structure)
            elif structure == ",":
                self._comma()
            elif structure in ("{", "["):
                finished = self._open(structure)
            elif character == "(" and self._is_tuple():
                self.note(Step.TUPLES, self.pos)
                finished = self._open("[")
            elif character == ")" and self.stack and isinstance(self.stack[-1].value, list):
                finished = self._close("]")
            elif self.after_value and structure is None and character not in QUOTES + "\\":
                finished = None if self._skip_text() else self._find_landmark()
            elif structure == ":" and self.key_is_due_a_value():
                self.note(Step.SKIPPED_TEXT, self.pos)  # "key":: "value"
                self.pos += 1
            elif structure == ":":
                finished = self._find_landmark()
            else:
                finished = self._read_next(character)
            if finished is not None:
                return finished

    def _has_ended(self, structure: str | None) -> bool:
        """Whether the outermost bracket is missing: its last value ended with a line, and prose goes on."""
        if len(self.stack) != 1 or structure not in (None, "["):
            return False
        if self.text[self.pos] in QUOTES + "\\" or (structure and opens_answer(self.text, self.pos, self.limit)):
            return False
        lines = line_breaks_before(self.text, self.pos)
        return lines > 1 or (lines == 1 and not begins_bare_key(self.text, self.pos, self.limit))

    def _is_tuple(self) -> bool:
        """Whether a parenthesis opens a tuple: a value is due, and one of JSON's kinds follows."""
        due = self.key_is_due_a_value() or (isinstance(self.stack[-1].value, list) and not self.after_value)
        return due and _TUPLE.match(self.text, self.pos, self.limit) is not None

    def _comma(self) -> None:
        if self.key_is_due_a_value():
            self.note(Step.MISSING_VALUES, self.pos)
            self.stack[-1].put(None)
        elif not self.after_value:
            self.note(Step.EXTRA_COMMAS, self.pos)
        self.after_value, self.comma = False, self.pos
        self.pos += 1

    def _open(self, bracket: str) -> TolerantReading | None:
        """An opening bracket: a value begins, or one that was left open has ended."""
        if self.after_value:
            self.note(Step.MISSING_COMMAS, self.pos)
        self.after_value, self.comma = False, -1
        if len(self.stack) >= MAX_DEPTH:
            return self._broken_off(Step.CUT_AT_ERROR)
        if self.is_key_due():
            return self._open_for_key(bracket)
        if self.stack and self._read_sound_part():
            self.after_value = True
            return None
        self.stack.append(OpenContainer({} if bracket == "{" else []))
        self.pos += 1
        return None

    def _open_for_key(self, bracket: str) -> TolerantReading | None:
        """An opening bracket where a key is due: a bracket before it is missing."""
        top = self.stack[-1]
        if bracket == "[":
            return self._find_landmark()
        if isinstance(top.last_value, dict) and not begins_another(top, self.ahead()):
            # "arguments": {…}, {…}]: the list was not opened
            self._open_list_of_last(top)
        elif not top.value and len(self.stack) == 1 and not self.places:  # {{"a": 1}}
            self.note(Step.STRAY_BRACKETS, self.pos)
            self.pos += 1
        elif len(self.stack) == 1 and top.value:  # {"a": 1 {"a": 2}: two objects in a row, the first not closed
            self.note(Step.CLOSED_BRACKETS, self.pos)
            return TolerantReading(top.value, self.pos, self.places, complete=True)
        elif len(self.stack) > 1 and isinstance(self.stack[-2].value, list):  # [{"a": 1, {"a": 2}]
            self.note(Step.CLOSED_BRACKETS, self.pos)
            closed = self.stack.pop()
            if closed.value:
                self.stack[-1].put(closed.value)
        else:
            return self._find_landmark()
        return None

    def _read_sound_part(self) -> bool:
        """Read what is sound JSON of the container that begins here the fast way: most of a broken answer is.

        The number of failures and what each looks at are bounded, so that reading stays linear.
        """
        part = scan_part(self.text, self.pos, self.limit) if self.failures < _MAX_FAILURES else None
        is_sound = part is not None and part.sound
        self.failures += not is_sound
        if part is None or not (is_sound or (self.at_once and self.failures < _MAX_FAILURES)):
            return False
        if is_sound:
            self.stack[-1].put(part.value)
        else:
            self.stack.append(OpenContainer(part.value))
        self.pos = part.end
        return True

    def _close(self, bracket: str) -> TolerantReading | None:
        """Close the innermost container that this bracket fits, and those left open inside it."""
        if self.comma >= 0:
            self.note(Step.TRAILING_COMMA, self.comma)
        self.after_value, self.comma = True, -1
        if bracket == "]" and self.key_is_due_a_value():  # "arguments": ]
            self.note(Step.OPENED_BRACKETS, self.pos)
            self.stack[-1].put([])
            self.pos += 1
            return None
        wanted: type = dict if bracket == "}" else list
        stack, at = self.stack, self.pos
        self.pos += 1
        top = stack[-1]
        if type(top.value) is wanted and top.key is None and len(stack) > 1:  # it fits: no rule has more to say
            stack.pop()
            stack[-1].put(top.value)
            return None
        depth = len(stack) - 1
        while depth >= 0 and type(stack[depth].value) is not wanted:
            depth -= 1
        if bracket == "]" and depth < len(stack) - 1 and closes_unopened_list(stack[-1], self.ahead()):
            self.note(Step.OPENED_BRACKETS, at)
            stack[-1].wrap_last()
            return None
        if depth < 0 or is_stray(stack, bracket, depth, self.ahead()):
            self.note(Step.STRAY_BRACKETS, at)
            return None
        if depth < len(stack) - 1:
            self.note(Step.CLOSED_BRACKETS, at)
        while len(stack) > depth:
            closed = stack.pop()
            if closed.key is not None:
                self.note(Step.MISSING_VALUES, at)
                closed.put(None)
            if not stack:
                return TolerantReading(closed.value, self.pos, self.places, complete=True)
            stack[-1].put(closed.value)
        return None

    def _broken_off(self, step: Step | None) -> TolerantReading:
        """Reading ends here: keep what is complete, drop what is not, close what holds something."""
        if step is not None:
            self.note(step, self.pos)
        end = self.pos
        while self.text[end - 1].isspace():  # the bracket before it is no blank
            end -= 1
        self.note(Step.CLOSED_BRACKETS, end)
        stack = self.stack
        value: list[Any] | dict[str, Any] | None = None
        while stack:
            value = stack.pop().value
            if stack and value:
                stack[-1].put(value)
        return TolerantReading(value or None, self.pos, self.places, complete=False)

    def _read_next(self, character: str) -> TolerantReading | None:
        """Read a key, or a value that is no container."""
        if self.after_value:
            self.note(Step.MISSING_COMMAS, self.pos)
        self.after_value, self.comma = False, -1
        top = self.stack[-1]
        if isinstance(top.value, list) and opens_string(self.text, self.pos):
            key = KEY_AHEAD.match(self.text, self.pos, self.limit)
            if key is not None:
                self._key_in_list(key_name(key.group()))
                top = self.stack[-1]
        if isinstance(top.value, dict) and top.key is None:
            if self.at_once and not self.mixed and self._read_pairs():
                return None
            if not self._goes_on_as_list(top):
                return self._read_key(top, character)
        top = self.stack[-1]
        slot = Slot.ITEM if top.key is None else Slot.VALUE
        if opens_string(self.text, self.pos):
            value = self._read_string(slot)
        else:
            surely = self.is_json_without_doubt()
            value, self.pos = read_bare(self.text, self.pos, self.limit, self.note, slot, surely=surely)
        if value is TRUNCATED:
            return self._broken_off(Step.DROPPED_TRUNCATED_VALUE)
        if value is UNREADABLE:
            self.budget.steps -= 8
            return None if self._skip_text() else self._find_landmark()
        if value is not SKIPPED:
            top.put(value)
        self.after_value = True
        return None

    def _read_pairs(self) -> bool:
        """Read plain pairs in one step each, if some begin here, and those of the objects that follow in a list."""
        start = self.pos
        while (pairs := read_pairs(self.text, self.pos, self.limit, self.stack[-1])) is not None:
            self.pos, self.comma = pairs.end, pairs.comma
            self.note_all(pairs.places)
            self.after_value = self.comma < 0
            if not self.after_value or not self._goes_to_next_object():
                break
        return self.pos > start

    def _goes_to_next_object(self) -> bool:
        """Go from the end of an object in a list into the next one, if that is the next thing and is not sound."""
        following = NEXT_OBJECT.match(self.text, self.pos, self.limit)
        if following is None or len(self.stack) < 2 or not isinstance(self.stack[-2].value, list):
            return False
        closed = self.stack.pop()
        self.stack[-1].put(closed.value)
        self.pos, self.comma, self.after_value = following.start(2), following.start(1), False
        if following[1] != ",":
            self.note(Step.FULLWIDTH_PUNCTUATION, self.comma)
        if self.failures < _MAX_FAILURES and can_be_sound(self.text, self.pos, self.limit):
            return False
        self.failures += 1
        self.stack.append(OpenContainer({}))
        self.pos, self.comma = following.end(), -1
        return True

    def _goes_on_as_list(self, top: OpenContainer) -> bool:
        """Whether a string where a key is due is one more value of the last key: `"argument": "x", "y"]`."""
        if not isinstance(top.last_value, str) or ITEM_AHEAD.match(self.text, self.pos, self.limit) is None:
            return False
        self._open_list_of_last(top)
        return True

    def _open_list_of_last(self, top: OpenContainer) -> None:
        """Make the last value of an object the first item of a list whose opening bracket is missing."""
        self.note(Step.OPENED_BRACKETS, self.pos)
        top.key = top.last
        self.stack.append(OpenContainer([top.last_value]))

    def _key_in_list(self, key: str) -> None:
        """A key where an item is due: the list was not closed, or the object not opened, or closed too early."""
        top = self.stack[-1]
        parent = self.stack[-2].value if len(self.stack) > 1 else None
        last = top.value[-1] if top.value else None
        in_object = isinstance(parent, dict)
        if isinstance(last, dict) and key not in last and (not in_object or key in ("role", "argument")):
            self.note(Step.STRAY_BRACKETS, self.pos)  # [{"event_type": "A"}, "arguments": …
            self.stack.append(OpenContainer(top.value.pop()))
        elif top.value and in_object and not (isinstance(last, dict) and key in last):
            self.note(Step.CLOSED_BRACKETS, self.pos)  # "arguments": [{…}, "trigger": …
            self.stack.pop()
            self.stack[-1].put(top.value)
        else:
            self.note(Step.OPENED_BRACKETS, self.pos)  # ["role": …
            self.stack.append(OpenContainer({}))

    def _read_key(self, top: OpenContainer, character: str) -> TolerantReading | None:
        """Read `"key":` into the open object."""
        key: object
        at = self.pos
        if opens_string(self.text, at):
            key = self._read_string(Slot.KEY)
            if key is TRUNCATED:
                return self._broken_off(Step.DROPPED_TRUNCATED_VALUE)
        elif character in ".…":
            value, self.pos = read_bare(self.text, at, self.limit, self.note, Slot.KEY, surely=True)
            return None if value is SKIPPED else self._find_landmark()
        else:
            bare = read_bare_key(self.text, at, self.limit, self.note)
            if bare is None:
                return self._find_landmark()
            key, self.pos = bare
        colon = self.next_character()
        if colon is None:
            return self._broken_off(Step.DROPPED_TRUNCATED_VALUE)
        if colon in ":：=":
            if colon != ":":
                self.note(Step.EQUALS_SIGNS if colon == "=" else Step.FULLWIDTH_PUNCTUATION, self.pos)
            self.pos += 2 if self.text.startswith("=>", self.pos) else 1
        elif colon in QUOTES or STRUCTURE.get(colon) in ("[", "{") or colon in "-0123456789ntfN":
            self.note(Step.MISSING_COLONS, self.pos)
        else:
            return self._find_landmark()
        if key in top.value:
            self.note(Step.REPEATED_KEYS, at)
            if key == next(iter(top.value)):
                top.value.clear()  # two objects run together: what follows must not mix with what came before
        top.key = str(key)
        return None

    def _skip_text(self) -> bool:
        """Skip a few words between values of something that is JSON without doubt: `"x" (about)`, `{…}, and {…}`."""
        top = self.stack[-1]
        if not self.is_json_without_doubt() or top.key is not None:
            return False  # [see above] is prose
        end = skip_words(self.text, self.pos, self.limit)
        if end == self.pos:
            return False
        self.note(Step.SKIPPED_TEXT, self.pos)
        self.pos = end
        return True

    def _find_landmark(self) -> TolerantReading | None:
        """Go on at the next structure after something unreadable, or end here if there is none near."""
        mark = -1
        if self.is_json_without_doubt():
            mark = next_landmark(self.text, self.pos, self.limit)
            end = mark if mark >= 0 else self.pos + FARTHEST_LANDMARK
            self.budget.steps -= 4 + (end - self.pos) // 16 + self.text.count('"', self.pos, end) // 2
        if mark < 0:
            return self._broken_off(Step.CUT_AT_ERROR)
        self.note(Step.SKIPPED_TEXT, self.pos)
        self.stack[-1].key = None
        self.pos = mark
        self.after_value = STRUCTURE.get(self.text[mark]) in ("}", "]", ",")
        self.comma = -1
        return None

    def _read_string(self, slot: Slot) -> object:
        """The string that begins here, or `TRUNCATED` if it breaks off."""
        start = self.pos
        text, self.pos, in_vain = read_quoted(self.text, start, self.limit, self.note, slot, mixed=self.mixed)
        self.budget.steps -= 2 * in_vain
        if text is not None and slot is Slot.KEY and self.text[start] == '"' and self.text[self.pos - 1] == "”":
            self.mixed = True
        return TRUNCATED if text is None else text
