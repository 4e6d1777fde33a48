"""Evidence Coverage Rate: verified claims that a valid evidence record covers / verified claims (eval-gates.md, 1)."""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial


class EvidenceCoverage:
    """A broken run's claims stay in the denominator and are never covered; where none can be read, it has one."""

    section = "main"

    def count(self, trial: Trial, tally: Tally) -> None:
        if trial.run is None:
            return
        tally.counts["verified_claims"] += trial.run.verified
        if trial.evaluated is not None:
            tally.counts["covered_claims"] += trial.run.covered

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        return {
            "evidence_coverage_rate": Rate(
                counts["covered_claims"], counts["verified_claims"], "no run has a verified claim"
            )
        }
