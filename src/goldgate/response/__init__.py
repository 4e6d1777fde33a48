"""Reading a raw response: from what a model wrote to the JSON value that is its answer.

Thoughts are cut out here; candidates are found (`candidates`), each is decoded as it is or repaired by named steps
(`repair`, with `strings` and `structure`), and one is chosen (`selection`). `parsed` holds the result. No text makes
this raise, and the time grows linearly with the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from json import JSONDecodeError
from typing import NamedTuple

import orjson

from goldgate.response.candidates import (
    Candidate,
    events_of,
    find_candidates,
    flatten_answer,
    unopened_object,
    whole_candidate,
)
from goldgate.response.parsed import (
    AnswerForm,
    LeftOutText,
    Method,
    Parsed,
    Reason,
    RepairPlace,
    Status,
    Step,
    ThoughtState,
)
from goldgate.response.repair import scan_exact
from goldgate.response.repeated_keys import join_repeated_keys
from goldgate.response.selection import (
    NO_WORDS,
    Selection,
    content_weight,
    end_of_answer,
    next_example_pattern,
    next_turn_mark,
    select_answer,
)
from goldgate.response.strings import lazy_pattern
from goldgate.response.structure import BRACKETS

DEFAULT_THOUGHT_TAGS = ("thought", "think", "thinking")


def read_answer(text: str, thought_tags: tuple[str, ...], form: AnswerForm) -> Parsed:
    """Read a raw model output: the fast way where it is enough, else the rule."""
    prefixed = form.prefixed(text) if form.prefix else text
    parsed = fast_parse(prefixed, thought_tags, form) or slow_parse(prefixed, thought_tags, form)
    return parsed if prefixed is text else _without_prefix(parsed, len(prefixed) - len(text))


def fast_parse(text: str, thought_tags: tuple[str, ...], form: AnswerForm) -> Parsed | None:
    """What most models write, read in one step: an answer alone, or a thought, words, one fenced block, words.

    None for all other texts. `slow_parse` comes to the same and takes three times as long.
    """
    thought: str | None = None
    method, preamble, content, offset = Method.WHOLE, "", text, 0
    if text.lstrip()[:1] not in ("[", "{"):
        usual = _fast_pattern(thought_tags).fullmatch(text)
        if usual is None:
            return None
        thought, before, content, after = usual.groups()
        if "<" in content or ("~" in text and "~~~" in text):
            return None  # a tag, or another fence, perhaps
        method, offset = Method.FENCED, usual.start(3)
        if not _is_encodable(text[:offset]) or (after and not _is_encodable(after)):
            return None
        if before and not before.isspace():
            preamble = _text_if_words(_text_before_block(text, usual))
            if "\n" in before[:-1] and next_example_pattern(form.next_example).search(before):
                return None
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not (form.is_answer(value) or form.is_event(value)) or form.is_template(value):
        return None
    if join_repeated_keys(content, value, form) is not None:
        return None
    source = content.strip()
    if form.flattens and flatten_answer(value, source, form) is not None:
        return None
    start = offset + content.index(source[0])
    state = ThoughtState.NONE if thought is None else ThoughtState.CLOSED
    return Parsed(Status.RAW, method, value, source, (), state, thought or "", preamble, start, start + len(source))


def _text_before_block(text: str, usual: re.Match[str]) -> str:
    """What stands before the fenced block of a usual text, with blanks in place of its thought."""
    if usual.group(1) is None:
        return text[: usual.end(2)]
    tag = text.index("<")
    return text[:tag] + " " * (usual.start(2) - tag) + usual.group(2)


def slow_parse(text: str, thought_tags: tuple[str, ...], form: AnswerForm) -> Parsed:
    """The rule: what `read_answer` gives for any text."""
    text = _encodable(text)
    whole = whole_candidate(text, form) if text.lstrip()[:1] in ("[", "{") else None
    if whole is not None:
        # A text that is JSON as a whole has its thoughts, if any, in strings.
        return _make_parsed(select_answer(text, [whole], form), text, "", ThoughtState.NONE)
    cut = cut_thoughts(text, thought_tags)
    if cut.tail is not None:
        before = _answer_before_turn(cut, cut.tail, text, form)
        if before is not None:
            return before
        hidden = " " * cut.tail + text[cut.tail :]
        choice = _select(hidden, form)
        answer = choice.answer
        # An empty list in a thought is not an answer.
        if answer is not None and (answer.is_event or (answer.is_answer and events_of(answer.value, form))):
            return _make_parsed(choice, hidden, cut.thought, cut.state)
        return _make_parsed(_select(cut.visible, form), cut.visible, cut.thought + text[cut.tail :], cut.state)
    choice = _select(cut.visible, form)
    return _with_tags_as_text(choice, cut, text, form) or _make_parsed(choice, cut.visible, cut.thought, cut.state)


def _answer_before_turn(cut: ResponseWithoutThoughts, tail: int, text: str, form: AnswerForm) -> Parsed | None:
    """The answer before the turn in which a thought is never closed; None if that thought is of the answer's turn."""
    visible = cut.visible[:tail] + text[tail:]
    if next_turn_mark(visible, 0, tail) < 0 and not next_example_pattern(form.next_example).search(visible, 0, tail):
        return None
    choice = _select(visible, form)
    answer = choice.answer
    if answer is None or not (answer.complete and answer.reads):
        return None
    if choice.end > tail and next_turn_mark(visible, answer.end, tail) < 0:
        return None
    return _make_parsed(choice, visible, cut.thought, ThoughtState.CLOSED if cut.spans else ThoughtState.NONE)


def _with_tags_as_text(choice: Selection, cut: ResponseWithoutThoughts, text: str, form: AnswerForm) -> Parsed | None:
    """The answer read again with the tags inside it as text, if that is no worse: they stand in its strings."""
    answer = choice.answer
    if answer is None or not any(answer.start < start and end < answer.end for start, end in cut.spans):
        return None
    visible = cut.visible[: answer.start] + text[answer.start : answer.end] + cut.visible[answer.end :]
    again = _select(visible, form)
    if again.answer is None or not again.answer.decoded or not _repair_names(again.answer) <= _repair_names(answer):
        return None
    outside = [text[start:end] for start, end in cut.spans if not (answer.start < start and end < answer.end)]
    return _make_parsed(again, visible, "".join(outside), cut.state if outside else ThoughtState.NONE)


def _repair_names(answer: Candidate) -> set[Step]:
    return {step for step, _ in answer.places}


def _without_prefix(parsed: Parsed, by: int) -> Parsed:
    """The reading with places in the response itself, not in the response behind the declared prefix of length `by`.

    Words of the prefix are the prompt's, and no preamble of the model's.
    """
    return replace(
        parsed,
        preamble=_text_if_words(parsed.preamble[by:]),
        start=None if parsed.start is None else max(0, parsed.start - by),
        end=None if parsed.end is None else max(0, parsed.end - by),
        left_out=tuple(
            LeftOutText(max(0, start - by), max(0, end - by), reason) for start, end, reason in parsed.left_out
        ),
        places=tuple(RepairPlace(step, max(0, at - by)) for step, at in parsed.places),
    )


def _select(text: str, form: AnswerForm) -> Selection:
    """The answer in a text without thoughts, up to the next example of a prompt."""
    candidates = find_candidates(text, form)
    end = end_of_answer(text, candidates, form)
    behind: list[LeftOutText] = []
    if end < len(text):
        behind = [LeftOutText(c.start, c.end, Reason.NEXT_EXAMPLE) for c in candidates if c.start >= end]
        candidates, text = candidates[: len(candidates) - len(behind)], text[:end]
        if candidates and candidates[-1].end > end:
            behind.append(LeftOutText(end, candidates[-1].end, Reason.NEXT_EXAMPLE))
            candidates = find_candidates(text, form)
    unread = candidates.pop() if candidates and candidates[-1].unread else None
    choice = select_answer(text, candidates, form)
    choice.left_out += behind
    choice.end = end
    if unread is not None:
        return _with_limit_reached(choice, unread)
    answer = choice.answer
    reads = answer is not None and answer.reads
    if answer is not None and reads and answer.complete:
        return choice
    any_object = answer is None or not answer.decoded
    unopened = unopened_object(text, [c for c in candidates if c.decoded], form, any_object=any_object)
    if unopened is None or form.is_template(unopened.value):
        return choice
    if unopened.unread:
        return _with_limit_reached(choice, unopened)
    if answer is None or not reads or content_weight(unopened.value) > content_weight(answer.value):
        choice.answer = unopened
    return choice


def _with_limit_reached(choice: Selection, unread: Candidate) -> Selection:
    """Note in a choice that the text from `unread` on was not read, because the limit on steps was reached."""
    choice.left_out.append(LeftOutText(unread.start, unread.end, Reason.LIMIT))
    if choice.answer is not None:
        choice.answer.places = [*choice.answer.places, (Step.CUT_AT_ERROR, unread.start)]
    return choice


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encodable(text: str) -> str:
    """The text with halves of surrogate pairs, which no file can hold, as U+FFFD."""
    return text if _is_encodable(text) else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _make_parsed(choice: Selection, text: str, thought: str, state: str) -> Parsed:
    answer = choice.answer
    left_out = tuple(sorted(choice.left_out)) if choice.left_out else ()
    if answer is None:
        return Parsed(
            Status.ERROR,
            Method.NO_JSON_FOUND,
            thought_state=state,
            thought=thought,
            preamble=_text_if_words(text[: choice.end]),
            left_out=left_out,
        )
    status = Status.RAW
    if not answer.decoded:
        status = Status.ERROR
    elif answer.places:
        status = Status.REPAIRED
    method = answer.method
    if not text[: answer.start].strip() and not text[answer.end :].strip():
        method = Method.WHOLE
    before = answer.start
    if method == Method.FENCED:
        before = max(text.rfind("```", 0, before), text.rfind("~~~", 0, before) if "~" in text else -1, 0)
    in_order = sorted([(at, step) for step, at in answer.places])
    return Parsed(
        status,
        method,
        answer.value,
        answer.source,
        tuple(sorted({step for _, step in in_order})),
        state,
        thought,
        _text_if_words(text[:before]),
        answer.start,
        answer.end,
        left_out,
        tuple([RepairPlace(step, at) for at, step in in_order]),
    )


def _text_if_words(text: str) -> str:
    """The text, if it has words: `[##JSON##]` and `<answer>` before an answer are marks, not a thought."""
    return "" if NO_WORDS.fullmatch(text.strip()) else text


@lru_cache
def _fast_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    """The groups: the thought, the words before the block, what is in the block, the words behind it."""
    names = "|".join(map(re.escape, tags)) or "(?!)"
    words = rf"([^<`{re.escape(BRACKETS)}]*+)"
    opening = r"```(?:json[ \t]*+)?\r?\n"
    closing = r"```(?:(?=[\r\n]|\Z)|(?<=[\n\]}]```)(?=[ \t]))"
    return re.compile(rf"(?:[ \t\r\n]*+<(?i:{names})>([^<]*+)</(?i:{names})>)?{words}{opening}([^`]*+){closing}{words}")


_BRACKET = lazy_pattern(r"[\[{]")
_MAX_FAILURES = 12  # brackets that begin no JSON; beyond that, tags are taken for tags


class ResponseWithoutThoughts(NamedTuple):
    """A response without its thoughts."""

    visible: str  # the response with blanks in place of its thoughts, so that places stay where they are
    thought: str  # the text of the thoughts
    state: str
    tail: int | None  # where the text after the tag of an unclosed thought begins
    spans: tuple[tuple[int, int], ...] = ()  # where closed thoughts stand, with their tags


def cut_thoughts(text: str, tags: tuple[str, ...]) -> ResponseWithoutThoughts:
    """The text outside thoughts, and the thoughts.

    A closing tag without an opening one ends a thought that began with the text: chat templates
    put the opening tag into the prompt. A tag inside a JSON value is text.
    """
    if not tags or "<" not in text:
        return ResponseWithoutThoughts(text, "", ThoughtState.NONE, None)
    values = _JsonValues(text)
    thought = ""
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    end = value_end = 0  # ends of the last thought and of the JSON value around a tag
    for tag in _tag_pattern(tags).finditer(text):
        if tag.start() < value_end:
            continue
        if opening is None:
            value_end = values.end_of_value_around(tag.start(), end)
            if tag.start() < value_end:
                continue
        if tag[1]:
            start, begin = (end, end) if opening is None else opening.span()
            thought += text[begin : tag.start()]
            opening, end = None, tag.end()
            spans.append((start, end))
        elif opening is None:
            opening = tag
    if opening is not None:
        visible = _blank_out(text, [*spans, (opening.start(), len(text))])
        return ResponseWithoutThoughts(visible, thought, ThoughtState.UNCLOSED, opening.end(), tuple(spans))
    state = ThoughtState.CLOSED if spans else ThoughtState.NONE
    return ResponseWithoutThoughts(_blank_out(text, spans), thought, state, None, tuple(spans))


@lru_cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"<(/?)(?:" + "|".join(map(re.escape, tags)) + r")\s*>", re.IGNORECASE)


def _blank_out(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with blanks in place of the spans."""
    parts: list[str] = []
    kept_to = 0
    for start, end in spans:
        parts += (text[kept_to:start], " " * (end - start))
        kept_to = end
    return "".join([*parts, text[kept_to:]])


class _JsonValues:
    """The JSON values of a text, read from the left as far as tags make it necessary."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0  # all before has been looked at
        self.failures = 0

    def end_of_value_around(self, at: int, begin: int) -> int:
        """Where the JSON value ends that begins after `begin` and holds the place `at`, or -1 if none does."""
        self.end = max(self.end, begin)
        while self.end <= at and self.failures < _MAX_FAILURES:
            bracket = _BRACKET.search(self.text, self.end, at)
            if bracket is None:
                self.end = at
                return -1
            try:
                _, self.end = scan_exact(self.text, bracket.start())
            except (ValueError, RecursionError) as error:
                self.failures += 1
                self.end = _resume_after(error, bracket.start(), at)
        return self.end if self.end > at else -1


def _resume_after(error: Exception, bracket: int, at: int) -> int:
    """Where to go on after a bracket that begins no JSON: behind `at` if the value breaks off only after that place."""
    if isinstance(error, JSONDecodeError):
        in_string = error.msg.startswith("Unterminated string") and error.pos > bracket
        if error.pos > at or in_string:  # it breaks off later, or in the string that holds the tag
            return max(error.pos, at + 1)
    return bracket + 1


__all__ = [
    "DEFAULT_THOUGHT_TAGS",
    "LeftOutText",
    "Method",
    "Parsed",
    "Reason",
    "RepairPlace",
    "Status",
    "Step",
    "ThoughtState",
    "read_answer",
]
