"""The line of the research suite: read runs → check evidence → count → sum → divide → judge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from goldgate.baseline.record import load_baseline, require_baseline
from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import Gate, require_known, require_sensible
from goldgate.engines import Engine, start_engine
from goldgate.errors import ConfigError, InputError, Place
from goldgate.protocol.load import LoadedProtocol, ProtocolSource, obtain_protocol
from goldgate.suites.research.collect import Collected, collect
from goldgate.suites.research.corpus import load_corpus, require_apart
from goldgate.suites.research.golden import load_golden
from goldgate.suites.research.measures import known_metrics
from goldgate.suites.research.report import Origin, judge
from goldgate.suites.research.run.content import Content
from goldgate.suites.research.run.evidence import Demands
from goldgate.suites.research.run.facts import RunResult, Settings
from goldgate.suites.research.run.files import Limits, storable
from goldgate.suites.research.settings import DEFAULT_GATES, SUITE
from goldgate.suites.research.shards import Listing, RunJudge, list_outputs, no_runs, shards

MEGABYTE = 1_000_000
LARGEST = Decimal(10**9)  # megabytes; a limit above it is none
MOST_TRIALS = 10_000


def evaluate_outputs(
    golden: str | Path,
    outputs: str | Path,
    protocol: ProtocolSource = None,
    *,
    corpus: str | Path | None = None,
    workers: int = 1,
    own_files: frozenset[str] = frozenset(),
) -> Evaluation:
    """Judge stored runs against golden queries: the same files give the same report, whatever `workers` is.

    `corpus` is a list of hashes, or a directory, of sources that the evaluator knows. `own_files` are names in the
    outputs folder that are no stray files but an earlier report.
    """
    plan, baseline_sha256 = load_research_protocol(protocol)
    queries = load_golden(golden)
    known = load_corpus(corpus) if corpus is not None else None
    if corpus is not None:
        require_apart(corpus, outputs)
    anchors = queries.anchors | (known.hashes if known is not None else frozenset())
    settings = run_settings(plan, anchors)
    listing = list_outputs(str(outputs), own_files)
    with start_engine(workers, "goldgate.suites.research.shards") as engine:
        work = RunJudge(listing.root, queries, settings)
        results = (result for shard in engine.map(work, shards(listing.directories)) for result in shard)
        within = _within_limit(results, plan.protocol.research.max_total_megabytes, str(outputs))
        collected: Collected = collect(
            within, queries, listing.strays, lambda names: _contents(names, listing, engine, work), _trials(plan)
        )
    if not collected.runs:
        raise no_runs(str(outputs), listing)
    origin = Origin(plan, baseline_sha256, len(listing.directories), _digest(collected), known, bool(anchors))
    return judge(collected, queries, origin)


def run_settings(plan: LoadedProtocol, anchors: frozenset[str] = frozenset()) -> Settings:
    """What a protocol sets for reading a run."""
    research = plan.protocol.research
    if research.require_anchored and not anchors:
        raise ConfigError(
            "protocol.no_anchor",
            "the protocol demands anchored evidence, and there is nothing to anchor it to",
            place=_place(plan, "research.require_anchored"),
            expected="--corpus, or artifact_hashes in the golden queries",
        )
    demands = Demands(research.require == "quote_and_span", research.require_verbatim, research.require_anchored)
    return Settings(demands, Limits(_bytes(research.max_file_megabytes), _bytes(research.max_run_megabytes)), anchors)


def _bytes(megabytes: Decimal) -> int:
    return int(min(megabytes, LARGEST) * MEGABYTE)


def _contents(names: list[str], listing: Listing, engine: Engine, work: RunJudge) -> dict[str, Content]:
    """The contents of runs that look alike: they are read again, because there are few of them."""
    wanted = set(names)
    entries = [entry for entry in listing.directories if storable(entry.name) in wanted]
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


def _trials(plan: LoadedProtocol) -> int | None:
    """How many trials the protocol wants of every query."""
    trials = plan.protocol.research.trials
    if trials is None:
        return None
    if trials != int(trials) or not 1 <= trials <= MOST_TRIALS:
        raise ConfigError(
            "protocol.wrong_value",
            "this number of trials is not allowed",
            place=_place(plan, "research.trials"),
            expected=f"an integer from 1 to {MOST_TRIALS:,}",
            found=str(trials),
        )
    return int(trials)


def _place(plan: LoadedProtocol, setting: str) -> Place:
    return Place(plan.file, plan.lines.get(setting), setting)


def load_research_protocol(protocol: ProtocolSource) -> tuple[LoadedProtocol, str | None]:
    """The protocol with the default gates under its own, and the digest of the baseline record that it names.

    A gate below its default that no record speaks for is a ConfigError.
    """
    loaded = obtain_protocol(protocol)
    given = loaded.protocol.gates
    require_known(given, known_metrics(), loaded.file, loaded.lines)
    require_sensible(given, known_metrics(), loaded.file, loaded.lines)  # all of them are rates
    named = loaded.protocol.research.baseline
    baseline = None
    if named is not None:
        folder = Path(loaded.file).parent if loaded.file is not None else Path()
        baseline = load_baseline(folder / named, named, _place(loaded, "research.baseline"), SUITE)
    gates: dict[str, Gate] = {**DEFAULT_GATES, **given}
    places = {name: _place(loaded, f"gates.{name}") for name in given}
    require_baseline(gates, DEFAULT_GATES, baseline, places)
    complete = replace(loaded, protocol=replace(loaded.protocol, gates=gates))
    return complete, baseline.sha256 if baseline is not None else None


def _digest(collected: Collected) -> str:
    """One digest of all runs: their names and the digests of their bytes."""
    total = hashlib.sha256()
    for run in collected.runs:
        total.update(run.name.encode() + b"\0" + run.digest)
    return total.hexdigest()
