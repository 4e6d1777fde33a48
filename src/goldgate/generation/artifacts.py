"""The files made from a journal: predictions.jsonl and generation.json.

Both are made anew from the journal each time. A file that cannot be written is an error that says that no answer is
lost.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import orjson

from goldgate.core.metric import Rate
from goldgate.core.task import ANSWER_FORMATS, AnswerFormat
from goldgate.files import writing
from goldgate.generation.answerer import EarlyStopping
from goldgate.generation.journal import read_lines
from goldgate.generation.journal_contents import FormatLadder, JournalContents, LineRef, line_usage
from goldgate.generation.request import Usage, compute_cost
from goldgate.protocol import Price
from goldgate.stats.early_stopping import ERROR_RATE

if TYPE_CHECKING:
    from goldgate.core.contracts import DecidedGate, EarlyStopValue

_ADVICE = "everything that was answered is in the journal; the same command goes on from there"


artifact_file = partial(writing.atomic_file, advice=_ADVICE)


def write_artifact(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with artifact_file(path) as out:
        out.write(content)


def remove_artifact(path: Path) -> None:
    """See that there is no such file."""
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise writing.write_failure(path, problem, _ADVICE) from None


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="goldgate-", ignore_cleanup_errors=True)
    except OSError as problem:
        raise writing.write_failure(tempfile.gettempdir(), problem, _ADVICE) from None
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
    formats: Counter[AnswerFormat] = field(default_factory=Counter)  # in which the answers came
    usage_estimated: int = 0  # answers whose tokens the endpoint did not count
    finish_reasons: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    endpoints: dict[str, Counter[str]] = field(default_factory=dict)  # models of the answers by address
    journals: Counter[int] = field(default_factory=Counter)  # answers by the number of their file

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
            "formats": {form: self.formats[form] for form in ANSWER_FORMATS if self.formats[form]},
            "finish_reasons": dict(sorted(self.finish_reasons.items())),
            "models": dict(sorted(self.models.items())),
            "attempts": self.attempts,
            **({"endpoints": self._endpoints()} if self.endpoints else {}),
        }

    def _endpoints(self) -> dict[str, dict[str, int]]:
        return {address: dict(sorted(models.items())) for address, models in sorted(self.endpoints.items())}


def write_predictions(
    contents: JournalContents,
    ladder: FormatLadder,
    seed: int | None,
    price: Price | None,
    out: IO[bytes],
    positions: Sequence[int],
) -> SeedSummary:
    """Write a line for each answered document, of those at these positions of the task, and count on the way."""
    summary = SeedSummary(seed, len(positions), price)
    answers: list[LineRef] = []
    unused: list[LineRef] = []
    failures: list[LineRef] = []
    for (position, _), _, stored in ladder.find_all(contents, ((position, seed) for position in positions)):
        unused += stored.unused(contents)
        summary.without_answer += stored.without_answer(contents)
        if stored.place is not None and stored.form is not None:
            answers.append(stored.place)
            summary.formats[stored.form] += 1
            summary.journals[stored.place[0]] += 1
        else:
            summary.unanswered.append(position)
            failed = [contents.failures[key] for key in stored.keys if key in contents.failures]
            failures += [max(failed)] if failed else []  # the last one
            summary.missing[NOT_ASKED] += not failed
    for record in read_lines(contents.files, answers):
        prediction = ladder.plan.task.prediction(record["id"], record["response"])
        out.write(orjson.dumps(prediction, option=orjson.OPT_APPEND_NEWLINE))
        _count_answer(summary, record, contents)
    summary.without_answer += map(line_usage, read_lines(contents.files, unused))
    for record in read_lines(contents.files, failures):
        summary.missing[str(record["cause"])] += 1
        summary.details.setdefault(str(record["cause"]), str(record.get("detail") or ""))
        summary.attempts += int(record.get("attempts") or 1)
    if summary.endpoints.keys() <= {ladder.plan.source.get("endpoint")}:
        summary.endpoints.clear()  # there is nothing to tell apart
    summary.missing = +summary.missing
    summary.usage += replace(sum(summary.without_answer, Usage()), reasoning=0)
    return summary


def _count_answer(summary: SeedSummary, record: dict[str, Any], contents: JournalContents) -> None:
    usage = line_usage(record)
    summary.answered += 1
    summary.usage += usage
    summary.usage_estimated += usage.estimated
    summary.finish_reasons[str(record.get("finish_reason") or "not said")] += 1
    model = str(record.get("model") or "not said")
    summary.models[model] += 1
    address = record.get("endpoint") or contents.endpoint_of(record["plan"])
    if address is not None:
        summary.endpoints.setdefault(address, Counter())[model] += 1
    summary.attempts += int(record.get("attempts") or 1)


def summary_json(
    ladder: FormatLadder, contents: JournalContents, seeds: list[SeedSummary], price: Price | None, currency: str
) -> dict[str, Any]:
    """generation.json: what was asked, what came back, what is missing and why."""
    plan = ladder.plan
    others = sum(1 for record in contents.plans.values() if record["base"] not in ladder.bases)
    used = sum((summary.formats for summary in seeds), Counter[AnswerFormat]())
    everything = sum((summary.usage for summary in seeds), Usage())
    return {
        "format_version": SUMMARY_VERSION,
        "signature": generation_signature(ladder, used),
        "plan": ladder.current.identity,
        "settings": {**plan.settings(), "response_format": ladder.form},
        "step_downs": [
            {name: step.get(name) for name in ("from", "to", "detail")}
            for step in contents.step_downs
            if step["base"] == plan.base()
        ],
        "currency": currency if price is not None else None,
        "cost": format_money(compute_cost(everything, price)),
        "seeds": [summary.as_json() for summary in seeds],
        "other_plans_in_journal": others,
    }


def early_stop_json(stopping: EarlyStopping, everything: SeedSummary, price: Price | None) -> EarlyStopValue:
    """`generation.stopped` of a report: what was decided about all documents, after how many, and what that saved.

    Every document that was not asked is taken to cost as much as one that was.
    """
    watch, rule = stopping.rule.watch, stopping.rule
    not_asked, answered, spent = everything.missing[NOT_ASKED], everything.answered, everything.usage
    saved = Usage(spent.input * not_asked // max(1, answered), spent.output * not_asked // max(1, answered))
    decided = [
        {"metric": bound.metric, bound.side: str(bound.threshold), "kept_by_all": kept, "largest": bound.largest}
        for bound, kept in watch.decisions()
    ]
    return {
        "documents": watch.documents,
        "decided_after": watch.decided_after,
        "answered": answered,
        "order_seed": rule.seed,
        "error_rate": ERROR_RATE,
        "most_predictions": rule.most_predictions,
        "gates": cast("list[DecidedGate]", decided),
        "saved": {
            "documents": not_asked,
            "tokens": {"input": saved.input, "output": saved.output},
            "cost": format_money(compute_cost(saved, price)),
        },
    }


def generation_signature(ladder: FormatLadder, used: Counter[AnswerFormat], seed: int | None = None) -> str:
    """What determined the answers, on one line, to stand behind the signature of a report."""
    from goldgate.core.suite import signature

    plan = ladder.plan
    words: dict[str, object] = {
        "model": plan.model,
        **plan.task.signature,
        "format": "+".join(form for form in ANSWER_FORMATS if used[form]) or ladder.form,
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
