"""A generation run: from a task and an answerer to a journal with every answer, predictions and a summary.

Also the options of a run, the notices printed when it begins and ends, and `merge`, which combines the journals of all
shards into one result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from goldgate.core.task import ScoredTask, Task
from goldgate.errors import ConfigError, Place
from goldgate.generation.answerer import (
    Answerer,
    Assignment,
    EarlyStopping,
    Ending,
    ProgressCounts,
    RunCallbacks,
    StopRule,
)
from goldgate.generation.journal import (
    JOURNAL_FILE,
    Journal,
    JournalContents,
    LineRef,
    disk_full_error,
    journal_in_use,
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
    NOT_ASKED,
    SeedSummary,
    artifact_file,
    early_stop_json,
    remove_artifact,
    summary_json,
    write_artifact,
    write_predictions,
)
from goldgate.generation.shards import (
    SHARDS_FOLDER,
    DocumentShard,
    missing_shards,
    other_journals,
    parse_shard_folder,
    require_idle,
    shard_journals,
    shard_of,
)
from goldgate.protocol import GenerationSettings, Price

if TYPE_CHECKING:
    from goldgate.core.contracts import EarlyStopValue


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """The options of a run: its folder, model, seeds, request parameters and limits.

    `out` is the folder of this process: of a shard, its own folder in that of all shards.
    """

    out: Path
    model: str
    seeds: tuple[int, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    response_format: ResponseFormat = "auto"
    max_cost: Decimal | None = None
    max_total_tokens: int | None = None
    shard: DocumentShard | None = None

    @property
    def all_seeds(self) -> tuple[int | None, ...]:
        """Each seed to ask with; None alone where none is sent."""
        return self.seeds or (None,)

    @property
    def root_folder(self) -> Path:
        """The folder of all shards; the same as `out` where there are none."""
        return self.out if self.shard is None else self.out.parents[1]

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
    others = [record["settings"] for record in plans if record["base"] not in ladder.bases]
    settings = ladder.plan.settings()
    return sorted(name for name, value in settings.items() if any(other.get(name) != value for other in others))


def model_notices(summaries: Iterable[SeedSummary]) -> Iterator[str]:
    """That endpoints, asked as one, say that they have different models."""
    models_at: dict[str, set[str]] = {}
    for summary in summaries:
        for address, models in summary.endpoints.items():
            models_at.setdefault(address, set()).update(models)
    if len({frozenset(models) for models in models_at.values()}) > 1:
        models_text = "; ".join(
            f"{address}: {', '.join(sorted(models))}" for address, models in sorted(models_at.items())
        )
        yield f"warning: the endpoints do not name the same model ({models_text}); the score is that of a mixture"


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
ASKED_GOLD = "asked.jsonl"  # the gold of the documents that decided every gate, where not all were asked


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """Everything read and checked; nothing has been asked yet."""

    options: GenerationOptions
    answerer: Answerer
    plan: RequestPlan
    settings: GenerationSettings
    price: Price | None
    documents: Sequence[int]  # positions in the task: all, or those of a shard
    stop_rule: StopRule | None = None

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
        return ((position, seed) for seed in self.plan.seeds for position in self.documents)

    def other_journals(self) -> list[Path]:
        """The other journals that may hold answers to these questions."""
        return other_journals(self.options.root_folder, self.options.shard)

    def budget(self) -> RequestBudget:
        """The caps. Each shard has a part of them, by the number of its documents: together they keep to the whole."""
        options = self.options
        whole = RequestBudget(self.price, options.max_total_tokens, options.max_cost)
        if options.shard is None:
            return whole
        return whole.part(len(self.documents), max(1, len(self.task)), f"shard {options.shard}")


class GenerationResult(NamedTuple):
    """The result of a run: how it ended, the formats it asked in, a summary for each seed and for all."""

    ending: Ending
    ladder: FormatLadder
    summaries: list[SeedSummary]
    summary: dict[str, Any]  # generation.json
    stopped: EarlyStopValue | None = None  # what was decided before all documents were asked; None: they were


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
    watch: Callable[[Task], StopRule | None] = lambda _: None,
) -> PreparedRun:
    """Check everything before anything is paid for; what is in the task's files comes last, as there is most of it.

    `watch` decides when enough was asked, for a run that may stop before the end.
    """
    price = find_price(settings, options.model, needed=options.max_cost is not None)
    source = answerer.identify()
    task = load_task()
    try:
        formats = answer_formats(task, options.response_format, takes_formats=answerer.takes_formats)
        equivalent = tuple(answerer.equivalent_sources())
        plan = RequestPlan(task, source, options.model, options.parameters, options.all_seeds, formats, equivalent)
        shard, everything = options.shard, range(len(task))
        documents = everything if shard is None else [place for place in everything if shard.holds(task.id(place))]
        stop_rule = watch(task)
    except BaseException:
        task.close()
        raise
    return PreparedRun(options, answerer, plan, settings, price, documents, stop_rule)


def dry_run(prepared: PreparedRun) -> DryRun:
    """Count what would be asked, without a journal, a key or a network."""
    contents = read_contents(prepared.journal, prepared.other_journals())
    ladder = FormatLadder(prepared.plan, contents)
    first: ModelRequest | None = None
    number, usage = 0, Usage()
    for (_, seed), question, stored in ladder.find_all(contents, prepared.positions()):
        if stored.place is None:
            request = ladder.current.make(question, seed)
            first = first or request
            number += 1
            usage += Usage(request.estimate, prepared.plan.output_limit)
    total = len(prepared.documents) * len(prepared.plan.seeds)
    return DryRun(first, number, total, usage, compute_cost(usage, prepared.price))


def open_journal(prepared: PreparedRun) -> Journal:
    """Open and lock the journal: until it is closed, no other process asks, scores or reports in its folder.

    A folder with results of the same names and no journal that they could come from is left alone.
    """
    journal = Journal(prepared.journal, lambda: require_idle(prepared.other_journals()))
    try:
        if not journal.contents.size:
            require_own_predictions(prepared.options)
    except BaseException:
        journal.close()
        raise
    return journal


def require_own_predictions(options: GenerationOptions) -> None:
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
    stopping = assignment.stopping
    if stopping is not None and stopping.is_decided and ending.reason == "done":
        ending = Ending("decided")
    for line in closing_notices(counts, time.perf_counter() - began):
        callbacks.on_message(line)
    journal.sync()
    if ending.reason == "full":
        raise disk_full_error(journal.path, ending.message)
    ladder = assignment.ladder
    if stopping is not None and ending.reason == "decided":
        return _write_decided(prepared, journal.contents, ladder, stopping, ending)
    remove_artifact(prepared.options.out / ASKED_GOLD)  # an earlier run's
    outcome = GenerationResult(ending, ladder, *write_artifacts(prepared, journal.contents, ladder))
    for line in model_notices(outcome.summaries):
        callbacks.on_message(line)
    return outcome


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
    ids: list[str] = []
    answer_lines: dict[int, LineRef] = {}
    for asked, question, stored in ladder.find_all(contents, prepared.positions()):
        ids.append(question.id)
        answers += stored.unused(contents)
        budget.spent = sum(stored.without_answer(contents), budget.spent)
        if stored.place is None:
            pending.append(asked)
            counts.cut_off += any(key in contents.in_flight for key in stored.keys)
        else:
            answers.append(stored.place)
            answer_lines[asked[0]] = stored.place
            counts.before += 1
    budget.spent = sum(map(line_usage, read_lines(contents.files, answers)), budget.spent)
    counts.total = len(pending) + counts.before
    counts.update_spending(budget)
    stopping = None
    if prepared.stop_rule is not None:
        stopping = EarlyStopping(prepared.stop_rule, ids)
        for position, record in zip(answer_lines, read_lines(contents.files, list(answer_lines.values())), strict=True):
            stopping.record_answer(position, record["response"])
        pending = [] if stopping.is_decided else sorted(pending, key=lambda each: stopping.place(each[0]))
    return Assignment(ladder, pending, journal, budget, counts, callbacks, stopping)


def _write_decided(
    prepared: PreparedRun, contents: JournalContents, ladder: FormatLadder, stopping: EarlyStopping, ending: Ending
) -> GenerationResult:
    """The artifacts over the documents that decided every gate; over all of them, as ever, if all were answered."""
    summaries, report = write_artifacts(prepared, contents, ladder)
    [everything] = summaries
    if not everything.missing[NOT_ASKED]:
        remove_artifact(prepared.options.out / ASKED_GOLD)
        return GenerationResult(Ending("done"), ladder, summaries, report)
    out, only = prepared.options.out, stopping.decided
    with artifact_file(out / ASKED_GOLD) as asked:
        for position in only:
            asked.write(prepared.scored_task.record(position) + b"\n")
    summaries, _ = write_artifacts(prepared, contents, ladder, only)
    summaries[0].usage = everything.usage  # what was paid for, also where the answer came too late to count
    stopped = early_stop_json(stopping, everything, prepared.price)
    report = {**summary_json(prepared, contents, ladder, summaries), "stopped": stopped}
    write_summary(prepared, report)
    return GenerationResult(ending, ladder, summaries, report, stopped)


def write_artifacts(
    prepared: PreparedRun, contents: JournalContents, ladder: FormatLadder, only: Sequence[int] | None = None
) -> tuple[list[SeedSummary], dict[str, Any]]:
    """Write the predictions of each seed and generation.json, over all documents of this process or some of them."""
    summaries = []
    for seed in prepared.plan.seeds:
        with artifact_file(prepared.options.folder(seed) / PREDICTIONS) as out:
            positions = prepared.documents if only is None else only
            summaries.append(write_predictions(contents, ladder, seed, prepared.price, out, positions))
    report = summary_json(prepared, contents, ladder, summaries)
    write_summary(prepared, report)
    return summaries, report


def merge(prepared: PreparedRun, callbacks: RunCallbacks) -> GenerationResult:
    """The predictions and the summary of all shards together, as one process would have written them."""
    out = prepared.options.out
    journals = shard_journals(out)
    if not journals:
        raise ConfigError(
            "shards.none",
            "there is nothing to merge",
            place=Place(str(out / SHARDS_FOLDER)),
            expected=f"the folders of shards, such as {DocumentShard(1, 16).folder}, each with a journal.jsonl",
            found="none",
            advice="run the same command with --shard 1/N … N/N and this --out first, or copy their folders here",
        )
    contents = read_contents(prepared.journal, journals)
    require_idle([prepared.journal])
    if not contents.size:
        require_own_predictions(prepared.options)
    _require_each_answered_once(contents)
    ladder = FormatLadder(_plan_for_all_endpoints(prepared.plan, contents), contents)
    _require_one_run(contents, ladder)
    for path in journals:
        if journal_in_use(path):
            callbacks.on_message(f"{path.parent} is still being asked: what comes later is not in this report")
    summaries, report = write_artifacts(prepared, contents, ladder)
    for line in (*_missing_notices(prepared, journals, contents, summaries), *model_notices(summaries)):
        callbacks.on_message(line)
    return GenerationResult(Ending("done"), ladder, summaries, report)


def _plan_for_all_endpoints(plan: RequestPlan, contents: JournalContents) -> RequestPlan:
    """The plan of a fleet, with each endpoint that the journals name as another source; any other plan as it is."""
    if plan.source:
        return plan
    endpoints = (record["settings"].get("endpoint") for record in contents.plans.values())
    names = sorted({name for name in endpoints if isinstance(name, str)})
    return replace(plan, equivalent_sources=tuple({"endpoint": name} for name in names))


def _require_each_answered_once(contents: JournalContents) -> None:
    """No question has an answer in two journals: which of them counts would be a matter of chance."""
    if contents.twice:
        one, other = (contents.files[number] for number in next(iter(contents.twice.values())))
        raise ConfigError(
            "shards.overlap",
            f"{len(contents.twice):,} questions have an answer in two journals",
            place=Place(str(other)),
            expected="shards that have no document in common",
            found=f"the first of them is also answered in {one}",
            advice="move one of the two folders away; what is then missing can be asked for",
        )


def _require_one_run(contents: JournalContents, ladder: FormatLadder) -> None:
    """Each journal that holds answers at all has some to this command's questions."""
    for number, path in enumerate(contents.files):
        plans = [
            contents.plans[identity] for identity in contents.answered_in.get(number, ()) if identity in contents.plans
        ]
        if plans and not any(plan["base"] in ladder.bases for plan in plans):
            differs = differing_settings(ladder, plans)
            raise ConfigError(
                "shards.other_run",
                "this shard was asked something else",
                place=Place(str(path)),
                expected="answers to the questions of this command",
                found=f"other settings: {', '.join(differs)}" if differs else "answers of another model server",
                advice="give --merge the options that the shards were asked with, or ask this shard again with these",
            )


def _missing_notices(
    prepared: PreparedRun, journals: list[Path], contents: JournalContents, summaries: list[SeedSummary]
) -> Iterator[str]:
    """Which shards have no journal, which lack answers and how many, and which are of no use."""
    task, seeds = prepared.task, len(summaries)
    for shard in missing_shards(journals):
        documents = sum(shard.holds(task.id(position)) for position in prepared.documents)
        yield f"shard {shard} has no journal here: {documents * seeds:,} answers are missing"
    unanswered = [task.id(position) for summary in summaries for position in summary.unanswered]
    for number, path in enumerate(contents.files):
        shard_here = parse_shard_folder(path.parent.name)
        if shard_here is not None and path.parent.parent.name == SHARDS_FOLDER:
            lacking = sum(shard_of(name, shard_here.total) == shard_here.number for name in unanswered)
            if lacking:
                yield f"shard {shard_here} is not complete: {lacking:,} answers are missing"
        held = sum(place[0] == number for place in contents.answers.values())
        if held and not any(summary.journals[number] for summary in summaries):
            yield f"{path} holds {held:,} answers to other questions (other documents, or another format)"
