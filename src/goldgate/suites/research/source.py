"""The inputs of an evaluation, opened: run directories are judged one by one, then finalized together."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any

from goldgate.core.suite import Inputs, Mapper, Measure, Plan, Source, Work
from goldgate.core.unit_page import InputLookup
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.address import resolved_path
from goldgate.files.writing import escape_name
from goldgate.suites.research.golden import Corpus, Golden, check_corpus_apart, load_corpus, load_golden
from goldgate.suites.research.measures import Trial, research_measures
from goldgate.suites.research.outcome import OutcomeInputs, ResearchOutcome, choose_copy_readings, trial_record
from goldgate.suites.research.outputs import (
    OutputsListing,
    RunDirectory,
    RunJudge,
    list_outputs,
    no_runs_error,
    run_shards,
)
from goldgate.suites.research.run.evidence import EvidenceDemands
from goldgate.suites.research.run.facts import ContentDigests, RunResult, RunSettings
from goldgate.suites.research.run.files import ReadLimits
from goldgate.suites.research.suite import ResearchSettings
from goldgate.suites.research.support import (
    ClaimLabels,
    CountedLabels,
    Labelling,
    count_claim_labels,
    open_claim_labels,
)
from goldgate.suites.research.trials import RunCollection, collect_runs, iter_trials

MEGABYTE = 1_000_000
MAX_MEGABYTES = Decimal(10**9)  # megabytes; a limit above it is none
MAX_TRIALS = 10_000


class ResearchWork(Work[list[RunDirectory], Any]):
    """Judges the run directories of a shard. What is counted are trials, which take all of them."""

    def __init__(self, judge: RunJudge, measures: Sequence[Measure[Trial]]) -> None:
        self.judge = judge
        self.measures = measures

    def score(self, shard: list[RunDirectory]) -> list[RunResult]:
        return self.judge(shard)

    def record(self, facts: Trial) -> Mapping[str, Any]:
        return trial_record(facts)

    def times(self, facts: Trial) -> int:
        return facts.times


class ResearchSource(Source[list[RunDirectory], Any]):
    """Run directories and the golden queries that they are judged by."""

    needs_all = True

    def __init__(
        self,
        outputs: str,
        listing: OutputsListing,
        queries: Golden,
        plan: Plan,
        corpus: Corpus | None,
        labels: ClaimLabels | None = None,
    ) -> None:
        anchors = queries.anchors | (corpus.hashes if corpus is not None else frozenset())
        self._outputs = outputs
        self._listing = listing
        self._queries = queries
        self._plan = plan
        self._corpus = corpus
        self._anchored = bool(anchors)
        self._labels = labels
        self._counted: CountedLabels | None = None
        settings = run_settings(plan, anchors)._replace(with_claim_ids=labels is not None)
        self._judge = RunJudge(listing.root, queries, settings)
        self._collected = RunCollection()
        self.units = len(listing.directories)

    def work(self) -> ResearchWork:
        return ResearchWork(self._judge, research_measures(self._plan.settings))

    def shards(self) -> Iterator[list[RunDirectory]]:
        return run_shards(self._listing.directories)

    def finalize(self, results: Iterator[RunResult], engine: Mapper) -> Iterator[Trial]:
        within = _limit_bytes(results, self._plan.settings.max_total_megabytes, self._outputs)
        self._collected = collect_runs(
            within,
            self._queries,
            self._listing.ignored_entries,
            lambda names: _read_contents(names, self._listing, engine, self._judge),
            _protocol_trials(self._plan),
        )
        if not self._collected.runs:
            raise no_runs_error(self._outputs, self._listing)
        if self._labels is not None:
            self._counted = count_claim_labels(self._labels, self._collected)
            self._collected.labels = self._counted.by_run
        choose_copy_readings(self._collected, self._queries, research_measures(self._plan.settings))
        return iter_trials(self._collected, self._queries)

    def finish(self) -> ResearchOutcome:
        origin = OutcomeInputs(
            self._plan, len(self._listing.directories), _outputs_digest(self._collected), self._corpus, self._anchored
        )
        labelling = None
        if self._labels is not None and self._counted is not None:
            labelling = Labelling(self._counted, self._labels)
        return ResearchOutcome(self._collected, self._queries, origin, labelling)

    def lookup(self) -> InputLookup:
        from goldgate.suites.research.explain import RunInputs  # which needs this module

        book = None if self._labels is None else self._labels.book
        return RunInputs(self._listing, self._queries, self._judge.settings, book)


@contextmanager
def open_research_source(
    inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
) -> Iterator[ResearchSource]:
    """The inputs of the suite, opened. Files that the command writes among the runs are left out."""
    outputs, corpus = inputs["outputs"][0], next(iter(inputs.get("corpus") or ()), None)
    queries = load_golden(inputs["golden"][0])
    sources = load_corpus(corpus) if corpus is not None else None
    if corpus is not None:
        check_corpus_apart(corpus, outputs)
    own = frozenset(os.path.basename(path) for path in written if is_directly_in(path, outputs))
    with ExitStack() as stack:
        labels = open_claim_labels(stack, inputs, plan)
        yield ResearchSource(outputs, list_outputs(outputs, own), queries, plan, sources, labels)


def is_directly_in(path: str, folder: str) -> bool:
    """Whether a path is directly in a folder."""
    return resolved_path(os.path.dirname(path) or ".") == resolved_path(folder)


def run_settings(plan: Plan, anchors: frozenset[str] = frozenset()) -> RunSettings:
    """What a protocol sets for reading a run."""
    research: ResearchSettings = plan.settings
    if research.require_anchored and not anchors:
        raise ConfigError(
            "protocol.no_anchor",
            "the protocol demands anchored evidence, and there is nothing to anchor it to",
            place=plan.place("research.require_anchored"),
            expected="--corpus, or artifact_hashes in the golden queries",
        )
    demands = EvidenceDemands(
        research.require == "quote_and_span", research.require_verbatim, research.require_anchored
    )
    limits = ReadLimits(_bytes(research.max_file_megabytes), _bytes(research.max_run_megabytes))
    return RunSettings(demands, limits, anchors, research.manifests == "required")


def _bytes(megabytes: Decimal) -> int:
    return int(min(megabytes, MAX_MEGABYTES) * MEGABYTE)


def _read_contents(
    names: list[str], listing: OutputsListing, engine: Mapper, work: RunJudge
) -> dict[str, ContentDigests]:
    """The contents of runs that look alike: they are read again, because there are few of them."""
    alike = set(names)
    entries = [entry for entry in listing.directories if escape_name(entry.name) in alike]
    again = RunJudge(work.root, work.golden, work.settings, with_content=True)
    results = (result for shard in engine.map(again, run_shards(entries)) for result in shard)
    return {result.name: result.facts.content for result in results if result.facts is not None}


def _limit_bytes(results: Iterable[RunResult], megabytes: Decimal, outputs: str) -> Iterator[RunResult]:
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


def _protocol_trials(plan: Plan) -> int | None:
    """How many trials the protocol wants of every query."""
    trials: Decimal | None = plan.settings.trials
    if trials is None:
        return None
    if trials != int(trials) or not 1 <= trials <= MAX_TRIALS:
        raise ConfigError(
            "protocol.wrong_value",
            "this number of trials is not allowed",
            place=plan.place("research.trials"),
            expected=f"an integer from 1 to {MAX_TRIALS:,}",
            found=str(trials),
        )
    return int(trials)


def _outputs_digest(collected: RunCollection) -> str:
    """One digest of all runs and their copies: names and the digests of bytes."""
    total = hashlib.sha256()
    copies = [copy for copies in collected.copies.values() for copy in copies]
    for run in sorted([*collected.runs, *copies], key=lambda run: run.name) if copies else collected.runs:
        total.update(run.name.encode() + b"\0" + run.digest)
    return total.hexdigest()
