"""What `goldgate read` prints: each parsed answer as lines of text or as JSON, and a summary of all."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import orjson

from goldgate.core.page import Column, count_text
from goldgate.errors import ConfigError, Place
from goldgate.readers.layouts.layout import FieldPaths
from goldgate.readers.pair_files import PairOpener
from goldgate.readers.records import read_records
from goldgate.report.escape import display_width, escape_json, shorten, shorten_middle, visible
from goldgate.report.text import (
    DEFAULT_COLUMNS,
    INDENT,
    TextCell,
    TextRow,
    labelled_lines,
    more_line,
    text_table,
    word_parts,
    wrap_parts,
)
from goldgate.response import Method, Parsed, Status, ThoughtState
from goldgate.response import parsed as reading_words
from goldgate.response.repair import decode_exactly

_BEFORE = 3  # of 4 columns of an excerpt are for what stands before the place


class Position(NamedTuple):
    """A line and a column (of characters), both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class TextPositions:
    """The places of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(end.end() for end in re.finditer("\n", text))]  # offset of each line

    def position(self, at: int) -> Position:
        line = bisect_right(self._starts, at)
        return Position(line, at - self._starts[line - 1] + 1)

    def stretch(self, start: int, end: int) -> str:
        """`3:1 to 9:4`, both inside the stretch."""
        return f"{self.position(start)} to {self.position(max(start, end - 1))}"

    def excerpt(self, at: int, columns: int) -> tuple[str, str]:
        """The line of a place, cut to `columns`, and a line with a caret under it.

        Behind the text, or on a blank line, it is the end of what stands before it.
        """
        line = self.position(at).line
        begin = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        if not self.text[begin:end].strip():
            kept = len(self.text[:at].rstrip())
            if 0 < kept < at:
                return self.excerpt(kept, columns)
        most = columns * _BEFORE // 4
        first, cut = max(begin, at - columns), ""
        while display_width(visible(self.text[first:at])) > most - len(cut) or (first > begin and not cut):
            first, cut = first + 1, "…"
        # As one text: what is safe in two pieces may be a command in one.
        line_shown = cut + visible(self.text[first : min(end, at + columns)].rstrip("\r"))
        return shorten(line_shown, columns), " " * display_width(cut + visible(self.text[first:at])) + "^"


class ShownAnswer(NamedTuple):
    """An answer, how it was read, and what a suite says of its content."""

    id: str | None
    response: str  # empty where it came decoded
    parsed: Parsed
    sizes: tuple[str, ...]  # how much is in it, in few words
    content: Callable[[], list[str]]  # its lines
    violations: Sequence[tuple[str, str]] = ()  # names and paths of what is not in the expected form
    fields: Mapping[str, Any] = {}  # its own part of the JSON form


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\r\n]+')


def render_answer_json(answer: ShownAnswer, *, on_one_line: bool) -> str:
    """What was read as one object, by the names of the samples' records."""
    option = orjson.OPT_APPEND_NEWLINE | (0 if on_one_line else orjson.OPT_INDENT_2)
    parsed, places = answer.parsed, TextPositions(answer.response)
    fields = {
        "id": answer.id,
        "status": parsed.status,
        "method": parsed.method,
        "repairs": parsed.repairs,
        "thought": parsed.thought_state,
        "start": parsed.start,
        "end": parsed.end,
        "left_out": [
            {"start": start, "end": end, "reason": reason, "line": line, "column": column}
            for start, end, reason in parsed.left_out
            for line, column in [places.position(start)]
        ],
        "places": [
            {"repair": step, "at": at, "line": line, "column": column}
            for step, at in parsed.places
            for line, column in [places.position(at)]
        ],
        **answer.fields,
        "violations": [{"violation": name, "path": path} for name, path in answer.violations],
        "value": orjson.Fragment(value_text(answer.response, parsed)),
    }
    return escape_json(orjson.dumps(fields, option=option).decode())


def value_text(response: str, parsed: Parsed) -> str:
    """The value on one line, its numbers as they were written."""
    source = parsed.source
    if source is None and parsed.status == Status.RAW and parsed.start is not None:
        written = response[parsed.start : parsed.end]
        source = None if decode_exactly(written) is None else written  # part of it may be in the prefix
    if source is not None:
        return _TOKEN.sub(lambda token: token.group() if token.group()[0] == '"' else "", source)
    try:
        as_written, option = lambda number: orjson.Fragment(number.text), orjson.OPT_PASSTHROUGH_DATACLASS
        return orjson.dumps(parsed.value, default=as_written, option=option).decode()
    except orjson.JSONEncodeError:  # it follows no more than 254 levels
        return json.dumps(parsed.value, ensure_ascii=False, default=lambda number: json.loads(number.text))


SHOWN_PLACES = 3  # of one kind of repair
SHOWN_ITEMS = 20  # of anything else that is listed
SHOWN_VALUE_LINES = 10
SHOWN_CHARACTERS = 2_000  # of a value: more than those lines hold
_LABEL_COLUMNS = 10
_BAR = " | "
_VALUE_COLUMNS = DEFAULT_COLUMNS - 3 - len(_BAR)
_NAME_COLUMNS = 30
_PATH_COLUMNS = 45


def render_answer_line(answer: ShownAnswer) -> str:
    """A line on an answer, and one for each kind of thing that was odd about it."""
    parsed, places = answer.parsed, TextPositions(answer.response)
    parts = [parsed.status, parsed.method]
    if parsed.start is not None and parsed.end is not None:
        parts.append(places.stretch(parsed.start, parsed.end))
    if parsed.status != Status.ERROR:
        parts += answer.sizes
    if parsed.thought_state != ThoughtState.NONE:
        parts.append(f"thought {parsed.thought_state}")
    lines = wrap_parts(parts, DEFAULT_COLUMNS, f"{short_name(answer.id or '-')}  ", INDENT, ", ")
    steps = [
        f"{step} {places.position(min(place.at for place in parsed.places if place.step == step))}"
        for step in parsed.repairs
    ]
    left_out = [f"{places.stretch(item.start, item.end)} ({item.reason})" for item in parsed.left_out]
    violations = [f"{name} {short_name(path, _PATH_COLUMNS)}" for name, path in answer.violations]
    for label, entries in (("repairs", steps), ("left out", left_out), ("violations", violations)):
        if entries:
            more = len(entries) - SHOWN_PLACES if label != "repairs" else 0
            visible_entries = entries if more <= 0 else [*entries[:SHOWN_PLACES], f"{more} more"]
            lines += _labelled(label, visible_entries)
    return "\n".join(lines) + "\n"


def render_answer(answer: ShownAnswer) -> str:
    """Everything about one answer: where it stood, each repair with its place, what was left out, what it says."""
    parsed, places = answer.parsed, TextPositions(answer.response)
    sections = [
        _headline(answer, places),
        _repairs(parsed, places),
        _left_out(parsed, places),
        [] if parsed.status == Status.ERROR else answer.content(),
        _violation_lines(answer),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _headline(answer: ShownAnswer, places: TextPositions) -> list[str]:
    parsed = answer.parsed
    name = "" if answer.id is None else f"{short_name(answer.id)}  "
    lines = [shorten(f"{name}{parsed.status.upper()}: {reading_words.STATUS_MEANINGS[parsed.status]}", DEFAULT_COLUMNS)]
    lines += _labelled("found", [f"{parsed.method}: {reading_words.METHOD_MEANINGS[parsed.method]}"])
    if parsed.start is not None and parsed.end is not None:
        stretch = places.stretch(parsed.start, parsed.end)
        lines += _labelled("place", [f"{stretch} (characters {parsed.start} to {parsed.end})"])
    if parsed.method != Method.STRUCTURED:
        state = f"{parsed.thought_state}: {reading_words.THOUGHT_MEANINGS[parsed.thought_state]}"
        length = f", {count_text(len(parsed.thought), 'character')}" if parsed.thought else ""
        lines += _labelled("thought", [state + length])
    return lines


def _repairs(parsed: Parsed, places: TextPositions) -> list[str]:
    """Each kind of repair with its first places, in the order in which the kinds come up in the text."""
    if not parsed.places:
        return []
    by_step = {step: [place.at for place in parsed.places if place.step == step] for step in parsed.repairs}
    gutter = 4 + max(len(str(places.position(place.at))) for place in parsed.places)
    lines = ["Repairs"]
    for step, offsets in sorted(by_step.items(), key=lambda item: (item[1][0], item[0])):
        times = "" if len(offsets) == 1 else f", {len(offsets)} times"
        lines += word_parts(f"{step}{times}: {reading_words.STEP_MEANINGS[step]}", DEFAULT_COLUMNS, INDENT * 2, INDENT)
        for at in offsets[:SHOWN_PLACES]:
            lines += _marked(places, at, gutter)
        lines += more_line(len(offsets) - SHOWN_PLACES, INDENT * 2)
    return lines


def _marked(places: TextPositions, at: int, gutter: int) -> list[str]:
    """`line:column` beside the line of the text, and under it a mark at the place."""
    text, caret = places.excerpt(at, DEFAULT_COLUMNS - gutter - len(_BAR))
    return [f"{places.position(at)!s:>{gutter}}{_BAR}{text}", " " * gutter + _BAR + caret]


def _left_out(parsed: Parsed, places: TextPositions) -> list[str]:
    lines = ["Left out"] if parsed.left_out else []
    for item in parsed.left_out[:SHOWN_ITEMS]:
        stretch, reason = places.stretch(item.start, item.end), item.reason
        words = f"{stretch}, {reason}: {reading_words.REASON_MEANINGS[reason]}"
        lines += word_parts(words, DEFAULT_COLUMNS, INDENT * 2, INDENT)
        text = visible(places.text[item.start : min(item.end, item.start + DEFAULT_COLUMNS)].split("\n")[0])
        lines.append(f"   {_BAR}{shorten(text, _VALUE_COLUMNS)}")
    return [*lines, *more_line(len(parsed.left_out) - SHOWN_ITEMS, INDENT * 2)]


def value_lines(response: str, parsed: Parsed) -> list[str]:
    """The value that was read, on a few lines."""
    return ["Value", *_cut_lines(visible(value_text(response, parsed)[:SHOWN_CHARACTERS]))]


def _cut_lines(text: str) -> list[str]:
    """The text on as many lines as it needs, up to a few."""
    lines: list[str] = []
    while text and len(lines) < SHOWN_VALUE_LINES:
        line = shorten(text, _VALUE_COLUMNS)
        if line != text:
            line = line[:-1]  # the mark of what was cut off
        lines.append(f"   {_BAR}{line}")
        text = text[len(line) :]
    return lines if not text else [*lines, "    … (--format json shows all)"]


def _violation_lines(answer: ShownAnswer) -> list[str]:
    if not answer.violations:
        return []
    rows = [
        TextRow((TextCell((name,)), TextCell((visible(path),), "name", path)))
        for name, path in answer.violations[:SHOWN_ITEMS]
    ]
    return [
        "Not in the expected form",
        *text_table([Column(""), Column("")], rows, DEFAULT_COLUMNS),
        *more_line(len(answer.violations) - SHOWN_ITEMS, INDENT * 2),
    ]


def _labelled(label: str, parts: Sequence[str]) -> list[str]:
    return labelled_lines(label, parts, DEFAULT_COLUMNS, _LABEL_COLUMNS)


def short_name(text: str, columns: int = _NAME_COLUMNS) -> str:
    return shorten_middle(visible(text), columns)


_COUNTED = ("status", "found", "thought", "repairs", "left out", "violations")  # of each, how many answers have a name


class AnswerReader:
    """What `goldgate read` shows: answers that a suite reads, and what all of them came to."""

    def __init__(self, parse: Callable[[Any, bytes], Any], read: Callable[[str | None, Any], ShownAnswer]) -> None:
        self._parse, self._read = parse, read
        self._counts: dict[str, Counter[str]] = {label: Counter() for label in _COUNTED}
        self.answers = 0

    @property
    def unread(self) -> int:
        """How many answers could not be read."""
        return self._counts["status"][Status.ERROR]

    def records(
        self, file: str, ids: Sequence[str], id_field: str | None, response_field: str | None
    ) -> Iterator[tuple[str | None, Any]]:
        """Ids and parsed answers of a file of predictions, in its order; only those with these ids, if any are named.

        Records without ids are numbered. An id that no record has is an error, after all others were yielded.
        """
        missing = dict.fromkeys(ids)
        fields = FieldPaths(id_field, response_field)
        with closing(PairOpener(fields=fields, alone=True)(file, "predictions")) as predictions:
            for record in read_records(predictions):
                identity = record.require_id()
                if ids and identity not in ids:
                    continue
                missing.pop(identity, None)
                with record.locate_errors():
                    answer = self._parse(record.value, record.data)
                yield identity, answer
        if missing:
            raise ConfigError(
                "option.wrong_value",
                "no record has this id",
                place=Place(file, field="id"),
                found=", ".join(missing),
                advice="ids are compared exactly, with their case and spaces",
            )

    def response(self, text: str) -> tuple[str | None, Any]:
        return None, self._parse({"response": text}, b"")

    def show(self, answer: tuple[str | None, Any], *, full: bool) -> str:
        parsed = self._read_and_count(answer)
        if not full:
            return render_answer_line(parsed)
        return ("\n" if self.answers > 1 else "") + render_answer(parsed)

    def as_json(self, answer: tuple[str | None, Any], *, on_one_line: bool) -> str:
        return render_answer_json(self._read_and_count(answer), on_one_line=on_one_line)

    def summary(self) -> str:
        """Counts of answers: a name counts once in each."""
        lines = [f"{count_text(self.answers, 'response')}, {self.unread} could not be read"]
        for label, counts in self._counts.items():
            by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            lines += _labelled(label, [f"{name} {count}" for name, count in by_count] or ["none"])
        return ("\n" if self.answers else "") + "\n".join(lines) + "\n"

    def _read_and_count(self, answer: tuple[str | None, Any]) -> ShownAnswer:
        view = self._read(*answer)
        self.answers += 1
        parsed = view.parsed
        names = (
            [parsed.status],
            [parsed.method],
            [parsed.thought_state],
            map(str, parsed.repairs),
            {item.reason for item in parsed.left_out},
            {name for name, _ in view.violations},
        )
        for counts, each in zip(self._counts.values(), names, strict=True):
            counts.update(each)
        return view
