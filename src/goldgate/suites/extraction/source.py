"""The files of an extraction evaluation: gold and predictions joined by id, scored shard by shard.

Opened again, the files explain single samples of a stored report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goldgate.core.finding import Finding
from goldgate.core.suite import Inputs, Mapper, Plan, single_input
from goldgate.core.tally import answer_digest
from goldgate.core.unit_page import InputLookup, SharedInputLookup
from goldgate.readers.joined_suite import JoinedSource, JoinedWork, PairReader, open_joined_inputs, open_pairs
from goldgate.readers.pair_files import pair_opener
from goldgate.readers.records import LocatedRecord
from goldgate.suites.extraction.events.event_schema import EventSchema, obtain_event_schema
from goldgate.suites.extraction.records import Facts, Gold, Sample, parse_gold, parse_prediction, text_fingerprint
from goldgate.suites.extraction.report_parts import ExtractionOutcome
from goldgate.suites.extraction.scorer import Scorer, error_weight, needs_schema, sample_findings, sample_record
from goldgate.suites.extraction.settings import ExtractionSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import ComparedSample


@contextmanager
def open_extraction_inputs(inputs: Inputs, plan: Plan | None) -> Iterator[InputLookup]:
    """The inputs, opened; without a plan, no answer can be read again."""
    schema = obtain_event_schema(single_input(inputs, "schema"))
    with open_joined_inputs(inputs, pair_opener(inputs, single_input(inputs, "dialect"))) as records:
        yield records if plan is None else SharedInputLookup(records, lambda: page_inputs(plan.settings, schema))


def page_inputs(settings: ExtractionSettings, schema: EventSchema | None) -> dict[str, Any]:
    """What a page needs beside the records as they are stored: `protocol` reads an answer again."""
    from goldgate.suites.extraction.explain import make_reader  # scoring does not need it

    return {"protocol": make_reader(settings, schema)}


# The raw response, or decoded events and their key in the record; and the line that they were decoded from.
StoredPrediction = tuple[str | None, Any, str | None, bytes]


class ExtractionWork(JoinedWork[Facts]):
    """Scores the samples of a shard."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None, reader: PairReader) -> None:
        self._made_of = (settings, schema, reader)
        self.scorer = Scorer(settings, schema)
        super().__init__(reader, self.scorer.measures, settings)

    def __reduce__(self) -> tuple[object, ...]:
        return (ExtractionWork, self._made_of)

    def read_gold(self, identity: str, record: LocatedRecord) -> Gold:
        return parse_gold(record.value, identity, record.data, self.scorer.schema)

    def read_prediction(self, record: LocatedRecord) -> StoredPrediction:
        return *parse_prediction(record.value), record.data

    def compare(self, identity: str, gold: Gold, prediction: StoredPrediction | None) -> Facts:
        return self.compare_all([(identity, gold, prediction)])[0]

    def compare_all(self, samples: Sequence[tuple[str, Gold, StoredPrediction | None]]) -> list[Facts]:
        return self.scorer.facts_of([Sample(gold, *(prediction or ())) for _, gold, prediction in samples])

    def record(self, facts: Facts) -> ComparedSample:
        return sample_record(facts)

    def fingerprint(self, facts: Facts) -> int | None:
        return text_fingerprint(facts)

    def answer(self, facts: Facts) -> int:
        sample = facts.sample
        return answer_digest(sample.gold.id, sample.response, sample.events, sample.key, sample.thought)

    def unit_id(self, facts: Facts) -> str:
        return facts.sample.gold.id

    def weight(self, facts: Facts) -> int:
        return error_weight(facts)

    def read_group(self, gold: Gold, record: LocatedRecord) -> str | None:
        return gold.group

    def findings(self, facts: Facts) -> Iterable[Finding]:
        return sample_findings(facts)

    def lookup(self, records: InputLookup) -> InputLookup:
        return SharedInputLookup(records, lambda: page_inputs(self.settings, self.scorer.schema))


@contextmanager
def open_extraction_source(
    inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
) -> Iterator[JoinedSource[Facts]]:
    """The inputs of the suite, opened. Mistakes in the schema come before any in the records.

    A schema that is needed and not given is derived from the gold.
    """
    schema = obtain_event_schema(single_input(inputs, "schema"))
    outcome = ExtractionOutcome(plan.settings, schema)
    opener = pair_opener(inputs, single_input(inputs, "dialect"))

    def make_work(reader: PairReader) -> ExtractionWork:
        if schema is not None or not needs_schema(plan.settings):
            return ExtractionWork(plan.settings, schema, reader)
        from goldgate.suites.extraction.gold_commands import derive_from_store

        derived = derive_from_store(reader.gold)
        outcome.use_schema(derived)
        return ExtractionWork(plan.settings, derived, reader)

    with open_pairs(inputs, make_work, outcome, opener, engine) as source:
        outcome.note_opener(opener, source.units)
        yield source
