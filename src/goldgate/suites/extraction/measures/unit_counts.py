"""Units predicted, gold and matched, from the rows of a tally: overall, per event type, per role."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import cast

from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.match import FALSE_NEGATIVE, FALSE_POSITIVE, HIT, PAIR, Row


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """The four numbers behind strict and relaxed precision, recall and F1."""

    predicted: int
    gold: int
    strict: int
    relaxed: int


def unit_counts(tally: Tally) -> UnitCounts:
    """The counts over all event types and roles."""
    return unit_counts_by(tally, 0).get((), UnitCounts(0, 0, 0, 0))


def unit_counts_by(tally: Tally, names: int) -> dict[tuple[str, ...], UnitCounts]:
    """The counts per event type (`names` 1) or per event type and role (2), sorted by name."""
    sums: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row, times in tally.rows.items():
        kind, *key = cast(Row, row)
        sums[tuple(key[:names])][kind] += times
    return {
        key: UnitCounts(
            predicted=found[HIT] + found[FALSE_POSITIVE],
            gold=found[HIT] + found[FALSE_NEGATIVE],
            strict=found[HIT],
            relaxed=found[HIT] + found[PAIR],
        )
        for key, found in sorted(sums.items())
    }
