"""The candidates for the answer: fenced blocks, and values from each bracket that could open one.

An answer may be wrapped in a JSON string, a tool call, or a list of lists: it is taken out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from goldgate.response.parsed import AnswerForm, Method, Step, TolerantReading
from goldgate.response.repair import decode_answer, repair_value, scan_json, with_number_texts
from goldgate.response.repeated_keys import join_repeated_keys
from goldgate.response.strings import KEY_AHEAD, QUOTES, StepBudget, lazy_pattern
from goldgate.response.structure import KEY_AFTER_COMMA, first_opening, next_opening

_CALLS = ("tool_calls", "function_call", "tool_call", "function")  # what holds a call
_PARAMETERS = ("arguments", "parameters", "input", "args")  # what holds the arguments of a call
_CANDIDATE_STEPS = 4  # what a candidate costs, beside a mark that is read
_CALL_KEYS = frozenset({*_CALLS, "name"})
_DEEPEST = 4  # {"tool_calls": [{"function": {"arguments": "…"}}]}


class UnwrappedAnswer(NamedTuple):
    """An answer that was taken out, and what had to be done."""

    value: Any
    steps: AbstractSet[Step]


def unwrap_string(text: str, form: AnswerForm) -> UnwrappedAnswer | None:
    """An answer that was encoded twice: a JSON string that holds JSON."""
    content = text.strip()
    if content[:1] not in ("[", "{"):
        return None
    decoded = decode_answer(content, form)
    if decoded is not None:
        value = with_number_texts(decoded.value, decoded.source)
        return UnwrappedAnswer(value, frozenset({Step.UNWRAPPED_STRING, *decoded.steps}))
    reading = repair_value(content, 0, len(content), StepBudget(len(content)), form)
    return None if reading.value is None else UnwrappedAnswer(reading.value, reading.steps | {Step.UNWRAPPED_STRING})


def unwrap_tool_call(value: Any, source: str | None, form: AnswerForm) -> UnwrappedAnswer | None:
    """The answer that is the argument of a tool call, `{"name": …, "arguments": {…}}`, or encoded under its key."""
    if isinstance(value, dict):
        for key in form.list_keys:
            inner = unwrap_string(value[key], form) if isinstance(value.get(key), str) else None
            if inner is not None and form.is_answer(inner.value):
                return inner
    if not any(map(_is_call, value if isinstance(value, list) else [value])):
        return None
    return _answer_of_calls(with_number_texts(value, source), form, _DEEPEST)


def flatten_answer(value: Any, source: str | None, form: AnswerForm) -> Any:
    """The answer with a list of lists of events made one list, or the only flat answer of a list; None for others."""
    if form.flat and isinstance(value, list) and len(value) == 1 and _is_flat(value[0], form):
        return with_number_texts(value, source)[0]
    if isinstance(value, dict):
        key = form.events_key(value)
        if key is None or list not in map(type, value[key]):
            return None
        value = with_number_texts(value, source)
        flat = _flatten(value[key])
        return {**value, key: flat} if flat and form.is_answer(flat) else None
    if not isinstance(value, list) or list not in map(type, value):
        return None
    flat = _flatten(value)
    if not flat or not form.is_answer(flat):
        return None  # another value is not decoded once more: it may be millions of lists
    return _flatten(with_number_texts(value, source))


def _is_flat(value: Any, form: AnswerForm) -> bool:
    """Whether an object is a flat answer without doubt: none of its keys is one of our own form's."""
    return isinstance(value, dict) and form.is_answer(value) and not (form.keys & value.keys())


def _flatten(items: list[Any]) -> list[Any]:
    """The items, with those of inner lists, however deep, in place of the lists."""
    flat: list[Any] = []
    rest = items[::-1]
    while rest:
        item = rest.pop()
        if isinstance(item, list):
            rest += item[::-1]
        else:
            flat.append(item)
    return flat


def events_of(value: Any, form: AnswerForm) -> list[Any]:
    """The events of an answer: the list itself, the list under its key, or the only event or flat answer."""
    key = form.events_key(value) if isinstance(value, dict) else None
    events = value if key is None else value[key]
    return events if isinstance(events, list) else [events]


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or _CALL_KEYS.isdisjoint(value):
        return False
    return any(key in value for key in _CALLS) or ("name" in value and any(key in value for key in _PARAMETERS))


def _answer_of_calls(value: Any, form: AnswerForm, depth: int) -> UnwrappedAnswer | None:
    """The answer of one call, or those of several joined; of several flat ones the first."""
    if depth == 0:
        return None
    if isinstance(value, list):
        parts = [part for item in value if (part := _answer_of_calls(item, form, depth - 1)) is not None]
        if len(parts) < 2 or (form.flat and form.is_answer(parts[0].value)):
            return parts[0] if parts else None
        events = [event for part in parts for event in events_of(part.value, form)]
        return UnwrappedAnswer(events, frozenset({Step.JOINED_OBJECTS}).union(*(part.steps for part in parts)))
    if not _is_call(value):
        return None
    for key in (*_CALLS, *_PARAMETERS):
        inner = value.get(key)
        answer: UnwrappedAnswer | None = UnwrappedAnswer(inner, frozenset())
        if key in _CALLS:
            answer = _answer_of_calls(inner, form, depth - 1)
        elif isinstance(inner, str):
            answer = unwrap_string(inner, form)
        if answer is not None and (form.is_answer(answer.value) or form.is_event(answer.value)):
            return UnwrappedAnswer(answer.value, answer.steps | {Step.UNWRAPPED_CALL})
    return None


@dataclass(slots=True, eq=False)
class Candidate:
    """A stretch of text that may be the answer, and what was read there."""

    start: int
    end: int
    method: str
    value: Any
    decoded: bool
    source: str | None = None
    places: list[tuple[Step, int]] = field(default_factory=list)
    complete: bool = True
    code: bool = False  # it stands in a block of a programming language
    unread: bool = False  # the rest of a text that takes too many steps
    continues: bool = False  # it is what follows in a value that could not be read to its end
    is_event: bool = False  # what its value is meant as: see `understand`
    is_answer: bool = False

    @property
    def reads(self) -> bool:
        """Whether it reads as events."""
        return self.is_event or self.is_answer

    def understand(self, form: AnswerForm) -> Candidate:
        """Ask the form what the value is meant as; once it is final, for the answer may cost as much as reading it."""
        self.is_event = self.decoded and form.is_event(self.value)
        self.is_answer = self.decoded and form.is_answer(self.value)
        return self

    def unwrap(self, value: Any, steps: AbstractSet[Step], form: AnswerForm) -> None:
        """Replace the value by one that was taken out of it."""
        self.value, self.source = value, None
        self.places = [*self.places, *((step, self.start) for step in sorted(steps))]
        self.understand(form)


_FENCE = lazy_pattern(r"(?:```+|~~~+)([^\s`~\[{｛［\"'“]*)")
_OPENING_FENCE = lazy_pattern(r"`{3,}\w*+[ \t]*+\n\s*+")
_CODE_LANGUAGES = frozenset(
    "python py python3 javascript js typescript ts java c cpp c++ c# cs csharp go rust ruby php perl r sql "
    "bash sh shell zsh console powershell html css xml swift kotlin scala lua matlab diff mermaid".split()
)
_FARTHEST_KEY = 81  # characters from where a mark below begins to the key behind it
_CALL = lazy_pattern(r"\((?<=\w\()\s*+[^\W\d]\w*+\s*+=(?![=>])")  # of Python: name(key=
# What a call may hold, as far as its end depends on it.
_IN_CALL = lazy_pattern(r"""\\.|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|[()]|\n[^\S\n]*+\n""", re.DOTALL)
_UNOPENED = lazy_pattern(
    rf"(?:\A|\n|[>\]#`:：,])\s{{0,80}}(?={KEY_AHEAD.pattern}\s{{0,8}}(?:[{QUOTES}\[{{\d-]|null\b))"
)
_INDENT = 40  # how many blanks may stand between the line's beginning and a fence
_QUOTED_BRACKET = lazy_pattern(r"(?:\"[\[{]\"|'[\[{]'|“[\[{]”|`[\[{]`)")
_ARGUMENTS = lazy_pattern(r"arguments[\"'“”]?\s*[:：=]\s*\Z")
_CONTINUATION = lazy_pattern(rf"\s*(?:[,，]\s*(?:{KEY_AHEAD.pattern}|[{{｛])|[\]}}］｝])")
_GOES_ON = lazy_pattern(rf"[\s}}\]｝］]*+[,，]\s*+(?:[{{｛]|{KEY_AHEAD.pattern})")
_MAX_FAILURES = 12  # values that do not decode as they stand: each may look at all of the text
_STRAY_CLOSER = lazy_pattern(r"\s*[\]}］｝]")
_LONGEST_LINE = 400  # characters before an answer that are searched for a bracket that encloses it


def find_candidates(text: str, form: AnswerForm) -> list[Candidate]:
    """What may be the answer, in the order of the text."""
    whole = whole_candidate(text, form)
    if whole is not None:
        return [whole]
    budget = StepBudget(len(text), _MAX_FAILURES)
    candidates: list[Candidate] = []
    for start, end, language in _stretches(text):
        stretch = _Stretch(text, start, end, language, form, budget)
        candidates += stretch.candidates()
        if budget.steps < 0:
            if not candidates or not candidates[-1].unread:
                candidates.append(_unread_rest(text, end, stretch.method))
            break
    for candidate in candidates:
        _unwrap_candidate(candidate, form)
    return candidates


def whole_candidate(text: str, form: AnswerForm) -> Candidate | None:
    """All of the text as one JSON value, or None if it is not one as it stands."""
    whole = decode_stretch(text, 0, len(text), Method.WHOLE, form)
    if whole is not None:
        _unwrap_candidate(whole, form)
    return whole


def unopened_object(text: str, candidates: list[Candidate], form: AnswerForm, *, any_object: bool) -> Candidate | None:
    """An object whose opening bracket is missing, from its first key on, outside all candidates.

    It must read as events; `any_object`: or at least be closed, where nothing else in the text decodes.
    """
    if not any_object and not form.flat and not any(f'{key}"' in text for key in form.part_keys):
        return None
    if len(candidates) == 1 and _is_all_there_is(text, candidates[0]):
        return None
    ends = [candidate.end for candidate in candidates]
    blanks = len(text) - len(text.lstrip())
    position = max(0, blanks - _FARTHEST_KEY)
    budget = StepBudget(len(text) // 2)
    while (mark := _UNOPENED.search(text, position)) is not None:
        start = mark.end()
        inside = bisect_right(ends, start)
        if inside < len(candidates) and candidates[inside].start <= start:
            position = candidates[inside].end
            continue
        call = _CALL.search(text, position, start)
        if call is not None:
            position = _end_of_call(text, call.end(), len(text))
            continue
        reading = repair_value(text, start, len(text), budget, form, unopened=True)
        value = reading.value
        reads = isinstance(value, dict) and (form.is_event(value) or form.is_answer(value))
        if reads or (any_object and value and reading.complete):
            candidate = Candidate(start, reading.end, Method.EMBEDDED, value, True, None, reading.places, False)
            return candidate.understand(form)
        if budget.steps < 0:
            return _unread_rest(text, reading.end, Method.EMBEDDED)
        position = reading.end
    return None


def _is_all_there_is(text: str, candidate: Candidate) -> bool:
    """Whether nothing but blanks and an opening fence stands outside: no key begins there."""
    before = text[: candidate.start].lstrip()
    return not text[candidate.end :].strip() and (not before or _OPENING_FENCE.fullmatch(before) is not None)


def _stretches(text: str) -> list[tuple[int, int, str | None]]:
    """The beginning and end of each fenced block, with its language, and of what is between two that is not blank."""
    stretches: list[tuple[int, int, str | None]] = []
    begin, language = 0, None  # language is None outside a fence
    quoted, counted = False, 0  # whether a quotation mark of the line is still open, up to where that was counted
    for fence in _FENCE.finditer(text):
        info = fence.group(1).lower()
        start, end = fence.span()
        line = text.rfind("\n", counted, start) + 1
        before = text[line or counted : start].replace("\\\\", "")
        quotes = before.count('"') - before.count('\\"')
        quoted, counted = (quoted and not line) ^ (quotes % 2 == 1), start
        if not _is_fence(text, begin, fence, opens=language is None or info != "", quoted=quoted):
            continue
        if not text[begin:start].isspace():
            stretches.append((begin, start, language))
        begin = end
        # A fence with a language always opens: ```json after an unclosed ``` is a new block.
        language = info if language is None or info else None
    if begin < len(text):
        stretches.append((begin, len(text), language))
    return stretches


def _is_fence(text: str, begin: int, fence: re.Match[str], *, opens: bool, quoted: bool) -> bool:
    """Whether these marks are a fence; in the middle of a line they may be part of a string."""
    start, end = fence.span()
    if text[end : end + 1] in ("", "\n", "\r"):
        return True
    before = text[max(begin, start - _INDENT) : start].rstrip(" \t")
    if not before or before[-1] == "\n":
        return True
    if quoted:
        return False
    if opens:
        return fence.group(1) != "" or text[end] in "[{｛［"
    return before[-1] in "]}］｝"


def decode_stretch(
    text: str, start: int, end: int, method: str, form: AnswerForm, *, code: bool = False
) -> Candidate | None:
    """The stretch as one JSON value, or None if it is not one as it stands."""
    content = text[start:end].strip()
    if content[:1] not in ("[", "{", '"'):
        return None
    decoded = decode_answer(content, form)
    if decoded is None:
        return None
    begin = text.index(content[0], start)
    stop = begin + len(content)
    if isinstance(decoded.value, str):
        inner = unwrap_string(decoded.value, form)
        if inner is None:
            return None
        places = [(step, begin) for step in sorted(inner.steps)]
        return Candidate(begin, stop, method, inner.value, True, None, places, code=code)
    places = [(step, begin) for step in decoded.steps]
    return Candidate(begin, stop, method, decoded.value, True, decoded.source, places, code=code)


class _Stretch:
    """A fenced block, with its language, or what is between two; then the language is None."""

    def __init__(
        self, text: str, start: int, end: int, language: str | None, form: AnswerForm, budget: StepBudget
    ) -> None:
        self.text, self.start, self.end = text, start, end
        self.method = Method.EMBEDDED if language is None else Method.FENCED
        self.code = language in _CODE_LANGUAGES
        self.form, self.budget = form, budget

    def candidates(self) -> list[Candidate]:
        """What may be the answer, in order."""
        if self.method == Method.FENCED and (whole := self._decode(self.start, self.end)) is not None:
            self.budget.steps -= _CANDIDATE_STEPS
            return [whole]
        opening = self._outside_calls(self.start, first_opening(self.text, self.start, self.end))
        if opening is None:
            return []
        value = self._value_to_last_bracket(opening.start())
        if value is None:
            return self._bracketed_values(opening)
        return [] if value.value == [] and self._is_argument_list(value.start) else [value]

    def _decode(self, start: int, end: int) -> Candidate | None:
        return decode_stretch(self.text, start, end, self.method, self.form, code=self.code)

    def _value_to_last_bracket(self, start: int) -> Candidate | None:
        """The value from the first bracket to the last one: prose after an answer seldom has brackets.

        None if it is not JSON or more follows; without a try if the brackets are not a pair, or if this is all of a
        stretch that was tried as a whole.
        """
        text, limit = self.text, self.end
        last = max(text.rfind("]", self.start, limit), text.rfind("}", self.start, limit)) + 1
        if text[start] + text[last - 1] not in ("[]", "{}"):
            return None
        was_tried = self.method == Method.FENCED or (self.start == 0 and limit == len(text))
        if was_tried and not text[self.start : start].strip() and not text[last:limit].strip():
            return None
        goes_on = KEY_AFTER_COMMA.match(text, last, limit) or first_opening(text, last, limit)
        return None if goes_on else self._decode(start, last)

    def _bracketed_values(self, opening: re.Match[str] | None) -> list[Candidate]:
        """The values from each outermost bracket that could open an answer, in order."""
        candidates: list[Candidate] = []
        unreadable: Candidate | None = None  # the last one: thousands of them say no more than one
        in_remains = False  # what follows may belong to an answer that could not be read to its end
        text, limit = self.text, self.end
        while opening is not None:
            start = opening.start()
            if _QUOTED_BRACKET.match(text, max(start - 1, 0), limit):  # the prose speaks of a bracket
                opening = self._outside_calls(start + 1, next_opening(text, start + 1, limit))
                continue
            reading = self._read_value(start)
            if self._goes_on(reading):
                places = [*reading.places, (Step.CUT_AT_ERROR, reading.end)]
                reading = TolerantReading(reading.value, reading.end, places, complete=False)
            if reading.value is None:
                places = reading.places
                unreadable = Candidate(start, reading.end, self.method, None, False, None, places, False, self.code)
            elif reading.value != [] or not (in_remains or self._is_argument_list(start)):
                candidates.append(self._tolerant_candidate(start, reading, continues=in_remains))
            in_remains = in_remains or (not reading.complete and Step.CUT_AT_ERROR in reading.steps)
            position = max(reading.end, start + 1)
            if self.budget.steps < 0:
                candidates.append(_unread_rest(text, position, self.method))
                break
            if reading.value is None:
                while position < limit and text[position] == text[start]:
                    position += 1  # a run of brackets is looked at once
            opening = self._outside_calls(position, next_opening(text, position, limit))
            if opening is not None and "\n\n" in text[position : opening.start()]:
                in_remains = False  # a new paragraph
        if unreadable is not None and unreadable.start >= (candidates[-1].end if candidates else 0):
            candidates.append(unreadable)
        return candidates

    def _goes_on(self, reading: TolerantReading) -> bool:
        """Whether a repaired list was closed too early: a comma and another object follow."""
        if not reading.complete or Step.CLOSED_BRACKETS not in reading.steps:
            return False
        value = reading.value
        is_list = isinstance(value, list) or (isinstance(value, dict) and self.form.events_key(value) is not None)
        return is_list and _GOES_ON.match(self.text, reading.end, self.end) is not None

    def _outside_calls(self, start: int, opening: re.Match[str] | None) -> re.Match[str] | None:
        """The first opening bracket from `opening` on that is outside of Python calls such as `f(key=[…])`."""
        while opening is not None and (call := _CALL.search(self.text, start, opening.start())) is not None:
            start = _end_of_call(self.text, call.end(), self.end)
            if start > opening.start():
                opening = next_opening(self.text, start, self.end)
        return opening

    def _read_value(self, start: int) -> TolerantReading:
        """The value from the bracket at `start`: as it stands, if it is JSON and what follows is not more of it."""
        text, limit = self.text, self.end
        self.budget.steps -= _CANDIDATE_STEPS
        sound = scan_json(text, start, limit) if self.budget.failures > 0 else None
        if sound is not None and sound[0] and not _CONTINUATION.match(text, sound[1], limit):
            value, end = sound
            joined = join_repeated_keys(text[start:end], value, self.form)
            if joined is None:
                return TolerantReading(value, end, [], complete=True)
            return TolerantReading(joined, end, [(Step.REPEATED_KEYS, start)], complete=True)
        self.budget.failures -= 1
        return repair_value(text, start, limit, self.budget, self.form)

    def _tolerant_candidate(self, start: int, reading: TolerantReading, *, continues: bool) -> Candidate:
        """A candidate for what the tolerant reader read; it counts as sound only if it decodes as it stands."""
        value, end, source, places = reading.value, reading.end, None, reading.places
        if not places:
            sound = decode_answer(self.text[start:end], self.form)
            if sound is not None:
                value, source = sound.value, sound.source
            else:  # such as a space that JSON does not know
                places = [(Step.LENIENT_SYNTAX, start)]
        stray = _STRAY_CLOSER.match(self.text, end, self.end) if reading.complete else None
        if stray is not None and not self._is_enclosed(start):
            places = [*places, (Step.STRAY_BRACKETS, stray.end() - 1)]
        if continues:
            places = [*places, (Step.CUT_AT_ERROR, start)]
        return Candidate(
            start, end, self.method, value, True, source, places, reading.complete, self.code, continues=continues
        )

    def _is_enclosed(self, start: int) -> bool:
        """Whether a bracket of the prose before a value is still open: [the answer is {…}]."""
        before = self.text[max(self.start, start - _LONGEST_LINE) : start]
        return any(before.count(opening) > before.count(closing) for opening, closing in ("[]", "{}", "［］", "｛｝"))

    def _is_argument_list(self, start: int) -> bool:
        """Whether the list is the arguments of something that is not JSON, such as YAML."""
        return _ARGUMENTS.search(self.text[max(0, start - _INDENT) : start]) is not None


def _end_of_call(text: str, position: int, limit: int) -> int:
    """Where a call ends whose arguments are at `position`; if it is never closed, at a blank line or the limit."""
    depth = 1
    for mark in _IN_CALL.finditer(text, position, limit):
        depth += (mark[0] == "(") - (mark[0] == ")")
        if not depth or mark[0][0] == "\n":
            return mark.end()
    return limit


def _unread_rest(text: str, start: int, method: str) -> Candidate:
    """The rest of a text that takes more steps than its length allows."""
    return Candidate(start, len(text), method, None, False, complete=False, unread=True)


def _unwrap_candidate(candidate: Candidate, form: AnswerForm) -> None:
    """Take an answer out of what it was wrapped in: a tool call, a list of lists."""
    candidate.understand(form)
    if not candidate.decoded or not candidate.value:
        return
    if not candidate.reads:
        inner = unwrap_tool_call(candidate.value, candidate.source, form)
        if inner is not None:
            candidate.unwrap(inner.value, inner.steps, form)
    flat = flatten_answer(candidate.value, candidate.source, form) if form.flattens else None
    if flat is not None:
        candidate.unwrap(flat, {Step.FLATTENED_LIST}, form)
