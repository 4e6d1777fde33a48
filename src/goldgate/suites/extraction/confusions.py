"""Who is confused with whom: pairs of event types, and of roles within a type, that were taken for each other.

They are the errors wrong_type and wrong_role, each of which has a gold unit that the prediction was meant to be; and
types without arguments, where a sample lacks one and has one other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.event import Unit, Units
from goldgate.suites.extraction.events.mistakes import Mistake

MOST_PAIRS = 200  # of each kind in a report; a model can invent any number of types

_COUNT = "confused."
_KINDS = {"event_types": ("gold", "predicted"), "roles": ("event_type", "gold", "predicted")}


def confusion(mistake: Mistake, predicted: Unit, gold: Unit) -> str | None:
    """The name under which a tally counts the pair; None for errors that confuse no names."""
    if mistake == Mistake.WRONG_TYPE:
        return _counted_as(gold[0], predicted[0])
    if mistake == Mistake.WRONG_ROLE:
        return _counted_as(gold[0], gold[1], predicted[1])
    return None


@lru_cache(maxsize=4096)  # the same few names are confused again and again
def _counted_as(*names: str) -> str:
    return _COUNT + json.dumps(names)


def bare_confusion(gold: Units, predicted: Units) -> str | None:
    """The same for event types without arguments, which no error names: one is missing, and one is there instead."""
    missing = [name for name, pairs in gold.items() if not pairs and name not in predicted]
    extra = [name for name, pairs in predicted.items() if not pairs and name not in gold]
    return _COUNT + json.dumps([missing[0], extra[0]]) if len(missing) == len(extra) == 1 else None


def confusions(tally: Tally) -> dict[str, Any]:
    """The pairs of each kind, the most frequent first, then by name; and how many are left out."""
    counted = [*_counted(tally.counts)]
    found = {}
    for kind, keys in _KINDS.items():
        pairs = sorted((-count, names) for names, count in counted if len(names) == len(keys))
        rest = pairs[MOST_PAIRS:]
        found[kind] = {
            "pairs": [{**dict(zip(keys, names, strict=True)), "count": -count} for count, names in pairs[:MOST_PAIRS]],
            "left_out": {"pairs": len(rest), "count": -sum(count for count, _ in rest)},
        }
    return found


def _counted(counts: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    for name, count in counts.items():
        if name.startswith(_COUNT) and count:
            yield json.loads(name.removeprefix(_COUNT)), count
