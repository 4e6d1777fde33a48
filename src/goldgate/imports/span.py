"""A span: one piece of work in a trace, whichever tool recorded it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

LATEST = 1 << 62  # nanoseconds; a time behind it is none


class Span(NamedTuple):
    """One piece of work. `fields` is what the tool wrote of it; the paths of a mapping lead into it."""

    id: str
    trace: str | None  # None: whatever its parents belong to
    parent: str | None
    name: str
    start: int | None  # nanoseconds since 1970
    finished: bool
    fields: dict[str, Any]


class Broken(NamedTuple):
    """Something in a file that is no span, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Format:
    """How one tool writes traces. `recognizes` looks at the keys of one record of a file."""

    name: str
    about: str
    recognizes: Callable[[dict[str, Any]], bool]
    spans: Callable[[dict[str, Any]], Iterator[Span | Broken]]


def text_of(value: object) -> str | None:
    """An id or a name as text; None if it is blank or no text."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def nanoseconds(value: object) -> int | None:
    """A time in nanoseconds: written as ISO 8601, or as a number of seconds, milliseconds, … since 1970."""
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            return nanoseconds(int(value))
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
        whole = ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
        return whole if 0 <= whole < LATEST else None
    if type(value) not in (int, float) or not 0 <= value < LATEST:  # type: ignore[operator]
        return None
    assert isinstance(value, int | float)
    for unit in (1_000_000_000, 1_000_000, 1_000):  # a number of seconds has ten digits until 2286
        if value < 100_000_000_000 * (1_000_000_000 // unit):
            return int(value * unit)
    return int(value)
