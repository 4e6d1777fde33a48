"""Records and responses that are in memory: scored as files that hold them would be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import require_known, require_sensible
from goldgate.core.tally import Tally
from goldgate.errors import ConfigError, InputError, Place, describe
from goldgate.protocol.load import LoadedProtocol, ProtocolSource, obtain_protocol
from goldgate.protocol.model import Protocol
from goldgate.readers.guess import id_problem
from goldgate.suites.extraction.events.event_schema import EventSchema, load_event_schema, parse_event_schema
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.report import judge
from goldgate.suites.extraction.sample import Sample
from goldgate.suites.extraction.sample_record import sample_record
from goldgate.suites.extraction.scorer import Scorer, known_metrics, known_rates

SchemaSource = str | Path | EventSchema | Mapping[str, Any] | None


def evaluate(
    gold: Iterable[Mapping[str, Any]],
    predictions: Iterable[Mapping[str, Any]],
    schema: SchemaSource = None,
    protocol: ProtocolSource = None,
    *,
    records: bool = False,
) -> Evaluation:
    """Score records that are in memory: the same as `evaluate_files` on files that hold them.

    `records=True` keeps a record for each sample, in the order of the gold, as `evaluation.samples`.
    """
    plan = obtain_plan(protocol)
    scorer = Scorer(plan.protocol, obtain_schema(schema))
    answers = _by_id(predictions, "predictions")
    tally, samples = Tally(), list[dict[str, Any]]()
    for identity, (number, record) in _by_id(gold, "gold").items():
        with _located("gold", number):
            sample = Sample(parse_gold(record, identity))
        if identity in answers:
            number, record = answers.pop(identity)
            with _located("predictions", number):
                sample.response, sample.events = parse_prediction(record)
        facts = scorer.facts(sample)
        scorer.add(facts, tally)
        if records:
            samples.append(sample_record(facts))
    for identity, (number, _) in answers.items():
        raise InputError(
            "predictions.unknown_id",
            "no gold record has the id of this prediction",
            place=_place("predictions", number, "id"),
            found=describe(identity),
        )
    evaluation = judge(scorer, tally, plan)
    return replace(evaluation, samples=samples) if records else evaluation


def load_scorer(schema: SchemaSource = None, protocol: ProtocolSource = None) -> Scorer:
    """A scorer for one response at a time, as in a training loop: `load_scorer("schema.json").score(text, gold)`."""
    return Scorer(obtain_plan(protocol).protocol, obtain_schema(schema))


def obtain_plan(protocol: ProtocolSource) -> LoadedProtocol:
    """The protocol, with gates that this suite knows."""
    if not (protocol is None or isinstance(protocol, (str, Path, Protocol, LoadedProtocol, Mapping))):
        raise ConfigError(
            "protocol.wrong_value",
            "this cannot be a protocol",
            expected="a path, a mapping of settings, a Protocol, or None for the defaults",
            found=describe(protocol),
        )
    loaded = obtain_protocol(protocol)
    require_known(loaded.protocol.gates, known_metrics(loaded.protocol), loaded.file, loaded.lines)
    require_sensible(loaded.protocol.gates, known_rates(loaded.protocol), loaded.file, loaded.lines)
    return loaded


def obtain_schema(schema: SchemaSource) -> EventSchema | None:
    """The event schema from wherever it is given: a path, a mapping, or itself."""
    if schema is None or isinstance(schema, EventSchema):
        return schema
    return load_event_schema(schema) if isinstance(schema, (str, Path)) else parse_event_schema(schema)


def _by_id(records: Iterable[Mapping[str, Any]], kind: str) -> dict[str, tuple[int, Mapping[str, Any]]]:
    _require_records(records, kind)
    found: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for number, record in enumerate(records, 1):
        value = record.get("id") if isinstance(record, Mapping) else None
        if type(value) is int:
            value = str(value)
        if type(value) is not str or not value:
            problem = id_problem(record)
            raise InputError(
                f"{kind}.bad_id",
                f"a {kind} record needs an id",
                place=_place(kind, number, "id"),
                expected=problem.expected,
                found=problem.found,
                advice=problem.advice,
            )
        if value in found:
            raise InputError(
                f"{kind}.duplicate_id", "duplicate id", place=_place(kind, number, "id"), found=describe(value)
            )
        found[value] = number, record
    return found


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
        found=describe(records),
        advice=advice,
    )


def _place(kind: str, number: int, field: str | None) -> Place:
    return Place(f"{kind} record {number}", None, field)


@contextmanager
def _located(kind: str, number: int) -> Iterator[None]:
    """Adds to an error which record it was found in."""
    try:
        yield
    except InputError as error:
        error.place = _place(kind, number, error.place.field)
        raise
