"""How much went wrong in a sample, worked out by hand."""

from __future__ import annotations

from goldgate.suites.extraction.events.event_schema import obtain_event_schema
from goldgate.suites.extraction.records import Sample, parse_gold
from goldgate.suites.extraction.scorer import Scorer, error_weight
from goldgate.suites.extraction.settings import ExtractionSettings
from tests.cases import cases

SCORER = Scorer(ExtractionSettings(), obtain_event_schema({"event_types": {"Sue": {"roles": ["plaintiff"]}}}))


@cases(
    ("response", "expected"),
    [
        (None, 2),  # no answer, and one argument that is missing
        ("nothing", 2),
        ('[{"event_type": "Sue", "arguments": [{"role": "plaintiff", "argument": "ab"}]}]', 0),
        ('[{"event_type": "Sue", "arguments": []}]', 1),
        ('[{"event_type": "New", "arguments": []}]', 3),  # an event type too many, which the schema does not have
    ],
)
def test_weight_counts_what_went_wrong(response: str | None, expected: int) -> None:
    events = [{"event_type": "Sue", "arguments": [{"role": "plaintiff", "argument": "ab"}]}]
    facts = SCORER.facts(Sample(parse_gold({"id": "a", "text": "ab", "events": events}, "a"), response))
    assert error_weight(facts) == expected
