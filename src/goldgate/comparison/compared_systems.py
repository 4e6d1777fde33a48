"""The systems of a comparison: all runs in one list, and which of them are whose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goldgate.readers.stored_result import StoredResult


@dataclass(frozen=True, slots=True)
class Systems:
    """Runs in one list, which of them are whose, and what the others are compared with."""

    runs: tuple[StoredResult, ...]
    places: Mapping[str, tuple[int, ...]]
    against: str

    def made_the_same(self, one: str, other: str) -> bool:
        """Whether two systems made the same bytes, run by run: then there is no difference, not even one unseen."""
        mine, theirs = ([self.runs[place].digests(judged=True) for place in self.places[name]] for name in (one, other))
        return mine == theirs and all(any(made.values()) for made in mine)
