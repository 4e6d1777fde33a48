"""Rewards for training loops: a function with the signature that TRL's GRPO trainer calls.

    trainer = GRPOTrainer(model, reward_funcs=[event_reward(schema="schema.json", metric="relaxed_f1")], …)

The trainer calls it by keyword with `prompts`, `completions`, in later versions `completion_ids`, `trainer_state`,
`log_extra` and `log_metric`, and with every other column of the data set, one entry a completion.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goldgate.core.evaluation import MORE_IS_BETTER
from goldgate.core.measure import RatioMeasure
from goldgate.errors import ConfigError, InputError, Place, describe_value, did_you_mean
from goldgate.protocol import ProtocolSource
from goldgate.suites.extraction.api import load_scorer
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.events.event_schema import SchemaSource
from goldgate.suites.extraction.measures.chain_of_thought import ThoughtRates
from goldgate.suites.extraction.measures.hallucination import Hallucination
from goldgate.suites.extraction.records import parse_gold
from goldgate.suites.extraction.sample import Facts, Gold, Sample, read_chat
from goldgate.suites.extraction.scorer import Scorer

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
    scorer = load_scorer(schema, _NO_SCHEMA if schema is None and protocol is None else protocol)
    _require_reward(scorer, metric)
    return EventReward(scorer, metric, events, text)


@dataclass(slots=True)
class EventReward:
    """Called with a batch, it gives a list of rewards. It can be pickled, and holds nothing between calls."""

    scorer: Scorer
    metric: str
    events: str = "events"
    text: str = "text"
    _warned: bool = field(default=False, compare=False, repr=False)

    @property
    def __name__(self) -> str:
        """What trainers call it in their logs."""
        return f"goldgate_{self.metric}"

    def __call__(
        self, completions: Sequence[Any], prompts: Sequence[Any] | None = None, **columns: Any
    ) -> list[float | None]:
        """A reward for each completion: text, or a list of messages of which the last one of the assistant counts.

        Nothing that a model writes raises; a gold record that cannot be read does, as it would in every epoch.
        """
        golds = self._golds(len(completions), columns)
        found = [
            None if gold is None else self._facts(each, gold) for each, gold in zip(completions, golds, strict=True)
        ]
        log = columns.get("log_metric")
        judged = [facts for facts in found if facts is not None]
        if callable(log) and judged:
            log(f"{self.__name__}/unreadable", sum(map(_is_unreadable, judged)) / len(judged))
        return [None if facts is None else self._reward(facts) for facts in found]

    def _golds(self, count: int, columns: Mapping[str, Any]) -> list[Gold | None]:
        """The gold of each completion. That of the same document stands once for each of its completions, in a row."""
        listed, texts = columns.get(self.events), columns.get(self.text)
        if listed is None:
            if not self._warned:
                self._warned = True
                _LOG.warning("%s: there is no column %r, so there is no reward", self.__name__, self.events)
            return [None] * count
        texts = [None] * count if texts is None else texts
        if len(listed) != count or len(texts) != count:
            raise ValueError(
                f"every completion needs its gold: {count} completions, {len(listed)} {self.events}, "
                f"{len(texts)} {self.text}"
            )
        golds: list[Gold | None] = []
        for number, (events, text) in enumerate(zip(listed, texts, strict=True)):
            if number and _same(listed[number - 1], events) and _same(texts[number - 1], text):
                golds.append(golds[-1])
            else:
                golds.append(None if events is None else self._gold(events, text, number))
        return golds

    def _gold(self, events: Any, text: Any, number: int) -> Gold:
        try:
            return parse_gold({"events": _as_list(events), "text": text}, str(number), None, self.scorer.schema)
        except InputError as error:
            error.place = Place(f"row {number + 1} of the batch", None, error.place.field)
            raise

    def _facts(self, completion: Any, gold: Gold) -> Facts:
        response, thought = _answer(completion)
        sample = Sample(gold, response, thought=thought)
        return self.scorer.facts(sample) if self._needs_checks else self.scorer.compared([sample])[0]

    @property
    def _needs_checks(self) -> bool:
        """Whether the metric needs more than what was read and compared: values looked up, thoughts checked."""
        return isinstance(_measure(self.scorer, self.metric), Hallucination | ThoughtRates)

    def _reward(self, facts: Facts) -> float:
        """The metric over this answer alone; where it is undefined, 1 for rightly saying nothing, and 0 otherwise."""
        measure = _measure(self.scorer, self.metric)
        form, counts = measure.forms[self.metric], measure.units(facts)
        pairs = [] if counts is None else list(zip(counts, form.numerator, form.denominator, strict=True))
        denominator = sum(count * weight for count, _, weight in pairs)
        if denominator:
            return sum(count * weight for count, weight, _ in pairs) / denominator
        nothing = not facts.predicted.units and not facts.sample.gold.events.units
        return 1.0 if nothing and not _is_unreadable(facts) else 0.0


def _is_unreadable(facts: Facts) -> bool:
    return any(found.violation in _NOT_READ for found in facts.predicted.violations)


def _require_reward(scorer: Scorer, metric: str) -> None:
    known = [
        name
        for measure in scorer.measures
        if isinstance(measure, RatioMeasure)
        for name in measure.ratios
        if name.endswith(MORE_IS_BETTER)
    ]
    if metric not in known:
        raise ConfigError(
            "reward.unknown_metric",
            "this metric cannot be a reward",
            expected=f"a rate of which more is better: {', '.join(known)}",
            found=describe_value(metric),
            advice=did_you_mean(str(metric), known),
        )


def _measure(scorer: Scorer, metric: str) -> RatioMeasure[Facts]:
    return next(each for each in scorer.measures if isinstance(each, RatioMeasure) and metric in each.ratios)


def _answer(completion: Any) -> tuple[str, str]:
    """What the model wrote, and its thought; nothing where it wrote no text at all, or nobody can read it."""
    try:
        return _read_answer(completion)
    except Exception:  # content of a strange type, a call that is no JSON, an object that raises when it is looked at
        return "", ""


def _read_answer(completion: Any) -> tuple[str, str]:
    if isinstance(completion, str):
        return str.__str__(completion), ""  # plain, whatever it was derived from
    messages = completion if isinstance(completion, (list, tuple)) else [completion]
    # Some trainers give messages without a role: of a completion they are the assistant's.
    spoken = [each for each in messages if isinstance(each, Mapping) and each.get("role", "assistant") == "assistant"]
    if not spoken:
        return "", ""
    answer = read_chat([{**spoken[-1], "role": "assistant"}])
    return answer.response, str.__str__(answer.thought)


def _same(one: Any, other: Any) -> bool:
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
