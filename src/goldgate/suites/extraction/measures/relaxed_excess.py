"""How long matched values are against gold's: what relaxed matching forgives, made visible.

A value that contains gold's is a relaxed hit however long it is, so the whole text in every role
is one, too; and so is a single character of gold's. A model that quotes what was asked for has an
excess of about 1 and a shortfall of about 0.
"""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate, Ratio
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts

_NOTHING = "no argument was matched"


class RelaxedExcess:
    """Over all pairs of relaxed matching, with p and g the lengths of both normalized arguments:

    relaxed_excess = sum of max(p, g) / sum of g, and relaxed_shortfall = sum of max(0, g - p) / sum of g.
    Neither hides the other: values that are too short do not make up for those that are too long.
    """

    section = "diagnostics"

    def count(self, facts: Facts, tally: Tally) -> None:
        comparison, counts = facts.comparison, tally.counts
        # Hits are as long on both sides: all predicted units but the errors and the hits that were paired otherwise.
        length = sum([len(argument) for pairs in facts.predicted.units.values() for _, argument in pairs])
        length -= sum([len(unit.argument) for unit in comparison.false_positives])
        if comparison.pairs:
            extra = set(comparison.false_positives)
            for pair in comparison.pairs:
                predicted, gold = len(pair.predicted.argument), len(pair.gold.argument)
                length += gold if pair.predicted in extra else gold - predicted
                counts["relaxed_excess_length"] += max(0, predicted - gold)
                counts["relaxed_shortfall_length"] += max(0, gold - predicted)
        counts["relaxed_gold_length"] += length

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        gold = counts["relaxed_gold_length"]
        return {
            "relaxed_excess": Ratio(gold + counts["relaxed_excess_length"], gold, _NOTHING),
            "relaxed_shortfall": Rate(counts["relaxed_shortfall_length"], gold, _NOTHING),
        }
