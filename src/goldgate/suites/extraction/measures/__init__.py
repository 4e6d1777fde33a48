"""The measures of the extraction suite, in the order of the report. A new one is a file and a line here."""

from __future__ import annotations

from typing import Literal, Protocol

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.protocol.model import MetricSettings
from goldgate.suites.extraction.measures.event_type import EventType
from goldgate.suites.extraction.measures.hallucination import Hallucination
from goldgate.suites.extraction.measures.parse import Parse
from goldgate.suites.extraction.measures.relaxed import Relaxed
from goldgate.suites.extraction.measures.relaxed_excess import RelaxedExcess
from goldgate.suites.extraction.measures.schema_compliance import SchemaCompliance
from goldgate.suites.extraction.measures.strict import Strict
from goldgate.suites.extraction.measures.thought import Thought
from goldgate.suites.extraction.sample import Facts


class Measure(Protocol):
    """Adds a sample's counts to a tally, and makes metrics of the sum."""

    section: Literal["main", "diagnostics"]

    def count(self, facts: Facts, tally: Tally) -> None: ...

    def metrics(self, tally: Tally) -> Metrics: ...


def all_measures(settings: MetricSettings) -> list[Measure]:
    """Every measure under these settings."""
    return [
        Strict(),
        Relaxed(),
        EventType(),
        Parse(),
        SchemaCompliance(),
        Hallucination(),
        RelaxedExcess(),
        Thought(settings.cot),
    ]
