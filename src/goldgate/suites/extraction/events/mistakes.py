"""A name for every false positive and every false negative, each named once.

The names add up: over both sides they are all FP and FN of strict scoring, and `boundary` is
twice the relaxed hits beyond the strict ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from goldgate.suites.extraction.events.event import Unit
from goldgate.suites.extraction.events.match import Comparison


class Mistake(StrEnum):
    """What went wrong with a unit."""

    BOUNDARY = "boundary"  # matched only under relaxed
    WRONG_ROLE = "wrong_role"  # same type and value, other role
    WRONG_TYPE = "wrong_type"  # same role and value, other type
    HALLUCINATED = "hallucinated"  # spurious and not in the text
    SPURIOUS = "spurious"
    MISSING = "missing"


class Named(NamedTuple):
    """A mistake, its unit, on which side it stands, and the unit of the other side that it is paired with."""

    mistake: Mistake
    unit: Unit
    predicted: bool  # a false positive; otherwise a false negative
    partner: Unit | None = None  # for boundary, wrong role and wrong type


def name_mistakes(comparison: Comparison, is_unsupported: Callable[[Unit], bool]) -> list[Named]:
    """Name the errors of a sample: boundary first, then wrong role, wrong type, and what is left.

    A wrong role or type takes one error of each side, so that neither is blamed twice.
    """
    if not comparison.false_positives and not comparison.false_negatives:
        return []
    named: list[Named] = []
    extra, missed = set(comparison.false_positives), set(comparison.false_negatives)
    for pair in comparison.pairs:
        sides = (pair.predicted, pair.gold, extra, True), (pair.gold, pair.predicted, missed, False)
        for unit, partner, errors, predicted in sides:
            if unit in errors:  # the other side of a rerouted pair may be an exact match
                errors.remove(unit)
                named.append(Named(Mistake.BOUNDARY, unit, predicted, partner))
    if not {argument for _, _, argument in extra}.isdisjoint([argument for _, _, argument in missed]):
        named += _pair_off(extra, missed, Mistake.WRONG_ROLE, lambda unit: (unit.event_type, unit.argument))
        named += _pair_off(extra, missed, Mistake.WRONG_TYPE, lambda unit: (unit.role, unit.argument))
    for unit in sorted(extra):
        mistake = Mistake.HALLUCINATED if is_unsupported(unit) else Mistake.SPURIOUS
        named.append(Named(mistake, unit, True))
    named += [Named(Mistake.MISSING, unit, False) for unit in sorted(missed)]
    return named


def _pair_off(
    extra: set[Unit], missed: set[Unit], mistake: Mistake, same: Callable[[Unit], tuple[str, str]]
) -> list[Named]:
    """Take out pairs, one error of each side, that agree in `same`; in sorted order, so any input order will do."""
    if not extra or not missed:
        return []
    partners: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in sorted(missed, reverse=True):
        partners[same(unit)].append(unit)
    named: list[Named] = []
    for unit in sorted(extra):
        waiting = partners.get(same(unit))
        if waiting:
            partner = waiting.pop()
            extra.remove(unit)
            missed.remove(partner)
            named += (Named(mistake, unit, True, partner), Named(mistake, partner, False, unit))
    return named
