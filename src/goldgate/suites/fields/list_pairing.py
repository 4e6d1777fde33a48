"""The items of two lists paired one to one, where their order does not count, for as many hits as can be.

Items that are equal are paired first. For the rest, every leaf of an item is a feature; how many features two items
share is counted for all pairs at once, with columns as bits of Python integers, and the assignment is solved exactly.
Lists inside items are aligned for each pair that could gain by it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import product
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from goldgate.core.assignment import RowWeights, best_pairs, mask_of, total_weight, weight_levels
from goldgate.core.bitset import count_bits, set_bits
from goldgate.suites.fields.comparators import Comparator, FuzzyComparator, Key, NumberComparator
from goldgate.suites.fields.leaves import Leaf, ListNode, Node, ObjectNode
from goldgate.suites.fields.schema import PathShape

if TYPE_CHECKING:
    from goldgate.suites.fields.alignment import Aligner

MAX_COST = 4_000_000  # rows times columns of which it is counted what `pair_share` costs
MAX_COMPARISONS = 300_000  # of values by a comparator that is not an equivalence, in one list
MAX_LOOSE = 40_000  # rows times columns in which equal items are not taken out first
FEW_PAIRS = 12  # rows times columns that are compared one by one: it takes less time than to index them
MAX_LIST_PAIRS = 20_000  # pairs of lists in items of lists that are compared in one document
MAX_LIST_LEAVES = 300_000  # in these lists together, each time that one is compared
MANY_ITEM_PAIRS = 1_000  # pairs of items with lists, from which on those that cannot be paired are left out
MANY_ITEM_LEAVES = 100_000  # the same of leaves in such pairs
MAX_EFFORT = 5_000_000_000  # of fuzzy comparisons in one document, as `fuzzy_effort` counts it
_Feature = tuple[Hashable, ...]
_Pairs = list[tuple[Node, Node]]


class ListPairs(NamedTuple):
    """How the items of two lists were paired."""

    pairs: _Pairs
    equal_only: bool = False  # by equal values, since comparing all would take too long


def is_fuzzy(leaf: Leaf) -> bool:
    """Whether a leaf is compared by how similar its text is."""
    return isinstance(leaf.shape.comparator, FuzzyComparator)


def fuzzy_effort(gold: Iterable[Leaf], predicted: Iterable[Leaf]) -> int:
    """What it takes to compare all these texts with each other: characters times characters.

    A step of the edit distance costs as much for one character of gold as for some two thousand: they are bits.
    """
    return sum([2_000 + len(str(leaf.key)) for leaf in gold]) * sum([len(str(leaf.key)) for leaf in predicted])


class ItemPairing:
    """Pairs the items of two lists in which order does not count."""

    def __init__(self, aligner: Aligner, shape: PathShape, gold: list[Node], predicted: list[Node]) -> None:
        self._aligner = aligner
        self._gold = gold
        self._predicted = predicted
        self._share = shape.pair_share
        self._key = shape.key
        self._same_keys: dict[int, int] = {}  # id of a gold item → the columns with its key

    def solve(self) -> ListPairs:
        pairs, gold, predicted = self._pair_equal()
        if not gold or not predicted:
            return ListPairs(pairs)
        rest = self._pair_rest(_in_order(gold), _in_order(predicted))
        return rest._replace(pairs=pairs + rest.pairs)

    def _pair_equal(self) -> tuple[_Pairs, list[Node], list[Node]]:
        """Pair items that are alike in every leaf of both by their keys; what is left of both sides.

        Where values with different keys may be alike too, such pairs are found with all others, in lists that are not
        very long.
        """
        is_short = len(self._gold) * len(self._predicted) <= MAX_LOOSE
        if self._aligner.has_loose and is_short and _any_loose(self._gold, self._predicted):
            return [], self._gold, self._predicted
        waiting: dict[Hashable, list[Node]] = {}
        for item in reversed(self._predicted):
            waiting.setdefault(item.content(), []).append(item)
        pairs, gold = list[tuple[Node, Node]](), list[Node]()
        for item in self._gold:
            equal = waiting.get(item.content())
            if equal:
                pairs.append((item, equal.pop()))
            else:
                gold.append(item)
        return pairs, gold, [item for left in waiting.values() for item in left]

    def _pair_rest(self, gold: list[Node], predicted: list[Node]) -> ListPairs:
        if len(gold) * len(predicted) <= FEW_PAIRS:
            rows = self._values_of_pairs(gold, predicted)
            return self._best(gold, predicted, rows, is_inexact=self._aligner.has_loose)
        features = _SharedFeatures(gold, predicted, has_loose=self._aligner.has_loose)
        is_fuzzy = self._aligner.is_over_budget and features.has_fuzzy()
        equal_only = is_fuzzy or features.comparisons > MAX_COMPARISONS
        if equal_only:
            features = _SharedFeatures(gold, predicted, has_loose=False, equal_only=True)
        gold, predicted = features.nodes()
        weights = self._weights(features) if gold else []
        paired = self._best(gold, predicted, weights, is_inexact=features.is_inexact)
        return paired._replace(equal_only=equal_only)

    def _best(
        self, gold: list[Node], predicted: list[Node], weights: list[RowWeights], *, is_inexact: bool
    ) -> ListPairs:
        """The allowed pairs with the most hits, equal items first."""
        if is_inexact or self._key:
            weights = _equal_first(gold, predicted, weights)
        allowed, aligner = weights, self._aligner
        is_large = len(gold) * len(predicted) > MAX_COST  # then what `pair_share` costs is not counted
        if self._key or (self._share and (is_large or aligner.with_share)):
            allowed = self._allowed(gold, predicted, weights)
        chosen = best_pairs(allowed, len(predicted))
        if allowed != weights and not self._key and not is_large and not aligner.has_lost:
            total = total_weight(weights, chosen)
            if total < sum([row[0][0] for row in weights if row]):  # else nothing can be lost
                aligner.has_lost = total < total_weight(weights, best_pairs(weights, len(predicted)))
        return ListPairs([(gold[row], predicted[column]) for row, column in sorted(chosen.items())])

    def _allowed(self, gold: list[Node], predicted: list[Node], weights: list[RowWeights]) -> list[RowWeights]:
        """The weights of the pairs that may be made: of objects with the same key, or with hits enough for a pair."""
        keys = [self._key_leaves(node) for node in predicted] if self._key else []
        objects = _by_size({column: node for column, node in enumerate(predicted) if type(node) is ObjectNode})
        rows: list[RowWeights] = []
        for item, row in zip(gold, weights, strict=True):
            if type(item) is not ObjectNode:
                allowed: RowWeights = row
            elif self._key:
                mask = self._same_key(item, keys)
                allowed = [(weight, columns if weight > item.size else columns & mask) for weight, columns in row]
            else:
                least = {mask: self._share * min(item.size, other) for other, mask in objects.items()}
                allowed = [
                    (weight, columns & ~sum([mask for mask in least if weight < least[mask]]))
                    for weight, columns in row
                ]
            rows.append([(weight, columns) for weight, columns in allowed if columns])
        return rows

    def _weights(self, features: _SharedFeatures) -> list[RowWeights]:
        """For each gold item the hits with every predicted item."""
        gold, predicted = features.nodes()
        if features.is_irregular:
            return self._values_of_pairs(gold, predicted, self._closest(gold, predicted, None))
        rows = [features.row(item) for item in features.gold]
        for row, column in self._closest(gold, predicted, features.inner_columns()):
            one, other = features.gold[row].inner, features.predicted[column].inner
            hits = sum([self._aligner.value(node, other[place]) for place, node in one.items() if place in other])
            if hits:
                rows[row] = _raised(rows[row], column, hits)
        return rows

    def _closest(self, gold: list[Node], predicted: list[Node], columns: list[int] | None) -> Iterator[tuple[int, int]]:
        """The pairs of rows and columns to look at, of each row in its `columns`; of very many, the closest first.

        Of very many, pairs that share too few leaves to be paired are left out.
        """
        all_columns = (1 << len(predicted)) - 1
        masks = [all_columns] * len(gold) if columns is None else columns
        sizes = [item.size for item in predicted]
        count = sum([mask.bit_count() for mask in masks])
        if count <= MANY_ITEM_PAIRS:
            pairs = [(row, column) for row, mask in enumerate(masks) for column in set_bits(mask)]
            if sum([gold[row].size + sizes[column] for row, column in pairs]) <= MANY_ITEM_LEAVES:
                yield from pairs
                return
        levels = _shared_leaves(gold, predicted)
        if self._key or (self._share and self._aligner.with_share):
            levels = self._allowed(gold, predicted, levels)
        closest = [(-weight, row, mask & masks[row]) for row, level in enumerate(levels) for weight, mask in level]
        for _, row, mask in sorted(closest):
            yield from ((row, column) for column in set_bits(mask))

    def _values_of_pairs(
        self, gold: list[Node], predicted: list[Node], pairs: Iterable[tuple[int, int]] | None = None
    ) -> list[RowWeights]:
        """For each gold item the hits with predicted items, with all or in these pairs."""
        values: list[dict[int, list[int]]] = [{} for _ in gold]
        for row, column in pairs or product(range(len(gold)), range(len(predicted))):
            values[row].setdefault(self._aligner.value(gold[row], predicted[column]), []).append(column)
        return [
            [(hits, mask_of(sorted(columns[hits]))) for hits in sorted(columns, reverse=True) if hits]
            for columns in values
        ]

    def _same_key(self, item: Node, keys: list[list[Leaf] | None]) -> int:
        """The columns with the same key, and those without objects, which have none."""
        columns = self._same_keys.get(id(item))
        if columns is None:
            leaves, is_alike = self._key_leaves(item), _is_equal if self._aligner.is_over_budget else Leaf.is_alike
            alike = [
                column
                for column, others in enumerate(keys)
                if others == [] or (leaves and others and all(map(is_alike, leaves, others)))
            ]
            columns = self._same_keys[id(item)] = mask_of(alike)
        return columns

    def _key_leaves(self, item: Node) -> list[Leaf] | None:
        """The leaves by which an object is told from others; None where it lacks one."""
        leaves: list[Leaf] = []
        for path in self._key if type(item) is ObjectNode else ():
            node: Node | None = item
            for step in path:
                node = node.children.get(step) if type(node) is ObjectNode else None
            if type(node) is not Leaf:
                return None
            leaves.append(node)
        return leaves


def _is_equal(gold: Leaf, predicted: Leaf) -> bool:
    return gold.key == predicted.key


def _in_order(items: list[Node]) -> list[Node]:
    return items if len(items) == 1 else sorted(items, key=lambda item: item.sort_key())


def _any_loose(*sides: list[Node]) -> bool:
    return any(leaf.is_loose for items in sides for item in items for leaf in item.leaves())


def _by_size(nodes: Mapping[int, Node]) -> dict[int, int]:
    """How many leaves nodes have, and the columns of those."""
    sizes: dict[int, list[int]] = {}
    for column, node in nodes.items():
        sizes.setdefault(node.size, []).append(column)
    return {size: mask_of(columns) for size, columns in sizes.items()}


def _equal_first(gold: list[Node], predicted: list[Node], weights: list[RowWeights]) -> list[RowWeights]:
    """The weights, with more than all hits together for a pair that is alike in every leaf of both."""
    sizes = _by_size(dict(enumerate(predicted)))
    bonus = 1 + sum([item.size for item in gold])
    rows: list[RowWeights] = []
    for item, row in zip(gold, weights, strict=True):
        whole = next((mask for weight, mask in row if weight == item.size), 0) & sizes.get(item.size, 0)
        rest = [(weight, mask & ~whole) for weight, mask in row if mask & ~whole]
        rows.append([(item.size + bonus, whole), *rest] if whole else rest)
    return rows


def _shared_leaves(gold: list[Node], predicted: list[Node]) -> list[RowWeights]:
    """How many leaves of every two items may be alike, by path and key: no fewer than their hits."""
    columns: dict[_Feature, list[int]] = {}
    for column, item in enumerate(predicted):
        for feature in _leaf_features(item):
            columns.setdefault(feature, []).append(column)
    masks = {feature: mask_of(numbers) for feature, numbers in columns.items()}
    return [weight_levels(count_bits(masks.get(feature, 0) for feature in _leaf_features(item))) for item in gold]


def _leaf_features(item: Node) -> Iterator[_Feature]:
    seen: Counter[_Feature] = Counter()
    for leaf in item.leaves():
        feature = (leaf.shape.name, leaf.block)
        seen[feature] += 1
        yield (*feature, seen[feature])


def _raised(row: RowWeights, column: int, by: int) -> RowWeights:
    """A row with more weight in one column."""
    bit, raised, before = 1 << column, dict(row), 0
    for weight, mask in row:
        if mask & bit:
            before = weight
            raised[weight] = mask & ~bit
    raised[before + by] = raised.get(before + by, 0) | bit
    return [(weight, mask) for weight, mask in sorted(raised.items(), reverse=True) if mask]


class _Item:
    """An item of a list, taken apart.

    A leaf outside inner lists is at one place of its item; the n-th equal scalar of an inner list is a feature of its
    own. Inner lists of objects, and of scalars that are not compared by their keys alone, are not features.
    """

    __slots__ = ("features", "inner", "inner_keys", "marks", "node", "places")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.places: set[Hashable] = set()
        self.features: list[tuple[_Feature, Leaf]] = []
        self.inner: dict[Hashable, Node] = {}  # lists that are aligned pair by pair
        # What the leaves of inner lists are recognized by; all of a path where keys alone do not tell.
        self.inner_keys: set[Hashable] = set()
        self.marks: list[Hashable] = []  # what it can share with another: features, loose places, inner keys


def _is_strict(node: Node) -> bool:
    return type(node) is Leaf and node.is_strict


def _list_features(place: Hashable, node: ListNode, *, with_single: bool) -> Iterator[tuple[_Feature, Leaf]]:
    """The leaves of a list as features. With `with_single`, also those that it shares with a value without brackets."""
    seen: Counter[Hashable] = Counter()
    for leaf in node.leaves():
        seen[leaf.key] += 1
        number = () if seen[leaf.key] == 1 else (seen[leaf.key],)
        yield ((place, "[]"), leaf.key, *number), leaf
        if with_single and not number:
            yield (place, leaf.key), leaf


class _SharedFeatures:
    """The leaves of items as features, and for each feature the predicted items that have it, as bits.

    Items that share nothing are left out.
    """

    def __init__(self, gold: list[Node], predicted: list[Node], *, has_loose: bool, equal_only: bool = False) -> None:
        # Where values are lists, or not, as they like, features do not tell what they share. Only places that gold has
        # too make a list irregular.
        self._irregular: set[Hashable] = set()
        self._listed: dict[Hashable, bool] = {}  # place of an inner list → whether its items are features
        self.gold = [self._take_apart(node, is_gold=True) for node in gold]
        self.predicted = [self._take_apart(node, is_gold=False) for node in predicted]
        self._items = [*self.gold, *self.predicted]
        self.is_irregular = not equal_only and any(not item.places.isdisjoint(self._irregular) for item in self.gold)
        self.is_inexact, self.comparisons = has_loose, 0
        if self.is_irregular:
            return
        self._loose: dict[Hashable, Comparator] = {}  # places whose values may be alike without equal keys
        for item in self._items if has_loose else ():
            for feature, leaf in item.features:
                if leaf.is_loose:
                    self._loose[feature[0]] = leaf.shape.comparator
        self.is_inexact = bool(self._loose) or (has_loose and _any_loose(gold, predicted))
        for item in self._items:
            features = (feature[0] if feature[0] in self._loose else feature for feature, _ in item.features)
            item.marks = [*features, *item.inner_keys]
        shared = {mark for item in self.gold for mark in item.marks}
        shared &= {mark for item in self.predicted for mark in item.marks}
        self.gold, self.predicted = (
            [item for item in items if not shared.isdisjoint(item.marks)] for items in (self.gold, self.predicted)
        )
        self._index(shared)

    def nodes(self) -> tuple[list[Node], list[Node]]:
        """The items of both sides that may share something."""
        return [item.node for item in self.gold], [item.node for item in self.predicted]

    def _index(self, shared: set[Hashable]) -> None:
        columns: dict[_Feature, list[int]] = {}
        loose: dict[Hashable, dict[Key, tuple[Leaf, list[int]]]] = {place: {} for place in self._loose}
        for column, item in enumerate(self.predicted):
            for feature, leaf in item.features:
                if feature[0] in loose:
                    loose[feature[0]].setdefault(leaf.key, (leaf, []))[1].append(column)
                elif feature in shared:
                    columns.setdefault(feature, []).append(column)
        self._masks = {feature: mask_of(numbers) for feature, numbers in columns.items()}
        # Loose place → what may be alike → leaves with different keys, and their columns.
        self._values: dict[Hashable, dict[Key, list[tuple[Leaf, int]]]] = {place: {} for place in loose}
        for place, values in loose.items():
            for leaf, numbers in values.values():
                self._values[place].setdefault(leaf.block, []).append((leaf, mask_of(numbers)))
        for place, blocks in self._values.items():
            comparator = self._loose[place]
            if isinstance(comparator, NumberComparator) and None in blocks:
                blocks[None].sort(key=lambda value: comparator.number(value[0].key))
        sought = {feature for item in self.gold for feature, _ in item.features if feature[0] in loose}
        self.comparisons = sum(
            len(loose[feature[0]]) for feature in sought if not isinstance(self._loose[feature[0]], NumberComparator)
        )

    def _take_apart(self, node: Node, *, is_gold: bool) -> _Item:
        """The features and inner lists of an item."""
        item = _Item(node)
        waiting: list[tuple[Hashable, Node]] = [((), node)]
        while waiting:
            place, node = waiting.pop()
            item.places.add(place)
            if type(node) is Leaf:
                item.features.append(((place, node.key), node))
            elif type(node) is ObjectNode:
                waiting += [((place, key), child) for key, child in node.children.items()]
            elif type(node) is ListNode:
                is_single = node.shape.kinds != {"array"}  # the schema allows something else than a list here
                if node.shape.ordered:
                    waiting += [((place, step), child) for step, child in zip(node.positions, node.items, strict=True)]
                elif is_single and len(node.items) == 1 and not (is_gold and _is_strict(node.items[0])):
                    waiting.append((place, node.items[0]))
                elif self._are_features(place, node):
                    item.features += _list_features(place, node, with_single=is_single and is_gold)
                else:
                    item.inner[place] = node
                    item.inner_keys |= {(place, leaf.shape.name, leaf.block) for leaf in node.leaves()}
                    if is_single:
                        self._irregular.add(place)
        return item

    def _are_features(self, place: Hashable, node: ListNode) -> bool:
        """Whether all items are scalars compared by their keys; lists of both kinds at a place are irregular."""
        are_features = all(map(_is_strict, node.items))
        if self._listed.setdefault(place, are_features) != are_features:
            self._irregular.add(place)
        return are_features

    def row(self, item: _Item) -> RowWeights:
        """How many features every predicted item shares with a gold item."""
        return weight_levels(count_bits(self._columns_like(feature, leaf) for feature, leaf in item.features))

    def _columns_like(self, feature: _Feature, leaf: Leaf) -> int:
        if feature[0] in self._loose and feature not in self._masks:
            values, comparator = self._values[feature[0]].get(leaf.block, []), self._loose[feature[0]]
            if leaf.block is None and isinstance(comparator, NumberComparator):
                low, high = comparator.bounds(leaf.key)
                first = bisect_left(values, low, key=lambda value: comparator.number(value[0].key))
                values = values[first : bisect_right(values, high, key=lambda value: comparator.number(value[0].key))]
            alike = [mask for other, mask in values if leaf.is_alike(other)]
            self._masks[feature] = reduce(or_, alike, 0)
        return self._masks.get(feature, 0)

    def inner_columns(self) -> list[int]:
        """For each row the columns whose inner lists may share a hit."""
        by_key: dict[Hashable, list[int]] = {}
        for column, item in enumerate(self.predicted):
            for key in item.inner_keys:
                by_key.setdefault(key, []).append(column)
        columns = {key: mask_of(entries) for key, entries in by_key.items()}
        return [reduce(or_, [columns.get(key, 0) for key in item.inner_keys], 0) for item in self.gold]

    def has_fuzzy(self) -> bool:
        """Whether texts outside inner lists are compared by how similar they are."""
        return any(is_fuzzy(leaf) for item in self._items for _, leaf in item.features)
