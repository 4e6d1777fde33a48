"""The results of all runs brought together: copies and conflicts found, each run put beside its query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from goldgate.research.finding import Finding
from goldgate.research.golden import Golden
from goldgate.research.measures.trial import Trial
from goldgate.research.near import near_queries
from goldgate.research.run import NO_QUERY, RunFacts, RunResult
from goldgate.research.run_files import OUTPUT


@dataclass(slots=True)
class Collected:
    """Runs in the order of their names; copies of a run are among the ignored."""

    runs: list[RunFacts] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    copies: int = 0


def collect(results: Iterable[RunResult], golden: Golden, strays: list[tuple[str, str]]) -> Collected:
    """Gather the runs; the results must come in the order of the directories' names."""
    collected = Collected(ignored=list(strays))
    found: dict[str, list[Finding]] = {}  # by run, because a copy's findings go with it
    for result in results:
        collected.ignored += result.ignored
        if result.findings:
            found[result.name] = result.findings
        if result.facts is not None:
            collected.runs.append(result.facts)
    _settle_run_ids(collected, found)
    for run in collected.runs:
        collected.findings += found.get(run.name, ())
    collected.findings = [*golden.findings, *collected.findings, *_strangers(collected.runs, golden)]
    collected.ignored.sort()
    return collected


def trials(runs: list[RunFacts], golden: Golden) -> Iterator[Trial]:
    """Every run beside its query, and every query that has none."""
    answered = set()
    for run in runs:
        if run.query != NO_QUERY:
            answered.add(run.query)
        yield Trial(None if run.query == NO_QUERY else golden.queries[run.query], run)
    for number, query in enumerate(golden.queries):
        if number not in answered:
            yield Trial(query, None)


def _settle_run_ids(collected: Collected, found: dict[str, list[Finding]]) -> None:
    """The same run_id twice: equal bytes are one run, different ones are both broken."""
    runs = collected.runs
    first: dict[str, int] = {}
    again: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        if run.run_id is not None and first.setdefault(run.run_id, number) != number:
            again.setdefault(run.run_id, [first[run.run_id]]).append(number)
    copies: set[int] = set()
    for run_id, numbers in again.items():
        kept: dict[bytes, int] = {}
        for number in numbers:
            original = kept.setdefault(runs[number].digest, number)
            if original != number:
                copies.add(number)
                name = runs[number].name
                message = f"the same run as {runs[original].name}, byte for byte; it is counted once"
                found.setdefault(runs[original].name, []).append(
                    Finding("copied_run", "warning", name, None, "", message)
                )
                collected.ignored.append((f"{name}/", message))
        if len(kept) > 1:
            names = [runs[number].name for number in kept.values()]
            for number in kept.values():
                run = runs[number]
                others = ", ".join(name for name in names if name != run.name)
                message = f"the run_id {run_id} is also that of {others}, with other content"
                finding = Finding("conflicting_run_id", "error", f"{run.name}/{OUTPUT}", None, "/run_id", message)
                found.setdefault(run.name, []).append(finding)
                runs[number] = run._replace(broken=run.broken or "conflicting_run_id")
    if copies:
        collected.copies = len(copies)
        collected.runs = [run for number, run in enumerate(runs) if number not in copies]


def _strangers(runs: list[RunFacts], golden: Golden) -> Iterator[Finding]:
    """Runs that no query asked for, and queries that no run answers; near misses are hints."""
    unknown = [run for run in runs if run.query == NO_QUERY and run.objective is not None]
    near = near_queries((run.objective for run in unknown if run.objective is not None), golden)
    for run in unknown:
        file = f"{run.name}/{OUTPUT}"
        message = "the objective is in no golden query: the run counts for claims and steps only"
        yield Finding("unknown_objective", "warning", file, None, "/objective", message)
        if run.objective in near:
            hint = f"is the golden query {golden.queries[near[run.objective]].objective!r} meant?"
            yield Finding("near_miss", "hint", file, None, "/objective", hint)
    answered = {run.query for run in runs}
    for number, query in enumerate(golden.queries):
        if number not in answered:
            message = f"no run answers the query {query.objective!r}: it counts as failed"
            yield Finding("missing_run", "error", golden.file, None, query.pointer, message)
