"""Which of many short texts (needles) occur in a long one, looked up once for all of them.

By their beginnings, in one look-up for each place of the text; where too many begin alike, by the automaton of Aho and
Corasick. Either way the time grows with the needles and the text, not with their product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

FEW = 20_000_000  # needles times characters; below, looking for one after the other is faster
TOGETHER = 1 << 18  # characters of needles in one automaton, which takes some 250 bytes for each
SHARE = 8  # an automaton may also have so many characters as an eighth of the text: then passes cost no more than
# eight times the needles, and memory no more than some 30 bytes for each character of the text
BEGINNINGS = (8, 4, 2, 1)  # characters by which needles are looked up, the longest that a needle has
_LONG = 64  # characters that are compared in about the time of a look-up
_CODE_BITS = 21  # of a character

LATIN = frozenset(chr(code) for code in range(128) if chr(code).isalnum())


def contained(needles: Collection[str], text: str) -> set[str]:
    """The needles that occur in the text."""
    if len(needles) * len(text) <= FEW:
        return contained_one_by_one(needles, text)
    found = contained_by_beginning(needles, text)
    return contained_at_once(needles, text) if found is None else found


def contained_one_by_one(needles: Collection[str], text: str) -> set[str]:
    """The same, by looking for each."""
    return {needle for needle in needles if needle in text}


def contained_by_beginning(needles: Collection[str], text: str, most: int | None = None) -> set[str] | None:
    """The same, by looking up what stands at each place of the text; None if needles begin too much alike for it.

    A needle that was found is not compared again. `most` are the comparisons after which it gives up.
    """
    left = 2 * (len(text) + sum(map(len, needles))) if most is None else most
    found: set[str] = {needle for needle in needles if not needle}  # nothing is everywhere
    for length, waiting in _by_beginning(needles, len(text)).items():
        for at in range(len(text) - length + 1):
            begins = text[at : at + length]
            here = waiting.get(begins)
            if here is None:
                continue
            left -= sum([1 + len(needle) // _LONG for needle in here])
            if left < 0:
                return None
            rest = [needle for needle in here if not text.startswith(needle, at)]
            if len(rest) < len(here):
                found.update(here)
                found.difference_update(rest)
                if rest:
                    waiting[begins] = rest
                else:
                    del waiting[begins]
    return found


def _by_beginning(needles: Iterable[str], longest: int) -> dict[int, dict[str, list[str]]]:
    """Needles by how long a beginning they are looked up by, and by that beginning."""
    found: dict[int, dict[str, list[str]]] = {}
    for needle in dict.fromkeys(needles):
        if 0 < len(needle) <= longest:
            length = next(length for length in BEGINNINGS if length <= len(needle))
            found.setdefault(length, {}).setdefault(needle[:length], []).append(needle)
    return found


def contained_at_once(needles: Collection[str], text: str) -> set[str]:
    """The same in linear time, whatever the needles are."""
    found: set[str] = {needle for needle in needles if not needle}
    for needed in automata(needles, len(text)):
        found |= needed.found_in(text)
    return found


def automata(needles: Iterable[str], longest: int, size: int | None = None) -> Iterator[Automaton]:
    """Automata for all needles that are not empty nor too long, one after the other: memory is for one of them.

    `size` is that of the text that each is led over, where that is not the longest of its parts.
    """
    for together in together_in_one(needles, longest, size):
        yield Automaton(together)


def together_in_one(needles: Iterable[str], longest: int, size: int | None = None) -> Iterator[list[str]]:
    """The needles of each automaton. The longer the text, the more are together: no pass is made for a few."""
    most = max(TOGETHER, (longest if size is None else size) // SHARE)
    together: list[str] = []
    room = most
    for needle in dict.fromkeys(needles):
        if 0 < len(needle) <= longest:
            if len(needle) > room and together:
                yield together
                together, room = [], most
            together.append(needle)
            room -= len(needle)
    if together:
        yield together


class Automaton:
    """Finds some needles in any number of texts."""

    def __init__(self, needles: Iterable[str]) -> None:
        # Nodes are beginnings of needles, numbered; node 0 is the empty one.
        self._next: dict[int, int] = {}  # node and character → the node of one character more
        self._needle: dict[int, str] = {}  # node → the needle that ends there
        parents, codes, depths = [0], [0], [0]
        for needle in needles:
            node = 0
            for code in map(ord, needle):
                key = node << _CODE_BITS | code
                following = self._next.get(key)
                if following is None:
                    following = self._next[key] = len(parents)
                    parents.append(node)
                    codes.append(code)
                    depths.append(depths[node] + 1)
                node = following
            self._needle[node] = needle
        self._suffix = [0] * len(parents)  # node → the longest proper suffix of it that is a node
        self._shorter = [0] * len(parents)  # node → the longest of these at which a needle ends
        for node in sorted(range(1, len(parents)), key=depths.__getitem__):
            if parents[node]:
                self._suffix[node] = self._step(self._suffix[parents[node]], codes[node])
            suffix = self._suffix[node]
            self._shorter[node] = suffix if suffix in self._needle else self._shorter[suffix]

    def found_in(self, text: str, *, as_words: bool = False) -> set[str]:
        """The needles that occur in the text; `as_words`, those that are not part of a longer Latin word there."""
        needle_at, shorter, step = self._needle, self._shorter, self._step
        found: set[str] = set()
        passed: set[int] = set()  # all shorter needles that end with these were looked at: they stand in them alike
        node, last = 0, len(text) - 1
        for at, character in enumerate(text):
            node = step(node, ord(character))
            if as_words and at < last and character in LATIN and text[at + 1] in LATIN:
                continue
            ends = node if node in needle_at else shorter[node]
            while ends:
                needle = needle_at[ends]
                start = at + 1 - len(needle)
                if not (as_words and start and needle[0] in LATIN and text[start - 1] in LATIN):
                    found.add(needle)
                if ends in passed:
                    break
                passed.add(ends)
                ends = shorter[ends]
        return found

    def mentions(self, text: str, most: int) -> list[tuple[int, str]]:
        """Where needles end in the text, the longer of two first; no more than the first so many."""
        needle_at, shorter, step = self._needle, self._shorter, self._step
        found: list[tuple[int, str]] = []
        node = 0
        for end, character in enumerate(text, 1):
            node = step(node, ord(character))
            ends = node if node in needle_at else shorter[node]
            while ends:
                found.append((end, needle_at[ends]))
                if len(found) == most:
                    return found
                ends = shorter[ends]
        return found

    def _step(self, node: int, code: int) -> int:
        """The longest suffix of what was read that begins a needle."""
        following = self._next.get(node << _CODE_BITS | code)
        while following is None and node:
            node = self._suffix[node]
            following = self._next.get(node << _CODE_BITS | code)
        return following or 0
