"""Strict, relaxed and type precision, recall and F1; what relaxed matching forgives; errors by name; confusions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

from goldgate.core.measure import Over, RatioMeasure, over, precision_recall_f1
from goldgate.core.metric import Metrics
from goldgate.core.sums import Counts, RatioForm
from goldgate.core.tally import TableKey, Tally
from goldgate.suites.extraction.events.event import Unit, Units
from goldgate.suites.extraction.events.match import COLUMNS, ByType, Mistake, UnitMatches, unpack_counts
from goldgate.suites.extraction.sample import Facts

TABLE = "matching"
_MOST_WRITTEN = 512  # parts of an event type that are kept as JSON: 40 MB at most in all


class MatchRates(RatioMeasure[Facts]):
    """Strict: TP = |P ∩ G| over sets of units with normalized arguments, summed over samples.
    Relaxed: TP = size of the largest matching within each (event type, role) under the protocol's rule.

    Every event type, and every role of it, has a table of its own: the breakdown reads them.
    """

    table = TABLE
    columns = COLUMNS
    known = frozenset({"gold"})
    parts = {"event type": "macro", "role": "macro_roles"}
    ratios = {**precision_recall_f1("strict_", "strict"), **precision_recall_f1("relaxed_", "relaxed")}

    def units(self, facts: Facts) -> Counts:
        return unpack_counts(sum([sum(by_role.values()) for by_role in facts.comparison.counts.values()]))

    def count(self, facts: Facts, tally: Tally) -> None:
        """What the sample, each event type and each role count, kept as it is: many samples together cost less."""
        now = tally.now
        if now.group is not None:
            self.count_plainly(facts, tally)
            return
        counts = facts.comparison.counts
        tally.keep(self.key, self.keep, counts)
        if now.counts is not None:
            now.counts[self.key] = self.units(facts)
            now.parts = PackedParts(counts)

    def keep(self) -> KeptCounts:
        return KeptCounts(self.forms)

    def count_plainly(self, facts: Facts, tally: Tally) -> None:
        """The same, sample by sample."""
        tally.add(self.key, self.forms, self.units(facts))
        types: dict[TableKey, Counts] = {}
        for event_type, by_role in facts.comparison.counts.items():
            if by_role:
                types[TABLE, event_type] = unpack_counts(sum(by_role.values()))
            for role, packed in by_role.items():
                tally.add((TABLE, event_type, role), self.forms, unpack_counts(packed))
        for key, counts in types.items():
            tally.add(key, self.forms, counts)
        tally.meet(types)


class KeptCounts:
    """What samples count in matching, everything that is alike once, with how often it was met."""

    __slots__ = ("_forms", "_roles", "_types")

    def __init__(self, forms: Mapping[str, RatioForm]) -> None:
        self._forms = forms
        self._types: dict[tuple[tuple[str, int], ...], int] = {}  # the types of a sample
        self._roles: dict[str, dict[tuple[str, int], int]] = {}  # of a type

    def add(self, counts: ByType) -> None:
        types = []
        for event_type, by_role in counts.items():
            if by_role:
                types.append((event_type, sum(by_role.values())))
                known = self._roles.get(event_type)
                if known is None:
                    known = self._roles[event_type] = {}
                for counted in by_role.items():
                    known[counted] = known.get(counted, 0) + 1
        together = (*types,)
        self._types[together] = self._types.get(together, 0) + 1

    def settle(self, tally: Tally) -> None:
        forms = self._forms
        for together, times in self._types.items():
            tally.add((TABLE,), forms, unpack_counts(sum([packed for _, packed in together])), times)
            types: dict[TableKey, Counts] = {
                (TABLE, event_type): unpack_counts(packed) for event_type, packed in together
            }
            for key, counts in types.items():
                tally.add(key, forms, counts, times)
            tally.meet(types, times)
        for event_type, found in self._roles.items():
            for (role, packed), times in found.items():
                tally.add((TABLE, event_type, role), forms, unpack_counts(packed), times)


class PackedParts:
    """What event types and their roles count in a sample: the parts of its record, sorted by name."""

    __slots__ = ("_counts",)

    def __init__(self, counts: ByType) -> None:
        self._counts = counts

    def get(self, key: TableKey) -> Counts | None:
        by_role = self._counts.get(key[1]) if key[0] == TABLE else None
        if not by_role:
            return None
        packed = sum(by_role.values()) if len(key) == 2 else by_role.get(key[2])
        return None if packed is None else unpack_counts(packed)

    def items(self) -> list[tuple[TableKey, Counts]]:
        """Every part, in order."""
        found: list[tuple[TableKey, Counts]] = []
        for event_type, by_role in sorted(self._counts.items()):
            if by_role:
                found.append(((TABLE, event_type), unpack_counts(sum(by_role.values()))))
                found += [
                    ((TABLE, event_type, role), unpack_counts(packed)) for role, packed in sorted(by_role.items())
                ]
        return found

    def json(self) -> bytes:
        """The same as JSON, a list without its brackets. There are few kinds of each part, and each is written once."""
        found: list[bytes] = []
        for event_type, by_role in sorted(self._counts.items()):
            if by_role:
                known = _written(event_type)
                if len(known) > _MOST_WRITTEN:
                    known.clear()
                for part in ((None, sum(by_role.values())), *sorted(by_role.items())):
                    written = known.get(part)
                    if written is None:
                        written = known[part] = _write(event_type, *part)
                    found.append(written)
        return b",".join(found)


@lru_cache(maxsize=256)
def _written(event_type: str) -> dict[tuple[str | None, int], bytes]:
    """What was written so far of an event type, by role and counts."""
    return {}


def _write(event_type: str, role: str | None, packed: int) -> bytes:
    key = (TABLE, event_type) if role is None else (TABLE, event_type, role)
    return orjson.dumps((key, unpack_counts(packed)))


class TypeRates(RatioMeasure[Facts]):
    """TP = |types(P) ∩ types(G)|, summed over samples."""

    table = "type"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    ratios = precision_recall_f1("type_", "hits")

    def units(self, facts: Facts) -> Counts:
        predicted, gold = facts.predicted.units, facts.sample.gold.events.units
        return len(predicted.keys() & gold.keys()), len(predicted), len(gold)


STUB = 3  # times as long is the gold argument that a stub is paired with, or longer

_NO_PAIRS = "no argument was matched"


class RelaxedExcess(RatioMeasure[Facts]):
    """Over all pairs of relaxed matching, with p and g the lengths of both normalized arguments:

    relaxed_excess = sum of max(p, g) / sum of g, and relaxed_shortfall = sum of max(0, g - p) / sum of g.
    Neither hides the other: values that are too short do not make up for those that are too long.
    stub_rate = stubs / predicted units, pair by pair: a few values cut to a letter do not change a mean.
    """

    section = "diagnostics"
    table = "length"
    columns = ("excess", "shortfall", "gold", "stubs", "predicted")
    ratios = {
        "relaxed_excess": Over({"gold": 1, "excess": 1}, {"gold": 1}, _NO_PAIRS, share=False),
        "relaxed_shortfall": over("shortfall", "gold", _NO_PAIRS),
        "stub_rate": over("stubs", "predicted", "nothing was predicted"),
    }

    def units(self, facts: Facts) -> Counts:
        _, pairs, false_positives, _ = facts.comparison
        # Hits are as long on both sides: all predicted units but the errors and the hits that were paired otherwise.
        arguments = [argument for pairs in facts.predicted.units.values() for _, argument in pairs]
        length = len("".join(arguments))
        length -= len("".join([argument for _, _, argument in false_positives]))
        excess = shortfall = 0
        extra = {*false_positives} if pairs else ()
        for unit, partner in pairs:
            predicted, gold = len(unit[2]), len(partner[2])
            length += gold if unit in extra else gold - predicted
            excess += max(0, predicted - gold)
            shortfall += max(0, gold - predicted)
        return excess, shortfall, length, count_stubs(facts.comparison), len(arguments)


def count_stubs(comparison: UnitMatches) -> int:
    """Predicted arguments, none of them equal to gold's, of which next to nothing is left.

    Paired or not, one character that is not a digit; and what is paired with an argument of `STUB` times its length.
    """
    extra = {*comparison.false_positives}
    if not extra:
        return 0
    stubs = {unit for unit in extra if len(unit[2]) == 1 and not unit[2].isdigit()}
    stubs.update([unit for unit, gold in comparison.pairs if unit in extra and STUB * len(unit[2]) <= len(gold[2])])
    return len(stubs)


MOST_PAIRS = 200  # of each kind in a report; a model can invent any number of types

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


def confusions(tally: Tally) -> dict[str, Any]:
    """The pairs of each kind, the most frequent first, then by name; and how many are left out."""
    counted = [*_confusion_counts(tally.counts)]
    found = {}
    for kind, keys in _CONFUSION_KEYS.items():
        pairs = sorted((-count, names) for names, count in counted if len(names) == len(keys))
        rest = pairs[MOST_PAIRS:]
        found[kind] = {
            "pairs": [{**dict(zip(keys, names, strict=True)), "count": -count} for count, names in pairs[:MOST_PAIRS]],
            "left_out": {"pairs": len(rest), "count": -sum(count for count, _ in rest)},
        }
    return found


def _confusion_counts(counts: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    for name, count in counts.items():
        if name.startswith(_CONFUSION_PREFIX) and count:
            yield json.loads(name.removeprefix(_CONFUSION_PREFIX)), count


# On the gold's side and on the answer's.
_ERROR_NAMES = tuple({mistake: f"mistake.{mistake}.{side}" for mistake in Mistake} for side in ("gold", "predicted"))


class ErrorCounts:
    """It has no metrics of its own; the report's `errors` and `confusions` are its counts."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        counts = tally.counts
        for mistake, unit, predicted, partner in facts.mistakes:
            counts[_ERROR_NAMES[predicted][mistake]] += 1
            if predicted and partner is not None:  # the other side of the pair is the same confusion
                name = confusion_name(mistake, unit, partner)
                if name is not None:
                    counts[name] += 1
        gold, said = facts.sample.gold.events.units, facts.predicted.units
        if gold.keys() != said.keys() and (name := bare_confusion_name(gold, said)) is not None:
            counts[name] += 1

    def metrics(self, tally: Tally) -> Metrics:
        return {}
