"""The files of an extraction evaluation: gold and predictions joined by id, read and scored shard by shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from goldgate.core.finding import Finding
from goldgate.core.plan import Plan
from goldgate.core.suite import Inputs, Source, Work
from goldgate.errors import InputError
from goldgate.readers.joined import JoinedFiles, Pair, PairReader, Shard, open_joined
from goldgate.suites.extraction.events.event_schema import EventSchema, obtain_event_schema
from goldgate.suites.extraction.findings import findings_of
from goldgate.suites.extraction.outcome import ExtractionOutcome
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.sample import Facts, Sample
from goldgate.suites.extraction.sample_record import render_record
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings


class ExtractionWork(Work[Shard, Facts]):
    """Scores the samples of a shard."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None, reader: PairReader) -> None:
        self._made_of = (settings, schema, reader)
        self.scorer = Scorer(settings, schema)
        self.measures = self.scorer.measures
        self.reader = reader

    def __reduce__(self) -> tuple[object, ...]:
        return (ExtractionWork, self._made_of)

    def score(self, shard: Shard) -> Iterator[Facts]:
        score = self.scorer.facts
        for pair in self.reader.pairs(shard):
            yield score(self._sample(pair))

    def record(self, facts: Facts) -> bytes:
        return render_record(facts)

    def findings(self, facts: Facts) -> Iterable[Finding]:
        return findings_of(facts)

    def _sample(self, pair: Pair) -> Sample:
        identity, gold, prediction = pair
        try:
            parsed = parse_gold(gold.value, identity, gold.data)
        except InputError as error:
            raise self.reader.gold.at(error, gold.location) from None
        if prediction is None:
            return Sample(parsed)
        try:
            response, events = parse_prediction(prediction.value)
        except InputError as error:
            raise self.reader.predictions.at(error, prediction.location) from None
        return Sample(parsed, response, events, prediction.data)


class ExtractionSource(Source[Shard, Facts]):
    """Joined files, and the event schema that they are judged by."""

    def __init__(self, files: JoinedFiles, plan: Plan, schema: EventSchema | None) -> None:
        self._files = files
        self._plan = plan
        self._schema = schema
        self._work = ExtractionWork(plan.settings, schema, files.reader)
        self.units = len(files)

    def work(self) -> ExtractionWork:
        return self._work

    def shards(self) -> Iterator[Shard]:
        return self._files.shards()

    def finish(self) -> ExtractionOutcome:
        digests: dict[str, list[dict[str, Any]]] = {
            kind: [digest._asdict() for digest in found] for kind, found in self._files.digests().items()
        }
        return ExtractionOutcome(self._plan.settings, self._schema, digests)


@contextmanager
def open_source(inputs: Inputs, plan: Plan) -> Iterator[ExtractionSource]:
    """The inputs of the suite, opened. Mistakes in the schema come before any in the records."""
    named = inputs.get("schema") or ()
    schema = obtain_event_schema(named[0] if named else None)
    Scorer(plan.settings, schema)  # refuses settings that need a schema where there is none
    with open_joined(inputs["gold"], inputs["predictions"]) as files:
        yield ExtractionSource(files, plan, schema)
