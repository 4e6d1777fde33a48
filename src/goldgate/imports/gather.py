"""The spans of files, a trace at a time: they are kept in a file of our own until the last one was read.

Spans of one trace may stand anywhere, in several files. In memory are only ids and places, some 200 bytes a span, and
the trace that is being built.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, NamedTuple

import orjson

from goldgate.errors import InputError, Place, describe
from goldgate.files.opened import BLOCK
from goldgate.imports.formats import FORMATS
from goldgate.imports.span import Broken, Format, Span
from goldgate.readers.records import RecordFile, decode, iterate, open_records

KIND = "trace"
_LISTED = 20  # flaws with their places; of the rest the number is enough
_WHOLE = 256_000_000  # bytes of a file that is one JSON object over many lines, which must be read whole
_KEYS = 6  # of a record that nobody knows
_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")


class Flaw(NamedTuple):
    """A part of a file that gave no span."""

    file: str
    line: int | None
    reason: str


@dataclass(slots=True)
class Flaws:
    """How many there were, and the first of them."""

    count: int = 0
    first: list[Flaw] = field(default_factory=list)

    def add(self, file: str, line: Callable[[], int | None], reason: str) -> None:
        self.count += 1
        if len(self.first) < _LISTED:
            self.first.append(Flaw(file, line(), reason))


@dataclass(slots=True)
class Gathered:
    """All spans by the trace they belong to, and what was no span."""

    format: Format
    flaws: Flaws
    spans: int = 0
    _kept: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    _traces: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _homeless: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    _parents: dict[str, str | None] = field(default_factory=dict)
    _trace_of: dict[str, str] = field(default_factory=dict)

    def add(self, span: Span) -> None:
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

    def traces(self) -> Iterator[tuple[str, list[Span]]]:
        """Each trace's id and spans, in the order of the ids."""
        for name, place in self._homeless:
            self._traces.setdefault(self._home(name), []).append(place)
        self._homeless.clear()
        for trace in sorted(self._traces):
            yield trace, [self._read(place) for place in self._traces[trace]]

    def close(self) -> None:
        self._kept.close()

    def _home(self, name: str) -> str:
        """The trace of a span that names none: that of its parents, or the outermost of them."""
        path: dict[str, None] = {}
        above: str | None = name
        while above is not None and above in self._parents and above not in self._trace_of and above not in path:
            path[above] = None
            above = self._parents[above]
        if above is not None and above in self._trace_of:
            home = self._trace_of[above]
        else:
            passed = list(path)
            home = min(passed[passed.index(above) :]) if above is not None and above in path else passed[-1]
        self._trace_of.update(dict.fromkeys(path, home))  # a long chain is climbed once
        return home

    def _read(self, place: tuple[int, int]) -> Span:
        self._kept.seek(place[0])
        return Span(*orjson.loads(self._kept.read(place[1])))


def gather(paths: Sequence[str], format: Format | None) -> Gathered:
    """Read all files; without a format, the first record that one recognizes decides for all."""
    gathered: Gathered | None = None
    flaws = Flaws()
    seen: dict[str, Any] | None = None
    try:
        for path in _files(paths):
            for line, value in _documents(path):
                if not isinstance(value, dict):
                    reason = value.reason if isinstance(value, Broken) else f"{describe(value)} is no object"
                    flaws.add(path, line, reason)
                    continue
                if gathered is None:
                    chosen = format or _recognized(value)
                    if chosen is None:
                        seen = value if seen is None else seen
                        flaws.add(path, line, "a record of a form that is not known")
                        continue
                    gathered = Gathered(chosen, flaws)
                for span in gathered.format.spans(value):
                    if isinstance(span, Broken):
                        flaws.add(path, line, span.reason)
                        continue
                    try:
                        gathered.add(span)
                    except ValueError as problem:
                        flaws.add(path, line, str(problem))
        if gathered is None or not gathered.spans:
            raise _nothing(paths, seen, flaws, format)
    except BaseException:
        if gathered is not None:
            gathered.close()
        raise
    return gathered


def _recognized(record: dict[str, Any]) -> Format | None:
    return next((format for format in FORMATS.values() if format.recognizes(record)), None)


def _files(paths: Sequence[str]) -> Iterator[str]:
    """The files given; of a folder, those in it that end as JSON files do, in the order of their names."""
    for path in dict.fromkeys(paths):
        if not os.path.isdir(path):
            yield path
            continue
        names = sorted(name for name in os.listdir(path) if name.endswith(_ENDINGS))
        if not names:
            raise InputError(
                f"{KIND}.no_files",
                "this folder has no file with traces",
                place=Place(path),
                expected="files that end in " + ", ".join(_ENDINGS),
            )
        for name in names:
            yield os.path.join(path, name)


def _documents(path: str) -> Iterator[tuple[Callable[[], int | None], Any]]:
    """Each value of a file and a way to its line: JSON Lines, the items of an array, or one object over many lines."""
    file = open_records(path, KIND)
    try:
        lines = _Lines(file)
        if not file.is_array and (whole := _whole(file)) is not None:
            yield partial(lines.at, 0), whole
            return
        try:
            for offset, data in iterate(file):
                yield partial(lines.at, offset), _decoded(data)
        except InputError as problem:  # the array breaks off: what was read before counts
            line, reason = problem.place.line, Broken(problem.message)
            yield lambda: line, reason
    finally:
        file.close()


class _Lines:
    """The lines of a file, counted only where one is asked for, and every byte at most once."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._offset, self._line = 0, 1

    def at(self, offset: int) -> int:
        while self._offset < offset:
            block = self._file.plain.read_some(self._offset, min(BLOCK, offset - self._offset))
            if not block:
                break
            self._offset += len(block)
            self._line += block.count(b"\n")
        return self._line


def _decoded(data: bytes) -> Any:
    try:
        return decode(data)
    except ValueError as problem:
        return Broken(f"not JSON: {problem}")


def _whole(file: RecordFile) -> Any:
    """The object that the file is as a whole; None if its first line is a record, or it is nothing at all."""
    with file.plain.stream(file.start) as stream:
        first = b""
        while not first.strip():
            first = stream.readline()
            if not first:
                return None
        if first.rstrip()[-1:] in (b"}", b"]") and not isinstance(_decoded(first), Broken):
            return None
        rest = stream.read(_WHOLE)
        if not rest.strip() or stream.read(1):
            return None
    value = _decoded(first + rest)
    return value if isinstance(value, dict) else None


def _nothing(paths: Sequence[str], seen: dict[str, Any] | None, flaws: Flaws, format: Format | None) -> InputError:
    """The error for files without a single span: it says what is there instead."""
    first = flaws.first[0] if flaws.first else None
    found = first.reason if first is not None else "nothing"
    if seen is not None:
        found = "an object with " + ", ".join(sorted(seen)[:_KEYS]) if seen else "an empty object"
    known = "; ".join(f"{each.name}: {each.about}" for each in FORMATS.values())
    return InputError(
        f"{KIND}.no_spans",
        "there is no trace in what was given" if format is None else f"there is no trace of the form {format.name}",
        place=Place(first.file, first.line) if first is not None else Place(paths[0]),
        expected=known if format is None else format.about,
        found=found,
        advice="name the form with --from, or write a mapping (--mapping)",
    )
