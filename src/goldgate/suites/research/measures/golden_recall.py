"""Golden Recall: required ids that are in their run's ledger as valid records / required ids (eval-gates.md, 2)."""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial


class GoldenRecall:
    """Over every query and trial; a missing or broken trial finds none, and its ids stay in the denominator."""

    section = "main"

    def count(self, trial: Trial, tally: Tally) -> None:
        if trial.query is None:
            return
        tally.counts["required_ids"] += len(trial.query.required) * trial.times
        if trial.evaluated is not None:
            tally.counts["found_ids"] += trial.evaluated.found

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        return {"golden_recall": Rate(counts["found_ids"], counts["required_ids"], "no query requires an id")}
