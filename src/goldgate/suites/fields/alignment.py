"""What became of every leaf: which leaf of gold is compared with which predicted leaf, and errors by name.

Objects are aligned key by key, lists for as many hits as can be. Predicted leaves are hit, wrong, misplaced,
hallucinated or spurious, gold leaves hit, wrong, misplaced or missing: the first name that applies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from goldgate.core.assignment import best_pairs, mask_of
from goldgate.core.finding import limit_length
from goldgate.core.value_text import Blanks
from goldgate.suites.fields.comparators import (
    Comparator,
    Key,
    leaf_text,
    make_comparator,
)
from goldgate.suites.fields.leaves import HIT, WRONG, Leaf, LeafTree, ListNode, Node, ObjectNode, path_name
from goldgate.suites.fields.list_pairing import (
    MAX_COMPARISONS,
    MAX_EFFORT,
    MAX_LIST_LEAVES,
    MAX_LIST_PAIRS,
    ItemPairing,
    ListPairs,
    fuzzy_effort,
    is_fuzzy,
)
from goldgate.suites.fields.spellings import (
    DateReading,
    NumberReading,
    date_readings,
    fitting_formats,
    magnitude,
    number_of,
    number_readings,
    read_date,
    read_number,
    units_differ,
)
from goldgate.suites.fields.suite import PathSettings

MISPLACED = "misplaced"
HALLUCINATED = "hallucinated"
SPURIOUS = "spurious"
MISSING = "missing"
PREDICTED_STATES = (HIT, WRONG, MISPLACED, HALLUCINATED, SPURIOUS)
GOLD_STATES = (HIT, WRONG, MISPLACED, MISSING)
_SMALL = 100  # integers below are everywhere: one of them at another path does not show a mix-up
MAX_PAIRS = 1_000_000  # of leaves that may be misplaced, of which the most are paired
CONFUSED_LENGTH = 60  # characters of a value among confusions
FORMAT = "format "  # before a format of dates, among comparators
_OTHERS = ("text", "number", "date", "contains", "fuzzy")


class WrongKind(StrEnum):
    """In which way a wrong value is wrong."""

    SWAPPED = "swapped"  # two leaves of one object have each other's values
    FORMAT = "format"  # the same number, date or text in another spelling
    NUMBER = "number"  # another number
    PART = "part"  # one contains the other
    OTHER = "other"


@dataclass(slots=True)
class Alignment:
    """What aligning two trees came to, beside the states of their leaves."""

    shape_mended: int = 0
    pair_share_cost: int = 0
    pairs_left_out: int = 0  # of lists in items of lists, beyond the limits
    equal_only: dict[str, int] = field(default_factory=dict)  # path of a list → leaves in it, paired by equal values
    items: list[tuple[ObjectNode, ObjectNode]] = field(default_factory=list)  # pairs of objects in lists


def align_trees(gold: LeafTree, predicted: LeafTree) -> Alignment:
    """Pair the leaves of two trees. A leaf has its partner, and the state `hit` or `wrong`, or none of these."""
    aligner = Aligner(gold, predicted)
    if gold.root is not None and predicted.root is not None:
        aligner.align(gold.root, predicted.root)
        if aligner.has_lost and not aligner.alignment.pairs_left_out:
            most = Aligner(gold, predicted, with_share=False).value(gold.root, predicted.root)
            aligner.alignment.pair_share_cost = most - sum([leaf.state == HIT for leaf in gold.leaves])
    return aligner.alignment


class Aligner:
    def __init__(self, gold: LeafTree, predicted: LeafTree, *, with_share: bool = True) -> None:
        self.alignment = Alignment()
        self.with_share = with_share
        self.has_lost = False  # `pair_share` cost a hit in some list
        self.has_loose = gold.has_loose or predicted.has_loose
        # One budget for all lists of a document, whatever their order: beyond it, fuzzy lists are paired by equality.
        fuzzy = [list(filter(is_fuzzy, tree.leaves)) if self.has_loose else [] for tree in (gold, predicted)]
        self.is_over_budget = fuzzy_effort(*fuzzy) > MAX_EFFORT
        self._wrapped = gold.wrapped | predicted.wrapped
        self._values: dict[tuple[int, int], int] = {}
        self._solved: dict[tuple[int, int], ListPairs | None] = {}
        self._list_pairs, self._list_leaves = MAX_LIST_PAIRS, MAX_LIST_LEAVES  # that may still be compared

    def align(self, gold: Node, predicted: Node) -> None:
        """Pair what is in two nodes that are aligned."""
        if type(gold) is Leaf and type(predicted) is Leaf:
            gold.partner, predicted.partner = predicted, gold
            gold.state = predicted.state = HIT if gold.is_alike(predicted) else WRONG
        elif type(gold) is ObjectNode and type(predicted) is ObjectNode:
            others = predicted.children
            for key, child in gold.children.items():
                other = others.get(key)
                if other is not None:
                    self.align(child, other)
        elif type(gold) is ListNode or type(predicted) is ListNode:
            self._align_lists(gold, predicted)

    def _align_lists(self, gold: Node, predicted: Node) -> None:
        memo = (id(gold), id(predicted))
        paired = self._solved[memo] if memo in self._solved else self.pair_lists(gold, predicted)
        if paired is None:
            return
        is_mended = self._is_single(gold) != self._is_single(predicted) or _is_apart(gold) != _is_apart(predicted)
        self.alignment.shape_mended += is_mended
        shape = gold.shape if type(gold) is ListNode else predicted.shape
        if paired.equal_only:
            equal = self.alignment.equal_only
            equal[shape.name] = equal.get(shape.name, 0) + gold.size + predicted.size
        for one, other in paired.pairs:
            if shape.has_items and type(one) is ObjectNode and type(other) is ObjectNode:
                self.alignment.items.append((one, other))
            self.align(one, other)

    def value(self, gold: Node, predicted: Node) -> int:
        """The most hits that two nodes allow."""
        if type(gold) is Leaf and type(predicted) is Leaf:
            return int(gold.is_alike(predicted))
        if type(gold) is ObjectNode and type(predicted) is ObjectNode:
            others = predicted.children
            return sum([self.value(child, others[key]) for key, child in gold.children.items() if key in others])
        if type(gold) is not ListNode and type(predicted) is not ListNode:
            return 0
        memo = (id(gold), id(predicted))
        most = self._values.get(memo)
        if most is None:
            if self._list_pairs <= 0 or self._list_leaves <= 0:
                self.alignment.pairs_left_out += 1
                return 0
            self._list_pairs -= 1
            self._list_leaves -= gold.size + predicted.size
            paired = self._solved[memo] = self.pair_lists(gold, predicted)
            most = 0 if paired is None else sum([self.value(*pair) for pair in paired.pairs])
            self._values[memo] = most
        return most

    def pair_lists(self, gold: Node, predicted: Node) -> ListPairs | None:
        """The pairs of items of two lists, of which one may be a single value: a list of one.

        None where gold has a single value and the answer a list of several: a list of candidates is not an answer.
        """
        is_list = type(predicted) is ListNode
        if (
            type(gold) is not ListNode
            and is_list
            and (predicted.size if type(gold) is Leaf else len(_items(predicted))) > 1
        ):
            return None
        shape = gold.shape if type(gold) is ListNode else predicted.shape
        if shape.ordered:
            one, other = _by_position(gold), _by_position(predicted)
            return ListPairs([(item, other[place]) for place, item in one.items() if place in other])
        items, others = _items(gold), _items(predicted)
        if self._is_single(gold) and self._is_single(predicted) and type(items[0]) is not ObjectNode:
            return ListPairs([(items[0], others[0])])
        return ItemPairing(self, shape, items, others).solve()

    def _is_single(self, node: Node) -> bool:
        return type(node) is not ListNode or id(node) in self._wrapped


def _is_apart(node: Node) -> bool:
    return type(node) is ListNode and node.is_apart


def _items(node: Node) -> list[Node]:
    return node.items if type(node) is ListNode else [node]


def _by_position(node: Node) -> dict[int, Node]:
    return dict(zip(node.positions, node.items, strict=True)) if type(node) is ListNode else {0: node}


def name_errors(gold: LeafTree, predicted: LeafTree, unsupported: frozenset[int]) -> None:
    """Give every leaf its state; `unsupported` are the ids of predicted leaves that the text does not have."""
    missing = [leaf for leaf in gold.leaves if not leaf.state]
    spurious = [leaf for leaf in predicted.leaves if not leaf.state]
    for one, other in _misplaced(missing, spurious) if missing and spurious else ():
        one.partner, other.partner = other, one
        one.state = other.state = MISPLACED
    for leaf in missing:
        leaf.state = leaf.state or MISSING
    for leaf in spurious:
        leaf.state = leaf.state or (HALLUCINATED if id(leaf) in unsupported else SPURIOUS)
    wrong = [leaf for leaf in gold.leaves if leaf.state == WRONG]
    swapped = _swapped(wrong) if len(wrong) > 1 else set()
    for leaf in wrong:
        assert leaf.partner is not None
        kind = WrongKind.SWAPPED if id(leaf) in swapped else _wrong_kind(leaf, leaf.partner)
        leaf.detail = leaf.partner.detail = kind


def _misplaced(missing: list[Leaf], spurious: list[Leaf]) -> list[tuple[Leaf, Leaf]]:
    """Missing gold leaves and predicted leaves at other paths that are alike, one to one, as many as can be."""
    gold = [leaf for leaf in missing if _tells(leaf)]
    predicted = [leaf for leaf in spurious if _tells(leaf)]
    comparators: dict[str, Comparator] = {}  # one for all paths that are compared in the same way
    alike: dict[str, dict[Key, list[Leaf]]] = {}
    for leaf in gold:
        comparator = leaf.shape.comparator
        comparators.setdefault(comparator.identity, comparator)
        key = leaf.block if comparator.equivalence else leaf.key
        alike.setdefault(comparator.identity, {}).setdefault(key, []).append(leaf)
    is_few = len(gold) * len(predicted) <= MAX_COMPARISONS
    is_few = is_few and fuzzy_effort(filter(is_fuzzy, gold), predicted) <= MAX_EFFORT
    edges: dict[int, list[Leaf]] = {}  # id of a predicted leaf → gold leaves that are alike
    equal: dict[tuple[int, type, Any], list[Leaf]] = {}  # path and value of predicted leaves → the same
    used: Counter[tuple[int, type, Any]] = Counter()
    for leaf in predicted:
        group = id(leaf.shape), type(leaf.value), leaf.value
        partners = equal.get(group)
        if partners is None:
            partners = equal[group] = []
            for identity, comparator in comparators.items():
                key, by_key = comparator.key(leaf.value), alike[identity]
                if comparator.equivalence or not is_few:
                    same = by_key.get(comparator.block(key) if comparator.equivalence else key, [])
                else:
                    same = [one for others in by_key.values() for one in others]
                partners += [one for one in same if _is_like_value(one, leaf)] if is_few else same
        used[group] += 1
        if used[group] <= len(partners):
            edges[id(leaf)] = partners
    return _pair_misplaced([leaf for leaf in predicted if id(leaf) in edges], edges)


def _pair_misplaced(predicted: list[Leaf], edges: dict[int, list[Leaf]]) -> list[tuple[Leaf, Leaf]]:
    """The largest matching of leaves that are alike at different paths; of very many the first that fit."""
    predicted = sorted(predicted, key=_order)
    lists = {id(partners): partners for partners in edges.values()}
    gold = {id(leaf): leaf for partners in lists.values() for leaf in partners}
    gold_leaves = sorted(gold.values(), key=_order)
    paths = {id(leaf): path_name(leaf) for leaf in (*predicted, *gold_leaves)}
    if len(predicted) * len(gold_leaves) > MAX_PAIRS or sum(map(len, edges.values())) > MAX_PAIRS:
        return [*_first_pairs(predicted, edges, paths)]
    columns: dict[int, list[int]] = {id(leaf): [] for leaf in gold_leaves}
    for column, leaf in enumerate(predicted):
        for partner in edges[id(leaf)]:
            if paths[id(partner)] != paths[id(leaf)]:
                columns[id(partner)].append(column)
    rows = [[(1, mask_of(columns[id(leaf)]))] if columns[id(leaf)] else [] for leaf in gold_leaves]
    return [(gold_leaves[row], predicted[column]) for row, column in best_pairs(rows, len(predicted)).items()]


def _order(leaf: Leaf) -> tuple[str, str]:
    """By path and content: which of several leaves is misplaced does not depend on where they stand."""
    return path_name(leaf), leaf.sort_key()


def _first_pairs(
    predicted: list[Leaf], edges: dict[int, list[Leaf]], paths: dict[int, str]
) -> Iterator[tuple[Leaf, Leaf]]:
    """Every predicted leaf with the first gold leaf that is still free; a few are looked at."""
    used_gold: set[int] = set()
    used: dict[int, int] = {}  # a list of partners, which leaves with equal keys share → how many of it are used
    for leaf in predicted:
        partners = edges[id(leaf)]
        start = used.get(id(partners[0]), 0)
        for place in range(start, min(start + 8, len(partners))):
            partner = partners[place]
            if id(partner) not in used_gold and paths[id(partner)] != paths[id(leaf)]:
                used_gold.add(id(partner))
                used[id(partners[0])] = place + 1 if place == start else start
                yield partner, leaf
                break


def _tells(leaf: Leaf) -> bool:
    """Whether a value at another path is a sign that it was put in the wrong place."""
    if isinstance(leaf.value, bool) or leaf.shape.is_choice:
        return False
    reading = read_number(leaf.value) if isinstance(leaf.value, str) else None
    number = number_of(leaf.value) if reading is None else reading.number
    if number is None:
        return True
    size = magnitude(number)
    return not (size < _SMALL and size == int(size))


def _swapped(wrong: list[Leaf]) -> set[int]:
    """Ids of wrong gold leaves of one object that have each other's predicted values."""
    by_parent: dict[int, list[Leaf]] = {}
    for leaf in wrong:
        by_parent.setdefault(id(leaf.parent), []).append(leaf)
    swapped: set[int] = set()
    for leaves in by_parent.values():
        for number, one in enumerate(leaves[:64]):
            for other in leaves[number + 1 : 64]:
                if _is_like_value(one, other.partner) and _is_like_value(other, one.partner):
                    swapped |= {id(one), id(other)}
    return swapped


def _is_like_value(gold: Leaf, predicted: Leaf | None) -> bool:
    """Whether a predicted value of another path is alike a gold leaf by gold's comparator."""
    comparator = gold.shape.comparator
    assert predicted is not None
    return comparator.alike(gold.value, gold.key, predicted.value, comparator.key(predicted.value))


def _wrong_kind(gold: Leaf, predicted: Leaf) -> WrongKind:
    one, other = leaf_text(gold.value), leaf_text(predicted.value)
    folded = [*map(gold.shape.comparator.normalize, (one, other))]
    pairs = [(g, p) for g in _readings(gold.value) for p in _readings(predicted.value)]
    same = [not units_differ(g.unit, p.unit) for g, p in pairs if g.number == p.number]
    if folded[0] == folded[1] or any(same) or _same_date(gold, predicted):
        return WrongKind.FORMAT
    if pairs and not same:
        return WrongKind.NUMBER
    if folded[0] in folded[1] or folded[1] in folded[0]:
        return WrongKind.PART
    return WrongKind.OTHER


def _readings(value: Any) -> list[NumberReading]:
    """The numbers that a value can be read as."""
    if isinstance(value, str):
        return number_readings(value)
    number = number_of(value)
    return [] if number is None else [NumberReading(number)]


def _same_date(gold: Leaf, predicted: Leaf) -> bool:
    formats = gold.shape.settings.formats
    dates = [read_date(leaf_text(leaf.value), formats) for leaf in (gold, predicted)]
    return dates[0] is not None and dates[0] == dates[1]


def confused_values(gold: Leaf, predicted: Leaf) -> tuple[str, str, str]:
    """The path of an enum, the value that gold has, and the one that was predicted in its place, cut to a length."""
    values = [limit_length(leaf_text(leaf.value), CONFUSED_LENGTH) for leaf in (gold, predicted)]
    return gold.shape.name, values[0], values[1]


@cache
def _other_comparators(blanks: Blanks) -> list[Comparator]:
    return [make_comparator(name, PathSettings()).with_blanks(blanks) for name in _OTHERS]


def other_comparators(gold: Leaf) -> Iterator[str]:
    """The comparators under which a wrong value would be a hit, and the formats in which it would be gold's date."""
    predicted, own = gold.partner, gold.shape.comparator
    assert predicted is not None
    texts, dates = (leaf_text(gold.value), leaf_text(predicted.value)), list[bool]()
    for comparator in _other_comparators(own.blanks):
        keys = comparator.key(gold.value), comparator.key(predicted.value)
        is_alike = comparator.alike(gold.value, keys[0], predicted.value, keys[1])
        if comparator.name == "date":
            dates = [isinstance(key, DateReading) for key in keys]
            if own.name in ("date", "text") and any(dates) and not is_alike:
                yield from {f"{FORMAT}{name}": None for one in (texts, texts[::-1]) for name in fitting_formats(*one)}
        if comparator.name != own.name and is_alike and not _is_near_miss(comparator.name, *texts):
            yield comparator.name


def _is_near_miss(name: str, gold: str, predicted: str) -> bool:
    """Whether a comparator would take another number, date or id for the right one."""
    if name not in ("contains", "fuzzy"):
        return False
    if all(number_readings(text) or date_readings(text) for text in (gold, predicted)):
        return True
    return name == "fuzzy" and (_digits(gold) != _digits(predicted) or any(map(_ID.fullmatch, (gold, predicted))))


_ID = re.compile(r"(?=.*[0-9@_/:#]|[^a-z]*\Z)[!-~]+")  # a word with a digit or a mark, or in capitals
_digits = re.compile("[0-9]+").findall
