"""Predicted units against gold units, matched exactly and relaxed; every false positive and negative gets a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from goldgate.core.sums import Counts
from goldgate.suites.extraction.events import NO_SPAN, Events, RoleArgument, Span, Unit
from goldgate.suites.extraction.events.relaxed_matching import (
    RelaxedRule,
    Values,
    argument_words,
    best_matching,
    word_codes,
)

COLUMNS = ("strict", "relaxed", "predicted", "gold")

_BITS = 40
_FIELD = (1 << _BITS) - 1
_STRICT, _RELAXED, _PREDICTED, _GOLD = (1 << _BITS * place for place, _ in enumerate(COLUMNS))

# Predicted units are hits and false positives, gold units hits and false negatives, relaxed hits are hits and pairs.
HIT = _STRICT + _RELAXED + _PREDICTED + _GOLD
FALSE_POSITIVE, FALSE_NEGATIVE, PAIR = _PREDICTED, _GOLD, _RELAXED


@lru_cache(maxsize=4096)
def unpack_counts(counts: int) -> Counts:
    """The four counts, in the order of the columns."""
    return counts & _FIELD, counts >> _BITS & _FIELD, counts >> 2 * _BITS & _FIELD, counts >> 3 * _BITS


ByRole = dict[str, int]  # packed counts
ByType = dict[str, ByRole]
SpansOf = dict[Unit, list[Span]]


class WrittenUnits(NamedTuple):
    """How the units of an answer and of gold were written, as far as the rule looks at it."""

    spans: tuple[SpansOf, SpansOf] = ({}, {})
    words: tuple[dict[Unit, str], dict[Unit, str]] = ({}, {})


UnitPair = tuple[Unit, Unit]  # a predicted and a gold unit that differ, put together by relaxed matching


class UnitMatches(NamedTuple):
    """All that strict and relaxed scoring need to know of a sample."""

    counts: ByType  # of each role
    pairs: list[UnitPair]  # relaxed matches that are no strict ones
    false_positives: list[Unit]
    false_negatives: list[Unit]


def match_units(predicted: Events, gold: Events, rule: RelaxedRule) -> UnitMatches:
    """Match the units of a sample, event type by event type."""
    matches = UnitMatches({}, [], [], [])
    written: WrittenUnits | None = None
    for event_type, ours in predicted.units.items():
        theirs = gold.units.get(event_type)
        if theirs == ours:
            matches.counts[event_type] = _hits(ours)
        elif theirs is None:
            _count_errors(matches.counts, matches.false_positives, FALSE_POSITIVE, event_type, ours)
        else:
            extra, missed = _match_exactly(matches, event_type, ours, theirs)
            # Only where both sides have something left can relaxed matching find more.
            if extra and missed and not missed.isdisjoint(extra):
                written = written or _written_units(predicted, gold, rule)
                by_role = matches.counts[event_type]
                for role, sides in _sides(event_type, ours, theirs, sorted(extra & missed)).items():
                    pairs = _pair_units(*sides, written, rule)
                    matches.pairs.extend([pair for pair in pairs if pair[0] != pair[1]])
                    by_role[role] += PAIR * (len(pairs) - (by_role[role] & _FIELD))
    for event_type, theirs in gold.units.items():
        if event_type not in predicted.units:
            _count_errors(matches.counts, matches.false_negatives, FALSE_NEGATIVE, event_type, theirs)
    for event_type, excess in (predicted.excess.by_role if predicted.excess is not None else {}).items():
        by_role = matches.counts.setdefault(event_type, {})
        for role, values in excess.items():
            by_role[role] = by_role.get(role, 0) + values * FALSE_POSITIVE
    return matches


def _match_exactly(
    matches: UnitMatches, event_type: str, ours: Collection[RoleArgument], theirs: Collection[RoleArgument]
) -> tuple[set[str], set[str]]:
    """Add the hits and errors of an event type; the roles that have an argument left, on either side."""
    counts, _, false_positives, false_negatives = matches
    by_role: ByRole = {}
    counts[event_type] = by_role
    extra: set[str] = set()
    missed: set[str] = set()
    for pair in ours:
        role = pair[0]
        if pair in theirs:
            by_role[role] = by_role.get(role, 0) + HIT
        else:
            by_role[role] = by_role.get(role, 0) + FALSE_POSITIVE
            extra.add(role)
            false_positives.append((event_type, *pair))
    for pair in theirs:
        if pair not in ours:
            role = pair[0]
            by_role[role] = by_role.get(role, 0) + FALSE_NEGATIVE
            missed.add(role)
            false_negatives.append((event_type, *pair))
    return extra, missed


def _hits(pairs: Iterable[RoleArgument]) -> ByRole:
    roles = [role for role, _ in pairs]
    counts = dict.fromkeys(roles, HIT)
    if len(counts) < len(roles):  # a role with several arguments
        counts = {role: times * HIT for role, times in Counter(roles).items()}
    return counts


def _count_errors(
    counts: ByType, errors: list[Unit], kind: int, event_type: str, pairs: Iterable[RoleArgument]
) -> None:
    """Add an event type that only one side has."""
    by_role = counts[event_type] = {}
    for role, argument in pairs:
        by_role[role] = by_role.get(role, 0) + kind
        errors.append((event_type, role, argument))


def _match_one(predicted: Unit, gold: Unit, written: WrittenUnits, rule: RelaxedRule) -> bool:
    """Whether the only arguments of a role match."""
    spans, words = written
    one, other = predicted[2], gold[2]
    if rule.uses_words:
        one, other = word_codes((words[0][predicted], words[1][gold]))
    return rule.fits(one, spans[0].get(predicted, ()), other, spans[1].get(gold, ()))


def _written_units(predicted: Events, gold: Events, rule: RelaxedRule) -> WrittenUnits:
    spans: tuple[SpansOf, SpansOf] = ({}, {})
    if rule.uses_spans:
        # One value at all offsets would match anything: where an answer has it at several, its text decides.
        single = {
            unit: places
            for unit, places in _offsets_by_unit(predicted).items()
            if len(places) == 1 or len({*places}) == 1
        }
        spans = (single, _offsets_by_unit(gold))
    return WrittenUnits(spans, (words_by_unit(predicted), words_by_unit(gold)) if rule.uses_words else ({}, {}))


def words_by_unit(events: Events) -> dict[Unit, str]:
    """The words of each unit; of several spellings those of the first in canonical order."""
    texts: dict[Unit, str] = {}
    for unit, text, _ in events.values():
        texts[unit] = min(text, texts.get(unit, text))
    return {unit: argument_words(text, unit[2]) for unit, text in texts.items()}


def _offsets_by_unit(events: Events) -> SpansOf:
    """The offsets at which each unit stands, of those that carry any."""
    spans: SpansOf = {}
    for event_type, roles, _, arguments, places in events.columns:
        if places is not None:
            for role, argument, place in zip(roles, arguments, places, strict=True):
                if place is not None and place != NO_SPAN:
                    spans.setdefault((event_type, role, argument), []).append(place)
    return spans


def _sides(
    event_type: str, ours: Iterable[RoleArgument], theirs: Iterable[RoleArgument], roles: list[str]
) -> dict[str, tuple[list[Unit], list[Unit]]]:
    """Role → its units on either side."""
    sides: dict[str, tuple[list[Unit], list[Unit]]] = {role: ([], []) for role in roles}
    for side, pairs in enumerate((ours, theirs)):
        for role, argument in pairs:
            if role in sides:
                sides[role][side].append((event_type, role, argument))
    return sides


def _pair_units(predicted: list[Unit], gold: list[Unit], written: WrittenUnits, rule: RelaxedRule) -> list[UnitPair]:
    """The best one-to-one matching of some units by their arguments, in which equal ones are pairs, too.

    How many are matched is the same for every order of the input; sorting makes the pairs themselves the same, too.
    """
    if len(predicted) == len(gold) == 1:
        return [(predicted[0], gold[0])] if _match_one(predicted[0], gold[0], written, rule) else []
    swapped = len(predicted) > len(gold)
    sides = [sorted(predicted), sorted(gold)]
    values = [*map(_values, sides, *written)]
    (lefts, rights), (left, right) = (sides[::-1], values[::-1]) if swapped else (sides, values)
    left_of = best_matching(left, right, rule, swapped=swapped)
    pairs = [(lefts[number], rights[at]) for at, number in left_of.items()]
    return [(b, a) for a, b in pairs] if swapped else pairs


def _values(units: list[Unit], spans: SpansOf, words: dict[Unit, str]) -> Values:
    return Values(
        [unit[2] for unit in units], [spans.get(unit, ()) for unit in units], [words[unit] for unit in units if words]
    )


class Mistake(StrEnum):
    """What went wrong with a unit."""

    BOUNDARY = "boundary"  # matched only under relaxed
    WRONG_ROLE = "wrong_role"  # same type and value, other role
    WRONG_TYPE = "wrong_type"  # same role and value, other type
    HALLUCINATED = "hallucinated"  # spurious and not in the text
    SPURIOUS = "spurious"
    MISSING = "missing"


# A mistake, its unit, whether that was predicted (a false positive; otherwise a false negative), and the unit of the
# other side that it is paired with: for boundary, wrong role and wrong type.
NamedMistake = tuple[Mistake, Unit, bool, Unit | None]

_BOUNDARY, _WRONG_ROLE, _WRONG_TYPE = Mistake.BOUNDARY, Mistake.WRONG_ROLE, Mistake.WRONG_TYPE
_HALLUCINATED, _SPURIOUS, _MISSING = Mistake.HALLUCINATED, Mistake.SPURIOUS, Mistake.MISSING


def name_mistakes(
    comparison: UnitMatches, unsupported: Collection[Unit], predicted: Events, gold: Events, rule: RelaxedRule
) -> list[NamedMistake]:
    """Name the errors of a sample: boundary first, then wrong role, wrong type, and what is left.

    A wrong role or type takes one error of each side, so that neither is blamed twice. Equal arguments come first, then
    those that the relaxed rule matches.
    """
    mistakes: list[NamedMistake] = []
    _, pairs, false_positives, false_negatives = comparison
    extra, missed = {*false_positives}, {*false_negatives}
    for ours, theirs in pairs:
        if ours in extra:  # one side of a rerouted pair may be an exact match
            extra.remove(ours)
            mistakes.append((_BOUNDARY, ours, True, theirs))
        if theirs in missed:
            missed.remove(theirs)
            mistakes.append((_BOUNDARY, theirs, False, ours))
    if extra and missed and not {unit[2] for unit in extra}.isdisjoint([unit[2] for unit in missed]):
        _pair_off(mistakes, extra, missed, _WRONG_ROLE, 0)
        _pair_off(mistakes, extra, missed, _WRONG_TYPE, 1)
    if extra and missed:
        _pair_alike(mistakes, extra, missed, (predicted, gold), rule)
    for unit in sorted(extra):
        mistakes.append((_HALLUCINATED if unit in unsupported else _SPURIOUS, unit, True, None))
    mistakes += [(_MISSING, unit, False, None) for unit in sorted(missed)]
    return mistakes


FEW_ERRORS = 64  # pairs up to here are looked at one by one before any is matched: most fit nothing
MAX_SPAN_PAIRS = 20_000  # of errors with one name in common; the rules for spans have no index


def _pair_alike(
    mistakes: list[NamedMistake], extra: set[Unit], missed: set[Unit], sides: tuple[Events, Events], rule: RelaxedRule
) -> None:
    """Take out the pairs of the best matching within each event type, then within each role."""
    written: WrittenUnits | None = None
    if len(extra) * len(missed) <= FEW_ERRORS:
        pairs = [(a, b) for a in extra for b in missed if (a[0] == b[0]) != (a[1] == b[1])]
        if not pairs:
            return
        written = _written_units(*sides, rule)
        if not any(_match_one(a, b, written, rule) for a, b in pairs):
            return
    written = written or _written_units(*sides, rule)
    for mistake, same in ((_WRONG_ROLE, 0), (_WRONG_TYPE, 1)):
        for ours, theirs in _errors_by_name(extra, missed, same):
            if rule.uses_spans and len(ours) * len(theirs) > MAX_SPAN_PAIRS:
                continue
            for unit, partner in _pair_units(ours, theirs, written, rule):
                extra.remove(unit)
                missed.remove(partner)
                mistakes += [(mistake, unit, True, partner), (mistake, partner, False, unit)]


def _errors_by_name(extra: set[Unit], missed: set[Unit], same: int) -> list[tuple[list[Unit], list[Unit]]]:
    """The errors of both sides with the same type (0) or role (1), where their roles or types are not all one: those
    that differ in nothing but the argument do not match."""
    names = {unit[same] for unit in extra}.intersection([unit[same] for unit in missed])
    groups: dict[str, tuple[list[Unit], list[Unit]]] = {name: ([], []) for name in sorted(names)}
    for side, units in enumerate((extra, missed)):
        for unit in units:
            if unit[same] in names:
                groups[unit[same]][side].append(unit)
    return [group for group in groups.values() if len({unit[1 - same] for side in group for unit in side}) > 1]


def _pair_off(mistakes: list[NamedMistake], extra: set[Unit], missed: set[Unit], mistake: Mistake, same: int) -> None:
    """Take out pairs, one error of each side, with the same argument and the same type (0) or role (1).

    In sorted order, so any input order will do.
    """
    partners: dict[tuple[str, str], list[Unit]] = {}
    for unit in sorted(missed, reverse=True):
        partners.setdefault((unit[same], unit[2]), []).append(unit)
    for unit in sorted(extra):
        waiting = partners.get((unit[same], unit[2]))
        if waiting:
            partner = waiting.pop()
            extra.remove(unit)
            missed.remove(partner)
            mistakes.append((mistake, unit, True, partner))
            mistakes.append((mistake, partner, False, unit))
