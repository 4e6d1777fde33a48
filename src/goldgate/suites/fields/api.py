"""Fields from Python: stored files evaluated, and one answer at a time, by a JSON Schema or a Pydantic model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from goldgate.api import evaluate_stored
from goldgate.core.evaluation import Evaluation
from goldgate.core.finding import record_id
from goldgate.core.measure import all_metrics, count_unit, score_pairs, table_forms
from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.errors import ConfigError, Place, describe_value
from goldgate.protocol import ProtocolSource
from goldgate.readers.unit_records import whole_record
from goldgate.suites.fields.measures import fields_measures
from goldgate.suites.fields.schema import FieldSchema, parse_path
from goldgate.suites.fields.scorer import FieldFacts, FieldsAnswer, FieldsScorer, GoldDocument, document_record
from goldgate.suites.fields.source import JsonSchemaSource, obtain_schema, parse_answer, parse_document
from goldgate.suites.fields.suite import SUITE, FieldsSettings
from goldgate.suites.plan import load_plan

Paths = str | Path | Sequence[str | Path]
Comparators = Mapping[str, Callable[[Any, Any], object]]


def load_fields_scorer(
    schema: JsonSchemaSource, protocol: ProtocolSource = None, *, comparators: Comparators | None = None
) -> AnswerScorer:
    """A scorer for one answer at a time. `comparators` are functions of a gold and a predicted value, by path."""
    if schema is None:
        raise ConfigError(
            "schema.required",
            "a scorer of fields needs a JSON Schema, and none was given",
            expected="a path, a JSON Schema, or a Pydantic model class",
            advice="goldgate schema --suite fields --from GOLD --out schema.json derives one",
        )
    if comparators is not None and not isinstance(comparators, Mapping):
        raise TypeError(f"comparators is a mapping from paths to functions, not {describe_value(comparators)}")
    for path, function in (comparators or {}).items():
        if not callable(function):
            raise TypeError(
                f"a comparator is a function of a gold and a predicted value, not {describe_value(function)} for {path}"
            )
    settings = load_plan(SUITE, protocol).settings
    made = obtain_schema(schema, settings, functions=comparators)
    made.require_paths(lambda: made, lambda setting: Place(field=setting))
    for path in comparators or ():
        if not made.has_path(parse_path(path)):
            raise made.unknown_path(path, f"the schema does not have the path {path}", Place(field="comparators"))
    return AnswerScorer(settings, made)


class AnswerScorer(FieldsScorer):
    """Scores answers one by one. It holds no answer and no sum."""

    def __init__(self, settings: FieldsSettings, schema: FieldSchema) -> None:
        super().__init__(settings, schema)
        self.measures = fields_measures(settings)

    def score(self, response: Any, gold: Mapping[str, Any] | GoldDocument) -> AnswerScore:
        """Score one answer: raw text, chat messages, the reply of an endpoint, a decoded value, or None for none.

        Gold is a record as in a file: `{"value": …}`, with `text` where there is one.
        """
        if not isinstance(gold, (GoldDocument, Mapping)):
            raise TypeError(f'gold is a record such as {{"value": …}}, not {describe_value(gold)}')
        document = gold if isinstance(gold, GoldDocument) else parse_document(gold, record_id(gold) or "")
        if response is None or isinstance(response, FieldsAnswer):
            answer = response
        elif isinstance(response, Mapping) and (
            "response" in response or ("value" in response and response.keys() <= {"id", "value", "confidence"})
        ):
            answer = parse_answer(response)  # it is a prediction record, and not the value itself
        elif isinstance(response, (str, list, tuple, Mapping)):
            answer = parse_answer({"response": response})
        else:
            raise TypeError(f"an answer is text, chat messages, decoded JSON or None, not {type(response).__name__}")
        return AnswerScore(self, self.facts(document, answer), answer)

    def score_many(
        self, responses: Iterable[Any], golds: Iterable[Mapping[str, Any] | GoldDocument]
    ) -> list[AnswerScore]:
        """Score answers beside their gold records, one for one; an error says which of them it is about."""
        return score_pairs(self.score, responses, golds)

    def tally(self, *scores: AnswerScore) -> Tally:
        """The counts of some answers: they add up, and `metrics` divides them."""
        tally = Tally(table_forms(self.measures))
        for score in scores:
            tally.add(count_unit(self.measures, score.facts, tally), score.facts.document.group)
        return tally

    def metrics(self, tally: Tally) -> Metrics:
        """All metrics of a tally, by name."""
        return all_metrics(self.measures, tally)


@dataclass(slots=True, repr=False)
class AnswerScore:
    """What one answer came to. `score["field_f1"]` is a value, None where it is undefined."""

    scorer: AnswerScorer
    facts: FieldFacts
    answer: FieldsAnswer | None = None

    @property
    def metrics(self) -> Metrics:
        return self.scorer.metrics(self.scorer.tally(self))

    @property
    def record(self) -> dict[str, Any]:
        """The document's record, as in samples.jsonl."""
        counts = count_unit(self.scorer.measures, self.facts, Tally())
        return whole_record(document_record(self.facts), counts, self.facts.document.group)

    def __getitem__(self, metric: str) -> float | None:
        return self.metrics[metric].value

    def __repr__(self) -> str:
        hits, predicted, gold = self.facts.hits, self.facts.predicted_count, len(self.facts.gold.leaves)
        return f"<AnswerScore: {hits} hits of {predicted} predicted and {gold} gold leaves>"

    def _repr_html_(self) -> str:
        """The document's page, for notebooks: its errors, source text, values and answer."""
        from goldgate.report.html import render_unit
        from goldgate.suites.fields.explain import DocumentView, page_of_document

        record: Any = self.record
        view = DocumentView(record, self.facts.document.text, self.answer, self.facts, settings=self.scorer.settings)
        return render_unit(page_of_document(view), [(name, str(self.metrics[name])) for name in SUITE.headline])


def evaluate_fields(
    gold: Paths,
    predictions: Paths,
    schema: JsonSchemaSource = None,
    protocol: ProtocolSource = None,
    *,
    value_field: str | None = None,
    id_field: str | None = None,
    response_field: str | None = None,
    allow_empty: bool = False,
    workers: int | None = None,
    records: IO[bytes] | bool | None = None,
) -> Evaluation:
    """Score stored answers that are JSON and judge them, as `goldgate fields` does.

    Without `schema`, the shape of values is that of the gold. `value_field` is a dotted path into gold, `id_field` and
    `response_field` into predictions. Files without any prediction are an error without `allow_empty`. With
    `records=True`, `evaluation.samples` keeps a record for each document.
    """
    inputs = {
        "gold": gold,
        "predictions": predictions,
        "schema": schema,
        "value_field": value_field,
        "id_field": id_field,
        "response_field": response_field,
        "allow_empty": "allow_empty" if allow_empty else None,
    }
    return evaluate_stored(SUITE.name, inputs, protocol, workers, "processes", None, records, None)
