"""A value as a tree of leaves: strings, numbers and booleans at their paths. What is absent is not in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from unicodedata import category

from goldgate.core.finding import limit_length
from goldgate.core.value_text import Normalize, NumberText, normalize
from goldgate.suites.fields.comparators import Key
from goldgate.suites.fields.schema import MAX_DEPTH, PathShape, step_text

LISTED_LENGTH = 2_000  # characters of a value, or of where it is, in a record
HIT = "hit"
WRONG = "wrong"
Step = str | int  # a key of an object, or a position in a list


class Leaf:
    """A string, a number or a boolean: where it is, how it is compared, and the leaf of the other side it is with."""

    __slots__ = ("detail", "key", "parent", "partner", "shape", "state", "step", "value")

    size = 1  # leaves

    def __init__(self, shape: PathShape, value: Any, key: Key, parent: Node | None, step: Step) -> None:
        self.shape = shape
        self.value = value
        self.key = key
        self.parent = parent
        self.step = step
        self.partner: Leaf | None = None  # of the other side: aligned, alike or not
        self.state = ""  # an error name, or "hit"
        self.detail = ""  # of a wrong value: in which way

    @property
    def error(self) -> str:
        """Its error by name, and of a wrong value in which way; empty for a hit."""
        return "" if self.state == HIT else f"{self.state}: {self.detail}" if self.detail else self.state

    @property
    def is_strict(self) -> bool:
        """Whether the leaf matches only leaves with the same key."""
        return self.shape.comparator.equivalence and not self.is_loose

    @property
    def is_loose(self) -> bool:
        """Whether the leaf may match a leaf with another key."""
        return self.shape.comparator.is_loose(self.key)

    @property
    def block(self) -> Key:
        """Equal for leaves of a path that may be alike."""
        return self.shape.comparator.block(self.key)

    def is_alike(self, predicted: Leaf) -> bool:
        """Whether a predicted leaf of the same path matches this gold leaf by its comparator."""
        if self.key == predicted.key:
            return True
        comparator = self.shape.comparator
        return comparator.has_loose_keys and comparator.alike(self.value, self.key, predicted.value, predicted.key)

    def leaves(self) -> list[Leaf]:
        return [self]

    def content(self) -> Hashable:
        return self.key

    def sort_key(self) -> str:
        return f"{self.key}\0{self.value}"


class Branch:
    """An object or a list. Its leaves are a slice of the tree's."""

    __slots__ = ("_leaves", "end", "parent", "shape", "start", "step")

    def __init__(self, shape: PathShape, parent: Node | None, step: Step, leaves: list[Leaf]) -> None:
        self.shape = shape
        self.parent = parent
        self.step = step
        self._leaves = leaves  # of the tree
        self.start = self.end = len(leaves)

    @property
    def size(self) -> int:
        """The number of its leaves."""
        return self.end - self.start

    def leaves(self) -> list[Leaf]:
        return self._leaves[self.start : self.end]


class ObjectNode(Branch):
    """An object: its children by key; keys of a map are normalized."""

    __slots__ = ("children",)

    children: dict[str, Node]

    def content(self) -> Hashable:
        """Equal for nodes whose leaves are all alike by their keys, in any order of keys."""
        return frozenset(
            [(key, child.key if type(child) is Leaf else child.content()) for key, child in self.children.items()]
        )

    def sort_key(self) -> str:
        """A text to sort items by, whatever their positions in the list."""
        return "{" + ",".join(f"{key}\0{self.children[key].sort_key()}" for key in sorted(self.children)) + "}"


class ListNode(Branch):
    """A list: its items that hold a leaf, in their order."""

    __slots__ = ("is_apart", "items", "positions")

    items: list[Node]
    positions: list[int]  # of the items, where the order counts
    is_apart: bool  # it has the items of lists in it, where the schema has objects

    def content(self) -> Hashable:
        """Equal for lists whose items have equal content, in any order of items unless the order counts."""
        contents = [item.content() for item in self.items]
        return ("[", *contents) if self.shape.ordered else ("[]", frozenset(Counter(contents).items()))

    def sort_key(self) -> str:
        texts = [item.sort_key() for item in self.items]
        return "[" + ",".join(texts if self.shape.ordered else sorted(texts)) + "]"


Node = Leaf | ObjectNode | ListNode


@dataclass(slots=True)
class LeafTree:
    """All leaves of one side of a document, in the order of the value."""

    root: Node | None = None
    leaves: list[Leaf] = field(default_factory=list)
    items: list[ObjectNode] = field(default_factory=list)  # objects in lists
    has_loose: bool = False  # a leaf may be alike one with another key
    wrapped: set[int] = field(default_factory=set)  # ids of lists of one, made where the schema has a list
    scalar_parents: set[str] = field(default_factory=set)  # paths of objects with a scalar in their place
    left_out: list[str] = field(default_factory=list)  # undeclared paths of gold that are not counted
    other_shape: Counter[str] = field(default_factory=Counter)  # paths where the value is not of the schema's shape


def steps_to(node: Node) -> list[Step]:
    """The keys and positions that lead to a node from the root."""
    steps: list[Step] = []
    while node.parent is not None:
        steps.append(node.step)
        node = node.parent
    return steps[::-1]


def location(node: Node) -> str:
    """Where a node is in its value: `items[0].price`."""
    return _joined(f"[{step}]" if isinstance(step, int) else step_text(step) for step in steps_to(node))


def path_name(leaf: Leaf) -> str:
    """The path of a leaf: the schema's, or where the schema has none, the one in the value."""
    if leaf.shape.declared and not leaf.shape.is_free:
        return leaf.shape.name
    return _joined("[]" if isinstance(step, int) else step_text(step) for step in steps_to(leaf))


def respelled_key(leaf: Leaf) -> tuple[str, str] | None:
    """The undeclared key that a leaf is under, and that of the schema with another case or punctuation."""
    node: Node = leaf
    while node.parent is not None and not node.parent.shape.declared:
        node = node.parent
    above = node.parent
    if type(above) is not ObjectNode or type(node.step) is not str:
        return None
    declared = _folded_keys(above.shape).get(_fold(node.step))
    return None if declared is None or declared in above.children else (node.step, declared)


@lru_cache(maxsize=1_024)
def _folded_keys(shape: PathShape) -> dict[str, str]:
    return {_fold(key): key for child in shape.listed_children() if (key := child.parts[-1]) not in ("*", "[]")}


def _fold(key: str) -> str:
    return re.sub(r"[\W_]+", "", key.casefold())


def _joined(parts: Iterator[str]) -> str:
    text = ""
    for part in parts:
        text += part if part.startswith("[") or not text else f".{part}"
        if len(text) > LISTED_LENGTH:
            return limit_length(text, LISTED_LENGTH)
    return text or "$"


class TreeBuilder:
    """Makes trees of values by one schema. For gold, undeclared paths are left out unless they count."""

    def __init__(self, null_words: frozenset[str], *, leave_out: bool, normalize_key: Normalize = normalize) -> None:
        self._null_words = null_words
        self._leave_out = leave_out
        self._normalize_key = normalize_key
        self._tree = LeafTree()

    def build(self, value: Any, shape: PathShape) -> LeafTree:
        """The tree of a value."""
        tree = self._tree = LeafTree()
        tree.root = self._build(value, shape, None, "", 0)
        return tree

    def _build(self, value: Any, shape: PathShape, parent: Node | None, step: Step, depth: int) -> Node | None:
        if value is None or shape.is_ignored:
            return None
        kind = "object" if type(value) is dict else "array" if type(value) is list else "scalar"
        if shape.kinds and kind not in shape.kinds:
            return self._of_other_shape(value, kind, shape, parent, step, depth)
        if kind == "object":
            return self._object(value, shape, parent, step, depth)
        if kind == "array":
            return self._list(value, shape, shape.item, parent, step, depth)
        return self._leaf(value, shape, parent, step)

    def _of_other_shape(
        self, value: Any, kind: str, shape: PathShape, parent: Node | None, step: Step, depth: int
    ) -> Node | None:
        """A value that the schema does not have here; a list in place of a single value, or the other way round."""
        node: Node | None
        if kind == "array":
            node = self._list(value, shape, shape, parent, step, depth)
        elif "array" in shape.kinds:
            node = self._list([value], shape, shape.item, parent, step, depth)
            if node is not None:
                self._tree.wrapped.add(id(node))
        elif kind == "object":
            node = self._object(value, shape.undeclared, parent, step, depth)
        else:
            node = self._leaf(value, shape.undeclared, parent, step)
            if node is not None:
                self._tree.scalar_parents.add(shape.name)
        if node is not None or (self._leave_out and value not in ("", [], {})):
            self._tree.other_shape[shape.name] += 1
        return node

    def _leaf(self, value: Any, shape: PathShape, parent: Node | None, step: Step) -> Leaf | None:
        if type(value) is str and self.is_absent(value):
            return None
        if self._leave_out and not shape.declared:
            self._tree.left_out.append(path_name(Leaf(shape, value, "", parent, step)))
            return None
        leaf = Leaf(shape, value, shape.comparator.key(value), parent, step)
        if shape.comparator.is_loose(leaf.key):
            self._tree.has_loose = True
        self._tree.leaves.append(leaf)
        return leaf

    def is_absent(self, text: str) -> bool:
        """Whether a text counts as no value."""
        return _is_invisible(text) or (bool(self._null_words) and normalize(text) in self._null_words)

    def _object(
        self, value: dict[str, Any], shape: PathShape, parent: Node | None, step: Step, depth: int
    ) -> Node | None:
        if depth >= MAX_DEPTH:
            return self._deep(value, shape, parent, step)
        leaves = self._tree.leaves
        node = ObjectNode(shape, parent, step, leaves)
        children: dict[str, Node] = {}
        shapes = shape.children
        entries: dict[str, list[str]] = {}  # of a map: normalized key → keys
        for key, entry in value.items():
            below = shapes.get(key) or shape.child(key)
            kind = type(entry)
            child: Node | None
            memo_key = below.kept_keys.get(entry) if kind is str or kind is float else None
            if memo_key is not None:  # a value that was a leaf here before: not blank, and not a null word
                child = Leaf(below, entry, memo_key, node, key)
                leaves.append(child)
            elif below.is_scalar and kind is not dict and kind is not list:
                child = None if entry is None else self._leaf(entry, below, node, key)
            else:
                child = self._build(entry, below, node, key, depth + 1)
            if child is not None:
                children[key] = child
                if below.is_entry:
                    entries.setdefault(self._normalize_key(key) or key, []).append(key)
        if entries:  # keys that are normalized alike stay apart
            single = {keys[0]: name for name, keys in entries.items() if len(keys) == 1 and shape.child(name).is_entry}
            children = {single.get(key, key): child for key, child in children.items()}
        node.children = children
        node.end = len(leaves)
        return node if children else None

    def _list(
        self, value: list[Any], shape: PathShape, below: PathShape, parent: Node | None, step: Step, depth: int
    ) -> ListNode | None:
        if depth >= MAX_DEPTH:
            return self._deep(value, shape, parent, step)
        node = ListNode(shape, parent, step, self._tree.leaves)
        node.items, node.positions, node.is_apart = [], [], False
        is_open = "object" in below.kinds and "array" not in below.kinds
        entries = self._open_lists(value, below, node) if is_open else ((node, *entry) for entry in enumerate(value))
        for position, (above, place, entry) in enumerate(entries):
            child = self._build(entry, below, above, place, depth + 1)
            if child is not None:
                node.items.append(child)
                node.positions.append(position)
                if type(child) is ObjectNode and shape.has_items:
                    self._tree.items.append(child)
        node.end = len(self._tree.leaves)
        return node if node.items else None

    def _open_lists(self, value: list[Any], below: PathShape, node: ListNode) -> Iterator[tuple[Node, int, Any]]:
        """The entries of a list of objects, with those of lists in it, at any depth; where each of them is."""
        waiting: list[tuple[ListNode, Iterator[tuple[int, Any]]]] = [(node, iter(enumerate(value)))]
        while waiting:
            parent, entries = waiting[-1]
            for place, entry in entries:
                if type(entry) is list:
                    if entry:
                        node.is_apart = True
                        self._tree.other_shape[below.name] += 1
                    is_deep = len(waiting) >= MAX_DEPTH
                    inner = parent if is_deep else ListNode(below, parent, place, self._tree.leaves)
                    waiting.append((inner, iter(enumerate(entry))))
                    break
                yield parent, place, entry
            else:
                waiting.pop()

    def _deep(self, value: Any, shape: PathShape, parent: Node | None, step: Step) -> ListNode | None:
        """What is deeper than any gold: its leaves, in a list, without recursion."""
        node = ListNode(shape, parent, step, self._tree.leaves)
        waiting = [value]
        while waiting:
            entry = waiting.pop()
            if type(entry) is dict:
                waiting += reversed(entry.values())
            elif type(entry) is list:
                waiting += reversed(entry)
            elif entry is not None:
                self._leaf(entry, shape.undeclared, node, 0)
        node.end = len(self._tree.leaves)
        node.items = [*node.leaves()]
        node.positions, node.is_apart = [*range(node.size)], False
        return node if node.items else None


def _is_invisible(text: str) -> bool:
    """Whether a text has nothing but blanks and invisible characters, or nothing at all."""
    if "!" <= text[:1] <= "~":
        return False
    return all(category(sign) in _INVISIBLE_KINDS or _INVISIBLE_SIGNS.match(sign) for sign in text)


_INVISIBLE_KINDS = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_INVISIBLE_SIGNS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def depth_of(value: Any) -> int:
    """How many levels of objects and lists a value has; of more than the most, one more than that."""
    depth = 0
    for depth, _ in enumerate(containers_by_level(value), 1):
        if depth > MAX_DEPTH:
            break
    return depth


def containers_by_level(value: Any) -> Iterator[list[Any]]:
    """The objects and lists of a value, level by level, without recursion."""
    level = [value] if type(value) is dict or type(value) is list else []
    while level:
        yield level
        level = [
            entry
            for container in level
            for entry in (container.values() if type(container) is dict else container)
            if type(entry) is dict or type(entry) is list
        ]


def plain(value: Any) -> Any:
    """A leaf's value as JSON can write it; a very long text is cut."""
    value = value.text if isinstance(value, NumberText) else value
    return limit_length(value, LISTED_LENGTH) if type(value) is str else value
