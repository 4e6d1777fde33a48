"""Rewards for training loops: a function with the signature that TRL's GRPO trainer calls.

    trainer = GRPOTrainer(model, reward_funcs=[event_reward(schema="schema.json", metric="relaxed_f1")], …)

The trainer calls it by keyword with `prompts`, `completions`, in later versions `completion_ids`, `trainer_state`,
`log_extra` and `log_metric`, and with every other column of the data set, one entry a completion.
"""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import MORE_IS_BETTER
from goldgate.core.suite import Measure
from goldgate.core.tally import Tally
from goldgate.errors import ConfigError, InputError, Place, describe_value, did_you_mean
from goldgate.protocol import ProtocolSource
from goldgate.readers.layouts.chat import read_chat
from goldgate.suites.extraction.api import load_event_scorer
from goldgate.suites.extraction.chain_of_thought import ThoughtRates
from goldgate.suites.extraction.events import Violation
from goldgate.suites.extraction.events.event_schema import SchemaSource
from goldgate.suites.extraction.hints import answer_hints, counted_hints, joint_setting
from goldgate.suites.extraction.measures import Hallucination
from goldgate.suites.extraction.records import Facts, Gold, Sample, parse_gold
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.fields.api import AnswerScorer, load_fields_scorer
from goldgate.suites.fields.scorer import FieldFacts, GoldDocument
from goldgate.suites.fields.source import JsonSchemaSource, parse_document

GoldType = TypeVar("GoldType")
FactsType = TypeVar("FactsType")

_LOG = logging.getLogger("goldgate")
_NO_SCHEMA = {"metrics": {"schema": {"mode": "syntax_only"}}}
_NOT_READ = (Violation.NOT_PARSED, Violation.NOT_AN_EVENT_LIST)


def event_reward(
    schema: SchemaSource = None,
    metric: str = "relaxed_f1",
    protocol: ProtocolSource = None,
    *,
    events: str = "events",
    text: str = "text",
) -> EventReward:
    """A reward function: the metric of each completion by itself, from 0 to 1; None where there is no gold.

    `metric` is a rate of extraction of which more is better. `events` and `text` are the columns of the data set that
    hold the gold events and the source text; the text may be missing.
    """
    scorer = load_event_scorer(schema, _NO_SCHEMA if schema is None and protocol is None else protocol)
    _require_reward(scorer.measures, metric)
    return EventReward(scorer, metric, events, text)


def field_reward(
    schema: JsonSchemaSource = None,
    metric: str = "field_f1",
    protocol: ProtocolSource = None,
    *,
    value: str = "value",
    text: str = "text",
) -> FieldReward:
    """A reward function for JSON answers: the metric of each completion by itself, from 0 to 1; None without gold.

    `schema` is a JSON Schema, a path of one, or a Pydantic model class. `metric` is a rate of fields of which more is
    better. `value` and `text` are the columns of the data set that hold the gold value, also as JSON text, and the
    source text; the text may be missing.
    """
    scorer = load_fields_scorer(schema, protocol)
    _require_reward(scorer.measures, metric)
    return FieldReward(scorer, metric, value, text)


@dataclass(slots=True)
class GoldReward(ABC, Generic[GoldType, FactsType]):
    """Called with a batch, it gives a list of rewards. It can be pickled, and holds nothing between calls."""

    scorer: Any
    metric: str
    column: str  # of the data set: the gold
    text: str  # of the data set: the source texts
    _warned: bool = field(default=False, compare=False, repr=False)

    @abstractmethod
    def parse_gold_row(self, gold: Any, text: Any, number: int) -> GoldType:
        """The gold of a row; an InputError where it cannot be read."""

    @abstractmethod
    def score_answer(self, response: str, thought: str, gold: GoldType) -> FactsType: ...

    @abstractmethod
    def is_unreadable(self, facts: FactsType) -> bool: ...

    @abstractmethod
    def is_empty(self, facts: FactsType) -> bool:
        """Whether neither gold nor the answer has anything."""

    @property
    def __name__(self) -> str:
        """What trainers call it in their logs."""
        return f"goldgate_{self.metric}"

    def __call__(
        self, completions: Sequence[Any], *others: Any, prompts: Sequence[Any] | None = None, **columns: Any
    ) -> list[float | None]:
        """A reward for each completion: text, or a list of messages of which the last one of the assistant counts.

        All but the completions is passed by name. Nothing that a model writes raises; a gold record that cannot be
        read does, as it would in every epoch.
        """
        if others:
            raise TypeError(f"pass everything by name: completions=…, prompts=…, {self.column}=…")
        golds = self._golds(len(completions), columns)
        results = [
            None if gold is None else self.score_answer(*_answer(each), gold)
            for each, gold in zip(completions, golds, strict=True)
        ]
        log = columns.get("log_metric")
        judged = [facts for facts in results if facts is not None]
        if callable(log) and judged:
            log(f"{self.__name__}/unreadable", sum(map(self.is_unreadable, judged)) / len(judged))
        rewards = [None if facts is None else self._reward(facts) for facts in results]
        for facts, reward in zip(results, rewards, strict=True):
            if facts is not None and reward == 0:
                self.warn_of_form(facts)
        return rewards

    def warn_of_form(self, facts: FactsType) -> None:
        """Warn once where an answer without a hit has a form that a setting would read."""

    def _golds(self, count: int, columns: Mapping[str, Any]) -> list[GoldType | None]:
        """The gold of each completion; completions of one document follow each other and share its gold object."""
        column, texts = columns.get(self.column), columns.get(self.text)
        if column is None:
            if not self._warned:
                self._warned = True
                _LOG.warning("%s: there is no column %r, so there is no reward", self.__name__, self.column)
            return [None] * count
        texts = [None] * count if texts is None else texts
        if len(column) != count or len(texts) != count:
            raise ValueError(
                f"every completion needs its gold: {count} completions, {len(column)} {self.column}, "
                f"{len(texts)} {self.text}"
            )
        golds: list[GoldType | None] = []
        for number, (gold, text) in enumerate(zip(column, texts, strict=True)):
            if number and _is_same(column[number - 1], gold) and _is_same(texts[number - 1], text):
                golds.append(golds[-1])
                continue
            try:
                golds.append(None if gold is None else self.parse_gold_row(gold, text, number))
            except InputError as error:
                error.place = Place(f"row {number + 1} of the batch", None, error.place.field)
                raise
        return golds

    def _reward(self, facts: FactsType) -> float:
        """The metric over this answer alone; where it is undefined, 1 for rightly saying nothing, and 0 otherwise."""
        measure = _measure(self.scorer.measures, self.metric)
        form, counts = measure.forms[self.metric], measure.row(facts)
        a, b = (0, 0) if counts is None else form.of(counts)
        if b:
            return a / b
        return 1.0 if self.is_empty(facts) and not self.is_unreadable(facts) else 0.0


@dataclass(slots=True)
class EventReward(GoldReward[Gold, Facts]):
    """The reward of answers with events."""

    scorer: Scorer
    _warned_of_form: bool = field(default=False, compare=False, repr=False)

    def parse_gold_row(self, gold: Any, text: Any, number: int) -> Gold:
        return parse_gold({"events": _as_list(gold), "text": text}, str(number), None, self.scorer.schema)

    def score_answer(self, response: str, thought: str, gold: Gold) -> Facts:
        sample = Sample(gold, response, thought=thought)
        # Whether the metric needs more than what was read and compared: values looked up, thoughts checked.
        needs_checks = isinstance(_measure(self.scorer.measures, self.metric), Hallucination | ThoughtRates)
        return self.scorer.facts(sample) if needs_checks else self.scorer.compare_samples([sample])[0]

    def warn_of_form(self, facts: Facts) -> None:
        if self._warned_of_form:
            return
        settings, tally = self.scorer.settings.response, Tally()
        tally.add_totals({"total_samples": 1, **dict.fromkeys(answer_hints(facts, self.scorer.form), 1)})
        for hint in counted_hints(tally, settings):
            if hint.kind != "null_words":
                setting = joint_setting([hint], settings)
                self._warned_of_form = True
                _LOG.warning(
                    "%s: a completion has %s, and its reward is 0; %s",
                    self.__name__,
                    hint.have,
                    f"to read such answers, set in the protocol: {setting}" if setting else hint.advice,
                )
                return

    def is_unreadable(self, facts: Facts) -> bool:
        return any(violation.violation in _NOT_READ for violation in facts.predicted.violations)

    def is_empty(self, facts: Facts) -> bool:
        return not facts.predicted.units and not facts.sample.gold.events.units


@dataclass(slots=True)
class FieldReward(GoldReward[GoldDocument, FieldFacts]):
    """The reward of answers that are JSON by a schema."""

    scorer: AnswerScorer

    def parse_gold_row(self, gold: Any, text: Any, number: int) -> GoldDocument:
        return parse_document({"value": gold, "text": text}, str(number))

    def score_answer(self, response: str, thought: str, gold: GoldDocument) -> FieldFacts:
        return self.scorer.score(response, gold).facts

    def is_unreadable(self, facts: FieldFacts) -> bool:
        return not facts.is_read

    def is_empty(self, facts: FieldFacts) -> bool:
        return not facts.predicted_count and not facts.gold.leaves


def _require_reward(measures: Sequence[Measure[Any]], metric: str) -> None:
    metrics = [
        name
        for measure in measures
        if isinstance(measure, RatioMeasure)
        for name in measure.ratios
        if name.endswith(MORE_IS_BETTER)
    ]
    if metric not in metrics:
        raise ConfigError(
            "reward.unknown_metric",
            "this metric cannot be a reward",
            expected=f"a rate of which more is better: {', '.join(metrics)}",
            found=describe_value(metric),
            advice=did_you_mean(str(metric), metrics),
        )


def _measure(measures: Sequence[Measure[FactsType]], metric: str) -> RatioMeasure[FactsType]:
    return next(each for each in measures if isinstance(each, RatioMeasure) and metric in each.ratios)


def _answer(completion: Any) -> tuple[str, str]:
    """What the model wrote, and its thought; nothing where it wrote no text at all, or it is unreadable."""
    try:
        return _read_answer(completion)
    except Exception:  # content of a strange type, a call that is no JSON, an object that raises when it is looked at
        return "", ""


def _read_answer(completion: Any) -> tuple[str, str]:
    if isinstance(completion, str):
        return str.__str__(completion), ""  # plain, whatever it was derived from
    messages = completion if isinstance(completion, (list, tuple)) else [completion]
    # Some trainers give messages without a role: of a completion they are the assistant's.
    assistant_messages = [
        each for each in messages if isinstance(each, Mapping) and each.get("role", "assistant") == "assistant"
    ]
    if not assistant_messages:
        return "", ""
    answer = read_chat([{**assistant_messages[-1], "role": "assistant"}])
    return answer.response, str.__str__(answer.thought)


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, (str, list, dict)) and one == other)


def _as_list(events: Any) -> Any:
    """The events of a data set's column: as stored, as JSON text, or as Arrow gives them, with None for absent keys and
    lists of objects turned into objects of lists."""
    if isinstance(events, str):
        try:
            events = json.loads(events)
        except (ValueError, RecursionError):
            return events  # parse_gold says what is wrong
    if not isinstance(events, (list, tuple, Mapping)):
        return events
    return [
        {**event, "arguments": _rows(event["arguments"])} if isinstance(event, dict) and _has_rows(event) else event
        for event in _rows(events)
    ]


def _has_rows(event: dict[str, Any]) -> bool:
    """Whether the arguments of an event are not an object from roles to values."""
    arguments = event.get("arguments", {})
    return not isinstance(arguments, Mapping) or {"role", "argument"} <= arguments.keys()


def _rows(value: Any) -> Any:
    if isinstance(value, Mapping) and value and all(isinstance(column, (list, tuple)) for column in value.values()):
        value = [dict(zip(value, row, strict=False)) for row in zip(*value.values(), strict=False)]
    if not isinstance(value, (list, tuple)):
        return value
    return [
        {key: each for key, each in row.items() if each is not None or key == "argument"}
        if isinstance(row, Mapping)
        else row
        for row in value
    ]
