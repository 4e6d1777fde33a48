"""Manifest Integrity: steps with exactly one context manifest / steps (eval-gates.md, 4)."""

from __future__ import annotations

from goldgate.core.measure import over
from goldgate.core.metric import Metrics, Rate
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial, TrialMeasure

_NOT_KEPT = "research.manifests is not_kept: this agent keeps none"


class ManifestIntegrity(TrialMeasure):
    """Steps are those that logs and outputs show, and the gaps; a broken run's steps count like any other's."""

    table = "steps"
    columns = ("with_manifest", "steps")
    ratios = {"manifest_integrity": over("with_manifest", "steps", "no run has a step")}

    def __init__(self, *, kept: bool = True) -> None:
        self.kept = kept

    def units(self, trial: Trial) -> Counts | None:
        return None if trial.run is None else (trial.run.with_manifest, trial.run.steps)

    def count(self, trial: Trial, tally: Tally) -> None:
        super().count(trial, tally)
        if trial.run is not None:
            tally.counts["torn_logs"] += trial.run.torn

    def metrics(self, tally: Tally) -> Metrics:
        return super().metrics(tally) if self.kept else {"manifest_integrity": Rate(0, 0, _NOT_KEPT)}
