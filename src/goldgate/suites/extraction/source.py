"""The files of an extraction evaluation: gold and predictions joined by id, read and scored shard by shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from goldgate.core.finding import Finding
from goldgate.core.plan import Plan
from goldgate.core.suite import Inputs, Mapper
from goldgate.readers.joined import PairReader, Record
from goldgate.readers.joined_work import JoinedSource, JoinedWork, open_pairs
from goldgate.suites.extraction.events.event_schema import EventSchema, obtain_event_schema
from goldgate.suites.extraction.findings import findings_of
from goldgate.suites.extraction.look.given import ExtractionGiven
from goldgate.suites.extraction.look.weight import weight_of
from goldgate.suites.extraction.opener import one, pair_opener
from goldgate.suites.extraction.outcome import ExtractionOutcome
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.sample import Facts, Gold, Sample
from goldgate.suites.extraction.sample_record import render_record
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings


class Stated(NamedTuple):
    """A prediction: the raw response, or decoded events and the line that they were decoded from."""

    response: str | None
    events: list[object] | None
    source: bytes


class ExtractionWork(JoinedWork[Facts]):
    """Scores the samples of a shard."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None, reader: PairReader) -> None:
        self._made_of = (settings, schema, reader)
        self.scorer = Scorer(settings, schema)
        super().__init__(reader, self.scorer.measures, settings)

    def __reduce__(self) -> tuple[object, ...]:
        return (ExtractionWork, self._made_of)

    def read_gold(self, identity: str, record: Record) -> Gold:
        return parse_gold(record.value, identity, record.data, self.scorer.schema)

    def read_prediction(self, record: Record) -> Stated:
        return Stated(*parse_prediction(record.value), record.data)

    def compare(self, identity: str, gold: Gold, prediction: Stated | None) -> Facts:
        return self.scorer.facts(_sample(gold, prediction))

    def compare_all(self, samples: Sequence[tuple[str, Gold, Stated | None]]) -> list[Facts]:
        return self.scorer.facts_of([_sample(gold, prediction) for _, gold, prediction in samples])

    def record(self, facts: Facts) -> bytes:
        return render_record(facts)

    def weight(self, facts: Facts) -> int:
        return weight_of(facts)

    def read_group(self, gold: Gold, record: Record) -> str | None:
        return gold.group

    def findings(self, facts: Facts) -> Iterable[Finding]:
        return findings_of(facts)


def _sample(gold: Gold, prediction: Stated | None) -> Sample:
    return Sample(gold) if prediction is None else Sample(gold, *prediction)


class ExtractionSource(JoinedSource[Facts]):
    """The files, and what the answers in them are read by."""

    def given(self) -> ExtractionGiven:
        work = self.work()
        assert isinstance(work, ExtractionWork)
        return ExtractionGiven(super().given(), work.settings, work.scorer.schema)


@contextmanager
def open_source(inputs: Inputs, plan: Plan, engine: Mapper | None = None) -> Iterator[JoinedSource[Facts]]:
    """The inputs of the suite, opened. Mistakes in the schema come before any in the records."""
    schema = obtain_event_schema(one(inputs, "schema"))
    Scorer(plan.settings, schema)  # refuses settings that need a schema where there is none
    outcome = ExtractionOutcome(plan.settings, schema)
    opener = pair_opener(inputs)

    def make_work(reader: PairReader) -> ExtractionWork:
        return ExtractionWork(plan.settings, schema, reader)

    with open_pairs(inputs, make_work, outcome, opener, ExtractionSource, engine) as source:
        opener.require_joined(source.units)
        outcome.note_reading(opener.fields, by_order=opener.by_order)
        yield source
