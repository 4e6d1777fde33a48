"""A trial: one run of one golden query; or trials that a query owes and has not, or a run that no query asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Metrics
from goldgate.core.suite import Measure
from goldgate.core.tally import Tally
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run.facts import RunFacts


class Trial(NamedTuple):
    """What measures count. At least one of query and run is there; `times` is for trials that are not.

    Copies of a run are one unit with it, so that they never narrow an interval. `readings` says how often the unit
    counts with copies merged and with every copy counted, and `counted` which metrics are taken in the second way.
    """

    query: Query | None
    run: RunFacts | None
    times: int = 1
    findings: tuple[str, ...] = ()  # the codes of what was found in the run, each once
    readings: tuple[int, int] = (1, 1)
    counted: frozenset[str] = frozenset()

    @property
    def evaluated(self) -> RunFacts | None:
        """The run, if it is there and not broken: only such a run can add to a numerator of ids or abstentions."""
        return self.run if self.run is not None and self.run.broken is None else None

    def weight(self, metric: str) -> int:
        """How often the trial counts in a metric."""
        return self.readings[metric in self.counted]


class TrialMeasure(RatioMeasure[Trial]):
    """Counts trials; those that are not there are as many units as there should be."""

    def count(self, trial: Trial, tally: Tally) -> None:
        counts = self.units(trial)
        if counts is None:
            return
        if trial.readings != (1, 1):
            metrics = zip(counts, self._metric_of_column, strict=True)
            counts = tuple([count * trial.weight(metric) for count, metric in metrics])
        tally.add(self.key, self.forms, counts, trial.times)

    @cached_property
    def _metric_of_column(self) -> list[str]:
        """The metric that each column is counted for: no two share one."""
        owners = {column: name for name, ratio in self.ratios.items() for column in ratio.numerator}
        owners |= {column: name for name, ratio in self.ratios.items() for column in ratio.denominator}
        return [owners[column] for column in self.columns]


def metrics_of(trials: Iterable[Trial], measures: Sequence[Measure[Trial]]) -> Metrics:
    """Every metric over these trials."""
    tally = Tally()
    for trial in trials:
        for measure in measures:
            measure.count(trial, tally)
    return {name: metric for measure in measures for name, metric in measure.metrics(tally).items()}
