"""Errors by name: what became of every leaf. The first name that applies is given.

Predicted leaves: hit, wrong, misplaced, hallucinated, spurious. Gold leaves: hit, wrong, misplaced, missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from goldgate.core.finding import limit_length
from goldgate.suites.fields.alignment import (
    HIT,
    MAX_COMPARISONS,
    MAX_EFFORT,
    MAX_PAIRS,
    WRONG,
    fuzzy_effort,
    is_fuzzy,
    sort_key,
)
from goldgate.suites.fields.assignment import best_pairs, mask_of
from goldgate.suites.fields.comparators import (
    TEXT,
    Comparator,
    ContainsComparator,
    FuzzyComparator,
    Key,
    leaf_text,
    magnitude,
    number_of,
    read_number,
)
from goldgate.suites.fields.dates import read_date
from goldgate.suites.fields.leaves import Leaf, LeafTree, path_name

MISPLACED = "misplaced"
HALLUCINATED = "hallucinated"
SPURIOUS = "spurious"
MISSING = "missing"
PREDICTED_STATES = (HIT, WRONG, MISPLACED, HALLUCINATED, SPURIOUS)
GOLD_STATES = (HIT, WRONG, MISPLACED, MISSING)
_SMALL = 100  # integers below are everywhere: one of them at another path does not show a mix-up
CONFUSED_LENGTH = 60  # characters of a value among confusions
_OTHERS: tuple[Comparator, ...] = (ContainsComparator("contains"), FuzzyComparator("fuzzy"))


class WrongKind(StrEnum):
    """In which way a wrong value is wrong."""

    SWAPPED = "swapped"  # two leaves of one object have each other's values
    FORMAT = "format"  # the same number, date or text in another spelling
    NUMBER = "number"  # another number
    PART = "part"  # one contains the other
    OTHER = "other"


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
        assert comparator is not None
        comparators.setdefault(comparator.identity, comparator)
        alike.setdefault(comparator.identity, {}).setdefault(leaf.key, []).append(leaf)
    is_few = len(gold) * len(predicted) <= MAX_COMPARISONS
    is_few = is_few and fuzzy_effort(filter(is_fuzzy, gold), predicted) <= MAX_EFFORT
    edges: dict[int, list[Leaf]] = {}  # id of a predicted leaf → gold leaves that are alike
    for leaf in predicted:
        partners: list[Leaf] = []
        for identity, comparator in comparators.items():
            by_key = alike[identity]
            if comparator.equivalence or not is_few:
                partners += by_key.get(comparator.key(leaf.value), ())
            else:
                partners += [one for same in by_key.values() for one in same if _is_like_value(one, leaf)]
        if partners:
            edges[id(leaf)] = partners
    return _pair_misplaced([leaf for leaf in predicted if id(leaf) in edges], edges)


def _pair_misplaced(predicted: list[Leaf], edges: dict[int, list[Leaf]]) -> list[tuple[Leaf, Leaf]]:
    """The largest matching of leaves that are alike at different paths; of very many the first that fit."""
    predicted = sorted(predicted, key=_order)
    gold = {id(leaf): leaf for partners in edges.values() for leaf in partners}
    listed = sorted(gold.values(), key=_order)
    paths = {id(leaf): path_name(leaf) for leaf in (*predicted, *listed)}
    if len(predicted) * len(listed) > MAX_PAIRS or sum(map(len, edges.values())) > MAX_PAIRS:
        return [*_first_pairs(predicted, edges, paths)]
    columns: dict[int, list[int]] = {id(leaf): [] for leaf in listed}
    for column, leaf in enumerate(predicted):
        for partner in edges[id(leaf)]:
            if paths[id(partner)] != paths[id(leaf)]:
                columns[id(partner)].append(column)
    rows = [[(1, mask_of(columns[id(leaf)]))] if columns[id(leaf)] else [] for leaf in listed]
    return [(listed[row], predicted[column]) for row, column in best_pairs(rows, len(predicted)).items()]


def _order(leaf: Leaf) -> tuple[str, str]:
    """By path and content: which of several leaves is misplaced does not depend on where they stand."""
    return path_name(leaf), sort_key(leaf)


def _first_pairs(
    predicted: list[Leaf], edges: dict[int, list[Leaf]], paths: dict[int, str]
) -> Iterator[tuple[Leaf, Leaf]]:
    """Every predicted leaf with the first gold leaf that is still free; a few are looked at."""
    taken: set[int] = set()
    used: dict[int, int] = {}  # a list of partners, which leaves with equal keys share → how many of it are taken
    for leaf in predicted:
        partners = edges[id(leaf)]
        start = used.get(id(partners[0]), 0)
        for place in range(start, min(start + 8, len(partners))):
            partner = partners[place]
            if id(partner) not in taken and paths[id(partner)] != paths[id(leaf)]:
                taken.add(id(partner))
                used[id(partners[0])] = place + 1 if place == start else start
                yield partner, leaf
                break


def _tells(leaf: Leaf) -> bool:
    """Whether a value at another path is a sign that it was put in the wrong place."""
    if isinstance(leaf.value, bool) or leaf.shape.is_choice:
        return False
    number = read_number(leaf.value) if isinstance(leaf.value, str) else number_of(leaf.value)
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
    assert comparator is not None
    assert predicted is not None
    return comparator.alike(gold.value, gold.key, predicted.value, comparator.key(predicted.value))


def _wrong_kind(gold: Leaf, predicted: Leaf) -> WrongKind:
    one, other = leaf_text(gold.value), leaf_text(predicted.value)
    numbers = [_readings(gold.value), _readings(predicted.value)]
    if TEXT.key(one) == TEXT.key(other) or numbers[0] & numbers[1] or _same_date(gold, predicted):
        return WrongKind.FORMAT
    if numbers[0] and numbers[1]:
        return WrongKind.NUMBER
    folded = str(TEXT.key(one)), str(TEXT.key(other))
    if folded[0] in folded[1] or folded[1] in folded[0]:
        return WrongKind.PART
    return WrongKind.OTHER


def _readings(value: Any) -> set[Any]:
    """The numbers that a value can be read as."""
    if isinstance(value, str):
        return {number for mark in (".", ",") if (number := read_number(value, mark)) is not None}
    number = number_of(value)
    return set() if number is None else {number}


def _same_date(gold: Leaf, predicted: Leaf) -> bool:
    formats = gold.shape.settings.formats
    dates = [read_date(leaf_text(leaf.value), formats) for leaf in (gold, predicted)]
    return dates[0] is not None and dates[0] == dates[1]


def confused_values(gold: Leaf, predicted: Leaf) -> tuple[str, str, str]:
    """The path of an enum, the value that gold has, and the one that was predicted in its place, cut to a length."""
    values = [limit_length(leaf_text(leaf.value), CONFUSED_LENGTH) for leaf in (gold, predicted)]
    return gold.shape.row, values[0], values[1]


def other_comparators(gold: Leaf) -> Iterator[str]:
    """The comparators under which a wrong value would be a hit."""
    predicted, own = gold.partner, gold.shape.comparator
    assert predicted is not None
    assert own is not None
    if gold.detail == WrongKind.FORMAT:
        if TEXT.key(leaf_text(gold.value)) == TEXT.key(leaf_text(predicted.value)):
            yield "text"
        elif _same_date(gold, predicted):
            yield "date"
        else:
            yield "number"
    for comparator in _OTHERS:
        keys = comparator.key(gold.value), comparator.key(predicted.value)
        if comparator.name != own.name and comparator.alike(gold.value, keys[0], predicted.value, keys[1]):
            yield comparator.name
