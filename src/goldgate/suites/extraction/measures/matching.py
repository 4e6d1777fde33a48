"""Strict, relaxed and type precision, recall and F1; what relaxed matching forgives; errors by name; confusions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from goldgate.core.measure import NO_TOTALS, ColumnRatio, RatioMeasure, count_names, over, precision_recall_f1
from goldgate.core.metric import Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.suites.extraction.events.event import Unit, Units
from goldgate.suites.extraction.events.match import COLUMNS, Mistake, UnitPair, unpack_counts
from goldgate.suites.extraction.sample import Facts

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import Confusions

TABLE = "matching"


class MatchRates(RatioMeasure[Facts]):
    """Strict: TP = |P ∩ G| over sets of units with normalized arguments, summed over samples.
    Relaxed: TP = size of the largest matching within each (event type, role) under the protocol's rule.

    Every event type, and every role of it, has a table of its own: the breakdown reads them.
    """

    table = TABLE
    columns = COLUMNS
    fixed = frozenset({"gold"})
    parts = {"event type": "macro", "role": "macro_roles"}
    ratios = {**precision_recall_f1("strict_", "strict"), **precision_recall_f1("relaxed_", "relaxed")}

    def row(self, facts: Facts) -> Counts:
        return unpack_counts(sum([sum(by_role.values()) for by_role in facts.comparison.counts.values()]))

    def count(self, facts: Facts) -> UnitCounts:
        unit: UnitCounts = {}
        whole = 0
        for event_type, by_role in facts.comparison.counts.items():
            if by_role:
                for role, packed in by_role.items():
                    unit[TABLE, event_type, role] = unpack_counts(packed)
                together = sum(by_role.values())
                unit[TABLE, event_type] = unpack_counts(together)
                whole += together
        unit[self.key] = unpack_counts(whole)
        return unit


class TypeRates(RatioMeasure[Facts]):
    """TP = |types(P) ∩ types(G)|, summed over samples."""

    table = "type"
    columns = ("hits", "predicted", "gold")
    fixed = frozenset({"gold"})
    ratios = precision_recall_f1("type_", "hits")

    def row(self, facts: Facts) -> Counts:
        predicted, gold = facts.predicted.units, facts.sample.gold.events.units
        return len(predicted.keys() & gold.keys()), len(predicted), len(gold)


STUB = 3  # times as long is the gold argument that a stub is paired with, or longer

_NO_PAIRS = "no argument was matched"


class MatchedLengths(RatioMeasure[Facts]):
    """Over all pairs of relaxed matching, with p and g the lengths of both normalized arguments:

    relaxed_excess = sum of max(p, g) / sum of g, and relaxed_shortfall = sum of max(0, g - p) / sum of g.
    Neither hides the other: values that are too short do not make up for those that are too long.
    stub_rate = stubs / predicted units, pair by pair: a few values cut to a letter do not change a mean.
    """

    section = "diagnostics"
    table = "length"
    columns = ("excess", "shortfall", "gold", "stubs", "predicted")
    ratios = {
        "relaxed_excess": ColumnRatio({"gold": 1, "excess": 1}, {"gold": 1}, _NO_PAIRS, share=False),
        "relaxed_shortfall": over("shortfall", "gold", _NO_PAIRS),
        "stub_rate": over("stubs", "predicted", "nothing was predicted"),
    }

    def row(self, facts: Facts) -> Counts:
        _, pairs, false_positives, _ = facts.comparison
        # Hits are as long on both sides: all predicted units but the errors and the hits that were paired otherwise.
        arguments = [argument for pairs in facts.predicted.units.values() for _, argument in pairs]
        length = len("".join(arguments))
        length -= len("".join([argument for _, _, argument in false_positives]))
        excess = shortfall = 0
        extra = {*false_positives}
        for unit, partner in pairs:
            predicted, gold = len(unit[2]), len(partner[2])
            length += gold if unit in extra else gold - predicted
            excess += max(0, predicted - gold)
            shortfall += max(0, gold - predicted)
        return excess, shortfall, length, _count_stubs(extra, pairs) if extra else 0, len(arguments)


def _count_stubs(extra: set[Unit], pairs: list[UnitPair]) -> int:
    """Predicted arguments, none of them equal to gold's, of which next to nothing is left.

    Paired or not, one character that is not a digit; and what is paired with an argument of `STUB` times its length.
    """
    stubs = {unit for unit in extra if len(unit[2]) == 1 and not unit[2].isdigit()}
    stubs.update([unit for unit, gold in pairs if unit in extra and STUB * len(unit[2]) <= len(gold[2])])
    return len(stubs)


MAX_PAIRS = 200  # confusions of each kind in a report; a model can invent any number of types

_CONFUSION_PREFIX = "confused."
_CONFUSION_KEYS = {"event_types": ("gold", "predicted"), "roles": ("event_type", "gold", "predicted")}


def confusion_name(mistake: Mistake, predicted: Unit, gold: Unit) -> str | None:
    """The name under which a tally counts the pair; None for errors that confuse no names."""
    if mistake == Mistake.WRONG_TYPE:
        return _count_name(gold[0], predicted[0])
    if mistake == Mistake.WRONG_ROLE:
        return _count_name(gold[0], gold[1], predicted[1])
    return None


@lru_cache(maxsize=4096)  # the same few names are confused again and again
def _count_name(*names: str) -> str:
    return _CONFUSION_PREFIX + json.dumps(names)


def bare_confusion_name(gold: Units, predicted: Units) -> str | None:
    """The same for event types without arguments, which no error names: one is missing, and one is there instead."""
    missing = [name for name, pairs in gold.items() if not pairs and name not in predicted]
    extra = [name for name, pairs in predicted.items() if not pairs and name not in gold]
    return _CONFUSION_PREFIX + json.dumps([missing[0], extra[0]]) if len(missing) == len(extra) == 1 else None


def confusions(tally: Tally) -> Confusions:
    """The pairs of each kind, the most frequent first, then by name; and how many are left out."""
    counted = [*_confusion_counts(tally.counts)]
    kinds = {}
    for kind, keys in _CONFUSION_KEYS.items():
        pairs = sorted((-count, names) for names, count in counted if len(names) == len(keys))
        rest = pairs[MAX_PAIRS:]
        kinds[kind] = {
            "pairs": [{**dict(zip(keys, names, strict=True)), "count": -count} for count, names in pairs[:MAX_PAIRS]],
            "left_out": {"pairs": len(rest), "count": -sum(count for count, _ in rest)},
        }
    return cast("Confusions", kinds)


def _confusion_counts(counts: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    for name, count in counts.items():
        if name.startswith(_CONFUSION_PREFIX) and count:
            yield json.loads(name.removeprefix(_CONFUSION_PREFIX)), count


# On the gold's side and on the answer's.
_ERROR_NAMES = tuple({mistake: f"mistake.{mistake}.{side}" for mistake in Mistake} for side in ("gold", "predicted"))


class ErrorCounts:
    """It has no metrics of its own; the report's `errors` and `confusions` are its counts."""

    section = "main"

    def count(self, facts: Facts) -> UnitCounts:
        return {}

    def totals(self, facts: Facts) -> Mapping[str, int]:
        gold, answer = facts.sample.gold.events.units, facts.predicted.units
        if not facts.mistakes and gold.keys() == answer.keys():
            return NO_TOTALS
        names: list[str | None] = []
        for mistake, unit, predicted, partner in facts.mistakes:
            names.append(_ERROR_NAMES[predicted][mistake])
            if predicted and partner is not None:  # the other side of the pair is the same confusion
                names.append(confusion_name(mistake, unit, partner))
        if gold.keys() != answer.keys():
            names.append(bare_confusion_name(gold, answer))
        return count_names(names)

    def metrics(self, tally: Tally) -> Metrics:
        return {}
