"""The line of the research suite: read runs → check evidence → count → sum → divide → judge."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import Gate, require_known, require_sensible
from goldgate.engines import start_engine
from goldgate.errors import Place
from goldgate.gates.baseline import load_baseline, require_baseline
from goldgate.protocol.load import LoadedProtocol, ProtocolSource, obtain_protocol
from goldgate.protocol.model import Protocol
from goldgate.research.collect import Collected, collect
from goldgate.research.evidence import Demands
from goldgate.research.golden import load_golden
from goldgate.research.measures import known_metrics
from goldgate.research.report import Origin, judge
from goldgate.research.run import Settings
from goldgate.research.settings import DEFAULT_GATES, SUITE
from goldgate.research.shards import RunJudge, list_outputs, shards

MEGABYTE = 1_000_000
LARGEST = Decimal(10**9)  # megabytes; a limit above it is none


def evaluate_outputs(
    golden: str | Path,
    outputs: str | Path,
    protocol: ProtocolSource = None,
    *,
    workers: int = 1,
    own_files: frozenset[str] = frozenset(),
) -> Evaluation:
    """Judge stored runs against golden queries: the same files give the same report, whatever `workers` is.

    `own_files` are names in the outputs folder that are no stray files but an earlier report.
    """
    plan, baseline_sha256 = load_research_protocol(protocol)
    settings = run_settings(plan.protocol)
    queries = load_golden(golden)
    listing = list_outputs(str(outputs), own_files)
    with start_engine(workers, "goldgate.research.shards") as engine:
        work = RunJudge(listing.root, queries, settings)
        results = (result for shard in engine.map(work, shards(listing.directories)) for result in shard)
        collected: Collected = collect(results, queries, listing.strays)
    origin = Origin(plan, baseline_sha256, len(listing.directories), _digest(collected))
    return judge(collected, queries, origin)


def run_settings(protocol: Protocol) -> Settings:
    """What a protocol sets for reading a run."""
    research = protocol.research
    demands = Demands(research.require == "quote_and_span", research.require_verbatim)
    return Settings(demands, int(min(research.max_file_megabytes, LARGEST) * MEGABYTE))


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
        place = Place(loaded.file, loaded.lines.get("research.baseline"), "research.baseline")
        baseline = load_baseline(folder / named, named, place, SUITE)
    gates: dict[str, Gate] = {**DEFAULT_GATES, **given}
    places = {name: Place(loaded.file, loaded.lines.get(f"gates.{name}"), f"gates.{name}") for name in given}
    require_baseline(gates, DEFAULT_GATES, baseline, places)
    complete = replace(loaded, protocol=replace(loaded.protocol, gates=gates))
    return complete, baseline.sha256 if baseline is not None else None


def _digest(collected: Collected) -> str:
    """One digest of all runs: their names and the digests of their bytes."""
    total = hashlib.sha256()
    for run in collected.runs:
        total.update(run.name.encode() + b"\0" + run.digest)
    return total.hexdigest()
