"""The measures of the extraction suite, in the order of the report. A new one is a file and a line here."""

from __future__ import annotations

from goldgate.core.suite import Measure
from goldgate.suites.extraction.measures.event_type import EventType
from goldgate.suites.extraction.measures.hallucination import Hallucination
from goldgate.suites.extraction.measures.hinted import Hinted
from goldgate.suites.extraction.measures.matched import Matched
from goldgate.suites.extraction.measures.mistaken import Mistaken
from goldgate.suites.extraction.measures.parse import Parse
from goldgate.suites.extraction.measures.relaxed_excess import RelaxedExcess
from goldgate.suites.extraction.measures.schema_compliance import SchemaCompliance
from goldgate.suites.extraction.measures.texts import Texts
from goldgate.suites.extraction.measures.thought import Thought
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings


def all_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """Every measure under these settings."""
    added: list[Measure[Facts]] = []
    if settings.profile is not None:
        from goldgate.suites.extraction.papers import profile_measures  # most protocols set none

        added = profile_measures(settings)
    return [
        Matched(),
        EventType(),
        Parse(),
        SchemaCompliance(),
        Hallucination(),
        RelaxedExcess(),
        Mistaken(),
        Texts(),
        Hinted(settings.response),
        Thought(settings.cot),
        *added,
    ]
