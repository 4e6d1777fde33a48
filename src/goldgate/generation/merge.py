"""Combine the journals of all shards into one result. No requests are sent; missing answers are counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from goldgate.errors import ConfigError, Place
from goldgate.files.writing import FolderLock, write_failure
from goldgate.generation.answerer import Ending, Listener
from goldgate.generation.artifacts import SeedSummary
from goldgate.generation.journal import (
    SHARDS_FOLDER,
    DocumentShard,
    journal_in_use,
    missing_shards,
    parse_shard_folder,
    read_contents,
    require_idle,
    shard_journals,
    shard_of,
)
from goldgate.generation.journal_contents import FormatLadder, JournalContents
from goldgate.generation.request import RequestPlan
from goldgate.generation.run import (
    GenerationResult,
    PreparedRun,
    differing_settings,
    model_notices,
    require_own_predictions,
    write_artifacts,
)


@contextmanager
def lock_shards(out: Path) -> Iterator[None]:
    """Lock the shards of a folder while a block runs: no other process merges them or asks for what they lack."""
    if not (out / SHARDS_FOLDER).is_dir():
        yield
        return
    try:
        lock = FolderLock(out / SHARDS_FOLDER)
    except OSError as problem:
        advice = "the folder of the shards must be one that can be written to"
        raise write_failure(out / SHARDS_FOLDER, problem, advice, "the folder of the shards cannot be locked") from None
    try:
        yield
    finally:
        lock.release()


def merge(prepared: PreparedRun, listener: Listener) -> GenerationResult:
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
            listener.say(f"{path.parent} is still being asked: what comes later is not in this report")
    summaries, report = write_artifacts(prepared, contents, ladder)
    for line in (*_missing_notices(prepared, journals, contents, summaries), *model_notices(summaries)):
        listener.say(line)
    return GenerationResult(Ending("done"), ladder, summaries, report)


def _plan_for_all_endpoints(plan: RequestPlan, contents: JournalContents) -> RequestPlan:
    """What endpoints were asked alone, before or after the shards, counts too; a checkpoint stays the one it is."""
    if plan.source:
        return plan
    urls = (record["settings"].get("endpoint") for record in contents.plans.values())
    return replace(plan, also=tuple({"endpoint": name} for name in sorted({x for x in urls if isinstance(x, str)})))


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
