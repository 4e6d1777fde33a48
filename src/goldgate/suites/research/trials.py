"""The results of all runs as trials of the golden queries: merges copies, marks conflicts, counts missing trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from goldgate.core.finding import Finding
from goldgate.core.metric import Metrics
from goldgate.suites.research.golden import Golden, near_queries
from goldgate.suites.research.measures import COMPLETION_METRIC, Trial
from goldgate.suites.research.run.facts import NO_QUERY, ContentDigests, RunFacts, RunResult
from goldgate.suites.research.run.files import OUTPUT

# The metrics in which a trial that is not there counts.
MISSING_TRIAL_METRICS = frozenset({"golden_recall", "abstention_accuracy", "cited_golden_recall", COMPLETION_METRIC})
_ONE_RUN = "one run, and counted with its copies where that makes a rate worse"
_SHOWN_NAMES = 3  # of the runs that have a run_id in common


@dataclass(slots=True)
class RunCollection:
    """Runs in the order of their names; copies and clones of a run are among the ignored."""

    runs: list[RunFacts] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    copies: dict[str, list[RunFacts]] = field(default_factory=dict)  # by the run that they were merged into
    owed: int = 1  # trials that every query owes
    owed_with_copies: int = 1  # where every copy counts as a trial
    merged: Metrics = field(default_factory=dict)  # what metrics would be that are worse where every copy counts
    codes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of the findings of each run that has any


def collect_runs(
    results: Iterable[RunResult],
    golden: Golden,
    strays: list[tuple[str, str]],
    contents: Callable[[list[str]], dict[str, ContentDigests]],
    owed: int | None = None,
) -> RunCollection:
    """Gather the runs; the results must come in the order of the directories' names.

    `contents` gives the contents of runs by their names, for those that look alike. `owed` is the number of trials
    that the protocol sets; without it, the most that any query has.
    """
    collected = RunCollection(ignored=list(strays))
    found: dict[str, list[Finding]] = {}  # by run, because a copy's findings go with it
    for result in results:
        collected.ignored += result.ignored
        if result.findings:
            found[result.name] = result.findings
        if result.facts is not None:
            collected.runs.append(result.facts)
    _resolve_run_ids(collected, found)
    _merge_clones(collected, found, contents)
    _set_owed_trials(collected, golden, owed, found)
    for run in collected.runs:
        collected.findings += found.get(run.name, ())
    strangers, missing = [*_unknown_objectives(collected.runs, golden)], _missing_trials(collected, golden)
    for finding in strangers:
        found.setdefault(finding.file.partition("/")[0], []).append(finding)
    for run in collected.runs:
        if run.name in found:
            collected.codes[run.name] = tuple(sorted({finding.code for finding in found[run.name]}))
    collected.findings = [*golden.findings, *collected.findings, *strangers, *missing]
    collected.ignored.sort()
    return collected


def iter_trials(collected: RunCollection, golden: Golden, counted: frozenset[str] | None = None) -> Iterator[Trial]:
    """Every run beside its query, and the trials that queries owe and have not.

    `counted` are the metrics in which every copy counts; without it, those that are worse for it.
    """
    counted = frozenset(collected.merged) if counted is None else counted
    for run in collected.runs:
        query = None if run.query == NO_QUERY else golden.queries[run.query]
        readings = (1, 1 + len(collected.copies.get(run.name, ())))
        yield Trial(query, run, 1, collected.codes.get(run.name, ()), readings, counted)
    merged, with_copies = trial_counts(collected.runs), trial_counts_with_copies(collected)
    for number, query in enumerate(golden.queries):
        lacking = max(0, collected.owed - merged[number])
        lacking_with_copies = max(0, collected.owed_with_copies - with_copies[number])
        either = min(lacking, lacking_with_copies)
        if either:
            yield Trial(query, None, either)
        if lacking > either and MISSING_TRIAL_METRICS - counted:
            yield Trial(query, None, lacking - either, (), (1, 0), counted)
        if lacking_with_copies > either and MISSING_TRIAL_METRICS & counted:
            yield Trial(query, None, lacking_with_copies - either, (), (0, 1), counted)


def trial_counts(runs: list[RunFacts]) -> Counter[int]:
    """How many trials each query has, broken ones among them."""
    return Counter(run.query for run in runs if run.query != NO_QUERY)


def trial_counts_with_copies(collected: RunCollection) -> Counter[int]:
    """How many trials each query has where every copy is one."""
    copies = [copy for copies in collected.copies.values() for copy in copies]
    return trial_counts(collected.runs) + trial_counts(copies)


def _resolve_run_ids(collected: RunCollection, found: dict[str, list[Finding]]) -> None:
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
                collected.copies.setdefault(runs[original].name, []).append(runs[number])
                message = f"the same run as {runs[original].name}, byte for byte: {_ONE_RUN}"
                found.setdefault(runs[original].name, []).append(
                    Finding("copied_run", "warning", name, None, "", message)
                )
                collected.ignored.append((f"{name}/", message))
        if len(kept) > 1:
            names = [runs[number].name for number in kept.values()]
            for number in kept.values():
                run = runs[number]
                others = _name_list([name for name in names[: _SHOWN_NAMES + 1] if name != run.name], len(names) - 1)
                message = f"the run_id {run_id} is also that of {others}, with other content"
                finding = Finding("conflicting_run_id", "error", f"{run.name}/{OUTPUT}", None, "/run_id", message)
                found.setdefault(run.name, []).append(finding)
                runs[number] = run._replace(broken=run.broken or "conflicting_run_id")
    if copies:
        collected.runs = [run for number, run in enumerate(runs) if number not in copies]


def _name_list(names: list[str], number: int) -> str:
    """A few of so many names, and how many more there are: a list in every message would grow with the square."""
    shown = names[:_SHOWN_NAMES]
    more = number - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _merge_clones(
    collected: RunCollection,
    found: dict[str, list[Finding]],
    contents: Callable[[list[str]], dict[str, ContentDigests]],
) -> None:
    """Runs that are equal but for their ids and times are one; those that only answer alike are pointed out."""
    # A broken run adds nothing to a numerator, and merging it would take from a denominator: it has no `suspect`.
    looks = Counter(run.suspect for run in collected.runs if run.suspect)
    known = contents([run.name for run in collected.runs if looks[run.suspect] > 1])
    first: dict[bytes, str] = {}
    answers: dict[bytes, str] = {}
    kept: list[RunFacts] = []
    for run in collected.runs:
        content = known.get(run.name)
        if content is None or not content.content:
            kept.append(run)
            continue
        original = first.setdefault(content.content, run.name)
        if original != run.name:
            copies = collected.copies.setdefault(original, [])
            copies += [run, *collected.copies.pop(run.name, ())]
            message = f"the same as {original} but for ids and times: {_ONE_RUN}"
            found.setdefault(original, []).append(Finding("cloned_run", "warning", run.name, None, "", message))
            collected.ignored.append((f"{run.name}/", message))
            continue
        kept.append(run)
        alike = answers.setdefault(content.answer, run.name) if content.answer else run.name
        if alike != run.name:
            message = f"the verified claims and their quotes are those of {alike}, word for word; the rest differs"
            finding = Finding("alike_runs", "warning", f"{run.name}/{OUTPUT}", None, "/claims", message)
            found.setdefault(run.name, []).append(finding)
    collected.runs = kept


def _set_owed_trials(
    collected: RunCollection, golden: Golden, owed: int | None, found: dict[str, list[Finding]]
) -> None:
    """Set how many trials every query owes; where the protocol says it, a query with more fails: nobody picks."""
    merged, with_copies = trial_counts(collected.runs), trial_counts_with_copies(collected)
    collected.owed = owed or max(merged.values(), default=1)
    collected.owed_with_copies = owed or max(with_copies.values(), default=1)
    for index, run in enumerate(collected.runs):
        if run.query != NO_QUERY and with_copies[run.query] > collected.owed_with_copies:
            query, copies = golden.queries[run.query], with_copies[run.query] - merged[run.query]
            message = (
                f"the query {query.objective!r} has {with_copies[run.query]} trials{_copies_note(copies)}, "
                f"and research.trials is {owed}: they count as failed until the surplus is taken away"
            )
            finding = Finding("too_many_trials", "error", f"{run.name}/{OUTPUT}", None, "/objective", message)
            found.setdefault(run.name, []).append(finding)
            collected.runs[index] = run._replace(broken=run.broken or "too_many_trials")


def _copies_note(copies: int) -> str:
    """Words for trials of which so many are copies; none without any."""
    return f" ({copies} of them {'a copy' if copies == 1 else 'copies'})" if copies else ""


def _unknown_objectives(runs: list[RunFacts], golden: Golden) -> Iterator[Finding]:
    """Runs that no query asked for; near misses are hints."""
    unknown = [run for run in runs if run.query == NO_QUERY and run.objective is not None]
    near = near_queries((run.objective for run in unknown if run.objective is not None), golden)
    for run in unknown:
        file = f"{run.name}/{OUTPUT}"
        message = "the objective is in no golden query: the run counts for claims and steps only"
        yield Finding("unknown_objective", "warning", file, None, "/objective", message)
        if run.objective in near.queries:
            hint = f"is the golden query {golden.queries[near.queries[run.objective]].objective!r} meant?"
            yield Finding("near_miss", "hint", file, None, "/objective", hint)
    if near.not_compared:
        message = f"{near.not_compared} objective(s) of no query were not compared with the queries: too much text"
        yield Finding("not_compared", "hint", "", None, "", message)


def _missing_trials(collected: RunCollection, golden: Golden) -> Iterator[Finding]:
    """Queries that owe trials."""
    merged, with_copies = trial_counts(collected.runs), trial_counts_with_copies(collected)
    for number, query in enumerate(golden.queries):
        trials, copies = merged[number], with_copies[number] - merged[number]
        if not trials:
            message = f"no run answers the query {query.objective!r}: it counts as failed"
            yield Finding("missing_run", "error", golden.file, None, query.pointer, message)
        elif trials < collected.owed:
            left_out = f", {copies} {'copy' if copies == 1 else 'copies'} left out" if copies else ""
            message = (
                f"the query {query.objective!r} has {trials} of the {collected.owed} trials that every query "
                f"owes{left_out}: {_failed_note(collected.owed - trials)}"
            )
            yield Finding("too_few_trials", "error", golden.file, None, query.pointer, message)
        elif trials + copies < collected.owed_with_copies:
            message = (
                f"the query {query.objective!r} has {trials + copies} of the {collected.owed_with_copies} trials that "
                f"every query owes where copies of runs are trials: "
                f"{_failed_note(collected.owed_with_copies - trials - copies)} in rates that this makes worse"
            )
            yield Finding("too_few_trials", "warning", golden.file, None, query.pointer, message)


def _failed_note(trials: int) -> str:
    return "one counts as failed" if trials == 1 else f"{trials} count as failed"
