"""Spans, the pieces of work that a tool recorded, and the trace that the spans of one run form."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

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
        """Those of some spans that have none of the others inside them, as they began."""
        names = {span.id for span in chosen}
        depths = self.depths
        # In a circle no span is above another: its spans must not rule each other out.
        parents = {
            span.id: span.parent
            for span in self.spans
            if span.parent is not None and depths.get(span.parent, depths[span.id]) < depths[span.id]
        }
        passed: set[str] = set()  # every span with one of the chosen inside
        for name in names:
            above = parents.get(name)
            while above is not None and above not in passed:
                passed.add(above)
                above = parents.get(above)
        return [span for span in self.spans if span.id in names and span.id not in passed]


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


def climb(name: str, parents: Mapping[str, str | None], settled: Container[str]) -> tuple[list[str], str]:
    """The spans from one up to an outermost or settled one, or round a circle; and what is above the last of them.

    That is empty where there is nothing above.
    """
    path: dict[str, None] = {}
    above = name
    while above in parents and above not in settled and above not in path:
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
