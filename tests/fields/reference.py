"""A second scorer for one document, written from the specification alone: it tries every alignment.

`possible_results` gives every result that the specification allows, since several alignments may have the most hits. It
knows the schema words `type`, `properties`, `items`, `enum` and `x-goldgate`; slow and plain on purpose.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

UNDECLARED = "(undeclared)"
MOST_OUTCOMES = 2_000
Schema = dict[str, Any] | None


class TooManyError(Exception):
    """More alignments than are tried."""


def normalize(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).casefold()


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_in(value: Any) -> Fraction | None:
    """A JSON number, or a text such as `$ 1,240.50`; one mark before exactly three digits has two readings."""
    if isinstance(value, bool):
        return None
    text = normalize(text_of(value)).replace("$", "")
    if isinstance(value, str) and re.fullmatch(r"-?\d*[.,]\d{3}", text):
        return None
    if not re.fullmatch(r"-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", text):
        return None
    return Fraction(text.replace(",", ""))


@cache
def edit_distance(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    rest = edit_distance(one[1:], other[1:])
    if one[0] == other[0]:
        return rest
    return 1 + min(rest, edit_distance(one[1:], other), edit_distance(one, other[1:]))


def are_alike(gold: Leaf, predicted: Leaf) -> bool:
    """Whether a predicted leaf is alike a gold leaf, by gold's comparator."""
    compare = gold.rules["compare"]
    if compare == "exact":
        return text_of(gold.value) == text_of(predicted.value)
    one, other = normalize(text_of(gold.value)), normalize(text_of(predicted.value))
    if one == other:
        return True
    if compare == "number":
        expected, number = number_in(gold.value), number_in(predicted.value)
        if expected is None or number is None:
            return False
        return abs(expected - number) <= Fraction(str(gold.rules.get("abs", 0)))
    if compare == "fuzzy":
        longer = max(len(one), len(other))
        return Fraction(longer - edit_distance(one, other), longer) >= Fraction("0.85")
    return False


@dataclass
class Leaf:
    path: str
    value: Any
    rules: dict[str, Any]
    row: str
    is_choice: bool  # a boolean, or one of an enum

    @property
    def identity(self) -> tuple[str, str]:
        return self.path, repr(self.value)


@dataclass
class Object:
    row: str
    fields: dict[str, Node]
    is_item: bool


@dataclass
class Items:
    items: list[Node | None]  # None: absent
    rules: dict[str, Any] = field(default_factory=dict)
    is_single: bool = False  # one value without brackets
    is_apart: bool = False  # it has items of lists in it, where the schema has objects


Node = Leaf | Object | Items


def is_absent(value: Any) -> bool:
    return value in (None, [], {}) or (isinstance(value, str) and not value.strip())


def opened(value: list[Any]) -> list[Any]:
    """The entries of a list, with those of the lists in it in their place."""
    return [each for entry in value for each in (opened(entry) if isinstance(entry, list) else [entry])]


def build(value: Any, schema: Schema, path: str, *, is_gold: bool, is_item: bool = False) -> Node | None:
    """What is counted in a value. A single value where the schema has a list is at the path of an item."""
    rules = {} if schema is None else schema.get("x-goldgate", {})
    kind = None if schema is None else schema["type"]
    if is_absent(value) or rules.get("compare") == "ignore" or (is_gold and schema is None):
        return None
    if isinstance(value, list):
        is_place = kind in ("array", None)
        below, inside = (schema["items"] if schema and is_place else schema), path + "[]" if is_place else path
        is_apart = below is not None and below["type"] == "object" and any(isinstance(e, list) and e for e in value)
        entries = opened(value) if is_apart else value
        items = [build(entry, below, inside, is_gold=is_gold, is_item=is_place) for entry in entries]
        return Items(items, rules if is_place else {}, is_apart=is_apart) if any(items) else None
    if schema is not None and kind == "array":
        single = build(value, schema["items"], path + "[]", is_gold=is_gold, is_item=True)
        return None if single is None else Items([single], rules, is_single=True)
    if isinstance(value, dict):
        declared = schema.get("properties", {}) if schema else {}
        fields = {}
        for key, entry in value.items():
            node = build(entry, declared.get(key), key if path == "$" else f"{path}.{key}", is_gold=is_gold)
            if node is not None:
                fields[key] = node
        row = path if kind == "object" else UNDECLARED
        return Object(row, fields, is_item) if fields else None
    if schema is None or kind == "object":
        return Leaf(path, value, {"compare": "text"}, UNDECLARED, isinstance(value, bool))
    default = "number" if kind in ("number", "integer") else "text"
    is_choice = isinstance(value, bool) or "enum" in schema or kind == "boolean"
    return Leaf(path, value, {"compare": default, **rules}, path, is_choice)


def leaves_of(node: Node | None) -> list[Leaf]:
    if node is None or isinstance(node, Leaf):
        return [] if node is None else [node]
    below = node.fields.values() if isinstance(node, Object) else node.items
    return [leaf for entry in below for leaf in leaves_of(entry)]


def items_of(node: Node | None) -> list[str]:
    """The row of every object in a list."""
    if node is None or isinstance(node, Leaf):
        return []
    below = node.fields.values() if isinstance(node, Object) else node.items
    own = [node.row] if isinstance(node, Object) and node.is_item else []
    return own + [row for entry in below for row in items_of(entry)]


class Outcome(NamedTuple):
    """One alignment of two nodes: its hits, shapes mended, pairs of leaves with their verdict, and right items."""

    hits: int = 0
    mended: int = 0
    pairs: tuple[tuple[str, str, tuple[str, str], tuple[str, str]], ...] = ()
    right: tuple[str, ...] = ()

    def __add__(self, other: Any) -> Outcome:
        pairs, right = tuple(sorted(self.pairs + other.pairs)), tuple(sorted(self.right + other.right))
        return Outcome(self.hits + other.hits, self.mended + other.mended, pairs, right)


def combine(one: list[Outcome], other: list[Outcome]) -> list[Outcome]:
    combined = {a + b for a, b in product(one, other)}
    if len(combined) > MOST_OUTCOMES:
        raise TooManyError
    return sorted(combined)


class Aligner:
    """Every alignment with the most hits; without `pair_share`, to learn what it costs."""

    def __init__(self, share: Fraction | None) -> None:
        self._share = share

    def align(self, gold: Node, predicted: Node) -> list[Outcome]:
        if isinstance(gold, Leaf) and isinstance(predicted, Leaf):
            verdict = "hit" if are_alike(gold, predicted) else "wrong"
            return [Outcome(int(verdict == "hit"), 0, ((gold.row, verdict, gold.identity, predicted.identity),))]
        if isinstance(gold, Object) and isinstance(predicted, Object):
            outcomes = [Outcome()]
            for key in gold.fields.keys() & predicted.fields.keys():
                outcomes = combine(outcomes, self.align(gold.fields[key], predicted.fields[key]))
            is_right = gold.is_item and predicted.is_item and is_whole(gold, predicted, outcomes)
            return combine(outcomes, [Outcome(right=(gold.row,))]) if is_right else outcomes
        if is_list(gold) and is_list(predicted):
            assert isinstance(gold, Items)
            assert isinstance(predicted, Items)
            mended = [Outcome(mended=int(gold.is_apart != predicted.is_apart))]
            return combine(self.align_items(gold.items, predicted.items, gold.rules, self._share), mended)
        if isinstance(gold, Items) or isinstance(predicted, Items):
            return self.align_single(gold, predicted)
        return [Outcome()]

    def align_single(self, gold: Node, predicted: Node) -> list[Outcome]:
        """A single value against a list or another, as a list of one, by key and pair_share.

        A list of several where gold has one value hits nothing.
        """
        one, other = [node.items if isinstance(node, Items) else [node] for node in (gold, predicted)]
        present = [item for item in other if item]
        if not isinstance(gold, Items) and (
            len(present) > 1 or (isinstance(gold, Leaf) and len(leaves_of(predicted)) > 1)
        ):
            return [Outcome()]
        place = gold if isinstance(gold, Items) else predicted
        assert isinstance(place, Items)
        is_apart = sum(isinstance(node, Items) and node.is_apart for node in (gold, predicted)) == 1
        mended = [Outcome(mended=int(is_list(gold) != is_list(predicted) or is_apart))]
        is_ordered = place.rules.get("list") == "ordered"
        if not is_list(gold) and not is_list(predicted) and not is_ordered and not isinstance(one[0], Object):
            assert one[0] is not None
            assert other[0] is not None
            return combine(self.align(one[0], other[0]), mended)
        return combine(self.align_items(list(one), list(other), place.rules, self._share), mended)

    def align_items(
        self, gold: list[Node | None], predicted: list[Node | None], rules: dict[str, Any], share: Fraction | None
    ) -> list[Outcome]:
        if rules.get("list") == "ordered":
            outcomes = [Outcome()]
            for one, other in zip(gold, predicted, strict=False):
                outcomes = outcomes if one is None or other is None else combine(outcomes, self.align(one, other))
            return outcomes
        rows, columns = ([item for item in items if item] for items in (gold, predicted))
        pairs: dict[tuple[int, int], tuple[int, list[Outcome]]] = {}
        for (i, one), (j, other) in product(enumerate(rows), enumerate(columns)):
            outcomes = self.align(one, other)
            equal = is_whole(one, other, outcomes)
            if equal or self.may_pair(one, other, outcomes[0].hits, rules, share):
                pairs[i, j] = int(equal), outcomes
        return best_pairings(len(rows), len(columns), pairs)

    def may_pair(self, gold: Node, predicted: Node, hits: int, rules: dict[str, Any], share: Fraction | None) -> bool:
        if not isinstance(gold, Object) or not isinstance(predicted, Object):
            return hits > 0
        if "key" in rules:
            keys = [(gold.fields.get(key), predicted.fields.get(key)) for key in rules["key"]]
            return all(isinstance(a, Leaf) and isinstance(b, Leaf) and are_alike(a, b) for a, b in keys)
        least = Fraction(str(rules.get("pair_share", "0.5"))) if share is None else share
        return hits > 0 and hits >= least * min(len(leaves_of(gold)), len(leaves_of(predicted)))


def is_list(node: Node) -> bool:
    return isinstance(node, Items) and not node.is_single


def is_whole(gold: Node, predicted: Node, outcomes: list[Outcome]) -> bool:
    return outcomes[0].hits == len(leaves_of(gold)) == len(leaves_of(predicted))


def best_pairings(rows: int, columns: int, pairs: dict[tuple[int, int], tuple[int, list[Outcome]]]) -> list[Outcome]:
    """The outcomes of all pairings with the most equal items and, among these, the most hits."""

    @cache
    def best(row: int, free: frozenset[int]) -> tuple[tuple[int, int], tuple[Outcome, ...]]:
        if row == rows:
            return (0, 0), (Outcome(),)
        most, outcomes = best(row + 1, free)
        collected = list(outcomes)
        for column in sorted(free):
            if (row, column) not in pairs:
                continue
            equal, inner = pairs[row, column]
            (others, hits), rest = best(row + 1, free - {column})
            value = others + equal, hits + inner[0].hits
            if value > most:
                most, collected = value, []
            if value == most:
                collected += combine(inner, list(rest))
        if len(collected) > MOST_OUTCOMES:
            raise TooManyError
        return most, tuple(sorted({*collected}))

    return [*best(0, frozenset(range(columns)))[1]]


def count_misplaced(gold: list[Leaf], predicted: list[Leaf], outcome: Outcome) -> int:
    """The largest matching of leaves without a partner that are alike at another path."""
    rest = []
    for side, leaves in ((2, gold), (3, predicted)):
        taken = Counter(pair[side] for pair in outcome.pairs)
        left = []
        for leaf in leaves:
            taken[leaf.identity] -= 1
            if taken[leaf.identity] < 0 and tells(leaf):
                left.append(leaf)
        rest.append(left)
    partner: dict[int, int] = {}

    def find(row: int, seen: set[int]) -> bool:
        for column, leaf in enumerate(rest[1]):
            if column in seen or rest[0][row].path == leaf.path or not are_alike(rest[0][row], leaf):
                continue
            seen.add(column)
            if column not in partner or find(partner[column], seen):
                partner[column] = row
                return True
        return False

    return sum(find(row, set()) for row in range(len(rest[0])))


def tells(leaf: Leaf) -> bool:
    number = number_in(leaf.value)
    return not leaf.is_choice and not (number is not None and number.denominator == 1 and abs(number) < 100)


def absent_paths(
    schema: dict[str, Any], path: str, gold: set[str], predicted: set[str], *, is_replaced: bool = False
) -> tuple[int, int]:
    """Scalar paths outside lists that gold leaves absent: those that the prediction leaves absent too, and all.

    With `is_replaced`, the prediction has a scalar in place of an object above.
    """
    if schema.get("x-goldgate", {}).get("compare") == "ignore" or schema["type"] == "array":
        return 0, 0
    if schema["type"] == "object":
        below = schema["properties"].items()
        replaced = is_replaced or path in predicted
        counts = [
            absent_paths(s, key if path == "$" else f"{path}.{key}", gold, predicted, is_replaced=replaced)
            for key, s in below
        ]
        return sum(right for right, _ in counts), sum(of for _, of in counts)
    present = [any(re.match(re.escape(path) + r"(\Z|[.\[])", each) for each in side) for side in (gold, predicted)]
    return int(not any(present) and not is_replaced), int(not present[0])


class Result(NamedTuple):
    """What one alignment counts; by row where there is a tuple of pairs."""

    leaves: tuple[tuple[str, int, int], ...]  # row, gold, predicted
    items: tuple[tuple[str, int, int], ...]
    absent: tuple[int, int]
    pair_share_cost: int
    verdicts: tuple[tuple[tuple[str, str], int], ...]  # (row, hit or wrong), how many
    right: tuple[str, ...]
    mended: int
    misplaced: int


def count_rows(gold: list[str], predicted: list[str]) -> tuple[tuple[str, int, int], ...]:
    return tuple((row, gold.count(row), predicted.count(row)) for row in sorted({*gold, *predicted}))


def possible_results(gold_value: Any, predicted_value: Any, schema: dict[str, Any]) -> set[Result]:
    """The result of every alignment that the specification allows."""
    gold = build(gold_value, schema, "$", is_gold=True)
    predicted = build(predicted_value, schema, "$", is_gold=False)
    of_gold, of_predicted = leaves_of(gold), leaves_of(predicted)
    outcomes = free = [Outcome()]
    if gold is not None and predicted is not None:
        outcomes = Aligner(None).align(gold, predicted)
        free = Aligner(Fraction(0)).align(gold, predicted)
    fixed = (
        count_rows([leaf.row for leaf in of_gold], [leaf.row for leaf in of_predicted]),
        count_rows(items_of(gold), items_of(predicted)),
        absent_paths(schema, "$", {leaf.path for leaf in of_gold}, {leaf.path for leaf in of_predicted}),
        free[0].hits - outcomes[0].hits,
    )
    return {
        Result(
            *fixed,
            tuple(sorted(Counter((row, verdict) for row, verdict, _, _ in outcome.pairs).items())),
            outcome.right,
            outcome.mended,
            count_misplaced(of_gold, of_predicted, outcome),
        )
        for outcome in outcomes
    }
