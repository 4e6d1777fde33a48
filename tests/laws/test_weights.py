"""How much went wrong in a sample: from its facts the same as from its record, whatever was answered."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.suites.extraction.events.event_schema import obtain_event_schema
from goldgate.suites.extraction.look.summary import summary
from goldgate.suites.extraction.look.weight import weight
from goldgate.suites.extraction.records import parse_gold
from goldgate.suites.extraction.sample import Sample
from goldgate.suites.extraction.sample_record import render_record
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings, SchemaSettings

from .strategies import SCHEMA, good_events, responses

SCORER = Scorer(ExtractionSettings(), obtain_event_schema(SCHEMA))
WITHOUT_SCHEMA = Scorer(
    ExtractionSettings(schema=SchemaSettings(mode="syntax_only"), cot=CotSettings(enabled=False)), None
)


@given(good_events, st.one_of(st.none(), responses()), st.sampled_from([None, "甲乙 ab", ""]))
def test_weight_of_the_facts_is_that_of_the_record(
    gold_events: list[Any], response: str | None, text: str | None
) -> None:
    record = {"id": "a", "events": gold_events} | ({} if text is None else {"text": text})
    for scorer in (SCORER, WITHOUT_SCHEMA):
        facts = scorer.facts(Sample(parse_gold(record, "a"), response))
        assert weight(facts) == summary(orjson.loads(render_record(facts))).weight


@pytest.mark.parametrize(
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
    assert weight(facts) == expected
