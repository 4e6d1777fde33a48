"""A whole generation run: from files and options to a journal with every answer, and what can be made of it."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.generation.artifacts import SeedSummary, summary_json, write_predictions
from goldgate.generation.ask import Asking, Ended, Limits
from goldgate.generation.budget import Budget, cost, find_price
from goldgate.generation.counts import Counts, Watch, nobody
from goldgate.generation.documents import Documents, load_documents
from goldgate.generation.examples import load_examples, no_examples
from goldgate.generation.files import whole_file, write_whole
from goldgate.generation.journal import Journal, full_error, read_contents, read_lines
from goldgate.generation.journal_lines import Contents, Span, usage_of
from goldgate.generation.ladder import Ladder
from goldgate.generation.plan import Plan, Request, make_plan
from goldgate.generation.prompt import load_template
from goldgate.generation.reply import Usage
from goldgate.generation.secret import Secret, check_address, shown_address
from goldgate.generation.transport import Endpoint, connect, require_aiohttp
from goldgate.generation.watched import watched
from goldgate.protocol.model import GenerationSettings, Price
from goldgate.suites import load_suite
from goldgate.suites.extraction.events.event_schema import load_event_schema
from goldgate.suites.extraction.events.form import form_of
from goldgate.suites.plan import load_plan, load_protocol

JOURNAL, PREDICTIONS, SUMMARY = "journal.jsonl", "predictions.jsonl", "generation.json"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user asks for. Either `base_url` (an endpoint) or `checkpoint` (a model on disk) is set."""

    gold: Sequence[str]
    schema: str
    out: Path
    model: str
    base_url: str | None = None
    checkpoint: str | None = None
    protocol: str | None = None
    prompt: str = "en"
    train: str | None = None
    few_shot: int = 0
    seeds: tuple[int, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    response_format: Literal["auto", "json_schema", "json_object", "text"] = "auto"
    limits: Limits = field(default_factory=Limits)
    timeout: float = 600.0
    max_cost: Decimal | None = None
    max_total_tokens: int | None = None
    batch_size: int = 8
    device: str | None = None

    def folder(self, seed: int | None) -> Path:
        """Where the files of one seed go: a folder each if there are several."""
        return self.out if len(self.seeds) < 2 else self.out / f"seed-{seed}"

    def folders(self) -> list[Path]:
        """One for each seed."""
        return [self.folder(seed) for seed in self.seeds or (None,)]


@dataclass(slots=True)
class Listener:
    """Whom a run tells things: lines of text, and how far it is."""

    say: Callable[[str], None] = lambda _: None
    watch: Watch = nobody
    every: float = 1.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything read and checked; nothing has been asked yet."""

    wanted: Wanted
    documents: Documents
    plan: Plan
    settings: GenerationSettings
    price: Price | None

    @property
    def journal(self) -> Path:
        return self.wanted.out / JOURNAL


class Outcome(NamedTuple):
    """What there is after a run."""

    ended: Ended
    summaries: list[SeedSummary]
    summary: dict[str, Any]  # generation.json


class DryRun(NamedTuple):
    """What a run would ask."""

    first: Request | None
    requests: int
    total: int
    usage: Usage  # at most
    cost: Decimal | None


def prepare(wanted: Wanted) -> Prepared:
    """Read and check every input before anything is paid for."""
    loaded = load_protocol(wanted.protocol)
    settings = loaded.protocol.generation
    metrics = load_plan(load_suite("extraction"), loaded).settings
    price = find_price(settings, wanted.model, needed=wanted.max_cost is not None)
    if wanted.few_shot and wanted.train is None:
        raise ConfigError("train.missing", "--few-shot needs a training file", advice="name it with --train")
    template = load_template(wanted.prompt)
    seeds: tuple[int | None, ...] = wanted.seeds or (None,)
    pools = {
        seed: load_examples(wanted.train, wanted.few_shot, seed or 0)
        if wanted.train is not None and wanted.few_shot
        else no_examples()
        for seed in seeds
    }
    train = _file_hash(Path(wanted.train)) if wanted.train is not None and wanted.few_shot else None
    if wanted.base_url is not None:
        source = {"endpoint": shown_address(check_address(wanted.base_url))}
    else:
        from goldgate.generation.local import checkpoint_hash

        source = {"checkpoint": checkpoint_hash(str(wanted.checkpoint))}
    plan = make_plan(
        source=source,
        model=wanted.model,
        template=template,
        schema=load_event_schema(wanted.schema),
        parameters=wanted.parameters,
        examples=pools,
        few_shot=wanted.few_shot,
        train=train,
        response_format=wanted.response_format,
        other_form=form_of(metrics.response).other_layout,
    )
    return Prepared(wanted, load_documents(wanted.gold), plan, settings, price)


def dry_run(prepared: Prepared) -> DryRun:
    """Count what would be asked, without a journal, a key or a network."""
    contents = read_contents(prepared.journal)
    ladder = Ladder(prepared.plan, contents)
    first: Request | None = None
    number = tokens = 0
    for position, seed in _positions(prepared):
        document = prepared.documents[position]
        if ladder.find(contents, document, seed).place is None:
            request = ladder.current.make(document, seed)
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
    wanted = prepared.wanted
    journal = Journal(prepared.journal)
    if not journal.contents.size:
        files = [folder / PREDICTIONS for folder in wanted.folders()]
        foreign = [file for file in files if file.exists() and not (wanted.out / SUMMARY).exists()]
        if foreign:
            journal.close()
            raise ConfigError(
                "out.not_ours",
                "this file did not come from a journal in the same folder, and would be overwritten",
                place=Place(str(foreign[0])),
                advice="move it, or choose another folder for --out",
            )
    return journal


def generate(prepared: Prepared, journal: Journal, secret: Secret, listener: Listener) -> Outcome:
    """Ask for every answer that the journal does not have, then write the predictions and the summary from it.

    It may end early (`ended.reason`); what was answered until then is in the journal in any case.
    """
    ladder = Ladder(prepared.plan, journal.contents)
    pending, counts, budget = _pending(prepared, journal, ladder)
    _say_start(listener, prepared, journal.contents, counts)
    if pending and prepared.wanted.base_url is not None:
        require_aiohttp()
    began = time.perf_counter()
    if not pending:
        ended = Ended("done", ladder)
    elif prepared.wanted.base_url is not None:
        ended = _ask_endpoint(prepared, secret, listener, journal, ladder, iter(pending), counts, budget)
    else:
        from goldgate.generation.local import ask_checkpoint

        ended = ask_checkpoint(prepared.wanted, prepared.documents, ladder, pending, journal, counts, budget, listener)
    _say_end(listener, counts, time.perf_counter() - began)
    journal.sync()
    if ended.reason == "full":
        raise full_error(journal.path, ended.message)
    return Outcome(ended, *_write_artifacts(prepared, journal.contents, ended.ladder))


def write_summary(prepared: Prepared, summary: dict[str, Any]) -> None:
    """Write generation.json."""
    from goldgate.core.evaluation import render_json

    write_whole(prepared.wanted.out / SUMMARY, render_json(summary))


def stopped_error(ended: Ended, secret: Secret, endpoint: str) -> GoldgateError:
    """The error of a run that was given up."""
    advice = "what was answered is in the journal; the same command asks for the rest"
    if "http_401" in ended.message:
        where = f"the environment variable {secret.variable}"
        advice = f"check the key in {where}" if secret.known else f"{where} is not set: put the key into it"
    elif "unreachable" in ended.message or "unknown_host" in ended.message:
        advice = f"is a server running at {endpoint}? {advice}"
    elif "http_404" in ended.message:
        advice = "check --base-url (it often ends in /v1) and --model"
    elif "http_400" in ended.message:
        advice = "if the endpoint does not know a parameter, leave it out (--param NAME=null, --response-format text)"
    return ConfigError("generation.stopped", ended.message, expected="an endpoint that answers", advice=advice)


def _positions(prepared: Prepared) -> Iterator[tuple[int, int | None]]:
    return ((position, seed) for seed in prepared.plan.seeds for position in range(len(prepared.documents)))


def _pending(
    prepared: Prepared, journal: Journal, ladder: Ladder
) -> tuple[list[tuple[int, int | None]], Counts, Budget]:
    """What is still to be asked, and what everything until now has cost."""
    contents = journal.contents
    pending: list[tuple[int, int | None]] = []
    places: list[Span] = []
    budget = Budget(prepared.price, prepared.wanted.max_total_tokens, prepared.wanted.max_cost)
    counts = Counts()
    for position, seed in _positions(prepared):
        found = ladder.find(contents, prepared.documents[position], seed)
        places += found.unused(contents)
        beside = found.beside(contents)
        budget.spent_input += beside.input
        budget.spent_output += beside.output
        if found.place is None:
            pending.append((position, seed))
            counts.cut_off += any(key in contents.in_flight for key in found.keys.values())
        else:
            places.append(found.place)
            counts.before += 1
    for record in read_lines(journal.path, places):
        usage = usage_of(record)
        budget.spent_input += usage.input
        budget.spent_output += usage.output
    counts.total = len(pending) + counts.before
    counts.spent(budget)
    return pending, counts, budget


def _say_start(listener: Listener, prepared: Prepared, contents: Contents, counts: Counts) -> None:
    if contents.torn:
        listener.say(f"{prepared.journal}: the last line was torn ({contents.torn} bytes) and has been removed")
    if counts.before:
        missing = counts.total - counts.before
        listener.say(f"{counts.before:,} of {counts.total:,} answers are in the journal; asking for {missing:,}")
    elif contents.answers:
        plan = prepared.plan
        others = [record["settings"] for record in contents.plans.values() if record["base"] != plan.base()]
        differs = [name for name, value in plan.settings().items() if any(other.get(name) != value for other in others)]
        why = f" (what differs: {', '.join(sorted(differs))})" if differs else " (other documents, or another format)"
        listener.say(
            f"the journal holds {len(contents.answers):,} answers to other questions{why}; they are left alone, "
            f"and all {counts.total:,} are asked"
        )
    if counts.cut_off:
        listener.say(
            f"{counts.cut_off:,} of them were in flight when an earlier run was cut off, and may have been charged; "
            "they are asked again under the same request ids"
        )


def _say_end(listener: Listener, counts: Counts, seconds: float) -> None:
    if counts.answered or counts.failed:
        rate = (counts.answered + counts.failed) / seconds
        listener.say(
            f"{counts.answered:,} answered, {counts.failed:,} failed, {counts.retries:,} retries "
            f"in {seconds:.2f} s ({rate:.1f} a second)"
        )


def _ask_endpoint(
    prepared: Prepared,
    secret: Secret,
    listener: Listener,
    journal: Journal,
    ladder: Ladder,
    pending: Iterator[tuple[int, int | None]],
    counts: Counts,
    budget: Budget,
) -> Ended:
    wanted = prepared.wanted
    secret = secret.with_address(str(wanted.base_url))
    endpoint = Endpoint(str(wanted.base_url), secret, wanted.limits.concurrency, wanted.timeout)

    def interrupted(in_flight: int) -> None:
        listener.say(f"stopping: waiting for {in_flight} requests in flight; Ctrl-C again stops at once")

    async def ask() -> Ended:
        async with connect(endpoint) as send:
            asking = Asking(ladder, prepared.documents, pending, journal, send, wanted.limits, budget, counts)
            asking.on_step_down = listener.say
            return await watched(asking, listener.watch, listener.every, interrupted)

    return asyncio.run(ask())


def _write_artifacts(
    prepared: Prepared, contents: Contents, ladder: Ladder
) -> tuple[list[SeedSummary], dict[str, Any]]:
    summaries = []
    for seed in prepared.plan.seeds:
        with whole_file(prepared.wanted.folder(seed) / PREDICTIONS) as out:
            summaries.append(write_predictions(contents, prepared.journal, prepared.documents, ladder, seed, out))
    report = summary_json(ladder, contents, summaries, prepared.price, prepared.settings.currency)
    write_summary(prepared, report)
    return summaries, report


def _file_hash(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
