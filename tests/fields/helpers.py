"""Documents scored in memory: gold and an answer as plain values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from goldgate.core.metric import Metric, Rate
from goldgate.protocol import obtain_protocol
from goldgate.suites.fields.measures import fields_measures
from goldgate.suites.fields.schema import FieldSchema
from goldgate.suites.fields.scorer import FieldFacts, FieldsAnswer, FieldsScorer, GoldDocument
from goldgate.suites.fields.source import derive_shape
from goldgate.suites.fields.suite import FieldsSettings
from tests.unit.helpers import count_units

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}


def obj(**properties: Any) -> dict[str, Any]:
    """A JSON Schema of an object."""
    return {"type": "object", "properties": properties}


def array(items: Any, **more: Any) -> dict[str, Any]:
    """A JSON Schema of a list."""
    return {"type": "array", "items": items, **more}


def settings_of(section: Mapping[str, Any]) -> FieldsSettings:
    loaded = obtain_protocol({"fields": section}, {"fields": FieldsSettings})
    return loaded.protocol.section("fields", FieldsSettings)


def scorer_for(gold: Any, schema: Any = None, **section: Any) -> FieldsScorer:
    """A scorer by a JSON Schema, or by the shape of gold."""
    return _scorer(json.dumps([derive_shape([gold]) if schema is None else schema, section]), schema is None)


@lru_cache
def _scorer(made_of: str, is_derived: bool) -> FieldsScorer:
    schema, section = json.loads(made_of)
    settings = settings_of(section)
    return FieldsScorer(settings, FieldSchema(schema, settings, is_derived=is_derived))


def score(gold: Any, answer: Any, schema: Any = None, text: str | None = None, **section: Any) -> FieldFacts:
    """The facts of one document; an answer that is text is a raw response."""
    given = FieldsAnswer(answer) if isinstance(answer, str) else FieldsAnswer(None, answer)
    return scorer_for(gold, schema, **section).facts(GoldDocument("d", gold, text), None if answer is None else given)


def counts(facts: FieldFacts) -> tuple[int, int, int]:
    """H, P and G."""
    return facts.hits, facts.predicted_count, len(facts.gold.leaves)


def verdicts(facts: FieldFacts) -> tuple[Counter[str], Counter[str]]:
    """How many leaves of gold and of the answer have each verdict."""
    gold, predicted = (Counter(leaf.state for leaf in tree.leaves) for tree in (facts.gold, facts.predicted))
    return gold, predicted


def metrics_of(*documents: FieldFacts, **section: Any) -> dict[str, Metric]:
    """All metrics of some documents, by name."""
    measures = fields_measures(settings_of(section))
    tally = count_units(measures, documents)
    return {name: metric for measure in measures for name, metric in measure.metrics(tally).items()}


def fraction(metrics: Any, name: str) -> tuple[int, int]:
    """Numerator and denominator of a rate."""
    rate = metrics[name]
    assert isinstance(rate, Rate)
    return rate.numerator, rate.denominator
