"""Golden Recall: required ids that are in their run's ledger as valid records / required ids (eval-gates.md, 2)."""

from __future__ import annotations

from goldgate.core.measure import over
from goldgate.core.sums import Counts
from goldgate.suites.research.measures.trial import Trial, TrialMeasure


class GoldenRecall(TrialMeasure):
    """Over every query and trial; a missing or broken trial finds none, and its ids stay in the denominator."""

    table = "ids"
    columns = ("found", "required")
    ratios = {"golden_recall": over("found", "required", "no query requires an id")}

    def units(self, trial: Trial) -> Counts | None:
        if trial.query is None:
            return None
        return trial.evaluated.found if trial.evaluated is not None else 0, len(trial.query.required)
