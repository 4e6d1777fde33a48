"""Small builders: events, gold records, answers as JSON text, and a scorer with the settings a test needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import goldgate
from goldgate import Evaluation, Protocol, Score, Scorer
from goldgate.core.gate import Gate
from goldgate.core.measure import count_unit, table_forms
from goldgate.core.metric import Rate
from goldgate.core.tally import Tally
from goldgate.shape import Share
from goldgate.suites.extraction.settings import (
    CotSettings,
    ExtractionSettings,
    HallucinationSettings,
    RelaxedSettings,
    ResponseSettings,
    SchemaSettings,
)

Json = dict[str, Any]
UnitSet = set[tuple[str, str, str]]

# The two types of which one name is part of the other, and one with Latin names.
SCHEMA: Json = {
    "event_types": {
        "质押": {"roles": ["质押方", "质权方", "数量"]},
        "解除质押": {"roles": ["质押方", "数量"]},
        "Sue": {"roles": ["plaintiff", "date"]},
    }
}


def event(event_type: Any, *arguments: tuple[Any, Any]) -> Json:
    """An event from (role, argument) pairs."""
    return {"event_type": event_type, "arguments": [{"role": role, "argument": value} for role, value in arguments]}


def answer(*events: Json) -> str:
    """What a model that answers perfectly would write."""
    return json.dumps(list(events), ensure_ascii=False)


def gold(*events: Json, text: str | None = None, identity: str = "1") -> Json:
    """A gold record; without `text` it has no source text."""
    return {"id": identity, "events": list(events)} | ({} if text is None else {"text": text})


def protocol(
    *,
    relaxed: str = "include_or_char_overlap",
    threshold: str = "0.5",
    schema_mode: str = "syntax_only",
    hallucination: str = "normalized_substring",
    cot: CotSettings | None = None,
    tags: tuple[str, ...] = ("thought", "think", "thinking"),
    gates: Mapping[str, Gate] | None = None,
) -> Protocol:
    """A protocol; schema checks are off unless a test asks for them."""
    return Protocol(
        sections={
            "metrics": ExtractionSettings(
                response=ResponseSettings(tags),
                relaxed=RelaxedSettings(relaxed, Share(threshold), Share(threshold)),  # type: ignore[arg-type]
                schema=SchemaSettings(schema_mode),  # type: ignore[arg-type]  # tests pass the words of the file
                hallucination=HallucinationSettings(hallucination),  # type: ignore[arg-type]
                cot=cot or CotSettings(),
            )
        },
        gates=dict(gates or {}),
    )


def scorer(schema: Json | None = None, **settings: Any) -> Scorer:
    """A scorer with these settings."""
    made: Scorer = goldgate.load_scorer(schema, protocol(**settings))
    return made


def score(response: str | list[Any] | None, record: Json, schema: Json | None = None, **settings: Any) -> Score:
    """One answer against one gold record."""
    return scorer(schema, **settings).score(response, record)


def judge(golds: list[Json], predictions: list[Json], schema: Json | None = None, **settings: Any) -> Evaluation:
    """Records in memory, evaluated."""
    return goldgate.evaluate(golds, predictions, schema, protocol(**settings), allow_empty=True)


def predicted_units(response: str | list[Any]) -> UnitSet:
    """The units that an answer gives."""
    return units_of(score(response, gold()).record["predicted"])


def units_of(by_type: Mapping[str, list[Any]]) -> UnitSet:
    """`type → [role, argument]` of a sample's record as a set of triples."""
    return {(event_type, role, argument) for event_type, pairs in by_type.items() for role, argument in pairs}


def counts(result: Score | Evaluation, *names: str) -> tuple[tuple[int, int], ...]:
    """(numerator, denominator) of some rates."""
    rates = [rate for name in names if isinstance(rate := result.metrics[name], Rate)]
    assert len(rates) == len(names)
    return tuple((rate.numerator, rate.denominator) for rate in rates)


def gate(*, min: str | None = None, max: str | None = None, equals: str | None = None) -> Gate:
    """A gate with decimal bounds: `gate(min="0.5")`."""
    low, high, exact = (None if bound is None else Decimal(bound) for bound in (min, max, equals))
    return Gate(low, high, exact)


def count_units(measures: Sequence[Any], units: Iterable[Any]) -> Tally:
    """The tally of these units."""
    tally = Tally(table_forms(measures))
    for facts in units:
        tally.add(count_unit(measures, facts, tally))
    return tally
