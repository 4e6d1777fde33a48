"""Limits of an answer that no honest one reaches: what lies beyond them is counted by its number and not compared.

Whatever a model writes, scoring then takes a bounded time and memory. Items equal to one of gold are kept; of the rest,
those that come first by their content: the order of an answer changes no number.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from heapq import nsmallest
from typing import Any

from goldgate.core.value_text import normalize
from goldgate.suites.fields.leaves import LeafTree, containers_by_level
from goldgate.suites.fields.schema import MAX_DEPTH, PathShape
from goldgate.suites.fields.spellings import decimal_text

MAX_ITEMS = 2_000  # of one list or map, or twice as many as gold has
MAX_PATHS = 1_000  # that neither the schema nor gold has
MAX_LEAVES = 50_000  # or twice as many as gold has
MAX_CONTAINERS = 200_000  # objects and lists, or twice as many as gold has; of an answer with more, nothing is compared
MAX_SOUGHT = 5_000  # distinct texts that are looked for in the source text
_SMALLER = (500, 100, 20)  # items of one list, where an answer has too many leaves
_LONGEST = 200  # characters of a content or a path that are kept as they are
_AbsentRule = Callable[[str], bool]  # whether a text counts as no value


@dataclass(slots=True)
class Census:
    """The leaves of a value and the objects in its lists, by path, before anything is built of them."""

    is_absent: _AbsentRule
    leaves: Counter[PathShape] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    paths: set[str] = field(default_factory=set)  # of leaves about which the schema says nothing

    def add(self, value: Any, shape: PathShape, path: str = "", depth: int = 0, *, in_list: bool = False) -> int:
        """Count an object or a list; the number of its leaves."""
        own = _own(value, shape)
        if shape.is_ignored or own.is_ignored:
            return 0
        if depth >= MAX_DEPTH:
            return self._add_deep(value, own.undeclared, path)
        if type(value) is list:
            below, inside = _below(own), own.has_items or (in_list and "object" in own.kinds)
            place, leaves = _path(path, own, "[]", below), 0
            for entry in value:
                if type(entry) is dict or type(entry) is list:
                    leaves += self.add(entry, below, place, depth + 1, in_list=inside)
                elif entry is not None:
                    leaves += self._add_leaf(entry, below, place)
            return leaves
        leaves = 0
        for key, entry in value.items():
            below = own.children.get(key) or own.child(key)
            if type(entry) is dict or type(entry) is list:
                leaves += self.add(entry, below, _path(path, own, key, below), depth + 1)
            elif entry is not None:
                leaves += self._add_leaf(entry, below, _path(path, own, key, below))
        if leaves and (in_list or (own is not shape and shape.has_items)):
            self.items[own.name] += 1
        return leaves

    def _add_leaf(self, value: Any, shape: PathShape, path: str) -> int:
        if not shape.is_scalar:
            own = _own(value, shape)
            if shape.is_ignored or own.is_ignored:
                return 0
            shape = own
        if type(value) is str and self.is_absent(value):
            return 0
        self.leaves[shape] += 1
        if path:
            self.paths.add(path)
        return 1

    def _add_deep(self, value: Any, shape: PathShape, path: str) -> int:
        """Count what is nested too deep to be looked at place by place."""
        entries = (each for level in containers_by_level(value) for container in level for each in _entries(container))
        return sum(
            self._add_leaf(entry, shape, path)
            for entry in entries
            if entry is not None and type(entry) is not dict and type(entry) is not list
        )


@dataclass(slots=True)
class Beyond:
    """How much of an answer lies beyond the limits, by path."""

    leaves: Counter[PathShape] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)  # objects in lists

    @property
    def by_path(self) -> dict[str, int]:
        """Leaves by the name of their path."""
        counts: Counter[str] = Counter()
        for shape, leaves in self.leaves.items():
            counts[shape.name] += leaves
        return counts


class CutAnswer:
    """An answer cut to the limits: null stands for what lies beyond them.

    With `leave_out`, what gold has at paths that the schema does not have is not compared.
    """

    def __init__(
        self, value: Any, gold: Any, root: PathShape, is_absent: _AbsentRule, *, leave_out: bool = True
    ) -> None:
        self.value = value
        self._census: Census | None = None
        containers, entries = _size(value)
        if entries <= MAX_PATHS:
            return
        census, of_gold = Census(is_absent), Census(is_absent)
        census.add(value, root)
        if containers > max(MAX_CONTAINERS, 2 * _size(gold)[0]):
            self.value, self._census = None, census
            return
        of_gold.add(gold, root)
        contents = _Contents(is_absent, leave_out=leave_out)
        contents.text(gold, root)
        contents.begin_answer()
        paths_beyond = frozenset(sorted(census.paths - of_gold.paths)[MAX_PATHS:])
        room = max(MAX_LEAVES, 2 * of_gold.leaves.total())
        for most in (MAX_ITEMS, *_SMALLER):
            try:
                cut = _Cut(contents, paths_beyond, most, room)
                self.value = cut.part(value, root)
                break
            except _TooManyLeavesError:
                self.value, cut.has_cut = None, True
        if cut.has_cut:
            self._census = census

    def beyond(self, tree: LeafTree) -> Beyond:
        """What the tree of the value does not have of the answer."""
        if self._census is None:
            return Beyond()
        leaves = Counter([leaf.shape for leaf in tree.leaves])
        items = Counter([item.shape.name for item in tree.items])
        return Beyond(self._census.leaves - leaves, self._census.items - items)


class _TooManyLeavesError(Exception):
    pass


def _size(value: Any) -> tuple[int, int]:
    """How many objects and lists a value has, and how many entries these have."""
    sizes = [(len(level), sum(map(len, level))) for level in containers_by_level(value)]
    return sum(containers for containers, _ in sizes), sum(entries for _, entries in sizes)


def _own(value: Any, shape: PathShape) -> PathShape:
    """The path of a value, where the schema has a list, an object or a scalar in its place."""
    kind = "object" if type(value) is dict else "array" if type(value) is list else "scalar"
    while shape.kinds and kind not in shape.kinds and kind != "array":
        if "array" not in shape.kinds:
            return shape.undeclared
        shape = shape.item
    return shape


def _below(own: PathShape) -> PathShape:
    """The path of what is in a list: that of items, or where the schema has no list, that of the list."""
    return own.item if own.has_items else own


def _entries(container: Any) -> Iterable[Any]:
    return container.values() if type(container) is dict else container


def _path(path: str, own: PathShape, step: str, below: PathShape) -> str:
    """The path of a part, where the schema says nothing about it; else empty."""
    if not path and below.declared and not own.is_free:
        return ""
    return _list_path(path or own.name) if step == "[]" else _short(f"{path or own.name}.{_short(step)}")


@lru_cache(maxsize=1_024)
def _list_path(path: str) -> str:
    return _short(f"{path}.[]")


def _short(text: str) -> str:
    """A text of bounded length, equal for equal texts only."""
    return (
        text
        if len(text) <= _LONGEST
        else text[: _LONGEST // 2] + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    )


class _Contents:
    """Texts that are equal for values that are alike in every leaf; first those of gold, whose lists are noted."""

    def __init__(self, is_absent: _AbsentRule, *, leave_out: bool) -> None:
        self._is_absent = is_absent
        self._leave_out = leave_out
        self.items: dict[str, Counter[str]] = {}  # path of a list → the contents of items of gold
        self.longest: Counter[str] = Counter()  # path of a list → items of the longest one of gold
        self.ranks: dict[int, list[Any]] = {}  # of lists and maps of an answer, by id: what comes first
        self._texts: dict[int, str] | None = None  # of lists of an answer that may be cut, by id

    def begin_answer(self) -> None:
        """From now on, texts are of an answer."""
        self._texts, self._leave_out = {}, False

    def text(self, value: Any, shape: PathShape, depth: int = 0) -> str:
        """Empty for a value without leaves."""
        own = _own(value, shape)
        if value is None or shape.is_ignored or own.is_ignored or (self._leave_out and not own.declared):
            return ""
        if type(value) is not dict and type(value) is not list:
            return self._text_of_leaf(value, own)
        if depth > MAX_DEPTH:
            return "…"
        if self._texts is None:
            texts = [text for text, _ in self.parts(value, own, depth)]
            if type(value) is list or "*" in own.children:
                self.items.setdefault(own.name, Counter()).update(texts)
                self.longest[own.name] = max(self.longest[own.name], len(texts))
            return _joined(value, own, texts)
        if type(value) is list and len(value) <= _SMALLER[-1]:
            below, texts = _below(own), list[str]()
            for entry in value:
                if text := self.text(entry, below, depth + 1):
                    texts.append(_short(text))
            return _joined(value, own, texts)
        if type(value) is dict:
            return _joined(value, own, [text for text, _ in self.parts(value, own, depth)])
        kept = self._texts.get(id(value))
        if kept is None:
            kept = self._texts[id(value)] = _joined(value, own, [text for text, _ in self.parts(value, own, depth)])
        return kept

    def parts(self, value: Any, own: PathShape, depth: int) -> Iterator[tuple[str, Any]]:
        """The text of each part of an object or a list that has one, with its key or position."""
        if type(value) is list:
            below = _below(own)
            for place, entry in enumerate(value):
                if text := self.text(entry, below, depth + 1):
                    yield _short(text), place
            return
        for key, entry in value.items():
            below = own.children.get(key) or own.child(key)
            if text := self.text(entry, below, depth + 1):
                yield _short(f"{normalize(key) if below.is_entry else key}\0{text}"), key

    def _text_of_leaf(self, value: Any, own: PathShape) -> str:
        if type(value) is str and self._is_absent(value):
            return ""
        key = own.comparator.key(value)
        if type(key) is str:
            return key
        return decimal_text(key) if isinstance(key, (int, Decimal)) else str(key)


def _joined(value: Any, own: PathShape, texts: list[str]) -> str:
    if not texts:
        return ""
    is_ordered = type(value) is list and own.ordered
    return ("[" if type(value) is list else "{") + "\1".join(texts if is_ordered else sorted(texts))


class _Cut:
    """One pass over an answer that keeps at most `most` items of a list."""

    def __init__(self, gold: _Contents, paths_beyond: frozenset[str], most: int, room: int) -> None:
        self._gold = gold
        self._paths_beyond = paths_beyond
        self._most = most
        self._room = room  # leaves that may still be kept
        self.has_cut = False

    def part(self, value: Any, shape: PathShape, path: str = "", depth: int = 0) -> Any:
        """The part of an answer that is compared."""
        if value is None:
            return None
        if type(value) is not dict and type(value) is not list:
            if path in self._paths_beyond:
                self.has_cut = True
                return None
            return self._take(1, value)
        if depth >= MAX_DEPTH:
            return self._take(sum(len(each) for level in containers_by_level(value) for each in level), value)
        own = _own(value, shape)
        kept = self._kept(value, own, depth)
        if isinstance(value, list):
            below = _below(own)
            place, parts = _path(path, own, "[]", below), [None] * len(value)
            for position in range(len(value)) if kept is None else kept:
                parts[position] = self.part(value[position], below, place, depth + 1)
            return parts
        return {
            key: self.part(entry, below, _path(path, own, key, below), depth + 1)
            for key, entry in value.items()
            if not (below := own.child(key)).is_entry or kept is None or key in kept
        }

    def _take(self, leaves: int, value: Any) -> Any:
        self._room -= leaves
        if self._room < 0:
            raise _TooManyLeavesError
        return value

    def _kept(self, value: Any, own: PathShape, depth: int) -> set[Any] | None:
        """The positions or keys of what is compared of a long list or map; None for all."""
        most = self._most
        if most == MAX_ITEMS:
            most = max(most, 2 * self._gold.longest[own.name])
        if len(value) <= most:
            return None
        self.has_cut = True
        if type(value) is list and own.ordered:
            return {*range(most)}
        ranks = self._gold.ranks.get(id(value))
        if ranks is None:
            ranks = self._gold.ranks[id(value)] = self._rank(value, own, depth, most)
        return {*ranks[:most]}

    def _rank(self, value: Any, own: PathShape, depth: int, most: int) -> list[Any]:
        """The positions or keys of what is compared first."""
        gold = Counter(self._gold.items.get(own.name))

        def ranked() -> Iterator[tuple[bool, str, Any]]:
            for text, step in self._gold.parts(value, own, depth):
                is_equal = gold.get(text, 0) > 0
                if is_equal:
                    gold[text] -= 1
                yield not is_equal, text, step

        return [step for _, _, step in nsmallest(most, ranked())]
