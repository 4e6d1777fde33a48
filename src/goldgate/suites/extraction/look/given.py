"""What a sample's record was made from: its gold record, its prediction, and the settings that both were read by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from goldgate.core.plan import Plan
from goldgate.core.suite import Inputs
from goldgate.core.unit_page import Given
from goldgate.readers.given import open_joined_given
from goldgate.suites.extraction.events.event_schema import EventSchema, obtain_event_schema
from goldgate.suites.extraction.look.sample import reader_of
from goldgate.suites.extraction.opener import one, pair_opener
from goldgate.suites.extraction.settings import ExtractionSettings


class ExtractionGiven:
    """`gold` and `predictions` are the records as they are stored; `protocol` reads an answer again."""

    def __init__(self, records: Given, settings: ExtractionSettings | None, schema: EventSchema | None = None) -> None:
        self._records = records
        self._protocol = {} if settings is None else {"protocol": reader_of(settings, schema)}

    def of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._records.of(record), **self._protocol}


@contextmanager
def open_given(inputs: Inputs, plan: Plan | None) -> Iterator[ExtractionGiven]:
    """The inputs, opened; without a plan, no answer can be read again."""
    with open_joined_given(inputs, pair_opener(inputs)) as records:
        settings = None if plan is None else plan.settings
        yield ExtractionGiven(records, settings, obtain_event_schema(one(inputs, "schema")))
