"""Evidence Coverage Rate: verified claims that a valid evidence record covers / verified claims (eval-gates.md, 1)."""

from __future__ import annotations

from goldgate.core.measure import over
from goldgate.core.sums import Counts
from goldgate.suites.research.measures.trial import Trial, TrialMeasure


class EvidenceCoverage(TrialMeasure):
    """A broken run's claims stay in the denominator and are never covered; where none can be read, it has one."""

    table = "claims"
    columns = ("covered", "verified")
    ratios = {"evidence_coverage_rate": over("covered", "verified", "no run has a verified claim")}

    def units(self, trial: Trial) -> Counts | None:
        if trial.run is None:
            return None
        return trial.run.covered if trial.evaluated is not None else 0, trial.run.verified
