"""Responses read without gold: the events in each stored answer and how it was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.errors import ConfigError, InputError, Place
from goldgate.readers.id_index import require_id
from goldgate.readers.layouts.layout import OWN_FIELDS, FieldPaths
from goldgate.readers.pair_files import PairOpener
from goldgate.readers.records import RecordStore, iterate_records
from goldgate.suites.extraction.events.answer_form import NO_EVENT
from goldgate.suites.extraction.events.event import Events, empty_events
from goldgate.suites.extraction.records import parse_prediction
from goldgate.suites.extraction.response import Parsed
from goldgate.suites.extraction.sample import Gold, Sample
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings


class StoredAnswer(NamedTuple):
    """What a model answered, as it is stored: a response, or events that were decoded elsewhere."""

    id: str | None
    response: str | None
    events: list[Any] | None = None
    source: bytes | None = None  # the line that the events were decoded from


class WrittenEvent(NamedTuple):
    """An event and its values as they were written; the type is None where it is the gold's to say."""

    event_type: str | None
    arguments: list[tuple[str, str]]  # role, value


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer, what was read of it, and the events that it would be scored with."""

    id: str | None
    response: str  # empty where it came as events
    parsed: Parsed
    events: Events
    type_from_gold: bool  # the protocol says: answers are flat, and the gold has their type

    @property
    def written(self) -> list[WrittenEvent]:
        """The events, one by one."""
        return [
            WrittenEvent(
                None if self.type_from_gold and event_type == NO_EVENT else event_type,
                list(zip(roles, texts, strict=True)),
            )
            for event_type, roles, texts, _, _ in self.events.columns
        ]


def answer_reader(metrics: ExtractionSettings) -> Callable[[StoredAnswer], ReadAnswer]:
    """Reads answers as the scorer does, by the settings for responses; all others have no part in it."""
    without_schema = replace(
        metrics, schema=replace(metrics.schema, mode="syntax_only"), cot=replace(metrics.cot, enabled=False)
    )
    scorer = Scorer(without_schema, None)
    type_from_gold = scorer.form.flat and scorer.form.event_type is None
    nothing = Gold("", None, empty_events())

    def read(answer: StoredAnswer) -> ReadAnswer:
        facts = scorer.facts(Sample(nothing, answer.response, answer.events, answer.source))
        assert facts.parsed is not None  # there is an answer
        return ReadAnswer(answer.id, answer.response or "", facts.parsed, facts.predicted, type_from_gold)

    return read


def stored_answers(
    path: str | Path, ids: Collection[str] = (), fields: FieldPaths = OWN_FIELDS
) -> Iterator[StoredAnswer]:
    """The answers of a file of predictions, in its order; only those with these ids, if any are named.

    Records without ids are numbered. An id that no record has is an error, after all others were yielded.
    """
    store = RecordStore([PairOpener(fields=fields, alone=True)(path, "predictions")])
    missing = dict.fromkeys(ids)
    try:
        for location, data in iterate_records(store.files[0]):  # of the only file, offset and location are the same
            record = store.decode(location, data)
            identity = require_id(record, store, location)
            if ids and identity not in ids:
                continue
            missing.pop(identity, None)
            try:
                response, events = parse_prediction(record)
            except InputError as error:
                raise store.at(error, location) from None
            nothing = response is None and events is None  # stored as null
            yield StoredAnswer(identity, "" if nothing else response, events, data)
    finally:
        store.close()
    if missing:
        raise ConfigError(
            "option.wrong_value",
            "no record has this id",
            place=Place(str(path), field="id"),
            found=", ".join(missing),
            advice="ids are compared exactly, with their case and spaces",
        )
