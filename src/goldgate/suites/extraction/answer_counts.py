"""What an answer about a document counts, one by one: the numbers that a report sums up."""

from __future__ import annotations

from collections.abc import Iterator

from goldgate.core.measure import RatioMeasure
from goldgate.core.sums import Counts
from goldgate.suites.extraction.documents import Documents
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.sample import Sample
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings


class AnswerCounts:
    """Counts by table, for the document at a position of the gold. No answer is None."""

    def __init__(self, documents: Documents, settings: ExtractionSettings, schema: EventSchema) -> None:
        self.documents = documents
        self.scorer = Scorer(settings, schema)
        self._measures = [measure for measure in self.scorer.measures if isinstance(measure, RatioMeasure)]

    def __call__(self, position: int, response: str | None) -> dict[str, Counts | None]:
        facts = self.scorer.facts(Sample(self.documents.gold(position), response))
        return {measure.table: measure.units(facts) for measure in self._measures}

    def unanswered(self) -> Iterator[dict[str, Counts | None]]:
        """Of every document, where nothing is answered."""
        return (self(position, None) for position in range(len(self.documents)))
