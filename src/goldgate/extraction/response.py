"""From what a model wrote to the JSON value that is its answer, and how it was found.

Thoughts are cut out, the answer is located (the whole text, a fenced block, or a value
embedded in prose), decoded as it stands or else repaired. No text makes this raise, and the
time grows linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from goldgate.extraction.event import is_event, reads_as_events
from goldgate.extraction.repair import Step, read_tolerantly

DEFAULT_THOUGHT_TAGS = ("thought", "think", "thinking")


# Plain strings, not enumerations: they are dictionary keys and JSON in the inner loop.


class Status:
    """How the answer was decoded."""

    RAW = "raw"
    REPAIRED = "repaired"
    ERROR = "error"


class Method:
    """Where the answer was found."""

    WHOLE = "whole"
    FENCED = "fenced"
    EMBEDDED = "embedded"
    STRUCTURED = "structured"  # the prediction came as events, not as text
    NO_JSON_FOUND = "no_json_found"


class ThoughtState:
    """Whether a thought block stands in the response."""

    NONE = "none"
    CLOSED = "closed"
    UNCLOSED = "unclosed"


METHODS = (Method.WHOLE, Method.FENCED, Method.EMBEDDED, Method.STRUCTURED, Method.NO_JSON_FOUND)
THOUGHT_STATES = (ThoughtState.NONE, ThoughtState.CLOSED, ThoughtState.UNCLOSED)


@dataclass(slots=True)
class Parsed:
    """An answer as it was read. `value` is the decoded JSON, or None where nothing decoded."""

    status: str
    method: str
    value: Any = None
    source: str | None = None  # the text that decoded as it stands: numbers can be read again from it
    repairs: tuple[Step, ...] = ()
    thought_state: str = ThoughtState.NONE
    thought: str = ""  # the text of the thought blocks
    preamble: str = ""  # what stands before the answer, outside thoughts


@dataclass(slots=True)
class _Candidate:
    """A stretch of text that may be the answer."""

    start: int
    end: int
    method: str
    value: Any
    decoded: bool
    source: str | None = None
    steps: frozenset[Step] | set[Step] = frozenset()
    complete: bool = True


def parse_response(text: str, thought_tags: tuple[str, ...] = DEFAULT_THOUGHT_TAGS) -> Parsed:
    """Read a raw model output."""
    usual = _usual_pattern(thought_tags).fullmatch(text)
    if usual is not None:
        thought, content = usual.groups()
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError:
            value = None
        if reads_as_events(value):
            state = ThoughtState.NONE if thought is None else ThoughtState.CLOSED
            return Parsed(Status.RAW, Method.FENCED, value, content, (), state, thought or "")
    stripped = _encodable(text).strip()
    if stripped[:1] in ("[", "{"):  # a text that is JSON as a whole has its thoughts, if any, in strings
        try:
            return Parsed(Status.RAW, Method.WHOLE, orjson.loads(stripped), stripped)
        except orjson.JSONDecodeError:
            pass
    visible, thought, state, tail = _cut_thoughts(stripped, thought_tags)
    if tail is not None:
        answer = _locate(tail)
        if answer is not None and answer.decoded and reads_as_events(answer.value):
            return _parsed(answer, tail, thought, state)
        thought += tail
    answer = _locate(visible)
    if answer is None:
        return Parsed(Status.ERROR, Method.NO_JSON_FOUND, thought_state=state, thought=thought, preamble=visible)
    return _parsed(answer, visible, thought, state)


def _encodable(text: str) -> str:
    """The text with halves of surrogate pairs, which no file can hold, as U+FFFD."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parsed(answer: _Candidate, text: str, thought: str, state: str) -> Parsed:
    status = Status.RAW
    if not answer.decoded:
        status = Status.ERROR
    elif answer.steps:
        status = Status.REPAIRED
    before = answer.start
    if answer.method == Method.FENCED:
        before = max(text.rfind("```", 0, before), text.rfind("~~~", 0, before) if "~" in text else -1, 0)
    repairs = tuple(sorted(answer.steps)) if answer.steps else ()
    return Parsed(status, answer.method, answer.value, answer.source, repairs, state, thought, text[:before])


# --- thoughts


@lru_cache
def _usual_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    """What most models write, read in one step: a thought, one fenced block, nothing else.

    The general way comes to the same and takes twice as long.
    """
    names = "|".join(map(re.escape, tags)) or "(?!)"
    return re.compile(rf"\s*(?:<(?i:{names})>([^<]*)</(?i:{names})>\s*)?```(?:json)?[ \t]*\n([^`]*)```\s*")


@lru_cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"<(/?)(?:" + "|".join(map(re.escape, tags)) + r")\s*>", re.IGNORECASE)


_Cut = tuple[str, str, str, str | None]  # visible text, thoughts, their state, what follows an unclosed one


def _cut_thoughts(text: str, tags: tuple[str, ...]) -> _Cut:
    """The text outside thoughts, and the thoughts.

    A closing tag without an opening one ends a thought that began with the text: chat templates
    put the opening tag into the prompt.
    """
    at = text.find("<") if tags else -1
    if at < 0:
        return text, "", ThoughtState.NONE, None
    match = _tag_pattern(tags).match
    visible = thought = ""
    kept_to = 0  # all before is in one of the two
    opened = -1
    state = ThoughtState.NONE
    while at >= 0:  # from one `<` to the next: far faster than searching with the pattern
        tag = match(text, at)
        if tag is None:
            at = text.find("<", at + 1)
            continue
        if tag.group(1):
            thought += text[kept_to if opened < 0 else opened : at]
            opened, kept_to, state = -1, tag.end(), ThoughtState.CLOSED
        elif opened < 0:
            visible += text[kept_to:at]
            opened = tag.end()
        at = text.find("<", tag.end())
    if opened >= 0:
        return visible, thought, ThoughtState.UNCLOSED, text[opened:]
    return visible + text[kept_to:], thought, state, None


# --- locating

_FENCE = re.compile(r"(?:`{3,}|~{3,})([^\s`~\[{｛［\"'“]*)")
_CODE = frozenset(
    "python py python3 javascript js typescript ts java c cpp c++ c# cs csharp go rust ruby php perl r sql "
    "bash sh shell zsh console powershell html css xml swift kotlin scala lua matlab diff mermaid".split()
)
_OPENING = re.compile(r"[\[{｛［]|【(?=\s{0,8}[{｛\"“'])")
# What follows an opening bracket that is meant as JSON, not as prose.
_LOOKS_LIKE_JSON = re.compile(r"[\[{｛［【]\s*(?:[\[\]{}｛｝［］\"'“”‘’]|\\\"|[A-Za-z_]\w{0,40}\s{0,8}[:：]|//|/\*|\Z)")
# What may stand between two objects of one row: separators, comments, list numbers, bullets.
_BETWEEN = re.compile(r"(?:[\s,，、;；]+|//[^\n]*|#[^\n]*|/\*.*?\*/|\d{1,4}[.)、:：]|[-*•])*", re.DOTALL)
_INDENT = 40  # how many blanks may stand between the line's beginning and a fence
_NOTHING_MORE = re.compile(r"[\s.。]*\Z")


@dataclass(slots=True)
class _Segment:
    start: int
    end: int
    method: str
    code: bool = False


def _locate(text: str) -> _Candidate | None:
    """The stretch of the text that is the answer, or None where nothing looks like JSON."""
    whole = _read_whole(text, 0, len(text), Method.WHOLE)
    if whole is not None:
        return whole
    answer = _best(text, _segments(text))
    if answer is not None and not text[: answer.start].strip() and not text[answer.end :].strip():
        answer.method = Method.WHOLE
    return answer


def _best(text: str, segments: list[_Segment]) -> _Candidate | None:
    """The last candidate that reads as events, else the last fenced, else the last.

    Code (a block marked as a programming language) is looked at only if nothing else reads as events.
    """
    fallback: dict[str, _Candidate] = {}
    for code in (False, True):
        empty: _Candidate | None = None
        for segment in reversed(segments):
            if segment.code is not code:
                continue
            for candidate in reversed(_candidates(text, segment)):
                if candidate.decoded and reads_as_events(candidate.value):
                    if not _is_aside(text, candidate):
                        return candidate
                    empty = empty or candidate
                fallback.setdefault(candidate.method, candidate)
        if empty is not None:
            return empty
    return fallback.get(Method.FENCED) or fallback.get(Method.EMBEDDED)


def _is_aside(text: str, candidate: _Candidate) -> bool:
    """An empty list in the middle of prose: the answer only if there is no better one."""
    return (
        candidate.method == Method.EMBEDDED and candidate.value == [] and not _NOTHING_MORE.match(text, candidate.end)
    )


def _segments(text: str) -> list[_Segment]:
    """The text cut into fenced blocks and what is between them, in order."""
    segments: list[_Segment] = []
    begin, language = 0, None  # language is None outside a fence
    for fence in _fences_in(text):
        info = fence.group(1).lower()
        if not _is_fence(text, begin, fence, opens=language is None or info != ""):
            continue
        segments.append(_segment(begin, fence.start(), language))
        begin = fence.end()
        # A fence with a language always opens: ```json after an unclosed ``` is a new block.
        language = info if language is None or info else None
    segments.append(_segment(begin, len(text), language))
    return segments


def _fences_in(text: str) -> Iterator[re.Match[str]]:
    if "~~~" in text:
        yield from _FENCE.finditer(text)
        return
    at = text.find("```")
    while at >= 0:
        fence = _FENCE.match(text, at)
        assert fence is not None  # the pattern begins with these marks
        yield fence
        at = text.find("```", fence.end())


def _is_fence(text: str, begin: int, fence: re.Match[str], *, opens: bool) -> bool:
    """Whether these marks are a fence; in the middle of a line they may be part of a string."""
    before = text[max(begin, fence.start() - _INDENT) : fence.start()].rstrip(" \t")
    if not before or before[-1] == "\n" or text[fence.end() : fence.end() + 1] in ("", "\n", "\r"):
        return True
    if opens:
        return fence.group(1) != "" or text[fence.end()] in "[{｛［"
    return before[-1] in "]}］｝"


def _segment(start: int, end: int, language: str | None) -> _Segment:
    if language is None:
        return _Segment(start, end, Method.EMBEDDED)
    return _Segment(start, end, Method.FENCED, language in _CODE)


def _candidates(text: str, segment: _Segment) -> list[_Candidate]:
    if segment.method == Method.FENCED:
        whole = _read_whole(text, segment.start, segment.end, Method.FENCED)
        if whole is not None:
            return [whole]
    return _rows(text, _values(text, segment))


def _read_whole(text: str, start: int, end: int, method: str) -> _Candidate | None:
    """The stretch as one JSON value, or None if it is not one as it stands."""
    content = text[start:end].strip()
    if content[:1] not in ("[", "{", '"'):
        return None
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if isinstance(value, str):
        return _unwrapped(value, start, end, method)
    return _Candidate(start, end, method, value, True, content)


def _unwrapped(inner: str, start: int, end: int, method: str) -> _Candidate | None:
    """An answer that was encoded twice: a JSON string that holds JSON."""
    content = inner.strip()
    if content[:1] not in ("[", "{"):
        return None
    try:
        return _Candidate(start, end, method, orjson.loads(content), True, content, {Step.UNWRAPPED_STRING})
    except orjson.JSONDecodeError:
        reading = read_tolerantly(content, 0, len(content))
        steps = reading.steps | {Step.UNWRAPPED_STRING}
        return _Candidate(start, end, method, reading.value, reading.value is not None, None, steps)


def _values(text: str, segment: _Segment) -> list[_Candidate]:
    """The values from each outermost bracket of a segment, in order."""
    found: list[_Candidate] = []
    position, limit = segment.start, segment.end
    opening = _OPENING.search(text, position, limit)
    if opening is not None:
        # Prose after an answer seldom has brackets: one guess saves the slow way.
        last = max(text.rfind("]", position, limit), text.rfind("}", position, limit)) + 1
        guess = _read_whole(text, opening.start(), last, segment.method)
        if guess is not None and _is_value(guess.value, segment):
            return [guess]
    while opening is not None:
        start = opening.start()
        reading = read_tolerantly(text, start, limit)
        candidate = _candidate(text, start, reading.value, reading.end, reading.steps, reading.complete, segment)
        if candidate is not None:
            found.append(candidate)
        position = max(reading.end, start + 1)
        if position >= limit:
            break
        opening = _OPENING.search(text, position, limit)
    return found


def _candidate(
    text: str, start: int, value: Any, end: int, steps: set[Step], complete: bool, segment: _Segment
) -> _Candidate | None:
    if value is None:
        starts_fence = segment.method == Method.FENCED and not text[segment.start : start].strip()
        if starts_fence or _LOOKS_LIKE_JSON.match(text, start, segment.end):
            return _Candidate(start, end, segment.method, None, False, None, steps, complete)
        return None
    if not _is_value(value, segment):
        return None
    source = None
    if not steps:
        source = text[start:end]
        try:
            value = orjson.loads(source)
        except orjson.JSONDecodeError:  # such as a space that JSON does not know
            source, steps = None, {Step.LENIENT_SYNTAX}
    return _Candidate(start, end, segment.method, value, True, source, steps, complete)


def _is_value(value: Any, segment: _Segment) -> bool:
    """Brackets in prose such as [1] or [a, b] are no answer: a list must hold objects, or nothing."""
    if segment.method == Method.FENCED or isinstance(value, dict):
        return True
    return not value or any(isinstance(item, (dict, list)) for item in value)


def _rows(text: str, values: list[_Candidate]) -> list[_Candidate]:
    """Event objects one after the other, each row joined into one candidate."""
    rows: list[_Candidate] = []
    for candidate in values:
        row = rows[-1] if rows else None
        if row is None or not _continues(text, row, candidate):
            rows.append(candidate)
            continue
        row.end = candidate.end
        if is_event(candidate.value):
            if isinstance(row.value, dict):
                row.value, row.source = [row.value], None
            row.value.append(candidate.value)
            row.steps = row.steps | candidate.steps | {Step.JOINED_OBJECTS}
        else:  # the row broke off before this object had a type
            row.steps = row.steps | {Step.DROPPED_TRUNCATED_VALUE}
    return rows


def _continues(text: str, row: _Candidate, candidate: _Candidate) -> bool:
    joined = Step.JOINED_OBJECTS in row.steps
    if not (joined or is_event(row.value)) or _BETWEEN.fullmatch(text, row.end, candidate.start) is None:
        return False
    broken_tail = not candidate.complete and not isinstance(candidate.value, list)
    return is_event(candidate.value) or broken_tail
