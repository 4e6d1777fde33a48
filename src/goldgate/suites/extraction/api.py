"""Extraction from Python: stored files evaluated, records in memory, and one response at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from goldgate.api import evaluate_stored, require_names
from goldgate.core.evaluation import Evaluation
from goldgate.core.finding import LimitedFindings, record_id
from goldgate.engines import EngineName
from goldgate.errors import InputError, Place, describe_value
from goldgate.pipeline import Progress, judge
from goldgate.protocol import ProtocolSource
from goldgate.readers.dialects import recognize_dialect_of
from goldgate.readers.dialects.dialect import choose_reading
from goldgate.readers.gold_files import misplaced_findings
from goldgate.readers.guess import bad_id_error, describe_id, unknown_id_message
from goldgate.readers.joined_suite import no_predictions_error
from goldgate.readers.layouts import chat
from goldgate.readers.layouts.layout import has_path, value_at
from goldgate.readers.unit_records import whole_record
from goldgate.runs.reference import load_reference_runs
from goldgate.suites.extraction.events.event_schema import (
    EventSchema,
    SchemaSource,
    derive_from_events,
    obtain_event_schema,
)
from goldgate.suites.extraction.records import Gold, Sample, make_sample, parse_gold, parse_prediction
from goldgate.suites.extraction.report_parts import ExtractionOutcome
from goldgate.suites.extraction.scorer import Scorer, needs_schema, sample_findings, sample_record
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan

Paths = str | Path | Sequence[str | Path]


def evaluate_files(
    gold: Paths,
    predictions: Paths,
    schema: SchemaSource = None,
    protocol: ProtocolSource = None,
    *,
    dialect: str | None = None,
    id_field: str | None = None,
    response_field: str | None = None,
    allow_empty: bool = False,
    workers: int | None = None,
    engine: EngineName = "processes",
    ray_address: str | None = None,
    records: IO[bytes] | bool | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score stored answers of an extraction model and judge them.

    Without `schema`, event types and roles are those of the gold. `dialect` names the published format of the gold;
    `id_field` and `response_field` are dotted paths into predictions. Files without any prediction are an error
    without `allow_empty`.
    `records` receives a line of JSON for each sample (what the command writes to samples.jsonl); with `records=True`,
    `evaluation.samples` keeps them. With the engine "ray" it is scored on the cluster at `ray_address`.
    """
    inputs = {
        "gold": gold,
        "predictions": predictions,
        "schema": schema,
        "dialect": dialect,
        "id_field": id_field,
        "response_field": response_field,
        "allow_empty": "allow_empty" if allow_empty else None,
    }
    return evaluate_stored(SUITE.name, inputs, protocol, workers, engine, ray_address, records, progress)


def evaluate(
    gold: Iterable[Mapping[str, Any] | Gold],
    predictions: Iterable[Mapping[str, Any]],
    schema: SchemaSource = None,
    protocol: ProtocolSource = None,
    *,
    id_field: str | None = None,
    allow_empty: bool = False,
    records: bool = False,
) -> Evaluation:
    """Score records that are in memory: the same as `evaluate_files` on files that hold them.

    `id_field` is a dotted path to the ids of records without an `id`. A prediction's `response` is what `Scorer.score`
    takes: text, chat messages, the reply of an endpoint or decoded JSON. Gold may be what `parse_gold` gives.

    `records=True` keeps a record for each sample, in the order of the gold, as `evaluation.samples`.
    """
    require_names({"id_field": id_field})
    plan = load_plan(SUITE, protocol)
    stored = load_reference_runs(SUITE, plan)
    event_schema = obtain_event_schema(schema)
    answers = _by_id(predictions, "predictions", id_field)
    predicted = len(answers)
    ours, dialects, misplaced = _convert_gold(gold)
    golds = _parse_all(ours, event_schema, id_field)
    if golds and not answers and not allow_empty:
        raise no_predictions_error()
    if event_schema is None and needs_schema(plan.settings):
        event_schema = derive_from_events(record.events for record in golds.values())
    scorer = Scorer(plan.settings, event_schema)
    outcome = ExtractionOutcome(plan.settings, event_schema)
    outcome.settings.update(dialects)
    outcome.findings += misplaced.to_list()
    tally, findings, samples = scorer.tally(), LimitedFindings(), list[dict[str, Any]]()
    for identity, parsed in golds.items():
        sample = Sample(parsed)
        if identity in answers:
            number, answer = answers.pop(identity)
            with _located("predictions", number):
                sample = _sample_of(parsed, answer)
        facts = scorer.facts(sample)
        unit, group = scorer.add(facts, tally), facts.sample.gold.group
        if stored is not None:
            stored.add_unit(stored.selector({"id": facts.sample.gold.id}, unit, group))
        findings.add(sample_findings(facts))
        if records:
            samples.append(whole_record(sample_record(facts), unit, group))
    for identity, (number, _) in answers.items():
        raise InputError(
            "predictions.unknown_id",
            unknown_id_message(predicted - len(answers), predicted, len(golds)),
            place=_place("predictions", number, "id"),
            found=describe_id(identity),
        )
    outcome.findings += findings.to_list()
    evaluation = judge(SUITE, plan, tally, outcome, stored)
    return replace(evaluation, samples=samples) if records else evaluation


def load_event_scorer(schema: SchemaSource = None, protocol: ProtocolSource = None) -> Scorer:
    """A scorer for one response at a time, as in a training loop."""
    return Scorer(load_plan(SUITE, protocol).settings, obtain_event_schema(schema))


def _convert_gold(
    gold: Iterable[Mapping[str, Any] | Gold],
) -> tuple[list[Any], dict[str, str], LimitedFindings]:
    """Gold in our own form, converted from the dialect of the first record; the entry of the signature for it; and
    mentions that are not at their offsets."""
    _require_records(gold, "gold")
    records, findings = list(gold), LimitedFindings()
    published = [(number, record) for number, record in enumerate(records, 1) if not isinstance(record, Gold)]
    dialect = recognize_dialect_of(record for _, record in published)
    if dialect is None:
        return records, {}, findings
    reading = choose_reading(dialect, published, partial(_place, "gold"))
    for number, record in published:
        with _located("gold", number):
            records[number - 1] = converted = {"id": str(number), **reading.dialect.convert(record)}
        findings.add(misplaced_findings(reading, record, str(converted["id"])))
    return records, {"dialect": reading.dialect.name}, findings


def _parse_all(records: list[Any], schema: EventSchema | None, id_field: str | None) -> dict[str, Gold]:
    """Gold records by id, parsed."""
    golds: dict[str, Gold] = {}
    for identity, (number, record) in _by_id(records, "gold", id_field).items():
        with _located("gold", number):
            golds[identity] = record if isinstance(record, Gold) else parse_gold(record, identity, None, schema)
    return golds


def _sample_of(gold: Gold, record: Mapping[str, Any]) -> Sample:
    """A sample with this prediction, whose `response` may be anything that `Scorer.score` takes."""
    response = record.get("response")
    if isinstance(response, (list, tuple, dict)) or chat.is_chat_record(record):
        try:
            return make_sample(record, gold)
        except TypeError:  # chat messages without an answer
            pass
    return Sample(gold, *parse_prediction(record))


def _by_id(records: Iterable[Any], kind: str, id_field: str | None) -> dict[str, tuple[int, Any]]:
    _require_records(records, kind)
    records_by_id: dict[str, tuple[int, Any]] = {}
    for number, record in enumerate(records, 1):
        parsed = isinstance(record, Gold) and kind == "gold"
        value = record.id or None if parsed else _id_of(record, id_field)
        if value is None:
            raise bad_id_error(record, kind, _place(kind, number, "id"))
        if value in records_by_id:
            raise InputError(
                f"{kind}.duplicate_id", "duplicate id", place=_place(kind, number, "id"), found=describe_id(value)
            )
        records_by_id[value] = number, record
    return records_by_id


def _id_of(record: object, id_field: str | None) -> str | None:
    if not isinstance(record, Mapping):
        return None
    if id_field is not None and "id" not in record and has_path(record, id_field):
        return record_id({"id": value_at(record, id_field)})
    return record_id(record)


def _require_records(records: object, kind: str) -> None:
    """Refuse what can be iterated over and yet holds no records: a path, one record by itself."""
    if isinstance(records, Iterable) and not isinstance(records, (str, bytes, Path, Mapping)):
        return
    advice = None
    if isinstance(records, (str, Path)):
        advice = "evaluate_files takes paths"
    elif isinstance(records, Mapping):
        advice = "put it into a list"
    raise InputError(
        f"{kind}.wrong_type",
        f"evaluate takes the {kind} as records",
        expected="a list, or anything else that gives mappings",
        found=describe_value(records),
        advice=advice,
    )


def _place(kind: str, number: int, field: str | None) -> Place:
    return Place(f"{kind} record {number}", None, field)


@contextmanager
def _located(kind: str, number: int) -> Iterator[None]:
    """Add the number of the record to an InputError."""
    try:
        yield
    except InputError as error:
        error.place = _place(kind, number, error.place.field)
        raise
