"""Predicted units against gold units: exactly, and by the largest relaxed one-to-one matching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from goldgate.suites.extraction.events.candidates import Arguments, rows
from goldgate.suites.extraction.events.event import Events, RoleArgument, Span, Unit
from goldgate.suites.extraction.events.largest_matching import largest_matching
from goldgate.suites.extraction.events.packed import FALSE_NEGATIVE, FALSE_POSITIVE, HIT, PAIR
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule

ByRole = dict[str, int]  # packed counts
ByType = dict[str, ByRole]
SpansOf = dict[Unit, list[Span]]

FEW_UNITS = 64  # of one event type, on both sides together


class Pair(NamedTuple):
    """Two different units that relaxed matching put together."""

    predicted: Unit
    gold: Unit


class Comparison(NamedTuple):
    """All that strict and relaxed scoring need to know of a sample."""

    counts: ByType  # of each role
    pairs: list[Pair]  # relaxed matches that are no strict ones
    false_positives: list[Unit]
    false_negatives: list[Unit]


def compare(predicted: Events, gold: Events, rule: RelaxedRule) -> Comparison:
    """Match the units of a sample, event type by event type."""
    result = Comparison({}, [], [], [])
    ours, theirs = predicted.units, gold.units
    spans: tuple[SpansOf, SpansOf] | None = None
    for event_type, said in ours.items():
        wanted = theirs.get(event_type)
        if wanted == said:
            result.counts[event_type] = _hits([role for role, _ in said])
        elif wanted is None:
            counts: ByRole = {}
            result.counts[event_type] = counts
            _note(counts, result.false_positives, FALSE_POSITIVE, event_type, said)
        else:
            result.counts[event_type] = counts = _hits([pair[0] for pair in said if pair in wanted])
            extra = [pair for pair in said if pair not in wanted]
            missed = [pair for pair in wanted if pair not in said]
            _note(counts, result.false_positives, FALSE_POSITIVE, event_type, extra)
            _note(counts, result.false_negatives, FALSE_NEGATIVE, event_type, missed)
            # Only where both sides have something left can relaxed matching find more.
            roles = {role for role, _ in extra} & {role for role, _ in missed}
            if roles:
                if spans is None:
                    spans = (_spans(predicted), _spans(gold)) if rule.uses_spans else ({}, {})
                alone = match_alone(event_type, said, wanted, roles, spans, rule)
                if alone is None:
                    sides = _by_role(event_type, said, roles, spans[0]), _by_role(event_type, wanted, roles, spans[1])
                    _match_roles(result, event_type, *sides, rule)
                    continue
                for pair in alone:
                    counts[pair.predicted.role] += PAIR
                result.pairs.extend(alone)
    for event_type, wanted in theirs.items():
        if event_type not in ours:
            result.counts[event_type] = counts = {}
            _note(counts, result.false_negatives, FALSE_NEGATIVE, event_type, wanted)
    return result


def _hits(roles: list[str]) -> ByRole:
    counts = dict.fromkeys(roles, HIT)
    if len(counts) < len(roles):  # a role with several arguments
        counts = {role: times * HIT for role, times in Counter(roles).items()}
    return counts


def _note(counts: ByRole, errors: list[Unit], kind: int, event_type: str, pairs: Iterable[RoleArgument]) -> None:
    for role, argument in pairs:
        counts[role] = counts.get(role, 0) + kind
        errors.append(Unit(event_type, role, argument))


def match_alone(
    event_type: str,
    said: Collection[RoleArgument],
    wanted: Collection[RoleArgument],
    roles: set[str],
    spans: tuple[SpansOf, SpansOf],
    rule: RelaxedRule,
) -> list[Pair] | None:
    """The relaxed matches of roles that have one argument on either side; None if any has more."""
    if len(said) + len(wanted) > FEW_UNITS:
        return None  # they are looked through for each role
    pairs: list[Pair] = []
    for role in sorted(roles):
        ours = [argument for name, argument in said if name == role]
        theirs = [argument for name, argument in wanted if name == role]
        if len(ours) > 1 or len(theirs) > 1:
            return None
        pair = Pair(Unit(event_type, role, ours[0]), Unit(event_type, role, theirs[0]))
        places = (spans[0].get(pair.predicted, ()), spans[1].get(pair.gold, ())) if rule.uses_spans else ((), ())
        if rule.fits(ours[0], places[0], theirs[0], places[1]):
            pairs.append(pair)
    return pairs


def _spans(events: Events) -> SpansOf:
    """The offsets at which each unit stands, of those that carry any."""
    found: SpansOf = {}
    if all(columns[4] is None for columns in events.columns):
        return found
    for unit, _, span in events.values():
        if span is not None:
            found.setdefault(unit, []).append(span)
    return found


def _by_role(
    event_type: str, pairs: Iterable[RoleArgument], roles: set[str], spans: SpansOf
) -> dict[str, dict[str, list[Span]]]:
    """Role → its normalized arguments, with their offsets where the rule looks at them."""
    found: dict[str, dict[str, list[Span]]] = {role: {} for role in sorted(roles)}
    for role, argument in pairs:
        if role in found:
            found[role][argument] = spans.get(Unit(event_type, role, argument), []) if spans else []
    return found


def _match_roles(
    result: Comparison,
    event_type: str,
    predicted: dict[str, dict[str, list[Span]]],
    gold: dict[str, dict[str, list[Span]]],
    rule: RelaxedRule,
) -> None:
    """Add the relaxed matches of each role: those beyond the exact ones are rows of their own."""
    for role, ours in predicted.items():
        theirs = gold[role]
        matching = _largest_matching(ours, theirs, rule)
        result.counts[event_type][role] += PAIR * (len(matching) - len(ours.keys() & theirs.keys()))
        result.pairs.extend(Pair(Unit(event_type, role, a), Unit(event_type, role, b)) for a, b in matching if a != b)


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
