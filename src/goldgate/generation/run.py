"""A whole generation run: from a task and an answerer to a journal with every answer, and what can be made of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.task import Task
from goldgate.errors import ConfigError, Place
from goldgate.generation.answerers.answerer import Answerer, Assignment, Ending, Position
from goldgate.generation.artifacts import NOT_ASKED, SeedSummary, format_money, summary_json, write_predictions
from goldgate.generation.budget import Budget, cost, find_price
from goldgate.generation.counts import Counts, Listener
from goldgate.generation.files import remove_file, whole_file, write_whole
from goldgate.generation.journal import Journal, full_error, read_contents, read_lines
from goldgate.generation.journal_lines import Contents, Span, usage_of
from goldgate.generation.ladder import Ladder
from goldgate.generation.notices import closing_notices, model_notices, opening_notices
from goldgate.generation.options import GenerationOptions
from goldgate.generation.outcome import Usage
from goldgate.generation.plan import Plan, Request, make_plan
from goldgate.generation.shards import JOURNAL, other_journals, require_unused
from goldgate.generation.stopping import Stopping, StopRule, saved, stopped_json
from goldgate.protocol.model import GenerationSettings, Price

PREDICTIONS, SUMMARY = "predictions.jsonl", "generation.json"
ASKED = "asked.jsonl"  # the gold of the documents that decided every gate, where not all were asked


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything read and checked; nothing has been asked yet."""

    options: GenerationOptions
    answerer: Answerer
    plan: Plan
    settings: GenerationSettings
    price: Price | None
    documents: Sequence[int]  # positions in the task: all, or those of a shard
    stop_rule: StopRule | None = None

    @property
    def task(self) -> Task:
        return self.plan.task

    @property
    def journal(self) -> Path:
        return self.options.out / JOURNAL

    def positions(self) -> Iterator[Position]:
        """Every document with every seed."""
        return ((position, seed) for seed in self.plan.seeds for position in self.documents)

    def beside(self) -> list[Path]:
        """The other journals that may hold answers to these questions."""
        return other_journals(self.options.whole, self.options.shard)

    def budget(self) -> Budget:
        """The caps. Each shard has a part of them, by the number of its documents: together they keep to the whole."""
        options = self.options
        whole = Budget(self.price, options.max_total_tokens, options.max_cost)
        if options.shard is None:
            return whole
        return whole.part(len(self.documents), max(1, len(self.task)), f"shard {options.shard}")


class Outcome(NamedTuple):
    """What there is after a run."""

    ending: Ending
    ladder: Ladder
    summaries: list[SeedSummary]
    summary: dict[str, Any]  # generation.json
    stopped: dict[str, Any] | None = None  # what was decided before all documents were asked; None: they were


class DryRun(NamedTuple):
    """What a run would ask."""

    first: Request | None
    requests: int
    total: int
    usage: Usage  # at most
    cost: Decimal | None


def prepare(
    options: GenerationOptions,
    answerer: Answerer,
    settings: GenerationSettings,
    load_task: Callable[[], Task],
    watch: Callable[[Task], StopRule | None] = lambda _: None,
) -> Prepared:
    """Check everything before anything is paid for; what is in the task's files comes last, as there is most of it.

    `watch` says when enough was asked, where somebody wants to stop before the end.
    """
    price = find_price(settings, options.model, needed=options.max_cost is not None)
    source = answerer.identify()
    task = load_task()
    try:
        plan = make_plan(
            task,
            source,
            options.model,
            options.parameters,
            seeds=options.all_seeds,
            response_format=options.response_format,
            takes_formats=answerer.takes_formats,
            also=answerer.also(),
        )
        shard, everything = options.shard, range(len(task))
        documents = everything if shard is None else [place for place in everything if shard.holds(task.id(place))]
        stop_rule = watch(task)
    except BaseException:
        task.close()
        raise
    return Prepared(options, answerer, plan, settings, price, documents, stop_rule)


def dry_run(prepared: Prepared) -> DryRun:
    """Count what would be asked, without a journal, a key or a network."""
    contents = read_contents(prepared.journal, prepared.beside())
    ladder = Ladder(prepared.plan, contents)
    first: Request | None = None
    number = tokens = 0
    for position, seed in prepared.positions():
        question = prepared.task.question(position, seed)
        if ladder.find(contents, question, seed).place is None:
            request = ladder.current.make(question, seed)
            first = first or request
            number += 1
            tokens += request.estimate
    usage = Usage(tokens, number * prepared.plan.output_limit)
    total = len(prepared.documents) * len(prepared.plan.seeds)
    return DryRun(first, number, total, usage, cost(usage, prepared.price))


def open_journal(prepared: Prepared) -> Journal:
    """Take the folder: until the journal is closed, nobody else asks, scores or reports there.

    A folder with results of the same names and no journal that they could come from is left alone.
    """
    journal = Journal(prepared.journal, lambda: require_unused(prepared.beside()))
    try:
        if not journal.contents.size:
            require_ours(prepared.options)
    except BaseException:
        journal.close()
        raise
    return journal


def require_ours(options: GenerationOptions) -> None:
    """The predictions in a folder without a journal were made by goldgate, from journals that are elsewhere."""
    files = [folder / PREDICTIONS for folder in options.folders()]
    foreign = [file for file in files if file.exists() and not (options.out / SUMMARY).exists()]
    if foreign:
        raise ConfigError(
            "out.not_ours",
            "this file did not come from a journal in the same folder, and would be overwritten",
            place=Place(str(foreign[0])),
            advice="move it, or choose another folder for --out",
        )


def generate(prepared: Prepared, journal: Journal, listener: Listener) -> Outcome:
    """Ask for every answer that the journal does not have, then write the predictions and the summary from it.

    It may end early (`ending.reason`); what was answered until then is in the journal in any case.
    """
    assignment = assign(prepared, journal, listener)
    counts = assignment.counts
    for line in opening_notices(assignment.ladder, prepared.journal, journal.contents, counts):
        listener.say(line)
    began = time.perf_counter()
    ending = prepared.answerer.answer(assignment) if assignment.pending else Ending("done")
    stopping = assignment.stopping
    if stopping is not None and stopping.is_decided and ending.reason == "done":
        ending = Ending("decided")
    for line in closing_notices(counts, time.perf_counter() - began):
        listener.say(line)
    journal.sync()
    if ending.reason == "full":
        raise full_error(journal.path, ending.message)
    ladder = assignment.ladder
    if stopping is not None and ending.reason == "decided":
        return _stopped(prepared, journal.contents, ladder, stopping, ending)
    remove_file(prepared.options.out / ASKED)  # an earlier run's
    outcome = Outcome(ending, ladder, *write_artifacts(prepared, journal.contents, ladder))
    for line in model_notices(outcome.summaries):
        listener.say(line)
    return outcome


def write_summary(prepared: Prepared, summary: dict[str, Any]) -> None:
    """Write generation.json."""
    from goldgate.core.evaluation import render_json

    write_whole(prepared.options.out / SUMMARY, render_json(summary))


def stopped_error(ending: Ending, answerer: Answerer) -> ConfigError:
    """The error of a run that was given up."""
    usual = "what was answered is in the journal; the same command asks for the rest"
    advice = answerer.advice(ending.message) or usual
    return ConfigError("generation.stopped", ending.message, expected="an endpoint that answers", advice=advice)


def assign(prepared: Prepared, journal: Journal, listener: Listener) -> Assignment:
    """What is still to be asked, and what everything until now has cost."""
    contents = journal.contents
    ladder = Ladder(prepared.plan, contents)
    pending: list[Position] = []
    answers: list[Span] = []
    budget = prepared.budget()
    counts = Counts()
    ids: list[str] = []
    heard: dict[int, Span] = {}
    for position, seed in prepared.positions():
        question = prepared.task.question(position, seed)
        ids.append(question.id)
        found = ladder.find(contents, question, seed)
        answers += found.unused(contents)
        without_answer = found.without_answer(contents)
        budget.spend(Usage(without_answer.input, without_answer.output))
        if found.place is None:
            pending.append((position, seed))
            counts.cut_off += any(key in contents.in_flight for key in found.keys)
        else:
            answers.append(found.place)
            heard[position] = found.place
            counts.before += 1
    for record in read_lines(contents.files, answers):
        budget.spend(usage_of(record))
    counts.total = len(pending) + counts.before
    counts.spent(budget)
    stopping = None
    if prepared.stop_rule is not None:
        stopping = Stopping(prepared.stop_rule, ids)
        for position, record in zip(heard, read_lines(contents.files, list(heard.values())), strict=True):
            stopping.hear(position, record["response"])
        pending = [] if stopping.is_decided else sorted(pending, key=lambda each: stopping.place(each[0]))
    return Assignment(ladder, pending, journal, budget, counts, listener, stopping)


def _stopped(prepared: Prepared, contents: Contents, ladder: Ladder, stopping: Stopping, ending: Ending) -> Outcome:
    """The artifacts over the documents that decided every gate; over all of them, as ever, if all were answered."""
    whole, report = write_artifacts(prepared, contents, ladder)
    [everything] = whole
    not_asked = everything.missing[NOT_ASKED]
    if not not_asked:
        remove_file(prepared.options.out / ASKED)
        return Outcome(Ending("done"), ladder, whole, report)
    out, only = prepared.options.out, stopping.decided
    with whole_file(out / ASKED) as asked:
        for position in only:
            asked.write(prepared.task.record(position) + b"\n")
    summaries, _ = write_artifacts(prepared, contents, ladder, only)
    summaries[0].usage = everything.usage  # what was paid for, also where the answer came too late to count
    spared = saved(not_asked, everything.usage, everything.answered, prepared.price)
    stopped = stopped_json(stopping, everything.answered, spared, format_money(spared.money))
    report = _summary(prepared, contents, ladder, summaries)
    report["stopped"] = stopped
    write_summary(prepared, report)
    return Outcome(ending, ladder, summaries, report, stopped)


def write_artifacts(
    prepared: Prepared, contents: Contents, ladder: Ladder, only: Sequence[int] | None = None
) -> tuple[list[SeedSummary], dict[str, Any]]:
    """Write the predictions of each seed and generation.json, over all documents of this process or some of them."""
    summaries = []
    for seed in prepared.plan.seeds:
        with whole_file(prepared.options.folder(seed) / PREDICTIONS) as out:
            positions = prepared.documents if only is None else only
            summaries.append(write_predictions(contents, ladder, seed, prepared.price, out, positions))
    report = _summary(prepared, contents, ladder, summaries)
    write_summary(prepared, report)
    return summaries, report


def _summary(prepared: Prepared, contents: Contents, ladder: Ladder, summaries: list[SeedSummary]) -> dict[str, Any]:
    """generation.json; of a shard it says which one, and from several journals which answers came from where."""
    report = summary_json(ladder, contents, summaries, prepared.price, prepared.settings.currency)
    options = prepared.options
    if options.shard is not None:
        report["shard"] = str(options.shard)
    if len(contents.files) > 1:
        counted = sum((summary.journals for summary in summaries), Counter[int]())
        report["journals"] = {
            path.relative_to(options.whole).as_posix(): counted[number] for number, path in enumerate(contents.files)
        }
    return report
