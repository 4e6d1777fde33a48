"""The measures of the research suite, in the order of the report. A new one is a file and a line here."""

from __future__ import annotations

from goldgate.core.suite import Measure
from goldgate.suites.research.measures.abstention import Abstention
from goldgate.suites.research.measures.companions import Companions
from goldgate.suites.research.measures.evidence_coverage import EvidenceCoverage
from goldgate.suites.research.measures.golden_recall import GoldenRecall
from goldgate.suites.research.measures.manifest_integrity import ManifestIntegrity
from goldgate.suites.research.measures.trial import Trial
from goldgate.suites.research.settings import ResearchSettings


def all_measures(settings: ResearchSettings) -> list[Measure[Trial]]:
    """Every measure under these settings."""
    return [
        EvidenceCoverage(),
        GoldenRecall(),
        Abstention(),
        ManifestIntegrity(kept=settings.manifests == "required"),
        Companions(),
    ]
