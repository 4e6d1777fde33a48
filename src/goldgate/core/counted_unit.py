"""What one unit counts, where somebody wants to know: for its record, and for gates that compare with a stored run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from goldgate.core.sums import Counts

Key = tuple[str, ...]  # a table of counts: the measure's name, and the names of a part of it


class Parts(Protocol):
    """What a unit counts in the parts of tables, sorted by key, where a measure has it at hand in another form."""

    def get(self, key: Key, /) -> Counts | None: ...
    def items(self) -> Iterable[tuple[Key, Counts]]: ...
    def json(self) -> bytes: ...  # the items as a list without its brackets


class CountedUnit:
    """A unit that is being counted: the group that it is part of, and what it counts, if that is wanted."""

    __slots__ = ("counts", "group", "parts", "times")

    def __init__(self, group: str | None = None, *, wanted: bool = False) -> None:
        self.group = group
        self.counts: dict[Key, Counts] | None = {} if wanted else None
        self.parts: Parts | None = None  # what it counts beyond that
        self.times = 1  # how many units like it

    def counted(self, key: Key) -> Counts | None:
        """What it counts in a table; None where it has no part in it."""
        found = self.counts.get(key) if self.counts is not None else None
        return self.parts.get(key) if found is None and self.parts is not None else found
