"""Predicted units against gold units: exactly, and by the largest relaxed one-to-one matching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from goldgate.suites.extraction.events.candidates import Arguments, rows
from goldgate.suites.extraction.events.event import Events, RoleArgument, Span, Unit
from goldgate.suites.extraction.events.largest_matching import largest_matching
from goldgate.suites.extraction.events.packed import FALSE_NEGATIVE, FALSE_POSITIVE, HIT, PAIR
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule

ByRole = dict[str, int]  # packed counts
ByType = dict[str, ByRole]
SpansOf = dict[Unit, list[Span]]

ONE_EACH = FALSE_POSITIVE + FALSE_NEGATIVE  # a role with one argument on either side, which differ


Pair = tuple[Unit, Unit]  # a predicted and a gold unit that differ, put together by relaxed matching


class Comparison(NamedTuple):
    """All that strict and relaxed scoring need to know of a sample."""

    counts: ByType  # of each role
    pairs: list[Pair]  # relaxed matches that are no strict ones
    false_positives: list[Unit]
    false_negatives: list[Unit]


def compare(predicted: Events, gold: Events, rule: RelaxedRule) -> Comparison:
    """Match the units of a sample, event type by event type."""
    result = Comparison({}, [], [], [])
    counts, pairs, false_positives, false_negatives = result
    ours, theirs = predicted.units, gold.units
    spans: tuple[SpansOf, SpansOf] | None = None
    for event_type, said in ours.items():
        wanted = theirs.get(event_type)
        if wanted == said:
            counts[event_type] = _hits(said)
            continue
        by_role: ByRole = {}
        counts[event_type] = by_role
        if wanted is None:
            _note(by_role, false_positives, FALSE_POSITIVE, event_type, said)
            continue
        extra: dict[str, str] = {}  # by role; of several, the last one
        missed: dict[str, str] = {}
        for pair in said:
            role = pair[0]
            if pair in wanted:
                by_role[role] = by_role.get(role, 0) + HIT
            else:
                by_role[role] = by_role.get(role, 0) + FALSE_POSITIVE
                extra[role] = pair[1]
                false_positives.append((event_type, *pair))
        for pair in wanted:
            if pair not in said:
                role = pair[0]
                by_role[role] = by_role.get(role, 0) + FALSE_NEGATIVE
                missed[role] = pair[1]
                false_negatives.append((event_type, *pair))
        # Only where both sides have something left can relaxed matching find more.
        if extra and missed and not missed.keys().isdisjoint(extra):
            if spans is None:
                spans = (_spans(predicted), _spans(gold)) if rule.uses_spans else ({}, {})
            roles = sorted(extra.keys() & missed.keys())
            crowded = [role for role in roles if by_role[role] != ONE_EACH]
            sides = _sides(event_type, said, wanted, crowded, spans) if crowded else {}
            for role in roles:
                if role in sides:
                    by_role[role] += PAIR * _match_role(pairs, event_type, role, *sides[role], rule)
                elif _match_one(pairs, (event_type, role, extra[role]), (event_type, role, missed[role]), spans, rule):
                    by_role[role] += PAIR
    for event_type, wanted in theirs.items():
        if event_type not in ours:
            counts[event_type] = by_role = {}
            _note(by_role, false_negatives, FALSE_NEGATIVE, event_type, wanted)
    return result


def _hits(pairs: Iterable[RoleArgument]) -> ByRole:
    roles = [role for role, _ in pairs]
    counts = dict.fromkeys(roles, HIT)
    if len(counts) < len(roles):  # a role with several arguments
        counts = {role: times * HIT for role, times in Counter(roles).items()}
    return counts


def _note(counts: ByRole, errors: list[Unit], kind: int, event_type: str, pairs: Iterable[RoleArgument]) -> None:
    for role, argument in pairs:
        counts[role] = counts.get(role, 0) + kind
        errors.append((event_type, role, argument))


def _match_one(
    pairs: list[Pair], predicted: Unit, gold: Unit, spans: tuple[SpansOf, SpansOf], rule: RelaxedRule
) -> bool:
    """Whether the only arguments of a role match; if so, they are added to the pairs."""
    ours, theirs = (spans[0].get(predicted, ()), spans[1].get(gold, ())) if rule.uses_spans else ((), ())
    if not rule.fits(predicted[2], ours, gold[2], theirs):
        return False
    pairs.append((predicted, gold))
    return True


def _spans(events: Events) -> SpansOf:
    """The offsets at which each unit stands, of those that carry any."""
    found: SpansOf = {}
    if all(columns[4] is None for columns in events.columns):
        return found
    for unit, _, span in events.values():
        if span is not None:
            found.setdefault(unit, []).append(span)
    return found


def _sides(
    event_type: str,
    said: Iterable[RoleArgument],
    wanted: Iterable[RoleArgument],
    roles: list[str],
    spans: tuple[SpansOf, SpansOf],
) -> dict[str, tuple[Arguments, Arguments]]:
    """Role → its normalized arguments on either side, with their offsets where the rule looks at them."""
    found: dict[str, tuple[dict[str, list[Span]], dict[str, list[Span]]]] = {role: ({}, {}) for role in roles}
    for side, pairs in enumerate((said, wanted)):
        for role, argument in pairs:
            if role in found:
                found[role][side][argument] = spans[side].get((event_type, role, argument), [])
    return {**found}


def _match_role(
    pairs: list[Pair], event_type: str, role: str, predicted: Arguments, gold: Arguments, rule: RelaxedRule
) -> int:
    """How many more the largest matching of a role has than its exact ones; what is no exact pair is added."""
    matching = _largest_matching(predicted, gold, rule)
    pairs += [((event_type, role, a), (event_type, role, b)) for a, b in matching if a != b]
    return len(matching) - len(predicted.keys() & gold.keys())


def _largest_matching(predicted: Arguments, gold: Arguments, rule: RelaxedRule) -> list[tuple[str, str]]:
    """Pairs of a largest one-to-one matching in which every exact match keeps both its sides matched.

    Exact pairs come first, then each unmatched argument of the smaller side looks for a partner.
    How many arguments are matched without an exact partner is the same for every order of the
    input; sorting makes the pairs themselves the same, too.
    """
    if len(predicted) == len(gold) == 1:  # the usual case, without an index
        ((a, spans_a),), ((b, spans_b),) = predicted.items(), gold.items()
        return [(a, b)] if rule.fits(a, spans_a, b, spans_b) else []
    swapped = len(predicted) > len(gold)
    left, right = (gold, predicted) if swapped else (predicted, gold)
    lefts, rights = sorted(left), sorted(right)
    place = {b: number for number, b in enumerate(rights)}
    equal = {place[a]: number for number, a in enumerate(lefts) if a in place}
    left_of = largest_matching(len(lefts), len(rights), rows(lefts, rights, left, right, rule), equal)
    pairs = [(lefts[number], rights[at]) for at, number in left_of.items()]
    return [(b, a) for a, b in pairs] if swapped else pairs
