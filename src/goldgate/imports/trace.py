"""The spans of one run in their order, with what is odd about them: orphans, cycles, a span that is there twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from goldgate.imports.span import Span


@dataclass(frozen=True, slots=True)
class Trace:
    """Spans as they began, the outer before the inner, and how deep each is."""

    id: str
    spans: tuple[Span, ...]
    depths: Mapping[str, int]
    problems: tuple[str, ...]
    lost: int = 0  # spans whose id another one has: they are not here

    def innermost(self, chosen: Iterable[Span]) -> list[Span]:
        """Those of some spans that have none of the others inside them, as they began."""
        names = {span.id for span in chosen}
        depths = self.depths
        # In a circle nobody is above: its spans must not rule each other out.
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


def trace_of(identity: str, found: Iterable[Span]) -> Trace:
    """The trace that some spans are, in whatever order they were found."""
    spans, repeated, lost = _each_once(found)
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

    def began(span: Span) -> tuple[bool, int, int, str]:
        return span.start is None, span.start or 0, depths[span.id], span.id

    return Trace(identity, tuple(sorted(spans.values(), key=began)), depths, problems, lost)


def _each_once(found: Iterable[Span]) -> tuple[dict[str, Span], int, int]:
    """Each span once, the most complete of several; how many had a rival, and how many were another span under the same
    id: one that began at another time, or has another name or parent. The order does not matter."""
    spans: dict[str, Span] = {}
    rivals: dict[str, tuple[set[object], set[object], set[object]]] = {}
    for span in found:
        other = spans.setdefault(span.id, span)
        if other != span:
            seen = rivals.setdefault(span.id, (set(), set(), set()))
            for each in (other, span):
                for values, value in zip(seen, (each.name, each.parent, each.start), strict=True):
                    values |= {value} - {"", None}  # a version that leaves something out is not another span
            spans[span.id] = max(other, span, key=_completeness)
    return spans, len(rivals), sum(max(1, *map(len, seen)) - 1 for seen in rivals.values())


def _completeness(span: Span) -> tuple[bool, int, bytes]:
    written = orjson.dumps(span.fields, option=orjson.OPT_SORT_KEYS)
    return span.finished, len(written), written


def _depths(spans: Mapping[str, Span]) -> tuple[dict[str, int], int]:
    """How deep each span is, and how many are in a circle of parents: these, and what is below them, begin at 0."""
    depths: dict[str, int] = {}
    cycles = 0
    for name in sorted(spans):
        path: dict[str, None] = {}
        above: str | None = name
        while above is not None and above in spans and above not in depths and above not in path:
            path[above] = None
            above = spans[above].parent
        if above is not None and above in path:
            circle = list(path)[list(path).index(above) :]
            cycles += len(circle)
            depths.update(dict.fromkeys(circle, 0))
        depth = depths[above] + 1 if above is not None and above in depths else 0
        for step in reversed(path):
            if step not in depths:
                depths[step] = depth
                depth += 1
    return depths, cycles
