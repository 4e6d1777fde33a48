"""How often things are seen, of a few that are chosen by what they are: the same few in any order and any split."""

from __future__ import annotations

MOST = 512  # things that are kept


class Sketch:
    """Digests and how often each was seen, of the smallest ones. All there are, up to as many as are kept.

    A digest that is among the smallest of all is among the smallest of any part, so its count is always whole.
    """

    __slots__ = ("_bound", "_seen")

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._bound: int | None = None  # nothing above it is kept

    def add(self, digest: int, times: int = 1) -> None:
        if self._bound is not None and digest > self._bound:
            return
        self._seen[digest] = self._seen.get(digest, 0) + times
        if len(self._seen) > 2 * MOST:
            self._cut()

    def _cut(self) -> None:
        if len(self._seen) > MOST:
            self._bound = sorted(self._seen)[MOST - 1]
            self._seen = {digest: times for digest, times in self._seen.items() if digest <= self._bound}

    @property
    def seen(self) -> dict[int, int]:
        """Digests and how often each was seen."""
        self._cut()
        return self._seen

    def __iadd__(self, other: Sketch) -> Sketch:
        for digest, times in other._seen.items():
            self.add(digest, times)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and self.seen == other.seen

    __hash__ = None  # type: ignore[assignment]  # it changes in place
