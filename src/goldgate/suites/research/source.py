"""The stored runs of an evaluation, judged one by one and settled together."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import orjson

from goldgate.core.plan import Plan
from goldgate.core.suite import Inputs, Mapper, Measure, Source, Work
from goldgate.core.unit_page import Given
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.storable import storable_name
from goldgate.files.url import real_place
from goldgate.suites.research.collect import Collected, collect, trials
from goldgate.suites.research.corpus import Corpus, load_corpus, require_apart
from goldgate.suites.research.golden import Golden, load_golden
from goldgate.suites.research.measures import all_measures
from goldgate.suites.research.measures.trial import Trial
from goldgate.suites.research.outcome import Origin, ResearchOutcome, settle_copies
from goldgate.suites.research.run.content import Content
from goldgate.suites.research.run.evidence import Demands
from goldgate.suites.research.run.facts import RunResult, Settings
from goldgate.suites.research.run.files import Limits
from goldgate.suites.research.run_record import trial_record
from goldgate.suites.research.settings import ResearchSettings
from goldgate.suites.research.shards import Entry, Listing, RunJudge, list_outputs, no_runs, shards

MEGABYTE = 1_000_000
LARGEST = Decimal(10**9)  # megabytes; a limit above it is none
MOST_TRIALS = 10_000


class ResearchWork(Work[list[Entry], Any]):
    """Judges the run directories of a shard. What is counted are trials, which take all of them."""

    def __init__(self, judge: RunJudge, measures: Sequence[Measure[Trial]]) -> None:
        self.judge = judge
        self.measures = measures

    def score(self, shard: list[Entry]) -> list[RunResult]:
        return self.judge(shard)

    def record(self, facts: Trial) -> bytes:
        return orjson.dumps(trial_record(facts), option=orjson.OPT_APPEND_NEWLINE)


class ResearchSource(Source[list[Entry], Any]):
    """Run directories and the golden queries that they are judged by."""

    together = True

    def __init__(self, outputs: str, listing: Listing, queries: Golden, plan: Plan, corpus: Corpus | None) -> None:
        anchors = queries.anchors | (corpus.hashes if corpus is not None else frozenset())
        self._outputs = outputs
        self._listing = listing
        self._queries = queries
        self._plan = plan
        self._corpus = corpus
        self._anchored = bool(anchors)
        self._judge = RunJudge(listing.root, queries, run_settings(plan, anchors))
        self._collected = Collected()
        self.units = len(listing.directories)

    def work(self) -> ResearchWork:
        return ResearchWork(self._judge, all_measures(self._plan.settings))

    def shards(self) -> Iterator[list[Entry]]:
        return shards(self._listing.directories)

    def settle(self, found: Iterator[RunResult], engine: Mapper) -> Iterator[Trial]:
        within = _within_limit(found, self._plan.settings.max_total_megabytes, self._outputs)
        self._collected = collect(
            within,
            self._queries,
            self._listing.strays,
            lambda names: _contents(names, self._listing, engine, self._judge),
            _trials(self._plan),
        )
        if not self._collected.runs:
            raise no_runs(self._outputs, self._listing)
        settle_copies(self._collected, self._queries, all_measures(self._plan.settings))
        return trials(self._collected, self._queries)

    def finish(self) -> ResearchOutcome:
        origin = Origin(
            self._plan, len(self._listing.directories), _digest(self._collected), self._corpus, self._anchored
        )
        return ResearchOutcome(self._collected, self._queries, origin)

    def given(self) -> Given:
        from goldgate.suites.research.look.given import ResearchGiven  # which needs this module

        return ResearchGiven(self._listing, self._queries, self._judge.settings)


@contextmanager
def open_source(inputs: Inputs, plan: Plan, written: Sequence[str]) -> Iterator[ResearchSource]:
    """The inputs of the suite, opened. Whatever is written among the runs is none of them."""
    outputs, corpus = inputs["outputs"][0], next(iter(inputs.get("corpus") or ()), None)
    queries = load_golden(inputs["golden"][0])
    known = load_corpus(corpus) if corpus is not None else None
    if corpus is not None:
        require_apart(corpus, outputs)
    own = frozenset(os.path.basename(path) for path in written if lies_in(path, outputs))
    yield ResearchSource(outputs, list_outputs(outputs, own), queries, plan, known)


def lies_in(path: str, folder: str) -> bool:
    """Whether a path is directly in a folder."""
    return real_place(os.path.dirname(path) or ".") == real_place(folder)


def run_settings(plan: Plan, anchors: frozenset[str] = frozenset()) -> Settings:
    """What a protocol sets for reading a run."""
    research: ResearchSettings = plan.settings
    if research.require_anchored and not anchors:
        raise ConfigError(
            "protocol.no_anchor",
            "the protocol demands anchored evidence, and there is nothing to anchor it to",
            place=plan.place("research.require_anchored"),
            expected="--corpus, or artifact_hashes in the golden queries",
        )
    demands = Demands(research.require == "quote_and_span", research.require_verbatim, research.require_anchored)
    limits = Limits(_bytes(research.max_file_megabytes), _bytes(research.max_run_megabytes))
    return Settings(demands, limits, anchors, research.manifests == "required")


def _bytes(megabytes: Decimal) -> int:
    return int(min(megabytes, LARGEST) * MEGABYTE)


def _contents(names: list[str], listing: Listing, engine: Mapper, work: RunJudge) -> dict[str, Content]:
    """The contents of runs that look alike: they are read again, because there are few of them."""
    wanted = set(names)
    entries = [entry for entry in listing.directories if storable_name(entry.name) in wanted]
    again = RunJudge(work.root, work.golden, work.settings, with_content=True)
    results = (result for shard in engine.map(again, shards(entries)) for result in shard)
    return {result.name: result.facts.content for result in results if result.facts is not None}


def _within_limit(results: Iterable[RunResult], megabytes: Decimal, outputs: str) -> Iterator[RunResult]:
    """The results as they come; an error, at the same run for any number of workers, where they are too much."""
    limit, read = _bytes(megabytes), 0
    for result in results:
        if result.facts is not None:
            read += result.facts.bytes_read
        if read > limit:
            raise InputError(
                "outputs.too_large",
                "the outputs are too large",
                place=Place(outputs),
                expected=f"at most {limit:,} bytes in all runs together",
                found=f"{read:,} bytes up to the run {result.name}",
                advice="are there files of nothing but zeros? Otherwise raise research.max_total_megabytes",
            )
        yield result


def _trials(plan: Plan) -> int | None:
    """How many trials the protocol wants of every query."""
    trials: Decimal | None = plan.settings.trials
    if trials is None:
        return None
    if trials != int(trials) or not 1 <= trials <= MOST_TRIALS:
        raise ConfigError(
            "protocol.wrong_value",
            "this number of trials is not allowed",
            place=plan.place("research.trials"),
            expected=f"an integer from 1 to {MOST_TRIALS:,}",
            found=str(trials),
        )
    return int(trials)


def _digest(collected: Collected) -> str:
    """One digest of all runs and their copies: names and the digests of bytes."""
    total = hashlib.sha256()
    copies = [copy for copies in collected.copies.values() for copy in copies]
    for run in sorted([*collected.runs, *copies], key=lambda run: run.name) if copies else collected.runs:
        total.update(run.name.encode() + b"\0" + run.digest)
    return total.hexdigest()
