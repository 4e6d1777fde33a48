"""The items of two lists paired one to one, where their order does not count, for as many hits as can be.

Items that are equal are paired first. For the rest, every leaf of an item is a feature; how many features two items
share is counted for all pairs at once, with columns as bits of Python integers, and the assignment is solved exactly.
Lists inside items are aligned for each pair that could gain by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from goldgate.core.assignment import RowWeights, best_pairs, mask_of, total_weight, weight_levels
from goldgate.core.bitset import set_bits
from goldgate.suites.fields.comparators import Comparator, FuzzyComparator, Key, NumberComparator
from goldgate.suites.fields.leaves import Leaf, ListNode, Node, ObjectNode
from goldgate.suites.fields.schema import PathShape

if TYPE_CHECKING:
    from goldgate.suites.fields.alignment import Aligner

MAX_PAIRS = 25_000_000  # rows times columns that are solved exactly: 5,000 by 5,000
MAX_COST = 4_000_000  # rows times columns of which it is counted what `pair_share` costs
MAX_COMPARISONS = 300_000  # of values by a comparator that is not an equivalence, in one list
MAX_LOOSE = 40_000  # rows times columns in which equal items are not taken out first
FEW_PAIRS = 12  # rows times columns that are compared one by one: it takes less time than to index them
MAX_IRREGULAR = 20_000  # pairs of items with lists where something else may be, that are looked at one by one
MAX_INNER = 100_000  # pairs of items of one list whose inner lists are aligned
MAX_EFFORT = 8_000_000_000  # of fuzzy comparisons in one document, as `fuzzy_effort` counts it
_MAX_CANDIDATES = 8  # predicted items that are looked at for a gold item in greedy pairing
_Feature = tuple[Hashable, ...]
_Pairs = list[tuple[Node, Node]]


class ListPairs(NamedTuple):
    """How the items of two lists were paired."""

    pairs: _Pairs
    greedy: bool = False  # too large for an exact assignment


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
        # Where the schema has a list, an item without brackets must not earn more than one in them.
        self._share = shape.pair_share if shape.has_items else Decimal(0)
        self._key = shape.key if shape.has_items else ()

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
        if len(features.gold) * len(features.predicted) > MAX_PAIRS:
            return self._pair_large(features)
        gold, predicted = features.nodes()
        weights = self._weights(features) if gold else []
        if weights is None:
            return self._pair_greedily(features)
        return self._best(gold, predicted, weights, is_inexact=features.is_inexact)

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

    def _weights(self, features: _SharedFeatures) -> list[RowWeights] | None:
        """For each gold item the hits with every predicted item; None where that would take too long."""
        if self._aligner.is_over_budget and features.has_fuzzy():
            return None
        if features.is_irregular:
            is_few = len(features.gold) * len(features.predicted) <= MAX_IRREGULAR
            return self._values_of_pairs(*features.nodes()) if is_few else None
        inner = features.inner_pairs() if features.comparisons <= MAX_COMPARISONS else None
        if inner is None:
            return None
        rows = [features.row(item) for item in features.gold]
        for row, column in inner:
            one, other = features.gold[row].inner, features.predicted[column].inner
            hits = sum([self._aligner.value(node, other[place]) for place, node in one.items() if place in other])
            if hits:
                rows[row] = _raised(rows[row], column, hits)
        return rows

    def _values_of_pairs(self, gold: list[Node], predicted: list[Node]) -> list[RowWeights]:
        rows: list[RowWeights] = []
        for item in gold:
            columns: dict[int, list[int]] = {}
            for column, other in enumerate(predicted):
                columns.setdefault(self._aligner.value(item, other), []).append(column)
            rows.append([(hits, mask_of(columns[hits])) for hits in sorted(columns, reverse=True) if hits])
        return rows

    def _may_pair(self, gold: Node, predicted: Node, shared: int) -> bool:
        """Whether two items that share this many features, or hits, have the same key, or hits enough for a pair."""
        if type(gold) is not ObjectNode or type(predicted) is not ObjectNode:
            return shared > 0
        if self._key:
            return bool(self._same_key(gold, [self._key_leaves(predicted)]))
        least = self._share * min(gold.size, predicted.size)
        return shared >= least or self._aligner.value(gold, predicted) >= least

    def _same_key(self, item: Node, keys: list[list[Leaf] | None]) -> int:
        """The columns with the same key, and those without objects, which have none."""
        leaves = self._key_leaves(item)
        alike = [
            column
            for column, others in enumerate(keys)
            if others == []
            or (leaves and others and all(one.is_alike(other) for one, other in zip(leaves, others, strict=True)))
        ]
        return mask_of(alike)

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

    def _pair_large(self, features: _SharedFeatures) -> ListPairs:
        """Groups of items that share a feature are solved one by one; a group that is still too large greedily."""
        parts = [
            self._pair_rest(gold, predicted)
            if len(gold) * len(predicted) <= MAX_PAIRS
            else self._pair_greedily(_SharedFeatures(gold, predicted))
            for gold, predicted in features.groups()
        ]
        return ListPairs([pair for part in parts for pair in part.pairs], any(part.greedy for part in parts))

    def _pair_greedily(self, features: _SharedFeatures) -> ListPairs:
        """Pairs by the features that they share, rare ones first; not the best, and linear."""
        having: dict[_Feature, list[int]] = {}
        for column, item in enumerate(features.predicted):
            for feature in {feature for feature, _ in item.features}:
                having.setdefault(feature, []).append(column)
        pairs: _Pairs = []
        used_columns: set[int] = set()
        for item in features.gold:
            shared: Counter[int] = Counter()
            own = {feature for feature, _ in item.features}
            for feature in sorted(own, key=lambda each: (len(having.get(each, ())), repr(each)))[:8]:
                shared.update([column for column in having.get(feature, ())[:200] if column not in used_columns])
            for column, hits in shared.most_common(_MAX_CANDIDATES):
                if self._may_pair(item.node, features.predicted[column].node, hits):
                    used_columns.add(column)
                    pairs.append((item.node, features.predicted[column].node))
                    break
        return ListPairs(pairs, greedy=True)


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


class _SharedFeatures:
    """The leaves of items as features, and for each feature the predicted items that have it, as bits.

    Items that share nothing are left out.
    """

    def __init__(self, gold: list[Node], predicted: list[Node], *, has_loose: bool = True) -> None:
        # Where values are lists, or not, as they like, features do not tell what they share. Only places that gold has
        # too make a list irregular.
        self._irregular: set[Hashable] = set()
        self._listed: dict[Hashable, bool] = {}  # place of an inner list → whether its items are features
        self.gold, self.predicted = ([self._take_apart(node) for node in nodes] for nodes in (gold, predicted))
        self._items = [*self.gold, *self.predicted]
        self.is_irregular = any(not item.places.isdisjoint(self._irregular) for item in self.gold)
        self.is_inexact = has_loose
        if self.is_irregular and len(gold) * len(predicted) <= MAX_IRREGULAR:
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
        self._values = {  # loose place → leaves with different keys, columns
            place: [(leaf, mask_of(numbers)) for leaf, numbers in values.values()] for place, values in loose.items()
        }
        sought = {feature for item in self.gold for feature, _ in item.features if feature[0] in loose}
        self.comparisons = sum(
            len(self._values[feature[0]])
            for feature in sought
            if not isinstance(self._loose[feature[0]], NumberComparator)
        )

    def _take_apart(self, node: Node) -> _Item:
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
                    waiting += [((place, child.step), child) for child in node.items]
                elif is_single and len(node.items) == 1:
                    waiting.append((place, node.items[0]))
                elif self._are_features(place, node):
                    seen: Counter[Hashable] = Counter()
                    for child in node.leaves():
                        seen[child.key] += 1
                        number = () if seen[child.key] == 1 else (seen[child.key],)
                        item.features.append(((place if is_single else (place, "[]"), child.key, *number), child))
                else:
                    item.inner[place] = node
                    item.inner_keys |= {
                        (place, leaf.shape.name, leaf.key if leaf.is_strict else None) for leaf in node.leaves()
                    }
                    if is_single:
                        self._irregular.add(place)
        return item

    def _are_features(self, place: Hashable, node: ListNode) -> bool:
        """Whether all items are scalars compared by their keys; lists of both kinds at a place are irregular."""
        are_features = all(type(child) is Leaf and child.is_strict for child in node.items)
        if self._listed.setdefault(place, are_features) != are_features:
            self._irregular.add(place)
        return are_features

    def row(self, item: _Item) -> RowWeights:
        """How many features every predicted item shares with a gold item: counters of columns, bit by bit."""
        counters: list[int] = []
        for feature, leaf in item.features:
            carry = self._columns_like(feature, leaf)
            for place, counter in enumerate(counters):
                if not carry:
                    break
                counters[place], carry = counter ^ carry, counter & carry
            if carry:
                counters.append(carry)
        return weight_levels(counters)

    def _columns_like(self, feature: _Feature, leaf: Leaf) -> int:
        if feature[0] in self._loose and feature not in self._masks:
            alike = [mask for other, mask in self._values[feature[0]] if leaf.is_alike(other)]
            self._masks[feature] = reduce(or_, alike, 0)
        return self._masks.get(feature, 0)

    def inner_pairs(self) -> list[tuple[int, int]] | None:
        """Rows and columns whose inner lists may share a hit; None where they are too many."""
        by_key: dict[Hashable, list[int]] = {}
        for column, item in enumerate(self.predicted):
            for key in item.inner_keys:
                by_key.setdefault(key, []).append(column)
        columns = {key: mask_of(entries) for key, entries in by_key.items()}
        pairs: list[tuple[int, int]] = []
        for row, item in enumerate(self.gold):
            mask = reduce(or_, [columns.get(key, 0) for key in item.inner_keys], 0)
            pairs += [(row, column) for column in set_bits(mask)]
            if len(pairs) > MAX_INNER:
                return None
        return pairs

    def groups(self) -> Iterator[tuple[list[Node], list[Node]]]:
        """The items in groups that share no feature with each other."""
        parent: dict[Hashable, Hashable] = {}

        def find(thing: Hashable) -> Hashable:
            while (above := parent.setdefault(thing, thing)) != thing:
                parent[thing] = thing = parent[above]
            return thing

        for item in (*self.gold, *self.predicted):
            for mark in item.marks:
                parent[find(mark)] = find(item.marks[0])
        groups: dict[Hashable, tuple[list[Node], list[Node]]] = {}
        for side, items in enumerate((self.gold, self.predicted)):
            for item in items:
                groups.setdefault(find(item.marks[0]), ([], []))[side].append(item.node)
        return ((gold, predicted) for gold, predicted in groups.values() if gold and predicted)

    def has_fuzzy(self) -> bool:
        """Whether texts outside inner lists are compared by how similar they are."""
        return any(is_fuzzy(leaf) for item in self._items for _, leaf in item.features)
