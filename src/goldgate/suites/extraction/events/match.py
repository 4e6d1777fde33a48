"""Predicted units against gold units: exactly, and by the largest relaxed one-to-one matching."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from goldgate.suites.extraction.events.candidates import Arguments
from goldgate.suites.extraction.events.candidates import rows as candidate_rows
from goldgate.suites.extraction.events.event import Events, RoleArgument, Span, Unit
from goldgate.suites.extraction.events.largest_matching import largest_matching
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule

# What a row of the breakdown counts, for an event type and role. Predicted units are hits and
# false positives, gold units hits and false negatives, relaxed hits are hits and pairs.
HIT, FALSE_POSITIVE, FALSE_NEGATIVE, PAIR = "hit", "false_positive", "false_negative", "relaxed_pair"
Row = tuple[str, str]  # one of these, and a role
SpansOf = dict[Unit, list[Span]]


class Pair(NamedTuple):
    """Two different units that relaxed matching put together."""

    predicted: Unit
    gold: Unit


class Comparison(NamedTuple):
    """All that strict and relaxed scoring need to know of a sample."""

    rows: dict[str, list[Row]]  # one for each hit, error and pair, by event type
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
            result.rows[event_type] = [(HIT, role) for role, _ in said]
        elif wanted is None:
            rows: list[Row] = []
            result.rows[event_type] = rows
            _note(rows, result.false_positives, FALSE_POSITIVE, event_type, said)
        else:
            result.rows[event_type] = rows = [(HIT, pair[0]) for pair in said if pair in wanted]
            extra = [pair for pair in said if pair not in wanted]
            missed = [pair for pair in wanted if pair not in said]
            _note(rows, result.false_positives, FALSE_POSITIVE, event_type, extra)
            _note(rows, result.false_negatives, FALSE_NEGATIVE, event_type, missed)
            # Only where both sides have something left can relaxed matching find more.
            roles = {role for role, _ in extra} & {role for role, _ in missed}
            if roles:
                if spans is None:
                    spans = (_spans(predicted), _spans(gold)) if rule.uses_spans else ({}, {})
                sides = _by_role(event_type, said, roles, spans[0]), _by_role(event_type, wanted, roles, spans[1])
                _match_roles(result, event_type, *sides, rule)
    for event_type, wanted in theirs.items():
        if event_type not in ours:
            result.rows[event_type] = rows = []
            _note(rows, result.false_negatives, FALSE_NEGATIVE, event_type, wanted)
    return result


def _note(rows: list[Row], errors: list[Unit], name: str, event_type: str, pairs: Iterable[RoleArgument]) -> None:
    for role, argument in pairs:
        rows.append((name, role))
        errors.append(Unit(event_type, role, argument))


def _spans(events: Events) -> SpansOf:
    """The offsets at which each unit stands, of those that carry any."""
    found: SpansOf = {}
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
        result.rows[event_type].extend([(PAIR, role)] * (len(matching) - len(ours.keys() & theirs.keys())))
        result.pairs.extend(Pair(Unit(event_type, role, a), Unit(event_type, role, b)) for a, b in matching if a != b)


def _largest_matching(predicted: Arguments, gold: Arguments, rule: RelaxedRule) -> list[tuple[str, str]]:
    """Pairs of a largest one-to-one matching in which every exact match keeps both its sides matched.

    Exact pairs come first, then each unmatched argument of the smaller side looks for a partner.
    How many arguments are matched without an exact partner is the same for every order of the
    input; sorting makes the pairs themselves the same, too.
    """
    if len(predicted) == len(gold) == 1:  # the usual case, without an index
        (a, spans_a), (b, spans_b) = *predicted.items(), *gold.items()
        return [(a, b)] if rule.fits(a, spans_a, b, spans_b) else []
    swapped = len(predicted) > len(gold)
    left, right = (gold, predicted) if swapped else (predicted, gold)
    lefts, rights = sorted(left), sorted(right)
    place = {b: number for number, b in enumerate(rights)}
    equal = {place[a]: number for number, a in enumerate(lefts) if a in place}
    left_of = largest_matching(len(lefts), len(rights), candidate_rows(lefts, rights, left, right, rule), equal)
    pairs = [(lefts[number], rights[at]) for at, number in left_of.items()]
    return [(b, a) for a, b in pairs] if swapped else pairs
