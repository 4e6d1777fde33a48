"""Traces: files of spans read one JSON value at a time, spans grouped by trace, and the trace that they form.

Spans, the pieces of work that a tool recorded, of one trace may be anywhere, in several files: they are kept in a
temporary file until all are read. Memory holds ids and offsets, some 200 bytes per span, and the trace that is being
built.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import IO, Any, NamedTuple

import orjson

from goldgate.core.finding import Finding
from goldgate.errors import InputError, Place, describe_value
from goldgate.files.reading import list_untrusted, read_failure
from goldgate.readers.records import (
    LIMIT_VARIABLE,
    RecordFile,
    check_record_size,
    decode_json,
    iterate_records,
    long_line_error,
    open_records,
    record_limit,
    too_large_error,
)

LATEST_TIME = 1 << 62  # nanoseconds; a time behind it is none


class TraceSpan(NamedTuple):
    """One piece of work. `fields` is what the tool wrote of it; the paths of a mapping lead into it."""

    id: str
    trace: str | None  # None: whatever its parents belong to
    parent: str | None
    name: str
    start: int | None  # nanoseconds since 1970
    finished: bool
    fields: dict[str, Any]


class InvalidSpan(NamedTuple):
    """Something in a file that is no span, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How one tool writes traces. `recognizes` looks at the keys of one record of a file."""

    name: str
    about: str
    recognizes: Callable[[dict[str, Any]], bool]
    spans: Callable[[dict[str, Any]], Iterator[TraceSpan | InvalidSpan]]


def id_text(value: object) -> str | None:
    """An id or a name as text; None if it is blank or no text."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def parse_nanoseconds(value: object) -> int | None:
    """A time in nanoseconds: written as ISO 8601, or as a number of seconds, milliseconds, … since 1970."""
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            return parse_nanoseconds(int(value))
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
        whole = ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
        return whole if 0 <= whole < LATEST_TIME else None
    if type(value) not in (int, float) or not 0 <= value < LATEST_TIME:  # type: ignore[operator]
        return None
    assert isinstance(value, int | float)
    for unit in (1_000_000_000, 1_000_000, 1_000):  # a number of seconds has ten digits until 2286
        if value < 100_000_000_000 * (1_000_000_000 // unit):
            return int(value * unit)
    return int(value)


@dataclass(frozen=True, slots=True)
class Trace:
    """Spans as they began, the outer before the inner, and how deep each is."""

    id: str
    spans: tuple[TraceSpan, ...]
    depths: Mapping[str, int]
    problems: tuple[str, ...]
    lost: int = 0  # spans whose id another one has: they are not here

    def innermost(self, chosen: Iterable[TraceSpan]) -> list[TraceSpan]:
        """The chosen spans that contain no other chosen span, in the order of their starts."""
        names = {span.id for span in chosen}
        depths = self.depths
        # In a circle no span is above another: its spans must not rule each other out.
        parents = {
            span.id: span.parent
            for span in self.spans
            if span.parent is not None and depths.get(span.parent, depths[span.id]) < depths[span.id]
        }
        outer: set[str] = set()  # every span with one of the chosen inside
        for name in names:
            above = parents.get(name)
            while above is not None and above not in outer:
                outer.add(above)
                above = parents.get(above)
        return [span for span in self.spans if span.id in names and span.id not in outer]


def build_trace(identity: str, recorded: Iterable[TraceSpan]) -> Trace:
    """The trace that some spans form, whatever their order."""
    spans, repeated, lost = _unique_spans(recorded)
    depths, cycles = _depths(spans)
    unfinished = sum(not span.finished for span in spans.values())
    orphans = sum(span.parent is not None and span.parent not in spans for span in spans.values())
    counts = (
        (repeated, "there more than once, with different content: the most complete one was taken"),
        (orphans, "below a span that is not there"),
        (cycles, "below themselves: their parents are a circle"),
        (unfinished, "without an end"),
    )
    problems = tuple(f"{count} {'span' if count == 1 else 'spans'} {words}" for count, words in counts if count)

    def began(span: TraceSpan) -> tuple[bool, int, int, str]:
        return span.start is None, span.start or 0, depths[span.id], span.id

    return Trace(identity, tuple(sorted(spans.values(), key=began)), depths, problems, lost)


def _unique_spans(recorded: Iterable[TraceSpan]) -> tuple[dict[str, TraceSpan], int, int]:
    """Each span once, the most complete of several; how many had a rival, and how many were another span under the same
    id: one that began at another time, or has another name or parent. The order does not matter."""
    spans: dict[str, TraceSpan] = {}
    rivals: dict[str, tuple[set[object], set[object], set[object]]] = {}
    for span in recorded:
        other = spans.setdefault(span.id, span)
        if other != span:
            seen = rivals.setdefault(span.id, (set(), set(), set()))
            for each in (other, span):
                for values, value in zip(seen, (each.name, each.parent, each.start), strict=True):
                    values |= {value} - {"", None}  # a version that leaves something out is not another span
            spans[span.id] = max(other, span, key=_completeness)
    return spans, len(rivals), sum(max(1, *map(len, seen)) - 1 for seen in rivals.values())


def _completeness(span: TraceSpan) -> tuple[bool, int, bytes]:
    written = orjson.dumps(span.fields, option=orjson.OPT_SORT_KEYS)
    return span.finished, len(written), written


def climb(name: str, parents: Mapping[str, str | None], resolved: Container[str]) -> tuple[list[str], str]:
    """The span and those above it up to an outermost or resolved one, or round a circle; and the parent of the last.

    The parent is empty where there is none.
    """
    path: dict[str, None] = {}
    above = name
    while above in parents and above not in resolved and above not in path:
        path[above] = None
        above = parents[above] or ""
    return list(path), above


def _depths(spans: Mapping[str, TraceSpan]) -> tuple[dict[str, int], int]:
    """How deep each span is, and how many are in a circle of parents: these, and what is below them, begin at 0."""
    parents = {name: span.parent for name, span in spans.items()}
    depths: dict[str, int] = {}
    cycles = 0
    for name in sorted(spans):
        path, above = climb(name, parents, depths)
        if above in path:
            circle = path[path.index(above) :]
            cycles += len(circle)
            depths.update(dict.fromkeys(circle, 0))
        depth = depths[above] + 1 if above in depths else 0
        for step in reversed(path):
            if step not in depths:
                depths[step] = depth
                depth += 1
    return depths, cycles


TRACE_KIND = "trace"
FindPlace = Callable[[], Place]  # lines are counted only for the flaws that are listed
_BRACE_LINE = 16  # bytes of a line with a brace and nothing else
_MARK = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}]')  # strings, so that braces in them are passed over
_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")


def trace_paths(paths: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The named files; of a folder, those in it that end as JSON files do, in the order of their names.

    Each comes with the reason why it must not be read, if there is one: see `foreign_files`.
    """
    for path in dict.fromkeys(paths):
        if not os.path.isdir(path):
            yield path, None
            continue
        try:
            files = list_untrusted(path, _ENDINGS)
        except OSError as problem:
            raise read_failure(path, TRACE_KIND, problem) from None
        if not files:
            raise InputError(
                f"{TRACE_KIND}.no_files",
                "this folder has no file with traces",
                place=Place(path),
                expected="files that end in " + ", ".join(_ENDINGS),
            )
        yield from files


def read_documents(path: str) -> Iterator[tuple[FindPlace, Any]]:
    """Each value of a file and a way to its line: JSON Lines, the items of an array, or one object over many lines."""
    with closing(open_records(path, TRACE_KIND)) as file:
        try:
            if not file.is_array and not _is_printed(file) and (whole := _whole_object(file)) is not None:
                yield partial(file.place, 0), whole
                return
            for offset, data in _printed_objects(file) if _is_printed(file) else iterate_records(file):
                yield partial(file.place, offset), _decode_or_invalid(data)
        except InputError as problem:  # an array breaks off, a record is too large: the records before it count
            place = problem.place
            reason = "; ".join(filter(None, (problem.message, problem.found, problem.advice)))
            yield lambda: place, InvalidSpan(f"{reason}; the rest of the file is not read")


def _is_printed(file: RecordFile) -> bool:
    """Whether objects are printed over many lines, one behind the other, as the console exporters of SDKs do."""
    with file.plain.stream(file.start) as stream:
        return stream.readline(_BRACE_LINE).strip() == b"{"


def _printed_objects(file: RecordFile) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each printed object. A line `{` at the margin begins the next, also where one breaks off."""
    begin = offset = file.start
    lines: list[bytes] = []
    depth = 0
    stream = file.plain.stream(file.start)
    while line := stream.readline(file.limit + 1):
        if len(line) > file.limit:
            raise long_line_error(file, offset)
        if lines and (depth <= 0 or line.rstrip() == b"{"):
            yield begin, _join_lines(file, begin, lines)
            lines, depth = [], 0
        if lines or not line.isspace():
            begin = begin if lines else offset
            lines.append(line)
            marks = _MARK.findall(line)
            depth += marks.count(b"{") - marks.count(b"}")
        offset += len(line)
        if offset - begin > file.limit and lines:
            actual = f"an object of at least {offset - begin:,} bytes"
            raise too_large_error(TRACE_KIND, file.place(begin), actual, file.limit)
    if lines:
        yield begin, _join_lines(file, begin, lines)


def _join_lines(file: RecordFile, begin: int, lines: list[bytes]) -> bytes:
    data = b"".join(lines)
    check_record_size(file, begin, data)
    return data


def _decode_or_invalid(data: bytes) -> Any:
    try:
        return decode_json(data)
    except ValueError as problem:
        return InvalidSpan(f"not JSON: {problem}")


def _whole_object(file: RecordFile) -> Any:
    """The object that the file is as a whole; None if its first line is a record, or it is nothing at all."""
    begin, size = file.start, file.plain.size() - file.start
    head = [data for _, data in islice(iterate_records(file), 2)]
    if len(head) < 2 or (
        head[0].rstrip()[-1:] in (b"}", b"]") and not isinstance(_decode_or_invalid(head[0]), InvalidSpan)
    ):
        return None
    if size > file.limit:
        if not isinstance(_decode_or_invalid(head[1]), InvalidSpan):
            return None  # JSON Lines of which the first is damaged
        raise too_large_error(
            TRACE_KIND, Place(file.name, 1), f"one object over many lines, of {size:,} bytes", file.limit
        )
    data = file.plain.read(begin, size)
    check_record_size(file, begin, data)
    value = _decode_or_invalid(data)
    return value if isinstance(value, dict) else None


_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(?<!\.)")
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME = 40  # characters of an id that cannot be a name as it is


def folder_name(run_id: str) -> str:
    """`run_` and the id; of one that is long, or has other characters, what can be shown of it and a hash.

    Capital letters get a hash too: some file systems do not tell them apart.
    """
    if _PLAIN_NAME.fullmatch(run_id) and ".." not in run_id:
        return f"run_{run_id}"
    digest = hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    safe_id = _UNSAFE_CHARACTERS.sub("_", run_id)[:_MAX_NAME].strip("_")
    return f"run_{safe_id}~{digest}" if safe_id else f"run_~{digest}"  # a plain id has no ~


_MAX_FINDINGS = 20  # with their places; of the rest the number is enough
_TRACE_RECORDS = 4  # a trace, which is built in memory, may have 4 times the size of a record
_MAX_KEYS = 6  # of a record that no format recognizes


class SpanStore:
    """All spans of some files by the trace they belong to, and what in the files was no span."""

    def __init__(self, formats: Sequence[TraceFormat]) -> None:
        """The first format that recognizes a record decides for all records; a single one is taken as it is."""
        self.formats = formats
        self.format = formats[0] if len(formats) == 1 else None
        self.spans = 0
        self.flaws = 0
        self.findings: list[Finding] = []  # the first flaws
        self._unknown: dict[str, Any] | None = None  # the first record that no format recognizes
        self._stored: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # until it is closed
        self._traces: dict[str, list[tuple[int, int]]] = {}
        self._without_trace: list[tuple[str, tuple[int, int]]] = []
        self._parents: dict[str, str | None] = {}
        self._trace_of: dict[str, str] = {}

    def read(self, paths: Sequence[str]) -> TraceFormat:
        """Read all files; the result is the format that they have."""
        for path, refusal in trace_paths(paths):
            if refusal is not None:
                self._add_flaw(partial(Place, path), f"{refusal}: it is not read")
                continue
            for find_place, value in read_documents(path):
                for span in self._spans_in(value):
                    self._add(span, find_place)
        if self.format is None or not self.spans:
            raise self._no_spans_error(paths)
        for name, place in self._without_trace:
            self._traces.setdefault(self._find_trace(name), []).append(place)
        self._drop_large_traces()
        return self.format

    def traces(self) -> Iterator[tuple[str, list[TraceSpan]]]:
        """Each trace's id and spans, in the order of the ids."""
        for trace in sorted(self._traces):
            spans = []
            for offset, size in self._traces[trace]:
                self._stored.seek(offset)
                spans.append(TraceSpan(*orjson.loads(self._stored.read(size))))
            yield trace, spans

    def close(self) -> None:
        self._stored.close()

    def _spans_in(self, value: Any) -> Iterator[TraceSpan | InvalidSpan]:
        if isinstance(value, InvalidSpan):
            yield value
            return
        if not isinstance(value, dict):
            yield InvalidSpan(f"{describe_value(value)} is not an object")
            return
        if self.format is None:
            self.format = next((format for format in self.formats if format.recognizes(value)), None)
        if self.format is not None:
            yield from self.format.spans(value)
            return
        self._unknown = value if self._unknown is None else self._unknown
        yield InvalidSpan("a record of a form that is not known")

    def _add(self, span: TraceSpan | InvalidSpan, find_place: FindPlace) -> None:
        if isinstance(span, InvalidSpan):
            self._add_flaw(find_place, span.reason)
            return
        try:
            data = orjson.dumps(tuple(span))
        except TypeError:  # orjson reads deeper than it writes
            self._add_flaw(find_place, "a span is nested too deeply")
            return
        place = (self._stored.tell(), len(data))
        self._stored.write(data)
        self.spans += 1
        if span.trace is not None:
            self._traces.setdefault(span.trace, []).append(place)
            self._trace_of[span.id] = span.trace
        else:
            self._without_trace.append((span.id, place))
            self._parents[span.id] = span.parent

    def _add_flaw(self, find_place: FindPlace, reason: str) -> None:
        self.flaws += 1
        if len(self.findings) < _MAX_FINDINGS:
            place = find_place()
            self.findings.append(Finding("unread", "error", place.file or "", place.line, "", reason))

    def _find_trace(self, name: str) -> str:
        """The trace of a span that names none: that of the spans above it, or the outermost of them."""
        path, above = climb(name, self._parents, self._trace_of)
        if above in self._trace_of:
            trace = self._trace_of[above]
        else:
            trace = min(path[path.index(above) :]) if above in path else path[-1]
        self._trace_of.update(dict.fromkeys(path, trace))  # a long chain is climbed once
        return trace

    def _drop_large_traces(self) -> None:
        """Leave out traces that are too large to be built."""
        limit = record_limit() * _TRACE_RECORDS
        for trace in sorted(self._traces):
            size = sum(length for _, length in self._traces[trace])
            if size > limit:
                del self._traces[trace]
                reason = f"a trace of {size:,} bytes, more than {limit:,}; {LIMIT_VARIABLE} sets a quarter of it"
                self._add_flaw(partial(Place, folder_name(trace)), reason)

    def _no_spans_error(self, paths: Sequence[str]) -> InputError:
        """The error for files without a single span: it says what is there instead."""
        first = self.findings[0] if self.findings else None
        actual = first.message if first is not None else "nothing"
        if self._unknown is not None:
            keys = ", ".join(sorted(self._unknown)[:_MAX_KEYS])
            actual = f"an object with {keys}" if self._unknown else "an empty object"
        one = self.formats[0] if len(self.formats) == 1 else None
        return InputError(
            f"{TRACE_KIND}.no_spans",
            "there is no trace in what was given" if one is None else f"there is no trace of the form {one.name}",
            place=Place(first.file, first.line) if first is not None else Place(paths[0]),
            expected="; ".join(f"{each.name}: {each.about}" for each in self.formats) if one is None else one.about,
            found=actual,
            advice="name the form with --from, or write a mapping (--mapping)",
        )
