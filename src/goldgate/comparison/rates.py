"""What can be compared: the rates of a suite, with the counts that each is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goldgate.core.measure import RatioMeasure
from goldgate.core.suite import Suite
from goldgate.core.sums import RatioForm


@dataclass(frozen=True, slots=True)
class ComparedRate:
    """A rate: the table of its counts, their names, and how it is made of them."""

    metric: str
    table: str
    columns: tuple[str, ...]
    form: RatioForm
    share: bool  # False: it may be above 1
    undefined: str  # why there is none, where there is nothing to divide by


def compared_rates(suite: Suite, settings: Any = None) -> dict[str, ComparedRate]:
    """The rates of a suite by name, the headline first. Plain counts are no rates: their shares are.

    `settings` are those that the results have their measures by; none: the defaults.
    """
    found = {}
    for measure in suite.measures(suite.settings() if settings is None else settings):
        if isinstance(measure, RatioMeasure):
            for name, ratio in measure.ratios.items():
                found[name] = ComparedRate(
                    name, measure.table, measure.columns, measure.forms[name], ratio.share, ratio.undefined
                )
    order = [*(name for name in suite.headline if name in found), *found]
    return {name: found[name] for name in dict.fromkeys(order)}


def compared_averages(suite: Suite) -> dict[str, ComparedRate]:
    """The macro averages of a suite over its first kind of parts, by name; the rate of each has its own name."""
    return {
        f"{name}_{ending}": ComparedRate(
            name, measure.table, measure.columns, measure.forms[name], True, ratio.undefined
        )
        for measure in suite.measures(suite.settings())
        if isinstance(measure, RatioMeasure)
        for ending in [*measure.parts.values()][:1]
        for name, ratio in measure.ratios.items()
        if ratio.share
    }


def columns_by_table(rates: Mapping[str, ComparedRate]) -> dict[str, int]:
    """How many counts each table has that the rates are made of."""
    return {rate.table: len(rate.columns) for rate in rates.values()}
