"""Abstention Accuracy: runs that stop with NO_EVIDENCE and verify nothing / runs of insufficient queries (3)."""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial
from goldgate.suites.research.run.suspicion import ABSTAINED


class Abstention:
    """Over trials of queries without sufficient evidence. Running out of budget is no abstention."""

    section = "main"

    def count(self, trial: Trial, tally: Tally) -> None:
        if trial.query is None or trial.query.sufficient:
            return
        tally.counts["insufficient_trials"] += trial.times
        run = trial.evaluated
        if run is not None and run.stop_reason == ABSTAINED and not run.verified:
            tally.counts["right_abstentions"] += 1

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        return {
            "abstention_accuracy": Rate(
                counts["right_abstentions"],
                counts["insufficient_trials"],
                "no query is labeled as evidence-insufficient",
            )
        }
