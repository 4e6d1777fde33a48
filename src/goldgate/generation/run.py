"""A generation run: from a task and an answerer to a journal with every answer, predictions and a summary.

Also the options of a run, and the notices printed when it begins and ends.
"""

from __future__ import annotations

import filecmp
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, cast

from goldgate.core.task import ScoredTask, Task
from goldgate.errors import ConfigError, Place
from goldgate.files.writing import UNFINISHED_SUFFIX
from goldgate.generation.answerer import (
    Answerer,
    Assignment,
    Ending,
    ProgressCounts,
    RunCallbacks,
)
from goldgate.generation.journal import (
    JOURNAL_FILE,
    Journal,
    JournalContents,
    LineRef,
    disk_full_error,
    line_usage,
    read_contents,
    read_lines,
)
from goldgate.generation.request import (
    FormatLadder,
    ModelRequest,
    QuestionPosition,
    RequestBudget,
    RequestPlan,
    ResponseFormat,
    Usage,
    answer_formats,
    compute_cost,
    find_price,
)
from goldgate.generation.results import (
    SEED_FILES,
    SeedSummary,
    artifact_file,
    remove_artifact,
    summary_json,
    write_artifact,
    write_predictions,
)
from goldgate.protocol import GenerationSettings, Price
from goldgate.readers.stored_result import REPORT


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """The options of a run: its folder, model, seeds, request parameters and limits."""

    out: Path
    model: str
    seeds: tuple[int, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    response_format: ResponseFormat = "auto"
    max_cost: Decimal | None = None
    max_total_tokens: int | None = None

    @property
    def all_seeds(self) -> tuple[int | None, ...]:
        """Each seed to ask with; None alone where none is sent."""
        return self.seeds or (None,)

    def folder(self, seed: int | None) -> Path:
        """Where the files of one seed go: a folder each if there are several."""
        return self.out if len(self.seeds) < 2 else self.out / f"seed-{seed}"

    def folders(self) -> list[Path]:
        """The folder of each seed."""
        return [self.folder(seed) for seed in self.all_seeds]


NOTABLE_WAIT = 0.5  # seconds that a limit held requests back


def opening_notices(
    ladder: FormatLadder, journal: object, contents: JournalContents, counts: ProgressCounts
) -> Iterator[str]:
    """What the journal has already, what was torn or cut off, and why its answers may not count."""
    if contents.torn:
        yield f"{journal}: the last line was torn ({contents.torn} bytes) and has been removed"
    if counts.before:
        missing = counts.total - counts.before
        yield f"{counts.before:,} of {counts.total:,} answers are in the journal; asking for {missing:,}"
    elif contents.answers:
        differs = differing_settings(ladder, contents.plans.values())
        why = f" (what differs: {', '.join(differs)})" if differs else " (other documents, or another format)"
        yield (
            f"the journal holds {len(contents.answers):,} answers to other questions{why}; they are left alone, "
            f"and all {counts.total:,} are asked"
        )
    if counts.cut_off:
        yield (
            f"{counts.cut_off:,} of them were in flight when an earlier run was cut off, and may have been charged; "
            "they are asked again under the same request ids"
        )


def differing_settings(ladder: FormatLadder, plans: Iterable[dict[str, Any]]) -> list[str]:
    """The names of the settings in which some other plans are different."""
    others = [record["settings"] for record in plans if record["base"] != ladder.plan.base()]
    settings = ladder.plan.settings()
    return sorted(name for name, value in settings.items() if any(other.get(name) != value for other in others))


def closing_notices(counts: ProgressCounts, seconds: float) -> Iterator[str]:
    """How many were answered, how fast, and which limits made it slower."""
    if counts.answered or counts.failed:
        rate = (counts.answered + counts.failed) / seconds
        yield (
            f"{counts.answered:,} answered, {counts.failed:,} failed, {counts.retries:,} retries "
            f"in {seconds:.2f} s ({rate:.1f} a second)"
        )
    for limit, waited in sorted(counts.waited.items()):
        if waited >= NOTABLE_WAIT:
            yield f"slowed down: for {waited:.1f} of {seconds:.1f} s requests waited for {limit}"


PREDICTIONS, SUMMARY = "predictions.jsonl", "generation.json"


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """Everything read and checked; nothing has been asked yet."""

    options: GenerationOptions
    answerer: Answerer
    plan: RequestPlan
    settings: GenerationSettings
    price: Price | None

    @property
    def task(self) -> Task:
        return self.plan.task

    @property
    def scored_task(self) -> ScoredTask:
        """The task of a command that scores the answers."""
        return cast(ScoredTask, self.plan.task)

    @property
    def journal(self) -> Path:
        return self.options.out / JOURNAL_FILE

    def positions(self) -> Iterator[QuestionPosition]:
        """Every document with every seed."""
        return ((position, seed) for seed in self.plan.seeds for position in range(len(self.task)))

    def budget(self) -> RequestBudget:
        """The caps."""
        return RequestBudget(self.price, self.options.max_total_tokens, self.options.max_cost)


class GenerationResult(NamedTuple):
    """The result of a run: how it ended, the formats it asked in, a summary for each seed and for all."""

    ending: Ending
    ladder: FormatLadder
    summaries: list[SeedSummary]
    summary: dict[str, Any]  # generation.json


class DryRun(NamedTuple):
    """What a run would ask: its first request, the number of requests, their tokens and cost."""

    first: ModelRequest | None
    requests: int
    total: int
    usage: Usage  # at most
    cost: Decimal | None


def prepare(
    options: GenerationOptions,
    answerer: Answerer,
    settings: GenerationSettings,
    load_task: Callable[[], Task],
) -> PreparedRun:
    """Check everything before anything is paid for; what is in the task's files comes last, as there is most of it."""
    price = find_price(settings, options.model, needed=options.max_cost is not None)
    source = answerer.identify()
    task = load_task()
    try:
        formats = answer_formats(task, options.response_format, takes_formats=answerer.takes_formats)
        plan = RequestPlan(task, source, options.model, options.parameters, options.all_seeds, formats)
    except BaseException:
        task.close()
        raise
    return PreparedRun(options, answerer, plan, settings, price)


def dry_run(prepared: PreparedRun) -> DryRun:
    """Count what would be asked, without a journal, a key or a network."""
    contents = read_contents(prepared.journal)
    ladder = FormatLadder(prepared.plan, contents)
    first: ModelRequest | None = None
    number, usage = 0, Usage()
    for (_, seed), question, stored in ladder.find_all(contents, prepared.positions()):
        if stored.place is None:
            request = ladder.current.make(question, seed)
            first = first or request
            number += 1
            usage += Usage(request.estimate, prepared.plan.output_limit)
    total = len(prepared.task) * len(prepared.plan.seeds)
    return DryRun(first, number, total, usage, compute_cost(usage, prepared.price))


def open_journal(prepared: PreparedRun) -> Journal:
    """Open and lock the journal: until it is closed, no other process asks, scores or reports in its folder.

    A folder with results of the same names and no journal that they could come from is left alone.
    """
    journal = Journal(prepared.journal)
    try:
        if not journal.contents.size:
            require_own_predictions(prepared.options)
    except BaseException:
        journal.close()
        raise
    return journal


def require_own_predictions(options: GenerationOptions) -> None:
    """A ConfigError where a folder without a journal has predictions that goldgate did not write."""
    files = [folder / PREDICTIONS for folder in options.folders()]
    foreign = [file for file in files if file.exists() and not (options.out / SUMMARY).exists()]
    if foreign:
        raise ConfigError(
            "out.not_ours",
            "this file did not come from a journal in the same folder, and would be overwritten",
            place=Place(str(foreign[0])),
            advice="move it, or choose another folder for --out",
        )


def generate(prepared: PreparedRun, journal: Journal, callbacks: RunCallbacks) -> GenerationResult:
    """Ask for every answer that the journal does not have, then write the predictions and the summary from it.

    It may end early (`ending.reason`); what was answered until then is in the journal in any case.
    """
    assignment = assign(prepared, journal, callbacks)
    counts = assignment.counts
    for line in opening_notices(assignment.ladder, prepared.journal, journal.contents, counts):
        callbacks.on_message(line)
    began = time.perf_counter()
    ending = prepared.answerer.answer(assignment) if assignment.pending else Ending("done")
    for line in closing_notices(counts, time.perf_counter() - began):
        callbacks.on_message(line)
    journal.sync()
    if ending.reason == "full":
        raise disk_full_error(journal.path, ending.message)
    ladder = assignment.ladder
    return GenerationResult(ending, ladder, *write_artifacts(prepared, journal.contents, ladder))


def write_summary(prepared: PreparedRun, summary: dict[str, Any]) -> None:
    """Write generation.json."""
    from goldgate.core.evaluation import render_json

    write_artifact(prepared.options.out / SUMMARY, render_json(summary))


def given_up_error(ending: Ending, answerer: Answerer) -> ConfigError:
    """The error of a run that was given up, with the answerer's advice."""
    usual = "what was answered is in the journal; the same command asks for the rest"
    advice = answerer.advice(ending.message) or usual
    return ConfigError("generation.stopped", ending.message, expected="an endpoint that answers", advice=advice)


def assign(prepared: PreparedRun, journal: Journal, callbacks: RunCallbacks) -> Assignment:
    """The questions without an answer, and the budget with what earlier runs have spent."""
    contents = journal.contents
    ladder = FormatLadder(prepared.plan, contents)
    pending: list[QuestionPosition] = []
    answers: list[LineRef] = []
    budget = prepared.budget()
    counts = ProgressCounts()
    for asked, _, stored in ladder.find_all(contents, prepared.positions()):
        answers += stored.unused(contents)
        budget.spent = sum(stored.without_answer(contents), budget.spent)
        if stored.place is None:
            pending.append(asked)
            counts.cut_off += any(key in contents.in_flight for key in stored.keys)
        else:
            answers.append(stored.place)
            counts.before += 1
    budget.spent = sum(map(line_usage, read_lines(contents.path, answers)), budget.spent)
    counts.total = len(pending) + counts.before
    counts.update_spending(budget)
    return Assignment(ladder, pending, journal, budget, counts, callbacks)


def write_artifacts(
    prepared: PreparedRun, contents: JournalContents, ladder: FormatLadder
) -> tuple[list[SeedSummary], dict[str, Any]]:
    """Write the predictions of each seed and generation.json, over all documents."""
    summaries = []
    for seed in prepared.plan.seeds:
        file = prepared.options.folder(seed) / PREDICTIONS
        with artifact_file(file) as out:
            summaries.append(write_predictions(contents, ladder, seed, prepared.price, out))
            out.flush()
            if not (file.exists() and filecmp.cmp(f"{file}{UNFINISHED_SUFFIX}", file, shallow=False)):
                remove_artifact(file.parent / REPORT)  # it judged other answers
                remove_artifact(prepared.options.out / SEED_FILES[0])
    report = summary_json(prepared, contents, ladder, summaries)
    write_summary(prepared, report)
    return summaries, report
