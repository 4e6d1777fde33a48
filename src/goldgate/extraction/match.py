"""Predicted units against gold units: exactly, and by the largest relaxed one-to-one matching."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from goldgate.extraction.event import Span, Units
from goldgate.protocol.model import RelaxedSettings

Spans = tuple[Span, ...]
Fits = Callable[[str, Spans, str, Spans], bool]


class Unit(NamedTuple):
    """An (event type, role, normalized argument) triple."""

    event_type: str
    role: str
    argument: str


# How one role of one event type came out in a sample, the row that the breakdown counts:
# event type, role, and how many units were predicted, are gold, matched strictly, matched
# relaxed. A plain tuple: there are ten a sample.
Group = tuple[str, str, int, int, int, int]


class Pair(NamedTuple):
    """Two different units that relaxed matching put together."""

    predicted: Unit
    gold: Unit


class Comparison(NamedTuple):
    """All that strict and relaxed scoring need to know of a sample."""

    groups: list[Group]
    pairs: list[Pair]  # relaxed matches that are no strict ones
    false_positives: list[Unit]
    false_negatives: list[Unit]


def compare(predicted: Units, gold: Units, fits: Fits) -> Comparison:
    """Match the units of a sample, role by role."""
    result = Comparison([], [], [], [])
    groups = result.groups
    for event_type, roles in predicted.items():
        gold_roles = gold.get(event_type, {})
        for role, arguments in roles.items():
            wanted = gold_roles.get(role)
            if wanted is None:
                _one_sided(result, event_type, role, arguments, predicted=True)
            elif arguments == wanted or arguments.keys() == wanted.keys():
                size = len(wanted)
                groups.append((event_type, role, size, size, size, size))
            else:
                _compare_role(result, event_type, role, arguments, wanted, fits)
    for event_type, gold_roles in gold.items():
        roles = predicted.get(event_type, {})
        for role, wanted in gold_roles.items():
            if role not in roles:
                _one_sided(result, event_type, role, wanted, predicted=False)
    return result


def _one_sided(result: Comparison, event_type: str, role: str, arguments: dict[str, Spans], *, predicted: bool) -> None:
    size = len(arguments)
    result.groups.append((event_type, role, size if predicted else 0, 0 if predicted else size, 0, 0))
    errors = result.false_positives if predicted else result.false_negatives
    errors.extend(Unit(event_type, role, argument) for argument in arguments)


def _compare_role(
    result: Comparison, event_type: str, role: str, predicted: dict[str, Spans], gold: dict[str, Spans], fits: Fits
) -> None:
    extra = [argument for argument in predicted if argument not in gold]
    missed = [argument for argument in gold if argument not in predicted]
    strict = len(predicted) - len(extra)
    result.false_positives.extend(Unit(event_type, role, argument) for argument in extra)
    result.false_negatives.extend(Unit(event_type, role, argument) for argument in missed)
    relaxed = strict
    if extra and missed:  # otherwise the exact matches are already as many as there can be
        matching = _largest_matching(predicted, gold, fits)
        relaxed = len(matching)
        result.pairs.extend(
            Pair(Unit(event_type, role, ours), Unit(event_type, role, theirs))
            for ours, theirs in matching
            if ours != theirs
        )
    result.groups.append((event_type, role, len(predicted), len(gold), strict, relaxed))


def _largest_matching(predicted: dict[str, Spans], gold: dict[str, Spans], fits: Fits) -> list[tuple[str, str]]:
    """Pairs of a largest one-to-one matching in which every exact match keeps both its sides matched.

    Exact pairs come first, then each unmatched argument of the smaller side looks for an
    augmenting path, breadth first. A path never unmatches anything, so how many arguments are
    matched without an exact partner is the same for every order of the input; sorting makes
    the pairs themselves the same, too.
    """
    ours, theirs = sorted(predicted), sorted(gold)
    if len(ours) <= len(theirs):
        pairs = augment(ours, theirs, lambda a, b: fits(a, predicted[a], b, gold[b]))
        return [(a, b) for b, a in pairs.items()]
    pairs = augment(theirs, ours, lambda b, a: fits(a, predicted[a], b, gold[b]))
    return list(pairs.items())


def augment(left: Sequence[str], right: Sequence[str], fit: Callable[[str, str], bool]) -> dict[str, str]:
    """A largest matching as right → left, from the equal pairs on."""
    right_of = {name: name for name in set(left) & set(right)}
    left_of = dict(right_of)
    for start in left:
        if start in right_of:
            continue
        reached_from: dict[str, str] = {}  # right → the left it was reached from
        queue = deque([start])
        end: str | None = None
        while queue and end is None:
            here = queue.popleft()
            for there in right:
                if there not in reached_from and fit(here, there):
                    reached_from[there] = here
                    if there not in left_of:
                        end = there
                        break
                    queue.append(left_of[there])
        while end is not None:  # every pair on the path moves on by one
            here = reached_from[end]
            before = right_of.get(here)
            right_of[here], left_of[end] = end, here
            end = before
    return left_of


# --- when two different arguments may be matched


def relaxed_rule(settings: RelaxedSettings) -> Fits:
    """The rule that a protocol sets."""
    if settings.match_mode == "include_or_char_overlap":
        return _include_or_char_overlap(Fraction(settings.char_overlap_threshold))
    return _span_iou(Fraction(settings.span_iou_threshold))


def _include_or_char_overlap(threshold: Fraction) -> Fits:
    low, high = threshold.numerator, threshold.denominator

    def fits(a: str, _spans_a: Spans, b: str, _spans_b: Spans) -> bool:
        if a in b or b in a:
            return True
        characters_a, characters_b = set(a), set(b)
        common = len(characters_a & characters_b)
        return common * high >= low * (len(characters_a) + len(characters_b) - common)

    return fits


def _span_iou(threshold: Fraction) -> Fits:
    low, high = threshold.numerator, threshold.denominator

    def fits(a: str, spans_a: Spans, b: str, spans_b: Spans) -> bool:
        if a == b:
            return True
        if spans_a and spans_b:
            return any(_iou_reaches(x, y, low, high) for x in spans_a for y in spans_b)
        # L / (|a| + |b| - L) >= low / high  is  L >= low (|a| + |b|) / (low + high)
        needed = -(-low * (len(a) + len(b)) // (low + high))
        return has_common_substring(a, b, needed)

    return fits


def _iou_reaches(a: Span, b: Span, low: int, high: int) -> bool:
    common = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    return common * high >= low * (a[1] - a[0] + b[1] - b[0] - common)


def has_common_substring(a: str, b: str, length: int) -> bool:
    """Whether two texts share a stretch of at least this length."""
    if length <= 0:
        return True
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    return any(short[at : at + length] in long for at in range(len(short) - length + 1))
