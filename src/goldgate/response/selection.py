"""Which of the candidates is the answer. The rules, in the order in which they are applied:

1. A template (`{"event_type": "string", …}`) is not a candidate.
2. A candidate that was closed beats one that breaks off; what breaks off counts only where nothing is complete.
3. A block of a programming language counts only where nothing else reads as events.
4. A mark that ends the turn of the chat, or begins another, ends the answer where a complete one stands before it.
5. A list, or an object with a list of events, is a whole answer: the last one wins. Event objects on their own are
   parts of one answer and are joined, equal ones once (where an answer is any JSON, each of them). Words that say so
   (`corrected`, `最终答案`) make the later replace the earlier. Without such words, an object after a whole answer
   replaces nothing, what says nothing replaces nothing that says something, and the first flat object that says
   something wins.
6. If nothing reads as events: the last complete value that decoded, fenced ones first; then one that breaks off. What
   says nothing, and code, come last.

What is left out is listed with the reason, and an answer is `raw` only if nothing that looks like an answer was cut
off or left out; answers that were replaced, and what stands after the turn, do not count as such.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

from goldgate.response.candidates import Candidate, events_of
from goldgate.response.parsed import MAX_PLACES, AnswerForm, LeftOutText, Method, Reason, Step
from goldgate.response.repair import with_number_texts
from goldgate.response.strings import lazy_pattern

# A mark that begins another turn, wherever it stands.
TURN_TOKENS = tuple(
    "<|im_start|> <|eot_id|> <|eom_id|> <|start_header_id|> <|start|> <|user|> <|assistant|> <start_of_turn> "
    "[INST]".split()
)
# A mark that ends the turn: alone on a line, or glued to what ends there; not in the middle of a sentence.
END_TOKENS = tuple(
    "<end_of_turn> <|im_end|> </s> <eos> <|end|> <|endoftext|> <|end_of_text|> <|return|> <｜end▁of▁sentence｜>".split()
)
# A name of who speaks: with a colon where a line begins, or (the first two) alone at the end of a line.
TURN_NAMES = ("assistant", "user", "Assistant", "User", "Human", "ASSISTANT", "USER", "HUMAN")
# Words between two answers that say that the later one replaces the earlier one; case does not matter.
REPLACING_WORDS = tuple(
    "corrected, correction, corrections, the correct, mistake, more accurate, more appropriate, more suitable, "
    "final answer, final output, final version, final result, final json, revised, revision, instead, updated, "
    "improved, on reflection, on second thought, on second thoughts, 更正, 修正, 修改后, 改为, "
    "最终答案, 最终结果, 最终输出, 重新输出".split(", ")
)

# How the line begins with which the next example of a prompt begins; case does not matter. What ends in a number stands
# for every one from 2 on; before a colon there may be one too.
NEXT_EXAMPLE = (
    *"Text: Input: Document: Passage: Sentence: 问题2 文字： 文本： 输入： 句子：".split(),
    "Question 2",
    "Example 2",
)

_END = "|".join(map(re.escape, END_TOKENS))
_TURN = lazy_pattern(
    rf"""
      {"|".join(re.escape(token) for token in TURN_TOKENS)}
    | (?:^[^\S\n]*+|(?<=[\]}}］｝])[^\S\n]*+|(?<=[^\s`"'“‘]))(?:{_END})(?![`"'”’])
    | (?:{_END})[^\S\n]*+$
    | (?:^[^\S\n]*+|(?<=[^\w\s]))(?:{"|".join(TURN_NAMES[:2])})[^\S\n]*+:?[^\S\n]*+$
    | ^[^\S\n]*+(?:\#{{1,4}}\s?)?(?:{"|".join(TURN_NAMES)})\s?[:：]
    """,
    re.VERBOSE | re.MULTILINE,
)
# One of these is in each mark of a turn: far faster to ask for than the marks.
_IN_EVERY_TURN = ("<", "[INST]", *TURN_NAMES)


def _pattern(words: str) -> str:
    pattern = r"\s+".join(map(re.escape, words.split()))
    return rf"\b{pattern}\b" if words.isascii() else pattern


_REPLACES = lazy_pattern("|".join(map(_pattern, REPLACING_WORDS)), re.IGNORECASE)
_COMMENT_ON_THE_ANSWER = lazy_pattern(r"[^\S\n]*(?://|#)[^\n]*")


def next_turn_mark(text: str, start: int, end: int) -> int:
    """The index of the first mark between `start` and `end` that ends a turn of the chat or begins one; -1 if none."""
    for part in _IN_EVERY_TURN:
        if text.find(part, start, end) >= 0:
            turn = _TURN.search(text, start, end)
            return -1 if turn is None else turn.start()
    return -1


_MARKUP = r"[\s#*_`>|~+-]*"
_BEGINNING = lazy_pattern(rf"{_MARKUP}(.*?){_MARKUP}([\d:：]?)[\d\s:：*_`]*", re.DOTALL)
# The blanks and Markdown marks before the first word of a line, a number, a colon.
_LINE = r"\n(?:[^\S\n]|[#*_`>|~+•·–—【-]|\d{1,3}[.)、])*+"
_NUMBER = r"[^\S\n]{0,3}[#(（]?(\d{1,6}|[一二三四五六七八九十]{1,3})(?!\d)"
_COLON = r"[^\S\n]?[)）】*_`]{0,4}[^\S\n]?[:：]"
_FIRST_NUMBERS = {"0", "1", "01", "１", "一"}
# What has no word: marks, and what is not a letter.
NO_WORDS = lazy_pattern(r"(?:\[[^\s\[\]]*+\]|<[^\s<>]*+>|[`~]{3,}\w*+|[\W\d_])*+")


@lru_cache
def next_example_pattern(added: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Finds a line break and the beginning of an example.

    Its groups: a name before a colon, and its number; a name that needs a number, and that; any other beginning.
    """
    names: dict[str, list[str]] = {":": [], "2": [], "": ["(?!)"]}
    for beginning in (*NEXT_EXAMPLE, *added):
        name, tail = _BEGINNING.fullmatch(beginning).groups()  # type: ignore[union-attr]  # it always matches
        names["2" if tail.isdigit() else tail and ":"].append(r"[^\S\n]+".join(map(re.escape, name.split())))
    with_colon, numbered, others = map("|".join, names.values())
    behind = rf"(?=[^\S\n]*+(?:\n|\Z|[^\w\s,，'’]|(?:{with_colon}){_COLON}))"
    tails = rf"({with_colon})(?:{_NUMBER})?{_COLON}|({numbered}){_NUMBER}{behind}|({others})(?!\w)"
    return re.compile(f"{_LINE}(?:{tails})", re.IGNORECASE)


def end_of_answer(text: str, candidates: list[Candidate], form: AnswerForm) -> int:
    """Where the line is with which the next example of a prompt begins; the length of the text if there is none.

    It may lie in a candidate that was read past its own end.
    """
    last, limit = candidates[-1] if candidates else None, len(text)
    if last is not None and last.complete and last.reads and not last.places:
        limit = last.start  # behind it nothing looks like an answer
    if text.find("\n", 0, limit) < 0:
        return len(text)
    pattern, lines = next_example_pattern(form.next_example), f"\n{text}"  # a line begins with the text
    if pattern.search(lines, 0, limit + 1) is None:
        return len(text)
    beginning = NO_WORDS.match(text).end()  # type: ignore[union-attr]  # it always matches
    headings: set[str] = set()  # the names that stood before the first answer
    answer: Candidate | None = None  # the last complete one
    position = 0
    for candidate in (*candidates, None):
        is_whole, continues = (False, False) if candidate is None else (candidate.is_answer, candidate.continues)
        for mark in pattern.finditer(lines, position, 1 + (len(text) if candidate is None else candidate.start)):
            name, number, numbered_name, its_number, other = mark.groups()
            heading, is_next = (name or numbered_name or other).casefold(), not {number, its_number} & _FIRST_NUMBERS
            if answer is None and not (is_next and beginning < mark.start() and (numbered_name or continues)):
                headings.add(heading)
            elif is_next and (answer is None or answer.is_answer or is_whole or heading not in headings):
                return mark.start()
        if candidate is not None:
            position = candidate.end
            skipped = _mark_in_skipped_text(lines, candidate, pattern)
            if skipped is not None and not headings:
                return skipped
            reads = candidate.complete and candidate.decoded and (candidate.reads or not candidate.value)
            answer = candidate if reads and not form.is_template(candidate.value) else answer
    return len(text)


def _mark_in_skipped_text(lines: str, candidate: Candidate, pattern: re.Pattern[str]) -> int | None:
    """The first mark in a candidate that was never closed, if it is in skipped text or is a key before some."""
    steps = [step for step, _ in candidate.places]
    if Step.SKIPPED_TEXT not in steps or (candidate.complete and Step.CLOSED_BRACKETS not in steps):
        return None
    for (step, at), following in zip(candidate.places, [*steps[1:], None], strict=True):
        line = lines.rfind("\n", max(candidate.start, at - _CHARACTERS_BEFORE), at + 1)
        if line >= 0 and Step.SKIPPED_TEXT in (step, step == Step.UNQUOTED_KEYS and following):
            mark = pattern.match(lines, line)
            if mark is not None and mark.end() > at:
                return line
    return None


def says_replaced(text: str, start: int, end: int) -> bool:
    """Whether the words between two answers say that the later replaces the earlier.

    A comment behind an answer on its own line speaks of that answer: `{…}  # corrected`.
    """
    comment = _COMMENT_ON_THE_ANSWER.match(text, start, end)
    return _REPLACES.search(text, start if comment is None else comment.end(), end) is not None


@dataclass(slots=True)
class Selection:
    """The answer, if there is one, and what looks like one and was left out."""

    answer: Candidate | None
    left_out: list[LeftOutText]
    end: int = sys.maxsize  # where the next example of the prompt begins


_ANNOUNCED = lazy_pattern(r"(?:[:：\n]|\A)[\s*_`\"]*\Z")
_NOTHING_MORE = lazy_pattern(r"[\s.。]*\Z")
_FIRST_KEY = lazy_pattern(r"[\[{｛［【\s]*(?:\\?[\"'“”‘’]+)?(\w*)")
_SEPARATOR = lazy_pattern(r"[\s,，;；]*")
_CHARACTERS_BEFORE = 40  # characters before an empty list that are looked at


def select_answer(text: str, candidates: list[Candidate], form: AnswerForm) -> Selection:
    """The answer among the candidates of a text."""
    only = candidates[0] if len(candidates) == 1 else None
    if only is not None and only.complete and only.reads and not form.is_template(only.value):
        return Selection(only, [])
    choice = Selection(None, [])
    templates = [c for c in candidates if c.decoded and form.is_template(c.value)]
    _leave_out(choice, templates, Reason.TEMPLATE)
    left_out = {*templates}
    rest = _with_continuations([c for c in candidates if c not in left_out], form)
    answers = [c for c in rest if c.complete and c.reads]
    if not answers:
        _select_incomplete(text, rest, templates, choice, form)
        return choice
    outside_code = [c for c in answers if not c.code]
    if outside_code:
        _leave_out(choice, [c for c in answers if c.code], Reason.CODE)
        answers = outside_code
    answers, turn = _before_next_turn(text, answers, rest, choice)
    choice.answer = _join_group(_winning_group(text, answers, choice, form), form)
    _leave_out_cut(text, [c for c in rest if c.start < turn], choice.answer, choice, form)
    choice.left_out.sort()
    return choice


def _leave_out_cut(
    text: str, candidates: list[Candidate], answer: Candidate, choice: Selection, form: AnswerForm
) -> None:
    """Leave out, as a repair, the candidates outside the answer that break off and were going to be answers."""
    cut = [c for c in candidates if not c.complete and not c.code and not answer.start <= c.start < answer.end]
    cut = [c for c in cut if _looks_like_an_answer(text, c, form)]
    if cut:
        _leave_out(choice, cut, Reason.CUT)
        answer.places = [*answer.places, *((Step.DROPPED_TRUNCATED_VALUE, c.start) for c in cut)]


def content_weight(value: Any) -> int:
    """How much a value says: the strings and numbers in it."""
    count, rest = 0, [value]
    while rest:
        part = rest.pop()
        if isinstance(part, (dict, list)):
            rest += part.values() if isinstance(part, dict) else part
        else:
            count += part not in (None, "")
    return count


def _leave_out(choice: Selection, candidates: list[Candidate], reason: str) -> None:
    choice.left_out += [LeftOutText(c.start, c.end, reason) for c in candidates]


def _with_continuations(candidates: list[Candidate], form: AnswerForm) -> list[Candidate]:
    """The candidates, with a value that could not be read to its end made whole by the objects that follow in it."""
    merged: list[Candidate] = []
    events: list[Any] = []  # those of the last one, once something was added to it
    for candidate in candidates:
        before = merged[-1] if merged else None
        if before is None or not (candidate.continues and before.decoded and candidate.decoded) or _is_closed(before):
            merged.append(candidate)
            continue
        if before.value is not events:
            exact = _exact_value(before)
            events = [*events_of(exact, form)] if before.is_answer else _as_list(exact)
            merged[-1] = before = replace(before, value=events, source=None, complete=True, continues=True)
        events += _as_list(_exact_value(candidate))
        before.end = candidate.end
        before.places = [*before.places, *candidate.places] if len(before.places) < MAX_PLACES else before.places
    return merged if len(merged) == len(candidates) else [candidate.understand(form) for candidate in merged]


def _is_closed(candidate: Candidate) -> bool:
    """Whether it ends before the value that could not be read to its end: what follows there is not more of it."""
    return candidate.complete and not candidate.continues


def _as_list(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list) else [value]


def _before_next_turn(
    text: str, answers: list[Candidate], candidates: list[Candidate], choice: Selection
) -> tuple[list[Candidate], int]:
    """The answers before the first mark of another turn that stands behind one of them, and where that mark is."""
    complete = {*answers}
    starts = [*(c.start for c in candidates[1:]), len(text)]
    for candidate, following in zip(candidates, starts, strict=True):
        turn = next_turn_mark(text, candidate.end, following) if candidate in complete else -1
        if turn >= 0:
            _leave_out(choice, [c for c in candidates if c.start >= turn], Reason.ANOTHER_TURN)
            return [c for c in answers if c.start < turn], turn
    return answers, len(text)


def _winning_group(text: str, answers: list[Candidate], choice: Selection, form: AnswerForm) -> list[Candidate]:
    """The whole answer that wins, or the event objects that are joined."""
    asides = {c for c in answers if _is_aside(text, c)}
    if 0 < len(asides) < len(answers):
        _leave_out(choice, [c for c in answers if c in asides], Reason.ASIDE)
        answers = [c for c in answers if c not in asides]
    group = answers[:1]
    group_events: set[bytes] | None = None  # their identities, if the group is a whole answer and they were needed
    speaks: bool | None = None  # whether the group says something, once that was needed
    is_replaced, end = False, group[0].end  # whether words behind the group say so, and how far they were looked at
    for candidate in answers[1:]:
        is_replaced = is_replaced or says_replaced(text, end, candidate.start)
        speaks = form.says_something(group[0].value) if speaks is None else speaks
        end = candidate.end
        if form.flat and _continues_flat_object(text, group[-1], candidate):
            group.append(candidate)
        elif is_replaced or _replaces_group(candidate, form, speaks=speaks):
            _leave_out(choice, group, Reason.REPLACED)
            group, group_events, speaks, is_replaced = [candidate], None, None, False
        elif not (candidate.is_answer or group[0].is_answer):
            group.append(candidate)
        else:
            if group_events is None:
                group_events = {*map(_identity, events_of(group[0].value, form))}
            if _identity(candidate.value) not in group_events:  # an echo of one of its events says nothing new
                _leave_out(choice, [candidate], Reason.ASIDE)
                if form.says_something(candidate.value):
                    group[0].places.append((Step.LEFT_OUT_OBJECTS, candidate.start))
    return group


def _replaces_group(candidate: Candidate, form: AnswerForm, *, speaks: bool) -> bool:
    """Whether an answer replaces the one before it, which says something or not, without words that say so."""
    if form.says_something(candidate.value):
        return not speaks or (candidate.is_answer and not form.flat)
    return candidate.is_answer and not speaks


def _is_aside(text: str, candidate: Candidate) -> bool:
    """An empty list in prose: the answer only if there is no better one.

    Unless it ends the text as an answer would: after a colon, or on a line of its own.
    """
    if candidate.method != Method.EMBEDDED or candidate.value != []:
        return False
    before = text[max(0, candidate.start - _CHARACTERS_BEFORE) : candidate.start]
    return not (_NOTHING_MORE.match(text, candidate.end) and _ANNOUNCED.search(before))


def _identity(value: Any) -> bytes:
    """Equal for equal values."""
    try:
        return orjson.dumps(value, default=lambda number: number.text, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # orjson writes no more than 254 levels: so deep, no two are looked at
        return str(id(value)).encode()


def _continues_flat_object(text: str, before: Candidate, candidate: Candidate) -> bool:
    """Whether a flat object is more of the one before: nothing but a comma between them, and no role twice."""
    if not isinstance(before.value, dict) or not isinstance(candidate.value, dict):
        return False
    gap = _SEPARATOR.match(text, before.end, candidate.start)
    ends_there = gap is not None and gap.end() == candidate.start
    return ends_there and not (before.value.keys() & candidate.value.keys())


def _join_group(group: list[Candidate], form: AnswerForm) -> Candidate:
    """The parts of an answer as one; equal ones once, unless the form says that they are parts like any other."""
    if len(group) == 1:
        return group[0]
    once: dict[bytes, Candidate] = {}
    for part in group:
        once.setdefault(_identity(part.value), part)
    distinct = group if form.keeps_equal_parts else [*once.values()]
    first = distinct[0]
    places = [place for part in distinct for place in part.places]
    if len(distinct) == 1:
        return replace(first, places=places)
    return replace(
        first,
        end=max(part.end for part in distinct),
        method=Method.FENCED if any(part.method == Method.FENCED for part in distinct) else first.method,
        value=_merge_flat(distinct) if form.flat and first.is_answer else [_exact_value(part) for part in distinct],
        source=None,
        places=[*places, (Step.JOINED_OBJECTS, distinct[1].start)],
    ).understand(form)


def _merge_flat(parts: list[Candidate]) -> dict[str, Any]:
    """The parts of a flat answer as one object."""
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= _exact_value(part)
    return merged


def _exact_value(candidate: Candidate) -> Any:
    """The value with numbers as their text: a joined answer has no source."""
    return with_number_texts(candidate.value, candidate.source)


def _looks_like_an_answer(text: str, candidate: Candidate, form: AnswerForm) -> bool:
    """Whether something that breaks off was going to be an answer: it begins with one of the form's keys."""
    if candidate.value is not None and candidate.reads:
        return True
    if len(text[candidate.start : candidate.end].strip()) < 2:
        return False  # a bracket alone says nothing
    first = _FIRST_KEY.match(text, candidate.start, candidate.end)
    name = first.group(1) if first is not None else ""
    if name in form.keys:
        return True
    breaks_off = first is not None and first.end() >= len(text.rstrip())
    return breaks_off and (not name or any(key.startswith(name) for key in form.keys))


def _select_incomplete(
    text: str, rest: list[Candidate], templates: list[Candidate], choice: Selection, form: AnswerForm
) -> None:
    """Nothing complete reads as events: what breaks off and does, else the last value, fenced ones first.

    A template that says nothing at all is one of the values: it may be an answer with an empty type.
    """
    blank = [c for c in templates if c.complete and form.is_empty_template(c.value)]
    candidates = sorted([*rest, *blank], key=lambda c: c.start)
    cut = [c for c in candidates if not c.complete and c.reads and c.value != []]
    if cut:
        choice.answer = max(cut, key=lambda c: (content_weight(c.value), c.start))
        _leave_out(choice, [c for c in cut if c is not choice.answer], Reason.CUT)
        return
    decoded = [c for c in candidates if c.decoded]
    complete = [c for c in decoded if c.complete]
    if complete:
        complete, _ = _before_next_turn(text, complete, candidates, choice)
    choice.answer = max(complete or decoded or candidates, key=_rank, default=None)
    if choice.answer in blank:
        choice.left_out.remove(LeftOutText(choice.answer.start, choice.answer.end, Reason.TEMPLATE))


def _rank(candidate: Candidate) -> tuple[bool, bool, bool, int]:
    """Order of values that do not read as events: one that says something, is not code, is fenced, is later wins."""
    says_something, is_fenced = content_weight(candidate.value) > 0, candidate.method == Method.FENCED
    return says_something, not candidate.code, is_fenced, candidate.start
