"""Manifest Integrity: steps with exactly one context manifest / steps (eval-gates.md, 4)."""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial


class ManifestIntegrity:
    """Steps are those that logs and outputs show, and the gaps; a broken run's steps count like any other's."""

    section = "main"

    def __init__(self, *, kept: bool = True) -> None:
        self.kept = kept

    def count(self, trial: Trial, tally: Tally) -> None:
        if trial.run is None:
            return
        tally.counts["steps"] += trial.run.steps
        tally.counts["steps_with_manifest"] += trial.run.with_manifest
        tally.counts["torn_logs"] += trial.run.torn

    def metrics(self, tally: Tally) -> Metrics:
        if not self.kept:
            return {"manifest_integrity": Rate(0, 0, "research.manifests is not_kept: this agent keeps none")}
        counts = tally.counts
        return {"manifest_integrity": Rate(counts["steps_with_manifest"], counts["steps"], "no run has a step")}
