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
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
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
    open_records,
    record_limit,
)
from goldgate.suites.research.imports.mapping import Mapping, look_up, matches

_LATEST_TIME = 1 << 62  # a time behind it is none


class TraceSpan(NamedTuple):
    """One piece of work. `fields` is what the tool wrote of it; the paths of a mapping lead into it."""

    id: str
    trace: str | None  # None: whatever its parents belong to
    parent: str | None
    name: str
    start: float | None  # only compared with others of its trace
    finished: bool
    fields: dict[str, Any]


class InvalidSpan(NamedTuple):
    """Something in a file that is no span, and why."""

    reason: str


def read_spans(record: Any, mapping: Mapping) -> Iterator[TraceSpan | InvalidSpan]:
    """The spans in a record of a file, and those inside of them."""
    places = (look_up(record, path) for path in mapping.spans.split(" | "))
    waiting: list[tuple[Any, str | None, str | None]] = [(next(filter(None, places), None), None, None)]
    while waiting:
        value, parent, trace = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, parent, trace) for item in reversed(value)]
            continue
        span = _read_span(value, mapping, parent, trace)
        yield span
        if mapping.children and isinstance(span, TraceSpan):
            waiting.append((span.fields.pop(mapping.children, []), span.id, span.trace))


def _read_span(value: Any, mapping: Mapping, parent: str | None, trace: str | None) -> TraceSpan | InvalidSpan:
    if not isinstance(value, dict):
        return InvalidSpan(f"{describe_value(value)} is not a span")
    identity = _text(look_up(value, mapping.span.id))
    if identity is None:
        return InvalidSpan(f"a span needs an id ({mapping.span.id})")
    fields = {**value, "attributes": _attributes(value.get("attributes"))}
    if isinstance(value.get("events"), list):
        events = [event for event in value["events"] if isinstance(event, dict)]
        fields["events"] = [{**event, "attributes": _attributes(event.get("attributes"))} for event in events]
    own, above, name = (_text(look_up(value, getattr(mapping.span, part))) for part in ("trace", "parent", "name"))
    start, end = (parse_time(look_up(value, getattr(mapping.span, part))) for part in ("start", "end"))
    return TraceSpan(
        identity, own or trace, above or parent, name or "", start, start is None or end is not None, fields
    )


def _text(value: object) -> str | None:
    """An id or a name as text; None if it is blank or no text."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def _attributes(value: Any) -> Any:
    """OpenTelemetry's list of keys and typed values as an object; of a key that stands twice the last."""
    if not isinstance(value, list):
        return value
    pairs = [item for item in value if isinstance(item, dict) and isinstance(item.get("key"), str)]
    return {item["key"]: _attribute(item.get("value")) for item in pairs}


def _attribute(value: Any) -> Any:
    for kind, content in value.items() if isinstance(value, dict) else ():
        inner = content.get("values") if isinstance(content, dict) else None
        match kind:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
                return content
            case "intValue":  # 64 bits, so JSON has it as text
                return int(content) if isinstance(content, str) and re.fullmatch("-?[0-9]{1,19}", content) else content
            case "arrayValue":
                return [_attribute(item) for item in inner] if isinstance(inner, list) else []
            case "kvlistValue":
                return _attributes(inner or [])
    return None


def parse_time(value: object) -> float | None:
    """A time as a number, of any unit: a trace is written in one. From ISO 8601, microseconds since 1970."""
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            return int(value)
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return value if isinstance(value, int | float) and 0 <= value < _LATEST_TIME else None


@dataclass(frozen=True, slots=True)
class Trace:
    """Spans as they began, the outer before the inner, and how deep each is."""

    id: str
    spans: tuple[TraceSpan, ...]
    depths: dict[str, int]
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
    versions: dict[str, list[TraceSpan]] = {}
    for span in recorded:
        versions.setdefault(span.id, []).append(span)
    spans = {
        name: several[0] if len(several) == 1 else max(several, key=_completeness) for name, several in versions.items()
    }
    parents = {name: span.parent for name, span in spans.items()}
    depths, cycles = _depths(parents)
    repeated = sum(any(span != several[0] for span in several) for several in versions.values())
    orphans = sum(parent is not None and parent not in spans for parent in parents.values())
    unfinished = sum(not span.finished for span in spans.values())
    counts = (
        (repeated, "there more than once, with different content: the most complete one was taken"),
        (orphans, "below a span that is not there"),
        (cycles, "below themselves: their parents are a circle"),
        (unfinished, "without an end"),
    )
    problems = tuple(f"{count} {'span' if count == 1 else 'spans'} {words}" for count, words in counts if count)

    def began(span: TraceSpan) -> tuple[bool, float, int, str]:
        return span.start is None, span.start or 0, depths[span.id], span.id

    return Trace(
        identity, tuple(sorted(spans.values(), key=began)), depths, problems, sum(map(_lost, versions.values()))
    )


def _completeness(span: TraceSpan) -> tuple[bool, int, bytes]:
    written = orjson.dumps(span.fields, option=orjson.OPT_SORT_KEYS)
    return span.finished, len(written), written


def _lost(several: Sequence[TraceSpan]) -> int:
    """How many versions of a span are another one: with another name, parent or start. One may leave something out."""
    parts = zip(*((span.name, span.parent, span.start) for span in several), strict=True)
    return max(1, *(len({*values} - {"", None}) for values in parts)) - 1


def _climb(name: str, parents: dict[str, str | None], resolved: Container[str]) -> tuple[list[str], str]:
    """The span and those above it up to an outermost or resolved one, or round a circle; and the parent of the last.

    The parent is empty where there is none.
    """
    path: dict[str, None] = {}
    above = name
    while above in parents and above not in resolved and above not in path:
        path[above] = None
        above = parents[above] or ""
    return list(path), above


def _depths(parents: dict[str, str | None]) -> tuple[dict[str, int], int]:
    """How deep each span is, and how many are in a circle of parents: these, and what is below them, begin at 0."""
    depths: dict[str, int] = {}
    cycles = 0
    for name in sorted(parents):
        path, above = _climb(name, parents, depths)
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


_KIND = "trace"
_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")
_PRINTED = re.compile(rb"(?m)^\{[ \t\r]*$")  # where an object printed over many lines begins


def _trace_paths(paths: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The named files; of a folder, those in it that end as JSON files do, in the order of their names.

    Each comes with the reason why it must not be read, if there is one: see `list_untrusted`.
    """
    for path in dict.fromkeys(paths):
        if not os.path.isdir(path):
            yield path, None
            continue
        try:
            files = list_untrusted(path, _ENDINGS)
        except OSError as problem:
            raise read_failure(path, _KIND, problem) from None
        if not files:
            message, expected = "this folder has no file with traces", "files that end in " + ", ".join(_ENDINGS)
            raise InputError(f"{_KIND}.no_files", message, place=Place(path), expected=expected)
        yield from files


def _read_documents(path: str) -> Iterator[tuple[partial[Place], Any]]:
    """Each value of a file and a way to its line: JSON Lines, the items of an array, or objects over many lines."""
    with closing(open_records(path, _KIND)) as file:
        try:
            spread = [] if file.is_array else _spread_objects(file)
            for offset, data in spread or iterate_records(file):
                yield partial(file.place, offset), _decode(data)
        except InputError as problem:  # an array breaks off, a record is too large: the records before it count
            reason = "; ".join(filter(None, (problem.message, problem.found, problem.advice)))
            place = problem.place
            yield partial(Place, place.file, place.line), InvalidSpan(f"{reason}; the rest of the file is not read")


def _spread_objects(file: RecordFile) -> list[tuple[int, bytes]]:
    """Offset and bytes of objects over many lines, one behind the other; none where each has a line of its own."""
    first = file.plain.stream(file.start).readline(file.limit + 1).strip()
    is_printed = first == b"{"
    if not is_printed and not isinstance(_decode(first), InvalidSpan):
        return []
    data = file.plain.read(file.start, min(file.plain.size() - file.start, file.limit + 1))
    probe = data if len(data) <= file.limit else b"".join(data.split(b"\n", 2)[1:2])
    if not is_printed and isinstance(_decode(probe), InvalidSpan) is (probe is data):
        return []  # JSON Lines of which the first is damaged
    check_record_size(file, file.start, data)
    ends = [*(match.start() for match in _PRINTED.finditer(data, 1)), len(data)]
    return [(file.start + begin, data[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def _decode(data: bytes) -> Any:
    try:
        return decode_json(data)
    except ValueError as problem:
        return InvalidSpan(f"not JSON: {problem}")


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
_MAX_KEYS = 6  # of a record that no mapping recognizes


class SpanStore:
    """All spans of some files by the trace they belong to, and what in the files was no span."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        """The first mapping that recognizes a record decides for all records; a single one is taken as it is."""
        self.mappings = mappings
        self.mapping = mappings[0] if len(mappings) == 1 else None
        self.spans = 0
        self.flaws = 0
        self.findings: list[Finding] = []  # the first flaws
        self._stored: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # until it is closed
        self._traces: dict[str, list[tuple[int, int]]] = {}
        self._without_trace: list[tuple[str, tuple[int, int]]] = []
        self._parents: dict[str, str | None] = {}
        self._trace_of: dict[str, str] = {}

    def read(self, paths: Sequence[str]) -> Mapping:
        """Read all files; the result is the mapping that they are read by."""
        for path, refusal in _trace_paths(paths):
            if refusal is not None:
                self._add_flaw(partial(Place, path), f"{refusal}: it is not read")
                continue
            for find_place, value in _read_documents(path):
                for span in self._spans_in(value):
                    self._add(span, find_place)
        if self.mapping is None or not self.spans:
            raise self._no_spans_error(paths)
        for name, place in self._without_trace:
            self._traces.setdefault(self._find_trace(name), []).append(place)
        self._drop_large_traces()
        return self.mapping

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

    def _spans_in(self, value: Any) -> Iterable[TraceSpan | InvalidSpan]:
        if isinstance(value, InvalidSpan):
            return [value]
        if not isinstance(value, dict):
            return [InvalidSpan(f"{describe_value(value)} is not an object")]
        if self.mapping is None:
            self.mapping = next((each for each in self.mappings if matches(value, each.recognize)), None)
        if self.mapping is not None:
            return read_spans(value, self.mapping)
        keys = ", ".join(sorted(value)[:_MAX_KEYS])
        return [InvalidSpan(f"an object with {keys}" if keys else "an empty object")]

    def _add(self, span: TraceSpan | InvalidSpan, find_place: partial[Place]) -> None:
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

    def _add_flaw(self, find_place: partial[Place], reason: str) -> None:
        self.flaws += 1
        if len(self.findings) < _MAX_FINDINGS:  # lines are counted only for these
            place = find_place()
            self.findings.append(Finding("unread", "error", place.file or "", place.line, "", reason))

    def _find_trace(self, name: str) -> str:
        """The trace of a span that names none: that of the spans above it, or the outermost of them."""
        path, above = _climb(name, self._parents, self._trace_of)
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
        return InputError(
            f"{_KIND}.no_spans",
            "there is no trace in what was given",
            place=Place(paths[0]) if first is None else Place(first.file, first.line),
            expected="; ".join(each.about or "spans, by this mapping" for each in self.mappings),
            found="nothing" if first is None else first.message,
            advice="say with --mapping how the traces are read",
        )
