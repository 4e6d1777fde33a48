"""Where in a response the answer is: the whole text, a fenced block, or a value embedded in prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from goldgate.extraction.event import is_event, reads_as_events
from goldgate.extraction.repair import Reading, read_tolerantly
from goldgate.extraction.repair_step import Step


class Method:
    """Where the answer was found."""

    WHOLE = "whole"
    FENCED = "fenced"
    EMBEDDED = "embedded"
    STRUCTURED = "structured"  # the prediction came as events, not as text
    NO_JSON_FOUND = "no_json_found"


METHODS = (Method.WHOLE, Method.FENCED, Method.EMBEDDED, Method.STRUCTURED, Method.NO_JSON_FOUND)


@dataclass(slots=True)
class Candidate:
    """A stretch of text that may be the answer."""

    start: int
    end: int
    method: str
    value: Any
    decoded: bool
    source: str | None = None
    steps: frozenset[Step] | set[Step] = frozenset()
    complete: bool = True
    exact: Any = None  # the value with numbers as their text, where the tolerant reader read it


_FENCE = re.compile(r"(?:`{3,}|~{3,})([^\s`~\[{｛［\"'“]*)")
_CODE = frozenset(
    "python py python3 javascript js typescript ts java c cpp c++ c# cs csharp go rust ruby php perl r sql "
    "bash sh shell zsh console powershell html css xml swift kotlin scala lua matlab diff mermaid".split()
)
_OPENING = re.compile(r"[\[{｛［]|【(?=\s{0,8}[{｛\"“'])")
# What follows an opening bracket that is meant as JSON, not as prose.
_LOOKS_LIKE_JSON = re.compile(r"[\[{｛［【]\s*(?:[\[\]{}｛｝［］\"'“”‘’]|\\\"|[A-Za-z_]\w{0,40}\s{0,8}[:：]|//|/\*|\Z)")
# What may stand between two objects of one row: separators, comments, list numbers, bullets.
# Possessive: a gap that does not match must not be tried in every way it could be cut.
_BETWEEN = re.compile(r"(?>[\s,，、;；]++|//[^\n]*+|#[^\n]*+|/\*.*?\*/|\d{1,4}+[.)、:：]|[-*•])*+", re.DOTALL)
_SOMETHING = re.compile(r"\S")
_INDENT = 40  # how many blanks may stand between the line's beginning and a fence
_QUOTED_BRACKET = re.compile(r"(?:\"[\[{]\"|'[\[{]'|“[\[{]”|`[\[{]`)")
_ARGUMENTS = re.compile(r"arguments[\"'“”]?\s*[:：=]\s*\Z")
_ANNOUNCED = re.compile(r"(?:[:：\n]|\A)[\s*_`\"]*\Z")
_NOTHING_MORE = re.compile(r"[\s.。]*\Z")


@dataclass(slots=True)
class _Segment:
    start: int
    end: int
    method: str
    code: bool = False


def locate(text: str) -> Candidate | None:
    """The stretch of the text that is the answer, or None where nothing looks like JSON."""
    whole = _read_whole(text, 0, len(text), Method.WHOLE)
    if whole is not None:
        return whole
    answer = _best(text, _segments(text))
    if answer is not None and not text[: answer.start].strip() and not text[answer.end :].strip():
        answer.method = Method.WHOLE
    return answer


def _best(text: str, segments: list[_Segment]) -> Candidate | None:
    """The last candidate that reads as events, else the last fenced, else the last.

    Code (a block marked as a programming language) is looked at only if nothing else reads as events.
    """
    fallback: dict[str, Candidate] = {}
    for code in (False, True):
        empty: Candidate | None = None
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


def _is_aside(text: str, candidate: Candidate) -> bool:
    """An empty list in prose: the answer only if there is no better one.

    Unless it ends the text as an answer would: after a colon, or on a line of its own.
    """
    if candidate.method != Method.EMBEDDED or candidate.value != []:
        return False
    before = text[max(0, candidate.start - _INDENT) : candidate.start]
    return not (_NOTHING_MORE.match(text, candidate.end) and _ANNOUNCED.search(before))


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


def _candidates(text: str, segment: _Segment) -> list[Candidate]:
    if segment.method == Method.FENCED:
        whole = _read_whole(text, segment.start, segment.end, Method.FENCED)
        if whole is not None:
            return [whole]
    return _rows(text, _values(text, segment))


def _read_whole(text: str, start: int, end: int, method: str) -> Candidate | None:
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
    return Candidate(start, end, method, value, True, content)


def _unwrapped(inner: str, start: int, end: int, method: str) -> Candidate | None:
    """An answer that was encoded twice: a JSON string that holds JSON."""
    content = inner.strip()
    if content[:1] not in ("[", "{"):
        return None
    try:
        return Candidate(start, end, method, orjson.loads(content), True, content, {Step.UNWRAPPED_STRING})
    except orjson.JSONDecodeError:
        reading = read_tolerantly(content, 0, len(content))
        steps = reading.steps | {Step.UNWRAPPED_STRING}
        return Candidate(start, end, method, reading.value, reading.value is not None, None, steps)


def _values(text: str, segment: _Segment) -> list[Candidate]:
    """The values from each outermost bracket of a segment, in order."""
    found: list[Candidate] = []
    position, limit = segment.start, segment.end
    opening = _OPENING.search(text, position, limit)
    if opening is not None:
        # Prose after an answer seldom has brackets: one guess saves the slow way.
        last = max(text.rfind("]", position, limit), text.rfind("}", position, limit)) + 1
        guess = _read_whole(text, opening.start(), last, segment.method)
        if guess is not None and _is_value(guess.value, segment):
            return [] if guess.value == [] and _is_argument_list(text, guess.start) else [guess]
    first = _SOMETHING.search(text, position, limit)
    in_remains = False  # what follows may belong to an answer that could not be read to its end
    while opening is not None:
        start = opening.start()
        if _QUOTED_BRACKET.match(text, max(start - 1, 0), limit):  # the prose speaks of a bracket
            opening = _OPENING.search(text, start + 1, limit)
            continue
        reading = read_tolerantly(text, start, limit)
        if reading.value is not None:
            is_a_part = reading.value == [] and (in_remains or _is_argument_list(text, start))
            if _is_value(reading.value, segment) and not is_a_part:
                found.append(_decoded(text, start, reading, segment))
        elif _LOOKS_LIKE_JSON.match(text, start, limit) or (
            segment.method == Method.FENCED and first is not None and first.start() == start
        ):
            found.append(
                Candidate(start, reading.end, segment.method, None, False, None, reading.steps, reading.complete)
            )
        if in_remains and found and found[-1].start == start:
            found[-1].steps = found[-1].steps | {Step.CUT_AT_ERROR}
        if Step.CUT_AT_ERROR in reading.steps and _LOOKS_LIKE_JSON.match(text, start, limit):
            in_remains = True
        position = max(reading.end, start + 1)
        if position >= limit:
            break
        opening = _OPENING.search(text, position, limit)
        if opening is not None and "\n\n" in text[position : opening.start()]:
            in_remains = False  # a new paragraph
    return found


def _decoded(text: str, start: int, reading: Reading, segment: _Segment) -> Candidate:
    """A candidate for what the tolerant reader read; it counts as sound only if orjson agrees."""
    value, source, steps = reading.value, None, reading.steps
    if not steps:
        try:
            source = text[start : reading.end]
            value = orjson.loads(source)
        except orjson.JSONDecodeError:  # such as a space that JSON does not know
            source, steps = None, {Step.LENIENT_SYNTAX}
    return Candidate(start, reading.end, segment.method, value, True, source, steps, reading.complete, reading.value)


def _is_argument_list(text: str, start: int) -> bool:
    """Whether the list is the arguments of something that is no JSON, such as YAML."""
    return _ARGUMENTS.search(text[max(0, start - _INDENT) : start]) is not None


def _is_value(value: Any, segment: _Segment) -> bool:
    """Brackets in prose such as [1] or [a, b] are no answer: a list must hold objects, or nothing."""
    if segment.method == Method.FENCED or isinstance(value, dict):
        return True
    return not value or any(isinstance(item, (dict, list)) for item in value)


def _rows(text: str, values: list[Candidate]) -> list[Candidate]:
    """Event objects one after the other, each row joined into one candidate."""
    rows: list[Candidate] = []
    for candidate in values:
        row = rows[-1] if rows else None
        if row is None or not _continues(text, row, candidate):
            rows.append(candidate)
            continue
        row.end = candidate.end
        if is_event(candidate.value):
            if isinstance(row.value, dict):
                row.value, row.source = [row.exact], None
            row.value.append(candidate.exact)
            row.steps = row.steps | candidate.steps | {Step.JOINED_OBJECTS}
        else:  # the row broke off before this object had a type
            row.steps = row.steps | {Step.DROPPED_TRUNCATED_VALUE}
    return rows


def _continues(text: str, row: Candidate, candidate: Candidate) -> bool:
    joined = Step.JOINED_OBJECTS in row.steps
    if not (joined or is_event(row.value)) or _BETWEEN.fullmatch(text, row.end, candidate.start) is None:
        return False
    broken_tail = not candidate.complete and not isinstance(candidate.value, list)
    return is_event(candidate.value) or broken_tail
