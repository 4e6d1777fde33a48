"""A few of many things, chosen by what they are: the same few in any order and any split."""

from __future__ import annotations

MOST = 512  # things that are kept


class Sketch:
    """The smallest of some numbers, each once. All there are, up to as many as are kept."""

    __slots__ = ("_bound", "_kept")

    def __init__(self) -> None:
        self._kept: set[int] = set()
        self._bound: int | None = None  # nothing above it is kept

    def add(self, number: int) -> None:
        if self._bound is None or number < self._bound:
            self._kept.add(number)
            if len(self._kept) > 2 * MOST:
                self._cut()

    def _cut(self) -> None:
        if len(self._kept) > MOST:
            smallest = sorted(self._kept)[:MOST]
            self._kept, self._bound = {*smallest}, smallest[-1]

    @property
    def kept(self) -> set[int]:
        self._cut()
        return self._kept

    def __iadd__(self, other: Sketch) -> Sketch:
        for number in other._kept:
            self.add(number)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and self.kept == other.kept

    __hash__ = None  # type: ignore[assignment]  # it changes in place
