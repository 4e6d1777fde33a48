"""The measures of the extraction suite, in the order of the report. A new one is a file and a line here."""

from __future__ import annotations

from goldgate.core.suite import Measure
from goldgate.response.parsed import ParseRates
from goldgate.suites.extraction.measures.answers import HintCounts, SchemaCompliance
from goldgate.suites.extraction.measures.chain_of_thought import ThoughtRates
from goldgate.suites.extraction.measures.hallucination import Hallucination
from goldgate.suites.extraction.measures.matching import ErrorCounts, MatchedLengths, MatchRates, TypeRates
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings


def extraction_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """Every measure under these settings."""
    added: list[Measure[Facts]] = []
    if settings.profile is not None:
        from goldgate.suites.extraction.papers import profile_measures  # most protocols set none

        added = profile_measures(settings)
    return [
        MatchRates(),
        TypeRates(),
        ParseRates(),
        SchemaCompliance(),
        Hallucination(),
        MatchedLengths(),
        ErrorCounts(),
        HintCounts(settings.response),
        ThoughtRates(settings.cot),
        *added,
    ]
