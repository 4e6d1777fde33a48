"""A name for every false positive and every false negative, each named once.

The names add up: over both sides they are all FP and FN of strict scoring, and `boundary` is
twice the relaxed hits beyond the strict ones.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

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


# A mistake, its unit, whether that was predicted (a false positive; otherwise a false negative), and the unit of the
# other side that it is paired with: for boundary, wrong role and wrong type.
Named = tuple[Mistake, Unit, bool, Unit | None]

_BOUNDARY, _WRONG_ROLE, _WRONG_TYPE = Mistake.BOUNDARY, Mistake.WRONG_ROLE, Mistake.WRONG_TYPE
_HALLUCINATED, _SPURIOUS, _MISSING = Mistake.HALLUCINATED, Mistake.SPURIOUS, Mistake.MISSING


def name_mistakes(comparison: Comparison, unsupported: Collection[Unit]) -> list[Named]:
    """Name the errors of a sample: boundary first, then wrong role, wrong type, and what is left.

    A wrong role or type takes one error of each side, so that neither is blamed twice.
    """
    named: list[Named] = []
    _, pairs, false_positives, false_negatives = comparison
    extra, missed = {*false_positives}, {*false_negatives}
    for predicted, gold in pairs:
        if predicted in extra:  # one side of a rerouted pair may be an exact match
            extra.remove(predicted)
            named.append((_BOUNDARY, predicted, True, gold))
        if gold in missed:
            missed.remove(gold)
            named.append((_BOUNDARY, gold, False, predicted))
    if extra and missed and not {unit[2] for unit in extra}.isdisjoint([unit[2] for unit in missed]):
        _pair_off(named, extra, missed, _WRONG_ROLE, 0)
        _pair_off(named, extra, missed, _WRONG_TYPE, 1)
    for unit in sorted(extra):
        named.append((_HALLUCINATED if unit in unsupported else _SPURIOUS, unit, True, None))
    named += [(_MISSING, unit, False, None) for unit in sorted(missed)]
    return named


def _pair_off(named: list[Named], extra: set[Unit], missed: set[Unit], mistake: Mistake, same: int) -> None:
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
            named.append((mistake, unit, True, partner))
            named.append((mistake, partner, False, unit))
