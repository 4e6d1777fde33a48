"""The spans of files, a trace at a time: they are kept in a file of our own until the last one was read.

Spans of one trace may stand anywhere, in several files. In memory are only ids and places, some 200 bytes a span, and
the trace that is being built.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

import orjson

from goldgate.errors import InputError, Place, describe
from goldgate.imports.documents import KIND, documents, files_of
from goldgate.imports.formats import FORMATS
from goldgate.imports.names import folder_name
from goldgate.imports.span import Broken, Format, Span
from goldgate.readers.records import LIMIT_VARIABLE, record_limit

_LISTED = 20  # flaws with their places; of the rest the number is enough
_TRACE_RECORDS = 4  # a trace, which is built in memory, may be so many times as large as a record
_KEYS = 6  # of a record that nobody knows


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

    def traces(self) -> Iterator[tuple[str, list[Span]]]:
        """Each trace's id and spans, in the order of the ids."""
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
        for path, refusal in files_of(paths):
            if refusal is not None:
                flaws.add(path, lambda: None, f"{refusal}: it is not read")
                continue
            for line, value in documents(path):
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
        gathered.finish()
    except BaseException:
        if gathered is not None:
            gathered.close()
        raise
    return gathered


def _recognized(record: dict[str, Any]) -> Format | None:
    return next((format for format in FORMATS.values() if format.recognizes(record)), None)


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
