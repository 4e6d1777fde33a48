"""Abstention Accuracy: runs that stop with NO_EVIDENCE and verify nothing / runs of insufficient queries (3)."""

from __future__ import annotations

from goldgate.core.measure import over
from goldgate.core.sums import Counts
from goldgate.suites.research.measures.trial import Trial, TrialMeasure
from goldgate.suites.research.run.suspicion import ABSTAINED


class Abstention(TrialMeasure):
    """Over trials of queries without sufficient evidence. Running out of budget is no abstention."""

    table = "abstention"
    columns = ("right", "asked")
    ratios = {"abstention_accuracy": over("right", "asked", "no query is labeled as evidence-insufficient")}

    def units(self, trial: Trial) -> Counts | None:
        if trial.query is None or trial.query.sufficient:
            return None
        run = trial.evaluated
        return int(run is not None and run.stop_reason == ABSTAINED and not run.verified), 1
