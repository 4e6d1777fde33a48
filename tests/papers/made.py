"""Small evaluations under a profile."""

from __future__ import annotations

from typing import Any

import goldgate
from goldgate import Evaluation
from goldgate.core.metric import Count, Rate

Json = dict[str, Any]


def settings(profile: str, **metrics: Any) -> Json:
    return {"metrics": {"schema": {"mode": "syntax_only"}, "profile": profile, **metrics}}


def event(event_type: str, *arguments: tuple[Any, ...], trigger: tuple[Any, ...] | None = None) -> Json:
    """An event from (role, argument[, start, end]) and (trigger[, start, end])."""
    made: Json = {"event_type": event_type, "arguments": [_placed("argument", a[1:], role=a[0]) for a in arguments]}
    return made if trigger is None else made | _placed("trigger", trigger)


def _placed(name: str, given: tuple[Any, ...], **more: Any) -> Json:
    return more | dict(zip((name, "start", "end"), given, strict=False))


def judge(profile: str, gold: list[Json], predicted: list[Json], **metrics: Any) -> Evaluation:
    """One sample with these events."""
    return judge_all(profile, [gold], [predicted], **metrics)


def judge_all(profile: str, golds: list[list[Json]], predictions: list[list[Json]], **metrics: Any) -> Evaluation:
    """A sample for each list of events."""
    return goldgate.evaluate(
        [{"id": str(n), "events": events} for n, events in enumerate(golds)],
        [{"id": str(n), "events": events} for n, events in enumerate(predictions)],
        protocol=settings(profile, **metrics),
    )


def triple(evaluation: Evaluation, family: str) -> tuple[int, int, int]:
    """Hits, predicted and gold of a family."""
    precision, recall, f1 = (rate(evaluation, f"{family}_{name}") for name in ("precision", "recall", "f1"))
    assert precision.numerator == recall.numerator
    assert (f1.numerator, f1.denominator) == (2 * precision.numerator, precision.denominator + recall.denominator)
    return precision.numerator, precision.denominator, recall.denominator


def rate(evaluation: Evaluation, name: str) -> Rate:
    metric = evaluation.metrics[name]
    assert isinstance(metric, Rate)
    return metric


def count(evaluation: Evaluation, name: str) -> int | None:
    metric = evaluation.metrics[name]
    assert isinstance(metric, Count)
    return metric.value
