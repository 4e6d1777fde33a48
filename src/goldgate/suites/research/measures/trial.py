"""A trial: one run of one golden query; or trials that a query owes and has not, or a run that no query asked for."""

from __future__ import annotations

from typing import NamedTuple

from goldgate.core.measure import RatioMeasure
from goldgate.core.tally import Tally
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run.facts import RunFacts


class Trial(NamedTuple):
    """What measures count. At least one of query and run is there; `times` is for trials that are not."""

    query: Query | None
    run: RunFacts | None
    times: int = 1
    findings: tuple[str, ...] = ()  # the codes of what was found in the run, each once

    @property
    def evaluated(self) -> RunFacts | None:
        """The run, if it is there and not broken: only such a run can add to a numerator of ids or abstentions."""
        return self.run if self.run is not None and self.run.broken is None else None


class TrialMeasure(RatioMeasure[Trial]):
    """Counts trials; those that are not there are as many units as there should be."""

    def count(self, trial: Trial, tally: Tally) -> None:
        counts = self.units(trial)
        if counts is not None:
            tally.add(self.key, self.forms, counts, trial.times)
