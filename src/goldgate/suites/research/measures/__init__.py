"""The measures of the research suite, in the order of the report. A new one is a file and a line here."""

from __future__ import annotations

from typing import Protocol

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.abstention import Abstention
from goldgate.suites.research.measures.companions import Companions
from goldgate.suites.research.measures.evidence_coverage import EvidenceCoverage
from goldgate.suites.research.measures.golden_recall import GoldenRecall
from goldgate.suites.research.measures.manifest_integrity import ManifestIntegrity
from goldgate.suites.research.measures.trial import Trial


class Measure(Protocol):
    """Adds a trial's counts to a tally, and makes metrics of the sum."""

    section: str  # main or companions

    def count(self, trial: Trial, tally: Tally) -> None: ...

    def metrics(self, tally: Tally) -> Metrics: ...


MEASURES: tuple[Measure, ...] = (
    EvidenceCoverage(),
    GoldenRecall(),
    Abstention(),
    ManifestIntegrity(),
    Companions(),
)


def known_metrics() -> frozenset[str]:
    """The names that gates may use."""
    empty = Tally()
    return frozenset(name for measure in MEASURES for name in measure.metrics(empty))
