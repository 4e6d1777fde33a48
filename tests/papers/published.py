"""What was published, written again in a few lines: to hold goldgate's profiles against on random data.

`textee` follows TextEE's `scorer.py`, end to end: sets over the whole corpus, and an assertion where the two files do
not have the same windows in the same order. `doc2edag` follows `dee_metric.py`: tables of records with one value, or
None, for every role of the event type, and a greedy assignment that depends on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Triple = tuple[int, int, int]
Cell = str | None
Row = tuple[Cell, ...]

KEYS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "ti": lambda e, _: (*e["trigger"][:2],),
    "tc": lambda e, _: (*e["trigger"][:3],),
    "ai": lambda e, a: (e["trigger"][2], *a[:2]),
    "ac": lambda e, a: (e["trigger"][2], *a[:3]),
    "ai_plus": lambda e, a: (*e["trigger"][:3], *a[:2]),
    "ac_plus": lambda e, a: (*e["trigger"][:3], *a[:3]),
}


def textee(predictions: Sequence[dict[str, Any]], golds: Sequence[dict[str, Any]]) -> dict[str, Triple]:
    """Matched, predicted and gold of each family."""
    assert [_window(each) for each in predictions] == [_window(each) for each in golds]
    scores = {}
    for family in KEYS:
        ours, theirs = ({key for each in side for key in _keys(each, family)} for side in (predictions, golds))
        scores[family] = (len(ours & theirs), len(ours), len(theirs))
    return scores


def _window(instance: dict[str, Any]) -> tuple[str, str]:
    return instance["doc_id"], instance["wnd_id"]


def _keys(instance: dict[str, Any], family: str) -> list[tuple[Any, ...]]:
    made, arguments_too = KEYS[family], not family.startswith("t")
    return [
        (*_window(instance), *made(event, argument))
        for event in instance["events"]
        for argument in (event["arguments"] if arguments_too else [None])
    ]


def doc2edag(predicted: Sequence[Row] | None, gold: Sequence[Row] | None) -> Triple:
    """True positives, false positives and false negatives of one event type in one document."""
    rows = [*(predicted or []), *(gold or [])]
    by_role = doc2edag_roles(predicted or [], gold or [], len(rows[0]) if rows else 0)
    tp, fp, fn = (sum(counts[place] for counts in by_role) for place in range(3))
    return tp, fp, fn


def doc2edag_roles(predicted: Sequence[Row], gold: Sequence[Row], roles: int) -> list[list[int]]:
    """The same of each role."""
    counts = [[0, 0, 0] for _ in range(roles)]
    waiting = sorted(predicted, key=lambda row: sum(cell is not None for cell in row), reverse=True)
    unmatched = list(gold)
    while waiting and unmatched:
        row = waiting.pop(0)
        likeness = [sum(a == b for a, b in zip(row, other, strict=True)) for other in unmatched]
        partner = unmatched.pop(likeness.index(max(likeness)))
        for role, (ours, theirs) in enumerate(zip(row, partner, strict=True)):
            counts[role][0] += ours is not None and ours == theirs
            counts[role][1] += ours is not None and ours != theirs
            counts[role][2] += theirs is not None and ours != theirs
    for rows, place in ((waiting, 1), (unmatched, 2)):
        for row in rows:
            for role, cell in enumerate(row):
                counts[role][place] += cell is not None
    return counts


def duee_fin(predicted: Sequence[set[tuple[str, str]]], gold: Sequence[set[tuple[str, str]]]) -> int:
    """Arguments that are right, of one event type in one document: the (role, argument) pairs of each event."""
    free, correct = list(predicted), 0
    for wanted in gold:
        if not free:
            break
        found = max(free, key=lambda event: len(event & wanted))  # `max` keeps the first of equals
        if found & wanted:
            correct += len(found & wanted)
            free.remove(found)
    return correct
