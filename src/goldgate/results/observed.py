"""How the difference of two stored systems spreads over the units that both have."""

from __future__ import annotations

from math import sqrt

from goldgate.comparison.alike import require_alike
from goldgate.comparison.joint_units import join_results
from goldgate.comparison.load import load_run
from goldgate.comparison.rates import columns_by_table, compared_rates
from goldgate.errors import InputError, Place
from goldgate.results.power import Observed, Spread
from goldgate.stats.paired import PairedSums, paired_sums
from goldgate.stats.several import Runs


def observed_spread(folder: str, other: str) -> Observed:
    """Of every rate, over the pairs of both results; what was not scored alike is refused, as in a comparison."""
    runs = [load_run(folder), load_run(other)]
    require_alike(runs)
    suite = runs[0].suite
    rates = compared_rates(suite, runs[0].measured_by)
    joined = join_results(runs, columns_by_table(rates), next(iter(rates.values())).table)
    if not joined.units:
        raise InputError("power.nothing_in_common", "the two results have no unit in common", place=Place(other))
    spreads = {}
    for name, rate in rates.items():
        pairs = joined.pairs((rate.table,), rate.form)
        spreads[name] = _spread(paired_sums({_four(pair): times for pair, times in pairs.items()}))
    unit = "group" if joined.is_grouped else suite.pairing.unit or suite.unit
    return Observed(spreads, unit, joined.units)


def _four(pair: Runs) -> tuple[int, int, int, int]:
    (a1, b1), (a2, b2) = pair
    return a1, b1, a2, b2


def _spread(sums: PairedSums) -> Spread | str:
    variance, one, two = sums.variance, sums.first.variance, sums.second.variance
    if variance is None:
        return "one of the two rates has less than two units, or nothing to divide by"
    if variance == 0:
        return "the two systems differ alike in every unit, so they show no spread to plan with"
    together = None
    if one and two:
        together = float(one + two - variance) / (2 * sqrt(one * two))
    return Spread(sqrt(variance), sums.units, together)
