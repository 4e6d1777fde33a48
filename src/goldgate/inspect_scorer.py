"""Goldgate inside Inspect: a scorer for tasks of event extraction, and the gates over a finished log.

Inspect averages what a scorer gives for each sample; an average of F1 values is not the F1 of a data set. So a score is
the counts of its sample, which add up (also over epochs, whose mean Inspect takes), and the metric divides once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from operator import mul
from pathlib import Path
from typing import Any

from goldgate.core.evaluation import Evaluation
from goldgate.core.measure import RatioMeasure
from goldgate.errors import ConfigError, InputError, Place
from goldgate.protocol import ProtocolSource
from goldgate.suites.extraction.api import evaluate, load_event_scorer
from goldgate.suites.extraction.events.event_schema import SchemaSource
from goldgate.suites.extraction.measures import extraction_measures
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.scorer import Score as GoldgateScore
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings

try:
    from inspect_ai.log import EvalLog, read_eval_log
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
    from inspect_ai.solver import TaskState
except ImportError:
    raise ConfigError(
        "extra.missing",
        "goldgate inside Inspect needs inspect-ai",
        advice="pip install inspect-ai, or in a checkout of goldgate pip install '.[inspect]'",
    ) from None

EVENTS, TEXT = "events", "text"  # the keys of a sample's metadata
_SHOWN = ("strict_f1", "relaxed_f1", "type_f1")


@metric(name="goldgate")  # type: ignore[untyped-decorator]  # inspect_ai is too large for every check
def goldgate_metrics() -> Metric:
    """Every rate of the extraction suite over all samples: counts summed, divided once. Undefined ones are left out."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        sums: dict[str, float] = {}
        for each in scores:
            value = each.score.value
            for key, count in value.items() if isinstance(value, Mapping) else ():
                sums[key] = sums.get(key, 0) + float(count)
        return {name: rate for measure in _measures() for name, rate in _rates(measure, sums)}

    return compute


@scorer(metrics=[goldgate_metrics()])  # type: ignore[untyped-decorator]
def event_scorer(schema: str | dict[str, Any] | None = None, protocol: str | dict[str, Any] | None = None) -> Scorer:
    """Scores answers with events, by the gold in the sample's metadata (`events`, and `text` for hallucinations), or in
    its target as JSON."""
    judge = load_event_scorer(schema, _protocol(schema, protocol))

    async def score(state: TaskState, target: Target) -> Score:
        gold = _gold(state.metadata, target.text)
        judged = judge.score(state.output.completion or "", gold)
        return Score(value=_counts(judged.facts), answer=state.output.completion, explanation=_explained(judged))

    return score


def evaluate_log(log: EvalLog | str | Path, schema: SchemaSource = None, protocol: ProtocolSource = None) -> Evaluation:
    """The evaluation of a finished log, with intervals and the gates of a protocol.

    A sample that ended in an error has no answer, which costs recall. The epochs of a sample are a group: they count as
    one in intervals. A log that broke off is refused: the samples that it lacks are unknown.
    """
    eval_log = log if isinstance(log, EvalLog) else _read_log(str(log))
    samples = eval_log.samples or []
    _require_whole(eval_log, len(samples))
    epochs = len({sample.epoch for sample in samples}) > 1
    gold, predictions = [], []
    for sample in samples:
        identity = f"{sample.id}/{sample.epoch}" if epochs else str(sample.id)
        group = {"group": str(sample.id)} if epochs else {}
        target = sample.target if isinstance(sample.target, str) else "".join(sample.target)
        gold.append({**_gold(sample.metadata, target), "id": identity, **group})
        if sample.error is None and sample.output.choices:
            predictions.append({"id": identity, "response": sample.output.completion})
    return evaluate(gold, predictions, schema, _protocol(schema, protocol))


def _read_log(path: str) -> EvalLog:
    try:
        return read_eval_log(path)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem).partition("\n")[0]
        raise InputError("log.unreadable", "this log of Inspect cannot be read", place=Place(path), found=why) from None


def _require_whole(log: EvalLog, count: int) -> None:
    planned = len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)
    if not count or count < planned:
        raise InputError(
            "log.incomplete",
            "this log of Inspect does not have all samples",
            place=Place(log.location or None),
            expected=f"{planned} samples" if planned else "samples",
            found=f"{count}, and the status {log.status}",
            advice="let Inspect finish it (inspect eval-retry), and read it with its samples",
        )


def _protocol(schema: SchemaSource, protocol: ProtocolSource) -> ProtocolSource:
    """Without a schema and without a protocol, only the form of answers is checked."""
    return {"metrics": {"schema": {"mode": "syntax_only"}}} if schema is None and protocol is None else protocol


def _gold(metadata: Mapping[str, Any] | None, target: str) -> dict[str, Any]:
    """A gold record; what is wrong in it is said where it is parsed."""
    gold = metadata or {}
    events = gold.get(EVENTS)
    if events is None:
        try:
            events = json.loads(target)
        except ValueError:
            events = target
    text = gold.get(TEXT)
    return {"events": events} if text is None else {"events": events, "text": text}


@cache
def _measures() -> list[RatioMeasure[Facts]]:
    measures = extraction_measures(ExtractionSettings(cot=CotSettings(enabled=True)))
    return [measure for measure in measures if isinstance(measure, RatioMeasure)]


def _counts(facts: Facts) -> dict[str, float]:
    """What a sample counts in each table, column by column; 0 where it has no part in a rate."""
    counts: dict[str, float] = {}
    for measure in _measures():
        units = measure.row(facts) or (0,) * len(measure.columns)
        counts |= {f"{measure.table}.{column}": count for column, count in zip(measure.columns, units, strict=True)}
    return counts


def _rates(measure: RatioMeasure[Facts], sums: Mapping[str, float]) -> list[tuple[str, float]]:
    columns = [sums.get(f"{measure.table}.{column}", 0) for column in measure.columns]
    rates = []
    for name in measure.ratios:
        form = measure.forms[name]
        above, below = (sum(map(mul, columns, weights)) for weights in (form.numerator, form.denominator))
        if below:
            rates.append((name, above / below))
    return rates


def _explained(judged: GoldgateScore) -> str:
    """The sample's own rates, and its mistakes by name."""
    rates = [f"{name} {judged.metrics[name]}" for name in _SHOWN]
    mistakes = [f"{each['error']}: {', '.join(each['unit'])}" for each in judged.record["errors"]]
    return "\n".join([", ".join(rates), *mistakes])
