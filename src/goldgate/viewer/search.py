"""Searching in a file of records for words: as far as a moment allows, and further when it is asked again.

A record's line is searched as it is stored, its ids, names and values; the source texts are not in it. Letters of
ASCII are found in either case.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable

import orjson

from goldgate.viewer.index import Index, Order

SECONDS = 0.05  # for one answer
MOST_WORDS = 8
_MOST_KEPT = 8  # searches: each has two bits for a unit
_BLOCK = 1 << 20  # bytes that are read at once

ReadAt = Callable[[int, int], bytes]  # from an offset, so many bytes


class Search:
    """The units found so far, a bit for each in both orders; `done` of the units were searched."""

    def __init__(self, index: Index, words: tuple[bytes, ...]) -> None:
        self.done = 0
        self._index = index
        self._words = sorted(words, key=len, reverse=True)  # the longest is the rarest, more or less
        self._found = (bytearray(len(index) // 8 + 1), bytearray(len(index) // 8 + 1))

    @property
    def is_complete(self) -> bool:
        return self.done >= len(self._index)

    def found(self, order: Order) -> int:
        """The places of units that have all words."""
        return int.from_bytes(self._found[order == "file"], "little")

    def go_on(self, read_at: ReadAt, seconds: float = SECONDS) -> None:
        """Search further, for about so long."""
        until = time.monotonic() + seconds
        while not self.is_complete:
            self._block(read_at)
            if time.monotonic() > until:
                return

    def _block(self, read_at: ReadAt) -> None:
        offsets = self._index.offsets
        begin = offsets[self.done]
        last = max(bisect_right(offsets, begin + _BLOCK) - 1, self.done + 1)
        data = read_at(begin, offsets[last] - begin).lower()
        at = data.find(self._words[0])
        while at >= 0:
            number = bisect_right(offsets, begin + at, self.done, last + 1) - 1
            start, end = offsets[number] - begin, offsets[number + 1] - begin
            if all(data.find(word, start, end) >= 0 for word in self._words[1:]):
                self._note(number)
            at = data.find(self._words[0], end)
        self.done = last

    def _note(self, number: int) -> None:
        for found, place in zip(self._found, (self._index.rank[number], number), strict=True):
            found[place >> 3] |= 1 << (place & 7)


class Searches:
    """The last searches, so that one goes on where it was."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._kept: OrderedDict[tuple[bytes, ...], Search] = OrderedDict()

    def of(self, text: str) -> Search | None:
        """The search for the words of a text; None where it has none."""
        words = stored_words(text)
        if not words:
            return None
        search = self._kept.pop(words, None) or Search(self._index, words)
        self._kept[words] = search
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return search


def stored_words(text: str) -> tuple[bytes, ...]:
    """Words as they stand in a record's line: with its escapes, small."""
    words = dict.fromkeys(text.encode("utf-8", "replace").decode().split()[:MOST_WORDS])
    return tuple(orjson.dumps(word)[1:-1].lower() for word in words)
