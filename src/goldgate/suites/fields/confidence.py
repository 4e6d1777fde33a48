"""Confidences of predicted leaves: taken off the answer, and what they are worth.

How confident a leaf is, is counted in steps of 1/10,000: sums over documents then add up in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil, log
from typing import Any, NamedTuple

from goldgate.core.sums import RatioSums
from goldgate.stats.interval import Interval, one_sided, share_interval
from goldgate.suites.fields.comparators import number_of
from goldgate.suites.fields.leaves import Leaf, containers_by_level, location, steps_to
from goldgate.suites.fields.schema import MAX_DEPTH, PathShape

SCALE = 10_000  # steps between 0 and 1
BOUND_CONFIDENCE = 0.95
_BINS = 10
_WRAPPED = frozenset({"value", "confidence"})


class ScoredLeaf(NamedTuple):
    """How confident an answer is of a leaf, in steps of 1/10,000, and whether it is a hit."""

    level: int
    is_hit: bool


def unwrap_confidences(value: Any, shape: PathShape) -> tuple[Any, dict[tuple[Any, ...], float]]:
    """The value with x for every `{"value": x, "confidence": 0.9}` for a scalar, and the confidences by place."""
    confidences: dict[tuple[Any, ...], float] = {}
    if not _may_have_confidence(value):
        return value, confidences
    return _unwrap(value, shape, (), confidences), confidences


def _may_have_confidence(value: Any) -> bool:
    return any(
        len(entry) == len(_WRAPPED) and type(entry) is dict and entry.keys() == _WRAPPED
        for level in containers_by_level(value)
        for entry in level
    )


def _unwrap(value: Any, shape: PathShape, steps: tuple[Any, ...], confidences: dict[tuple[Any, ...], float]) -> Any:
    if len(steps) >= MAX_DEPTH:
        return value
    if type(value) is list:
        below = shape if shape.kinds == {"scalar"} else shape.item
        return [_unwrap(entry, below, (*steps, number), confidences) for number, entry in enumerate(value)]
    if type(value) is not dict:
        return value
    kinds = (shape.item if shape.kinds == {"array"} else shape).kinds
    if value.keys() == _WRAPPED and "scalar" in kinds and "object" not in kinds:  # elsewhere, it may be data
        level = confidence_of(value["confidence"])
        if level is not None and type(value["value"]) not in (dict, list):
            confidences[steps] = level
            return value["value"]
    return {key: _unwrap(entry, shape.child(key), (*steps, key), confidences) for key, entry in value.items()}


def confidence_of(value: Any) -> float | None:
    """A confidence from 0 to 1; None for anything else."""
    number = number_of(value)
    return float(number) if number is not None and 0 <= number <= 1 else None


def locate_confidences(leaves: list[Leaf], wrapped: Mapping[tuple[Any, ...], float], beside: Any) -> list[ScoredLeaf]:
    """The leaves that have a confidence, wrapped around them or beside the value by their location."""
    scored = []
    listed = beside if isinstance(beside, Mapping) else {}
    for leaf in leaves:
        confidence = wrapped.get(tuple(steps_to(leaf)))
        if confidence is None and listed:
            confidence = confidence_of(listed.get(location(leaf)))
        if confidence is not None:
            scored.append(ScoredLeaf(round(confidence * SCALE), leaf.state == "hit"))
    return scored


def review_totals(scored: list[ScoredLeaf], predicted: int) -> dict[str, int]:
    """What a document adds, at each of its levels, to the sums over all leaves from that level up.

    Errors and leaves of a document are squared together, so a document adds the difference between its squares with
    and without the leaves of a level; `predicted` are all its leaves.
    """
    totals: dict[str, int] = {}
    errors = leaves = 0
    levels: dict[int, list[int]] = {}
    for level, is_hit in scored:
        counts = levels.setdefault(level, [0, 0])
        counts[0] += not is_hit
        counts[1] += 1
    for level in sorted(levels, reverse=True):
        before = _products(errors, leaves, predicted)
        errors, leaves = errors + levels[level][0], leaves + levels[level][1]
        for name, new, old in zip(_SUMS, _products(errors, leaves, predicted), before, strict=True):
            if new != old:
                totals[f"review.{level}.{name}"] = new - old
    return totals


_SUMS = ("units", "a", "b", "aa", "ab", "bb", "predicted")


def _products(errors: int, leaves: int, predicted: int) -> tuple[int, ...]:
    return int(leaves > 0), errors, leaves, errors**2, errors * leaves, leaves**2, leaves * predicted


class ReviewLevels:
    """The sums over documents at every level of confidence, from totals of a tally."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        sums: dict[int, dict[str, int]] = {}
        for name, count in counts.items():
            if name.startswith("review."):
                _, level, column = name.split(".")
                sums.setdefault(int(level), {})[column] = count
        self._with_predicted = {level: columns.pop("predicted", 0) for level, columns in sums.items()}
        self.sums = {level: RatioSums(**columns) for level, columns in sums.items()}

    @property
    def leaves(self) -> int:
        return sum(sums.b for sums in self.sums.values())

    @property
    def errors(self) -> int:
        return sum(sums.a for sums in self.sums.values())

    def auroc(self) -> tuple[int, int]:
        """Twice the pairs of a hit and an error in which the hit is more confident, ties once; and twice all pairs."""
        below = wins = 0
        for level in sorted(self.sums):
            errors = self.sums[level].a
            hits = self.sums[level].b - errors
            wins += hits * (2 * below + errors)
            below += errors
        return wins, 2 * below * (self.leaves - below)

    def calibration(self) -> tuple[int, int]:
        """How far hits are from confidence in each of ten bins, summed; over all leaves. In steps of 1/10,000."""
        gaps = [0] * _BINS
        for level, sums in self.sums.items():
            gaps[min(level * _BINS // SCALE, _BINS - 1)] += (sums.b - sums.a) * SCALE - level * sums.b
        return sum(map(abs, gaps)), self.leaves * SCALE

    def straight_through(self, max_error: Decimal) -> tuple[int, int | None]:
        """How many leaves need no review, and from which level on.

        From the most confident leaf down, beginning with the smallest number that could pass, the bound of the error
        rate over documents must not be above `max_error`; the first failure ends it.
        """
        needed = _least_leaves(max_error)
        passed, threshold, above = 0, None, RatioSums()
        for level in sorted(self.sums, reverse=True):
            above += self.sums[level]
            if needed is None or above.b < needed:
                continue
            bound = share_interval(above, one_sided(BOUND_CONFIDENCE))
            if not isinstance(bound, Interval) or Fraction(repr(bound.high)) > Fraction(max_error):
                break
            passed, threshold = above.b, level
        return passed, threshold

    def share_above(self, threshold: int, precision: RatioSums) -> RatioSums:
        """The leaves from a level on over predicted leaves, document by document; `precision` has all predicted."""
        above = [level for level in self.sums if level >= threshold]
        leaves, squares = (sum(getattr(self.sums[level], name) for level in above) for name in ("b", "bb"))
        products = sum(self._with_predicted[level] for level in above)
        return RatioSums(precision.units, leaves, precision.b, squares, products, precision.bb)


def _least_leaves(max_error: Decimal) -> int | None:
    """The fewest leaves without an error that speak for an error rate of at most this: 299 for 0.01."""
    if not 0 < max_error < 1:
        return 1 if max_error else None
    return ceil(log(1 - BOUND_CONFIDENCE) / log(1 - float(max_error)))
