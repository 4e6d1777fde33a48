"""Predicted units against gold units: exactly, and by the largest relaxed one-to-one matching."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from goldgate.extraction.event import Events, RoleArgument, Span, Unit
from goldgate.protocol.model import RelaxedSettings

Spans = Sequence[Span]
Fits = Callable[[str, Spans, str, Spans], bool]

# What a row of the breakdown counts, for an event type and role. Predicted units are hits and
# false positives, gold units hits and false negatives, relaxed hits are hits and pairs.
HIT, FALSE_POSITIVE, FALSE_NEGATIVE, PAIR = "hit", "false_positive", "false_negative", "relaxed_pair"
Row = tuple[str, str, str]  # one of these, event type, role


class Pair(NamedTuple):
    """Two different units that relaxed matching put together."""

    predicted: Unit
    gold: Unit


class Comparison(NamedTuple):
    """All that strict and relaxed scoring need to know of a sample."""

    rows: list[Row]  # one for each hit, error and pair
    pairs: list[Pair]  # relaxed matches that are no strict ones
    false_positives: list[Unit]
    false_negatives: list[Unit]


@dataclass(frozen=True, slots=True)
class RelaxedRule:
    """When two arguments of the same role may be matched."""

    fits: Fits
    uses_spans: bool


def compare(predicted: Events, gold: Events, rule: RelaxedRule) -> Comparison:
    """Match the units of a sample, event type by event type."""
    result = Comparison([], [], [], [])
    ours, theirs = predicted.units, gold.units
    for event_type, said in ours.items():
        wanted = theirs.get(event_type)
        if wanted == said:
            result.rows.extend([(HIT, event_type, role) for role, _ in said])
        elif wanted is None:
            _note(result.rows, result.false_positives, FALSE_POSITIVE, event_type, said)
        else:
            result.rows.extend([(HIT, event_type, role) for role, _ in said.keys() & wanted.keys()])
            extra = [pair for pair in said if pair not in wanted]
            missed = [pair for pair in wanted if pair not in said]
            _note(result.rows, result.false_positives, FALSE_POSITIVE, event_type, extra)
            _note(result.rows, result.false_negatives, FALSE_NEGATIVE, event_type, missed)
            # Only where both sides have something left can relaxed matching find more.
            for role in sorted({role for role, _ in extra} & {role for role, _ in missed}):
                _match_role(result, event_type, role, predicted, gold, rule)
    for event_type, wanted in theirs.items():
        if event_type not in ours:
            _note(result.rows, result.false_negatives, FALSE_NEGATIVE, event_type, wanted)
    return result


def _note(rows: list[Row], errors: list[Unit], name: str, event_type: str, pairs: Iterable[RoleArgument]) -> None:
    for role, argument in pairs:
        rows.append((name, event_type, role))
        errors.append(Unit(event_type, role, argument))


def _match_role(
    result: Comparison, event_type: str, role: str, predicted: Events, gold: Events, rule: RelaxedRule
) -> None:
    """Add the relaxed matches of one role: those beyond the exact ones are rows of their own."""
    ours = _arguments(predicted, event_type, role, rule.uses_spans)
    theirs = _arguments(gold, event_type, role, rule.uses_spans)
    matching = _largest_matching(ours, theirs, rule.fits)
    result.rows.extend([(PAIR, event_type, role)] * (len(matching) - len(ours.keys() & theirs.keys())))
    result.pairs.extend(Pair(Unit(event_type, role, a), Unit(event_type, role, b)) for a, b in matching if a != b)


def _arguments(events: Events, event_type: str, role: str, with_spans: bool) -> dict[str, list[Span]]:
    """The normalized arguments of a role, with their offsets where the rule looks at them."""
    arguments: dict[str, list[Span]] = {argument: [] for r, argument in events.units[event_type] if r == role}
    if with_spans:
        spans: defaultdict[str, list[Span]] = defaultdict(list)
        for unit, _, span in events.values():
            if span is not None and unit.event_type == event_type and unit.role == role:
                spans[unit.argument].append(span)
        arguments.update(spans)
    return arguments


def _largest_matching(
    predicted: dict[str, list[Span]], gold: dict[str, list[Span]], fits: Fits
) -> list[tuple[str, str]]:
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
    in_both = set(left) & set(right)
    right_of = {name: name for name in left if name in in_both}  # in the order given, not the set's
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


def relaxed_rule(settings: RelaxedSettings) -> RelaxedRule:
    """The rule that a protocol sets."""
    if settings.match_mode == "include_or_char_overlap":
        return RelaxedRule(_include_or_char_overlap(Fraction(settings.char_overlap_threshold)), uses_spans=False)
    return RelaxedRule(_span_iou(Fraction(settings.span_iou_threshold)), uses_spans=True)


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
