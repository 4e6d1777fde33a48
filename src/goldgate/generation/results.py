"""What is made of the answers: predictions.jsonl, generation.json, a report for each seed, and seeds.json.

The first two are made anew from the journal each time. A file that cannot be written is an error that says that no
answer is lost.

Where answers are missing, a report has bounds, the two extremes: every missing answer wrong (the ordinary report counts
it as an empty answer) and every missing answer equal to the gold.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypedDict, cast

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.metric import Rate, mean
from goldgate.core.page import Cell, Column, MeasuredValue, Name, Page, Section, Table, interval_ends
from goldgate.core.suite import signature
from goldgate.core.task import ScoredTask
from goldgate.errors import InputError, Place
from goldgate.files import writing
from goldgate.generation.journal import JournalContents, LineRef, line_usage, read_lines
from goldgate.generation.request import FormatLadder, Usage, compute_cost
from goldgate.protocol import Price

if TYPE_CHECKING:
    from goldgate.core.contracts import (
        BoundsValue,
        ComparedValue,
        GenerationValue,
        IntervalValue,
        PlainCount,
        PlainEstimate,
        PlainRate,
        RateValue,
    )
    from goldgate.generation.run import PreparedRun

_ADVICE = "everything that was answered is in the journal; the same command goes on from there"


artifact_file = partial(writing.atomic_file, advice=_ADVICE)


def write_artifact(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with artifact_file(path) as out:
        out.write(content)


def remove_artifact(path: Path) -> None:
    """See that there is no such file."""
    with writing.write_errors(path, _ADVICE):
        path.unlink(missing_ok=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with writing.write_errors(tempfile.gettempdir(), _ADVICE):
        folder = tempfile.TemporaryDirectory(prefix="goldgate-", ignore_cleanup_errors=True)
    with folder as name:
        yield Path(name)


SUMMARY_VERSION = 1  # of generation.json
NOT_ASKED = "not_asked"


@dataclass(slots=True)
class SeedSummary:
    """What came of one seed: how many answered, why the others did not, what it cost."""

    seed: int | None
    documents: int = 0
    price: Price | None = None
    answered: int = 0
    unanswered: list[int] = field(default_factory=list)  # positions in the task
    missing: Counter[str] = field(default_factory=Counter)  # by cause
    details: dict[str, str] = field(default_factory=dict)  # by cause: the server's message about the first document
    usage: Usage = field(default_factory=Usage)  # all requests, with or without an answer
    without_answer: list[Usage] = field(default_factory=list)  # one for each request without an answer that counts
    usage_estimated: int = 0  # answers whose tokens the endpoint did not count
    finish_reasons: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    attempts: int = 0

    @property
    def coverage(self) -> Rate:
        return Rate(self.answered, self.documents, "there are no documents")

    @property
    def complete(self) -> bool:
        return self.answered == self.documents

    @property
    def cost(self) -> str | None:
        """The cost of all requests as text; None without a price."""
        return format_money(compute_cost(self.usage, self.price))

    def as_json(self) -> dict[str, Any]:
        lost = sum(self.without_answer, Usage())
        return {
            "seed": self.seed,
            "coverage": self.coverage.as_json(),
            "missing": dict(sorted(self.missing.items())),
            "tokens": {
                "input": self.usage.input,
                "output": self.usage.output,
                "reasoning": self.usage.reasoning,
                "estimated_answers": self.usage_estimated,
                "without_answer": {
                    "requests": len(self.without_answer),
                    "input": lost.input,
                    "output": lost.output,
                },
            },
            "cost": self.cost,
            "finish_reasons": dict(sorted(self.finish_reasons.items())),
            "models": dict(sorted(self.models.items())),
            "attempts": self.attempts,
        }


def write_predictions(
    contents: JournalContents,
    ladder: FormatLadder,
    seed: int | None,
    price: Price | None,
    out: IO[bytes],
) -> SeedSummary:
    """Write a line for each answered document, and count on the way."""
    positions = range(len(ladder.plan.task))
    summary = SeedSummary(seed, len(positions), price)
    answers: list[LineRef] = []
    unused: list[LineRef] = []
    failures: list[LineRef] = []
    for (position, _), _, stored in ladder.find_all(contents, ((position, seed) for position in positions)):
        unused += stored.unused(contents)
        summary.without_answer += stored.without_answer(contents)
        if stored.place is not None:
            answers.append(stored.place)
        else:
            summary.unanswered.append(position)
            failed = [contents.failures[key] for key in stored.keys if key in contents.failures]
            failures += [max(failed)] if failed else []  # the last one
            summary.missing[NOT_ASKED] += not failed
    for record in read_lines(contents.path, answers):
        prediction = ladder.plan.task.prediction(record["id"], record["response"])
        out.write(orjson.dumps(prediction, option=orjson.OPT_APPEND_NEWLINE))
        _count_answer(summary, record)
    summary.without_answer += map(line_usage, read_lines(contents.path, unused))
    for record in read_lines(contents.path, failures):
        summary.missing[str(record["cause"])] += 1
        summary.details.setdefault(str(record["cause"]), str(record.get("detail") or ""))
        summary.attempts += int(record.get("attempts") or 1)
    summary.missing = +summary.missing
    summary.usage += replace(sum(summary.without_answer, Usage()), reasoning=0)
    return summary


def _count_answer(summary: SeedSummary, record: dict[str, Any]) -> None:
    usage = line_usage(record)
    summary.answered += 1
    summary.usage += usage
    summary.usage_estimated += usage.estimated
    summary.finish_reasons[str(record.get("finish_reason") or "not said")] += 1
    summary.models[str(record.get("model") or "not said")] += 1
    summary.attempts += int(record.get("attempts") or 1)


def summary_json(
    prepared: PreparedRun, contents: JournalContents, ladder: FormatLadder, seeds: list[SeedSummary]
) -> dict[str, Any]:
    """generation.json: what was asked, what came back, what is missing and why."""
    plan, price = ladder.plan, prepared.price
    others = sum(1 for record in contents.plans.values() if record["base"] != plan.base())
    everything = sum((summary.usage for summary in seeds), Usage())
    report = {
        "format_version": SUMMARY_VERSION,
        "signature": generation_signature(ladder),
        "plan": ladder.current.identity,
        "settings": {**plan.settings(), "response_format": ladder.form},
        "step_downs": [
            {name: step.get(name) for name in ("from", "to", "detail")}
            for step in contents.step_downs
            if step["base"] == plan.base()
        ],
        "currency": prepared.settings.currency if price is not None else None,
        "cost": format_money(compute_cost(everything, price)),
        "seeds": [summary.as_json() for summary in seeds],
        "other_plans_in_journal": others,
    }
    return report


def generation_signature(ladder: FormatLadder, seed: int | None = None) -> str:
    """What determined the answers, on one line, to stand behind the signature of a report."""
    plan = ladder.plan
    words: dict[str, object] = {
        "model": plan.model,
        **plan.task.signature,
        "format": ladder.form,
    }
    words |= {
        name: orjson.dumps(value).decode() for name, value in sorted(plan.parameters.items()) if value is not None
    }
    if seed is not None:
        words["seed"] = seed
    return signature(words)


def cost_line(summary: dict[str, Any]) -> str:
    """What generation.json says of a whole run, on one line: `12 of 12 answered, 960 + 210 tokens, 0.0123 USD`."""
    seeds = summary["seeds"]
    answered, documents = (sum(seed["coverage"][part] for seed in seeds) for part in ("numerator", "denominator"))
    tokens = {kind: sum(seed["tokens"][kind] for seed in seeds) for kind in ("input", "output", "reasoning")}
    reasoning = f" ({tokens['reasoning']:,} of them reasoning)" if tokens["reasoning"] else ""
    counted = f"{tokens['input']:,} + {tokens['output']:,} tokens{reasoning}"
    money = f"{summary['cost']} {summary['currency']}" if summary["cost"] is not None else "cost unknown: no price"
    return f"{answered:,} of {documents:,} answered, {counted}, {money}"


def format_money(money: Decimal | None) -> str | None:
    """An amount with at least two decimals, and no more than are needed."""
    if money is None:
        return None
    text = f"{money.normalize():f}"
    whole, _, part = text.partition(".")
    return f"{whole}.{part.ljust(2, '0')}"


_ADDRESS_ERRORS = frozenset({"not_json", "http_404", "http_405"})  # what a web server says that is no endpoint

EvaluatePredictions = Callable[[list[Path], IO[bytes] | None], Evaluation]  # files of predictions, where the records go


def score_answers(
    evaluate: EvaluatePredictions,
    predictions: Path,
    ladder: FormatLadder,
    summary: SeedSummary,
    currency: str,
    records: IO[bytes] | None = None,
) -> Evaluation:
    """Evaluate the predictions of one seed; the report also says what was asked, what is missing, what it cost."""
    evaluation = evaluate([predictions], records)
    task = cast(ScoredTask, ladder.plan.task)
    bounds = None if summary.complete else _bounds(evaluate, predictions, task, summary, evaluation)
    asked = generation_signature(ladder, summary.seed)
    generation: GenerationValue = {
        "signature": asked,
        "coverage": summary.coverage.as_json(),
        "missing": dict(sorted(summary.missing.items())),
        "bounds": bounds,
        "cost": None if summary.cost is None else {"amount": summary.cost, "currency": currency},
    }
    signature = f"{evaluation.report['signature']}|{asked}"
    return replace(evaluation, report={**evaluation.report, "signature": signature, "generation": generation})


def missing_error(evaluation: Evaluation, task: ScoredTask, summary: SeedSummary, predictions: Path) -> InputError:
    """Why an incomplete run has no verdict, and between which values its score lies."""
    generation = evaluation.report["generation"]
    low, high = (generation["bounds"][side][task.headline] for side in ("all_wrong", "all_right"))
    causes = ", ".join(_describe_cause(cause, count, summary) for cause, count in generation["missing"].items())
    seed = "" if summary.seed is None else f" for seed {summary.seed}"
    between = f"{_format_rate(low)} (all of them wrong) and {_format_rate(high)} (all right)"
    advice = "run the same command again to ask for what is missing, or add --allow-missing to score without it"
    if not summary.answered and not _ADDRESS_ERRORS.isdisjoint(summary.missing):
        advice = f"is --base-url the part before /chat/completions? if so: {advice}"
    return InputError(
        "generation.missing_answers",
        f"{summary.documents - summary.answered} of {summary.documents} answers are missing{seed}",
        place=Place(str(predictions)),
        expected="an answer for every document",
        found=f"{causes}; {task.headline} is between {between}",
        advice=advice,
    )


def _describe_cause(cause: str, count: int, summary: SeedSummary) -> str:
    """How often it was so, with what the server said the first time."""
    detail = summary.details.get(cause)
    return f"{cause} {count} ({detail})" if detail else f"{cause} {count}"


def _bounds(
    evaluate: EvaluatePredictions, predictions: Path, task: ScoredTask, summary: SeedSummary, evaluation: Evaluation
) -> BoundsValue:
    with temporary_folder() as folder:
        perfect = folder / "perfect.jsonl"
        with artifact_file(perfect) as out:
            for position in summary.unanswered:
                out.write(orjson.dumps(task.perfect_prediction(position), option=orjson.OPT_APPEND_NEWLINE))
        best = evaluate([predictions, perfect], None)
    return {"all_wrong": _rates(evaluation), "all_right": _rates(best)}


def _rates(evaluation: Evaluation) -> dict[str, RateValue]:
    main = evaluation.report["metrics"]["main"]
    return {
        name: main[name] for name, metric in evaluation.metrics.items() if isinstance(metric, Rate) and name in main
    }


def _format_rate(metric: RateValue) -> str:
    return str(Rate(metric["numerator"], metric["denominator"]))


SEED_FILES = ("seeds.json", "seeds.md")
SEEDS_VERSION = 1  # of seeds.json


class SeedsMetric(TypedDict):
    """A metric over several seeds; the standard errors and the interval are those of its mean."""

    mean: float | None
    standard_deviation: float | None
    min: float | None
    max: float | None
    se_runs: float | None
    se_units: float | None
    interval: IntervalValue | None
    by_seed: dict[str, PlainRate | PlainCount | PlainEstimate]


class SeedsSummary(TypedDict):
    """seeds.json."""

    format_version: int
    seeds: list[int]
    statuses: dict[str, str]
    metrics: dict[str, SeedsMetric]


def summarize_seeds(
    evaluations: Mapping[int, Evaluation], spreads: Mapping[str, ComparedValue] | None = None
) -> SeedsSummary:
    """seeds.json: what a user quotes. The spread is the sample standard deviation, None for a single value.

    `spreads` has, for each rate, the standard errors of its mean from runs and from units, and an interval with both.
    """
    first = next(iter(evaluations.values()))
    metrics: dict[str, SeedsMetric] = {}
    for name in first.metrics:
        by_seed = {seed: evaluation.metrics[name] for seed, evaluation in evaluations.items()}
        rates = [metric for metric in by_seed.values() if isinstance(metric, Rate)]
        values = [float(metric.value) for metric in by_seed.values() if metric.value is not None]
        spread = (spreads or {}).get(name)
        average = mean(rates).value if rates else (statistics.fmean(values) if values else None)
        metrics[name] = {
            "mean": average,
            "standard_deviation": statistics.stdev(values) if len(values) > 1 else None,
            "min": min(values, default=None),
            "max": max(values, default=None),
            "se_runs": None if spread is None else spread.get("se_runs"),
            "se_units": None if spread is None else spread.get("se_units"),
            "interval": None if spread is None else spread["interval"],
            "by_seed": {str(seed): metric.as_json() for seed, metric in by_seed.items()},
        }
    return {
        "format_version": SEEDS_VERSION,
        "seeds": list(evaluations),
        "statuses": {str(seed): evaluation.status for seed, evaluation in evaluations.items()},
        "metrics": metrics,
    }


_SeedColumn = Literal["mean", "standard_deviation", "min", "max", "se_runs", "se_units"]
_SEED_COLUMNS: dict[_SeedColumn, str] = {"mean": "mean", "standard_deviation": "std. dev.", "min": "min", "max": "max"}
_STANDARD_ERRORS: dict[_SeedColumn, str] = {
    "se_runs": "se of seeds",
    "se_units": "se of samples",
}  # standard errors of the mean


def describe_seeds(seeds: SeedsSummary, headline: Sequence[str]) -> Page:
    """The summary of several seeds as a page, with the headline metrics that there are, or else all."""
    metrics = seeds["metrics"]
    names = [name for name in headline if name in metrics] or list(metrics)
    columns = _SEED_COLUMNS | (_STANDARD_ERRORS if any(metrics[name].get("interval") for name in names) else {})
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Name(name), *(_value(metrics[name], key) for key in columns)) for name in names
    )
    table = Table((Column("metric"), *map(Column, columns.values())), rows)
    return Page(suite="seeds", subject=", ".join(map(str, seeds["seeds"])), sections=(Section("Metrics", (table,)),))


def _value(metric: SeedsMetric, key: _SeedColumn) -> MeasuredValue:
    """The mean has the interval: of what other seeds and other documents might bring."""
    return MeasuredValue(metric.get(key), interval=interval_ends(metric.get("interval")) if key == "mean" else None)
