"""How long matched values are against gold's: what relaxed matching forgives, made visible.

A value that contains gold's is a relaxed hit however long it is, so the whole text in every role
is one, too; and so is a single character of gold's. A model that quotes what was asked for has an
excess of about 1, a shortfall of about 0 and no stubs.
"""

from __future__ import annotations

from goldgate.core.measure import Over, RatioMeasure, over
from goldgate.core.sums import Counts
from goldgate.suites.extraction.events.match import Comparison
from goldgate.suites.extraction.sample import Facts

STUB = 3  # times as long is the gold argument that a stub is paired with, or longer

_NOTHING = "no argument was matched"


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
        "relaxed_excess": Over({"gold": 1, "excess": 1}, {"gold": 1}, _NOTHING, share=False),
        "relaxed_shortfall": over("shortfall", "gold", _NOTHING),
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


def count_stubs(comparison: Comparison) -> int:
    """Predicted arguments, none of them equal to gold's, of which next to nothing is left.

    Paired or not, one character that is not a digit; and what is paired with an argument of `STUB` times its length.
    """
    extra = {*comparison.false_positives}
    if not extra:
        return 0
    stubs = {unit for unit in extra if len(unit[2]) == 1 and not unit[2].isdigit()}
    stubs.update([unit for unit, gold in comparison.pairs if unit in extra and STUB * len(unit[2]) <= len(gold[2])])
    return len(stubs)
