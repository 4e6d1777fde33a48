"""Trace files read one JSON value at a time, and their spans grouped by trace.

Spans of one trace may be anywhere, in several files: they are kept in a temporary file until all are read. Memory
holds ids and offsets, some 200 bytes per span, and the trace that is being built.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import IO, Any, NamedTuple

import orjson

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
from goldgate.suites.research.imports.formats import FORMATS
from goldgate.suites.research.imports.spans import InvalidSpan, TraceFormat, TraceSpan, climb

TRACE_KIND = "trace"
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


def read_documents(path: str) -> Iterator[tuple[Callable[[], int | None], Any]]:
    """Each value of a file and a way to its line: JSON Lines, the items of an array, or one object over many lines."""
    file = open_records(path, TRACE_KIND)
    try:
        lines = _LineCounter(file)
        try:
            if not file.is_array and not _is_printed(file) and (whole := _whole_object(file)) is not None:
                yield partial(lines.at, 0), whole
                return
            for offset, data in _printed_objects(file) if _is_printed(file) else iterate_records(file):
                yield partial(lines.at, offset), _decode_or_invalid(data)
        except InputError as problem:  # an array breaks off, a record is too large: the records before it count
            line = problem.place.line
            reason = "; ".join(filter(None, (problem.message, problem.found, problem.advice)))
            yield lambda: line, InvalidSpan(f"{reason}; the rest of the file is not read")
    finally:
        file.close()


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


class _LineCounter:
    """The lines of a file, counted only where one is asked for, and every byte at most once."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._offset, self._line = 0, 1

    def at(self, offset: int) -> int:
        self._line += self._file.newlines(self._offset, offset)
        self._offset = max(self._offset, offset)
        return self._line


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


_MAX_FLAWS = 20  # flaws with their places; of the rest the number is enough
_TRACE_RECORDS = 4  # a trace, which is built in memory, may have 4 times the size of a record
_MAX_KEYS = 6  # of a record that no format recognizes


class TraceFlaw(NamedTuple):
    """A part of a file that gave no span."""

    file: str
    line: int | None
    reason: str


@dataclass(slots=True)
class TraceFlaws:
    """How many there were, and the first of them."""

    count: int = 0
    first: list[TraceFlaw] = field(default_factory=list)

    def add(self, file: str, line: Callable[[], int | None], reason: str) -> None:
        self.count += 1
        if len(self.first) < _MAX_FLAWS:
            self.first.append(TraceFlaw(file, line(), reason))


@dataclass(slots=True)
class SpanStore:
    """All spans by the trace they belong to, and what was no span."""

    format: TraceFormat
    flaws: TraceFlaws
    spans: int = 0
    _kept: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    _traces: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _homeless: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    _parents: dict[str, str | None] = field(default_factory=dict)
    _trace_of: dict[str, str] = field(default_factory=dict)

    def add(self, span: TraceSpan) -> None:
        """Keep a span; ValueError for one that is nested without end."""
        try:
            data = orjson.dumps(tuple(span))
        except TypeError:  # orjson reads deeper than it writes
            raise ValueError("a span is nested too deeply") from None
        place = (self._kept.tell(), len(data))
        self._kept.write(data)
        self.spans += 1
        if span.trace is not None:
            self._traces.setdefault(span.trace, []).append(place)
            self._trace_of[span.id] = span.trace
        else:
            self._homeless.append((span.id, place))
            self._parents[span.id] = span.parent

    def finish(self) -> None:
        """Give every span to its trace. A trace that is too large to be built is dropped and noted as a flaw."""
        for name, place in self._homeless:
            self._traces.setdefault(self._home(name), []).append(place)
        self._homeless.clear()
        limit = record_limit() * _TRACE_RECORDS
        for trace in sorted(self._traces):
            size = sum(length for _, length in self._traces[trace])
            if size > limit:
                del self._traces[trace]
                reason = f"a trace of {size:,} bytes, more than {limit:,}; {LIMIT_VARIABLE} sets a quarter of it"
                self.flaws.add(folder_name(trace), lambda: None, reason)

    def traces(self) -> Iterator[tuple[str, list[TraceSpan]]]:
        """Each trace's id and spans, in the order of the ids."""
        for trace in sorted(self._traces):
            yield trace, [self._read(place) for place in self._traces[trace]]

    def close(self) -> None:
        self._kept.close()

    def _home(self, name: str) -> str:
        """The trace of a span that names none: that of its parents, or the outermost of them."""
        path, above = climb(name, self._parents, self._trace_of)
        if above in self._trace_of:
            home = self._trace_of[above]
        else:
            home = min(path[path.index(above) :]) if above in path else path[-1]
        self._trace_of.update(dict.fromkeys(path, home))  # a long chain is climbed once
        return home

    def _read(self, place: tuple[int, int]) -> TraceSpan:
        self._kept.seek(place[0])
        return TraceSpan(*orjson.loads(self._kept.read(place[1])))


def gather_spans(paths: Sequence[str], format: TraceFormat | None) -> SpanStore:
    """Read all files; without a format, the first record that one recognizes decides for all."""
    gathered: SpanStore | None = None
    flaws = TraceFlaws()
    seen: dict[str, Any] | None = None
    try:
        for path, refusal in trace_paths(paths):
            if refusal is not None:
                flaws.add(path, lambda: None, f"{refusal}: it is not read")
                continue
            for line, value in read_documents(path):
                if not isinstance(value, dict):
                    reason = (
                        value.reason if isinstance(value, InvalidSpan) else f"{describe_value(value)} is not an object"
                    )
                    flaws.add(path, line, reason)
                    continue
                if gathered is None:
                    chosen = format or next((each for each in FORMATS.values() if each.recognizes(value)), None)
                    if chosen is None:
                        seen = value if seen is None else seen
                        flaws.add(path, line, "a record of a form that is not known")
                        continue
                    gathered = SpanStore(chosen, flaws)
                for span in gathered.format.spans(value):
                    if isinstance(span, InvalidSpan):
                        flaws.add(path, line, span.reason)
                        continue
                    try:
                        gathered.add(span)
                    except ValueError as problem:
                        flaws.add(path, line, str(problem))
        if gathered is None or not gathered.spans:
            raise _no_spans_error(paths, seen, flaws, format)
        gathered.finish()
    except BaseException:
        if gathered is not None:
            gathered.close()
        raise
    return gathered


def _no_spans_error(
    paths: Sequence[str], seen: dict[str, Any] | None, flaws: TraceFlaws, format: TraceFormat | None
) -> InputError:
    """The error for files without a single span: it says what is there instead."""
    first = flaws.first[0] if flaws.first else None
    actual = first.reason if first is not None else "nothing"
    if seen is not None:
        actual = "an object with " + ", ".join(sorted(seen)[:_MAX_KEYS]) if seen else "an empty object"
    formats = "; ".join(f"{each.name}: {each.about}" for each in FORMATS.values())
    return InputError(
        f"{TRACE_KIND}.no_spans",
        "there is no trace in what was given" if format is None else f"there is no trace of the form {format.name}",
        place=Place(first.file, first.line) if first is not None else Place(paths[0]),
        expected=formats if format is None else format.about,
        found=actual,
        advice="name the form with --from, or write a mapping (--mapping)",
    )
