"""Which leaf of gold is compared with which predicted leaf: objects key by key, lists for as many hits as can be.

Items of a list that are equal are paired first. For the rest, every leaf of an item is a feature; how many features two
items share is counted for all pairs at once, with columns as bits, and the assignment is solved exactly. Lists inside
items are aligned for each pair that could gain by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from goldgate.suites.fields.assignment import RowWeights, best_pairs, bits, mask_of
from goldgate.suites.fields.comparators import Comparator, FuzzyComparator, Key, NumberComparator
from goldgate.suites.fields.leaves import Leaf, LeafTree, ListNode, Node, ObjectNode
from goldgate.suites.fields.schema import PathShape

HIT = "hit"
WRONG = "wrong"
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


@dataclass(slots=True)
class ListPairs:
    """How the items of two lists were paired."""

    pairs: _Pairs
    greedy: bool = False  # too large for an exact assignment


@dataclass(slots=True)
class Alignment:
    """What aligning two trees came to, beside the states of their leaves."""

    shape_mended: int = 0
    pair_share_cost: int = 0
    greedy: dict[str, int] = field(default_factory=dict)  # path of a list → leaves in it that were paired greedily
    items: list[tuple[ObjectNode, ObjectNode]] = field(default_factory=list)  # pairs of objects in lists


def align_trees(gold: LeafTree, predicted: LeafTree) -> Alignment:
    """Pair the leaves of two trees. A leaf has its partner, and the state `hit` or `wrong`, or none of these."""
    aligner = _Aligner(gold, predicted)
    if gold.root is not None and predicted.root is not None:
        aligner.align(gold.root, predicted.root)
        if aligner.has_lost:
            most = _Aligner(gold, predicted, with_share=False).value(gold.root, predicted.root)
            aligner.alignment.pair_share_cost = most - sum([leaf.state == HIT for leaf in gold.leaves])
    return aligner.alignment


def is_alike(gold: Leaf, predicted: Leaf) -> bool:
    """Whether a predicted leaf matches a gold leaf of the same path by its comparator."""
    comparator = gold.shape.comparator
    if gold.key == predicted.key:
        return True
    if comparator is None or comparator.equivalence:
        return False
    return comparator.alike(gold.value, gold.key, predicted.value, predicted.key)


def is_fuzzy(leaf: Leaf) -> bool:
    """Whether a leaf is compared by how similar its text is."""
    return isinstance(leaf.shape.comparator, FuzzyComparator)


def fuzzy_effort(gold: Iterable[Leaf], predicted: Iterable[Leaf]) -> int:
    """What it takes to compare all these texts with each other: characters times characters.

    A step of the edit distance costs as much for one character of gold as for some two thousand: they are bits.
    """
    return sum([2_000 + len(str(leaf.key)) for leaf in gold]) * sum([len(str(leaf.key)) for leaf in predicted])


def leaf_count(node: Node) -> int:
    """How many leaves a node has."""
    return 1 if type(node) is Leaf else node.end - node.start  # type: ignore[union-attr]  # the others have a slice


def content(node: Node) -> Hashable:
    """Equal for nodes whose leaves are all alike by their keys, in any order of keys, and of items unless it counts."""
    if type(node) is Leaf:
        return node.key
    if type(node) is ObjectNode:
        return frozenset(
            [(key, child.key if type(child) is Leaf else content(child)) for key, child in node.children.items()]
        )
    assert type(node) is ListNode
    contents = [content(item) for item in node.items]
    return ("[", *contents) if node.shape.ordered else ("[]", frozenset(Counter(contents).items()))


def sort_key(node: Node) -> str:
    """A text to sort items by, whatever their positions in the list."""
    if type(node) is Leaf:
        return f"{node.key}\0{node.value}"
    if type(node) is ObjectNode:
        return "{" + ",".join(f"{key}\0{sort_key(node.children[key])}" for key in sorted(node.children)) + "}"
    assert type(node) is ListNode
    texts = [sort_key(item) for item in node.items]
    return "[" + ",".join(texts if node.shape.ordered else sorted(texts)) + "]"


class _Aligner:
    def __init__(self, gold: LeafTree, predicted: LeafTree, *, with_share: bool = True) -> None:
        self.alignment = Alignment()
        self.with_share = with_share
        self.has_lost = False  # `pair_share` cost a hit in some list
        self.has_loose = gold.has_loose or predicted.has_loose
        # One budget for all lists of a document, whatever their order: beyond it, fuzzy lists are paired greedily.
        fuzzy = [list(filter(is_fuzzy, tree.leaves)) if self.has_loose else [] for tree in (gold, predicted)]
        self.is_over_budget = fuzzy_effort(*fuzzy) > MAX_EFFORT
        self._wrapped = gold.wrapped | predicted.wrapped
        self._values: dict[tuple[int, int], int] = {}

    def align(self, gold: Node, predicted: Node) -> None:
        """Pair what is in two nodes that are aligned."""
        if type(gold) is Leaf and type(predicted) is Leaf:
            gold.partner, predicted.partner = predicted, gold
            gold.state = predicted.state = HIT if is_alike(gold, predicted) else WRONG
        elif type(gold) is ObjectNode and type(predicted) is ObjectNode:
            others = predicted.children
            for key, child in gold.children.items():
                other = others.get(key)
                if other is None:
                    continue
                if type(child) is Leaf and type(other) is Leaf:
                    child.partner, other.partner = other, child
                    is_hit = child.key == other.key or is_alike(child, other)
                    child.state = other.state = HIT if is_hit else WRONG
                else:
                    self.align(child, other)
        elif type(gold) is ListNode or type(predicted) is ListNode:
            self._align_lists(gold, predicted)

    def _align_lists(self, gold: Node, predicted: Node) -> None:
        paired = self.pair_lists(gold, predicted)
        if paired is None:
            return
        self.alignment.shape_mended += self._is_single(gold) != self._is_single(predicted)
        shape = gold.shape if type(gold) is ListNode else predicted.shape
        if paired.greedy:
            leaves = leaf_count(gold) + leaf_count(predicted)
            self.alignment.greedy[shape.row] = self.alignment.greedy.get(shape.row, 0) + leaves
        for one, other in paired.pairs:
            if shape.has_items and type(one) is ObjectNode and type(other) is ObjectNode:
                self.alignment.items.append((one, other))
            self.align(one, other)

    def value(self, gold: Node, predicted: Node) -> int:
        """The most hits that two nodes allow."""
        if type(gold) is Leaf and type(predicted) is Leaf:
            return int(is_alike(gold, predicted))
        if type(gold) is ObjectNode and type(predicted) is ObjectNode:
            others = predicted.children
            return sum([self.value(child, others[key]) for key, child in gold.children.items() if key in others])
        if type(gold) is not ListNode and type(predicted) is not ListNode:
            return 0
        memo = (id(gold), id(predicted))
        most = self._values.get(memo)
        if most is None:
            paired = self.pair_lists(gold, predicted)
            most = 0 if paired is None else sum([self.value(*pair) for pair in paired.pairs])
            self._values[memo] = most
        return most

    def pair_lists(self, gold: Node, predicted: Node) -> ListPairs | None:
        """The pairs of items of two lists. A single value is a list of one; None for an object and a longer list."""
        one, other = self._is_single(gold), self._is_single(predicted)
        items = gold.items if type(gold) is ListNode else [gold]
        others = predicted.items if type(predicted) is ListNode else [predicted]
        is_one_object = one != other and self._is_object(gold if one else predicted)
        if is_one_object and (len(items) > 1 or len(others) > 1):
            return None
        shape = gold.shape if type(gold) is ListNode else predicted.shape
        if shape.ordered:
            by_position = {item.step: item for item in others}
            return ListPairs([(item, by_position[item.step]) for item in items if item.step in by_position])
        if (is_one_object and not shape.has_items) or (one and other and not self._is_object(gold)):
            return ListPairs([(items[0], others[0])])
        return _ItemPairing(self, shape, items, others).solve()

    def _is_single(self, node: Node) -> bool:
        return type(node) is not ListNode or id(node) in self._wrapped

    def _is_object(self, single: Node) -> bool:
        while type(single) is ListNode:
            single = single.items[0]
        return type(single) is ObjectNode


class _ItemPairing:
    """Pairs the items of two lists in which order does not count."""

    def __init__(self, aligner: _Aligner, shape: PathShape, gold: list[Node], predicted: list[Node]) -> None:
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
        return ListPairs(pairs + rest.pairs, rest.greedy)

    def _pair_equal(self) -> tuple[_Pairs, list[Node], list[Node]]:
        """Pair items that are alike in every leaf of both by their keys; what is left of both sides.

        Where values with different keys may be alike too, such pairs are found with all others, in lists that are not
        very long.
        """
        is_short = len(self._gold) * len(self._predicted) <= MAX_LOOSE
        if self._aligner.has_loose and is_short and any(map(_is_loose, (*self._gold, *self._predicted))):
            return [], self._gold, self._predicted
        waiting: dict[Hashable, list[Node]] = {}
        for item in reversed(self._predicted):
            waiting.setdefault(content(item), []).append(item)
        pairs, gold = list[tuple[Node, Node]](), list[Node]()
        for item in self._gold:
            equal = waiting.get(content(item))
            if equal:
                pairs.append((item, equal.pop()))
            else:
                gold.append(item)
        return pairs, gold, [item for left in waiting.values() for item in left]

    def _pair_rest(self, gold: list[Node], predicted: list[Node]) -> ListPairs:
        if len(gold) * len(predicted) <= FEW_PAIRS:
            rows = self._values_of_pairs(gold, predicted)
            return ListPairs(self._best(gold, predicted, rows, is_inexact=self._aligner.has_loose))
        features = _SharedFeatures(gold, predicted, has_loose=self._aligner.has_loose)
        gold, predicted = features.gold, features.predicted
        if len(gold) * len(predicted) > MAX_PAIRS:
            return self._pair_large(features)
        weights = self._weights(features) if gold else []
        if weights is None:
            return ListPairs(_greedy_pairs(features, self._may_pair), greedy=True)
        return ListPairs(self._best(gold, predicted, weights, is_inexact=features.is_inexact))

    def _best(self, gold: list[Node], predicted: list[Node], weights: list[RowWeights], *, is_inexact: bool) -> _Pairs:
        """The allowed pairs with the most hits, equal items first."""
        if is_inexact or self._key:
            weights = _equal_first(gold, predicted, weights)
        allowed, aligner = weights, self._aligner
        is_large = len(gold) * len(predicted) > MAX_COST  # then what `pair_share` costs is not counted
        if self._key or (self._share and (is_large or aligner.with_share)):
            allowed = self._allowed(gold, predicted, weights)
        chosen = best_pairs(allowed, len(predicted))
        if allowed != weights and not self._key and not is_large and not aligner.has_lost:
            total = _total(weights, chosen)
            if total < sum([row[0][0] for row in weights if row]):  # else nothing can be lost
                aligner.has_lost = total < _total(weights, best_pairs(weights, len(predicted)))
        return [(gold[row], predicted[column]) for row, column in sorted(chosen.items())]

    def _allowed(self, gold: list[Node], predicted: list[Node], weights: list[RowWeights]) -> list[RowWeights]:
        """The weights of the pairs that may be made: of objects with the same key, or with hits enough for a pair."""
        keys = [self._key_leaves(node) for node in predicted] if self._key else []
        objects = _by_size([node if type(node) is ObjectNode else None for node in predicted])
        rows: list[RowWeights] = []
        for item, row in zip(gold, weights, strict=True):
            size = leaf_count(item)
            if type(item) is not ObjectNode:
                kept: RowWeights = row
            elif self._key:
                mask = self._same_key(item, keys)
                kept = [(weight, columns if weight > size else columns & mask) for weight, columns in row]
            else:
                least = {mask: self._share * min(size, other) for other, mask in objects.items()}
                kept = [
                    (weight, columns & ~sum([mask for mask in least if weight < least[mask]]))
                    for weight, columns in row
                ]
            rows.append([(weight, columns) for weight, columns in kept if columns])
        return rows

    def _weights(self, features: _SharedFeatures) -> list[RowWeights] | None:
        """For each gold item the hits with every predicted item; None where that would take too long."""
        if self._aligner.is_over_budget and features.has_fuzzy():
            return None
        if features.is_irregular:
            is_few = len(features.gold) * len(features.predicted) <= MAX_IRREGULAR
            return self._values_of_pairs(features.gold, features.predicted) if is_few else None
        if features.comparisons > MAX_COMPARISONS:
            return None
        inner = features.inner_pairs()
        if inner is None:
            return None
        rows = [features.row(item) for item in features.gold]
        for row, column in inner:
            one, other = features.inner(features.gold[row]), features.inner(features.predicted[column])
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
        least = self._share * min(leaf_count(gold), leaf_count(predicted))
        return shared >= least or self._aligner.value(gold, predicted) >= least

    def _same_key(self, item: Node, keys: list[list[Leaf] | None]) -> int:
        """The columns with the same key, and those without objects, which have none."""
        leaves = self._key_leaves(item)
        alike = [
            column
            for column, others in enumerate(keys)
            if others == [] or (leaves and others and all(is_alike(*pair) for pair in zip(leaves, others, strict=True)))
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
        paired = ListPairs([])
        for gold, predicted in features.groups():
            if len(gold) * len(predicted) <= MAX_PAIRS:
                part = self._pair_rest(gold, predicted)
            else:
                part = ListPairs(_greedy_pairs(_SharedFeatures(gold, predicted), self._may_pair), greedy=True)
            paired.pairs += part.pairs
            paired.greedy |= part.greedy
        return paired


def _in_order(items: list[Node]) -> list[Node]:
    return items if len(items) == 1 else sorted(items, key=sort_key)


def _by_size(nodes: Sequence[Node | None]) -> dict[int, int]:
    sizes: dict[int, list[int]] = {}
    for column, node in enumerate(nodes):
        if node is not None:
            sizes.setdefault(leaf_count(node), []).append(column)
    return {size: mask_of(columns) for size, columns in sizes.items()}


def _equal_first(gold: list[Node], predicted: list[Node], weights: list[RowWeights]) -> list[RowWeights]:
    """The weights, with more than all hits together for a pair that is alike in every leaf of both."""
    sizes = _by_size(predicted)
    bonus = 1 + sum(map(leaf_count, gold))
    rows: list[RowWeights] = []
    for item, row in zip(gold, weights, strict=True):
        size = leaf_count(item)
        whole = next((mask for weight, mask in row if weight == size), 0) & sizes.get(size, 0)
        rest = [(weight, mask & ~whole) for weight, mask in row if mask & ~whole]
        rows.append([(size + bonus, whole), *rest] if whole else rest)
    return rows


def _total(rows: list[RowWeights], chosen: dict[int, int]) -> int:
    return sum(next((weight for weight, mask in rows[row] if mask >> column & 1), 0) for row, column in chosen.items())


def _raised(row: RowWeights, column: int, by: int) -> RowWeights:
    """A row with more weight in one column."""
    bit, raised, before = 1 << column, dict(row), 0
    for weight, mask in row:
        if mask & bit:
            before = weight
            raised[weight] = mask & ~bit
    raised[before + by] = raised.get(before + by, 0) | bit
    return [(weight, mask) for weight, mask in sorted(raised.items(), reverse=True) if mask]


class _SharedFeatures:
    """The leaves of items as features, and for each feature the predicted items that have it, as bits.

    A leaf outside inner lists is at one place of its item; the n-th equal scalar of an inner list is a feature of its
    own. Inner lists of objects, and of scalars that are not compared by their keys alone, are not features: they are
    aligned pair by pair. Items that share nothing are left out.
    """

    def __init__(self, gold: list[Node], predicted: list[Node], *, has_loose: bool = True) -> None:
        self._features: dict[int, list[tuple[_Feature, Leaf]]] = {}
        self._inner: dict[int, dict[Hashable, Node]] = {}
        self._inner_keys: dict[int, set[Hashable]] = {}
        # Where values are lists, or not, as they like, features do not tell what they share. Only places that gold has
        # too make a list irregular.
        self._irregular: set[Hashable] = set()
        self._listed: dict[Hashable, bool] = {}  # place of an inner list → whether its items are features
        gold_places = {place for item in gold for place in self._take_apart(item)}
        for item in predicted:
            self._take_apart(item)
        self.is_irregular = not gold_places.isdisjoint(self._irregular)
        self.gold, self.predicted, self.is_inexact = gold, predicted, has_loose
        if self.is_irregular and len(gold) * len(predicted) <= MAX_IRREGULAR:
            return
        self._loose: dict[Hashable, Comparator] = {}  # places whose values may be alike without equal keys
        for item in (*gold, *predicted) if has_loose else ():
            for feature, leaf in self._features[id(item)]:
                comparator = leaf.shape.comparator
                if comparator is not None and comparator.is_loose(leaf.key):
                    self._loose[feature[0]] = comparator
        self.is_inexact = bool(self._loose) or (has_loose and any(map(_is_loose, (*gold, *predicted))))
        shared = {mark for item in gold for mark in self._marks(item)}
        shared &= {mark for item in predicted for mark in self._marks(item)}
        self.gold, self.predicted = (
            [item for item in items if not shared.isdisjoint(self._marks(item))] for items in (gold, predicted)
        )
        self._index(shared)

    def _marks(self, item: Node) -> list[Hashable]:
        """What an item can share with another: features, places where keys do not tell, keys in inner lists."""
        features = [f[0] if f[0] in self._loose else f for f, _ in self._features[id(item)]]
        return [*features, *self._inner_keys[id(item)]]

    def _index(self, shared: set[Hashable]) -> None:
        columns: dict[_Feature, list[int]] = {}
        loose: dict[Hashable, dict[Key, tuple[Leaf, list[int]]]] = {place: {} for place in self._loose}
        for column, item in enumerate(self.predicted):
            for feature, leaf in self._features[id(item)]:
                if feature[0] in loose:
                    loose[feature[0]].setdefault(leaf.key, (leaf, []))[1].append(column)
                elif feature in shared:
                    columns.setdefault(feature, []).append(column)
        self._masks = {feature: mask_of(listed) for feature, listed in columns.items()}
        self._values = {  # loose place → key → leaf, columns
            place: {key: (leaf, mask_of(listed)) for key, (leaf, listed) in values.items()}
            for place, values in loose.items()
        }
        self._alike: dict[_Feature, int] = {}
        sought = {feature for item in self.gold for feature, _ in self._features[id(item)] if feature[0] in loose}
        self.comparisons = sum(
            len(self._values[feature[0]])
            for feature in sought
            if not isinstance(self._loose[feature[0]], NumberComparator)
        )

    def _take_apart(self, item: Node) -> set[Hashable]:
        """Note the features and inner lists of an item; the places that it has."""
        places: set[Hashable] = set()
        features, inner = list[tuple[_Feature, Leaf]](), dict[Hashable, Node]()
        waiting: list[tuple[Hashable, Node]] = [((), item)]
        while waiting:
            place, node = waiting.pop()
            places.add(place)
            if type(node) is Leaf:
                features.append(((place, node.key), node))
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
                    for child in node.items:
                        assert type(child) is Leaf
                        seen[child.key] += 1
                        number = () if seen[child.key] == 1 else (seen[child.key],)
                        features.append(((place if is_single else (place, "[]"), child.key, *number), child))
                else:
                    inner[place] = node
                    if is_single:
                        self._irregular.add(place)
        self._features[id(item)] = features
        self._inner[id(item)] = inner
        # What the leaves of inner lists are recognized by; all of a path where keys alone do not tell.
        self._inner_keys[id(item)] = {
            (place, leaf.shape.row, leaf.key if _is_strict(leaf) else None)
            for place, node in inner.items()
            for leaf in _leaves(node)
        }
        return places

    def _are_features(self, place: Hashable, node: ListNode) -> bool:
        """Whether all items are scalars compared by their keys; lists of both kinds at a place are irregular."""
        are_features = all(type(child) is Leaf and _is_strict(child) for child in node.items)
        if self._listed.setdefault(place, are_features) != are_features:
            self._irregular.add(place)
        return are_features

    def row(self, item: Node) -> RowWeights:
        """How many features every predicted item shares with a gold item: counters of columns, bit by bit."""
        counters: list[int] = []
        for feature, leaf in self._features[id(item)]:
            carry = self._columns_like(feature, leaf)
            for place, counter in enumerate(counters):
                if not carry:
                    break
                counters[place], carry = counter ^ carry, counter & carry
            if carry:
                counters.append(carry)
        return _levels(counters)

    def _columns_like(self, feature: _Feature, leaf: Leaf) -> int:
        comparator = self._loose.get(feature[0])
        if comparator is None:
            return self._masks.get(feature, 0)
        columns = self._alike.get(feature)
        if columns is None:
            columns = 0
            for other, mask in self._values[feature[0]].values():
                if is_alike(leaf, other):
                    columns |= mask
            self._alike[feature] = columns
        return columns

    def inner(self, item: Node) -> dict[Hashable, Node]:
        """The inner lists of an item that are aligned pair by pair."""
        return self._inner[id(item)]

    def inner_pairs(self) -> list[tuple[int, int]] | None:
        """Rows and columns whose inner lists may share a hit; None where they are too many."""
        listed: dict[Hashable, list[int]] = {}
        for column, item in enumerate(self.predicted):
            for key in self._inner_keys[id(item)]:
                listed.setdefault(key, []).append(column)
        columns = {key: mask_of(entries) for key, entries in listed.items()}
        pairs: list[tuple[int, int]] = []
        for row, item in enumerate(self.gold):
            mask = 0
            for key in self._inner_keys[id(item)]:
                mask |= columns.get(key, 0)
            pairs += [(row, column) for column in bits(mask)]
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
            first = None
            for mark in self._marks(item):
                first = mark if first is None else first
                parent[find(mark)] = find(first)
        groups: dict[Hashable, tuple[list[Node], list[Node]]] = {}
        for side, items in enumerate((self.gold, self.predicted)):
            for item in items:
                root = find(self._marks(item)[0])
                groups.setdefault(root, ([], []))[side].append(item)
        return ((gold, predicted) for gold, predicted in groups.values() if gold and predicted)

    def has_fuzzy(self) -> bool:
        """Whether texts outside inner lists are compared by how similar they are."""
        return any(is_fuzzy(leaf) for features in self._features.values() for _, leaf in features)

    def feature_set(self, item: Node) -> set[_Feature]:
        """The features of an item."""
        return {feature for feature, _ in self._features[id(item)]}


def _leaves(node: Node) -> Iterator[Leaf]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if type(part) is Leaf:
            yield part
        else:
            waiting += part.children.values() if type(part) is ObjectNode else part.items  # type: ignore[union-attr]


def _is_loose(node: Node) -> bool:
    """Whether a leaf below may be alike a leaf with another key."""
    return any(leaf.shape.comparator is not None and leaf.shape.comparator.is_loose(leaf.key) for leaf in _leaves(node))


def _is_strict(leaf: Leaf) -> bool:
    return leaf.shape.comparator is None or leaf.shape.comparator.equivalence


def _levels(counters: list[int]) -> RowWeights:
    """Weight → columns, from counters of columns."""
    levels: list[tuple[int, int]] = [(0, -1)]
    for place, counter in reversed([*enumerate(counters)]):
        split = []
        for weight, mask in levels:
            above, below = mask & counter, mask & ~counter
            if above:
                split.append((weight | 1 << place, above))
            if below:
                split.append((weight, below))
        levels = split
    return [(weight, mask) for weight, mask in levels if weight]


def _greedy_pairs(features: _SharedFeatures, may_pair: Callable[[Node, Node, int], bool]) -> _Pairs:
    """Pairs by the features that they share, rare ones first; not the best, and linear."""
    having: dict[_Feature, list[int]] = {}
    for column, item in enumerate(features.predicted):
        for feature in features.feature_set(item):
            having.setdefault(feature, []).append(column)
    pairs: _Pairs = []
    taken: set[int] = set()
    for item in features.gold:
        shared: Counter[int] = Counter()
        rarest = sorted(features.feature_set(item), key=lambda each: (len(having.get(each, ())), repr(each)))
        for feature in rarest[:8]:
            shared.update([column for column in having.get(feature, ())[:200] if column not in taken])
        for column, hits in shared.most_common(_MAX_CANDIDATES):
            if may_pair(item, features.predicted[column], hits):
                taken.add(column)
                pairs.append((item, features.predicted[column]))
                break
    return pairs
