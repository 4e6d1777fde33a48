"""The results of all runs as trials of the golden queries: merges copies, marks conflicts, counts missing trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from goldgate.core.finding import Finding
from goldgate.core.metric import Metrics
from goldgate.core.sums import Counts
from goldgate.suites.research.golden import Golden, Query, near_queries
from goldgate.suites.research.measures import COMPLETION_METRIC, Trial
from goldgate.suites.research.run.facts import NO_QUERY, ContentDigests, RunFacts, RunResult
from goldgate.suites.research.run.files import OUTPUT

# The metrics in which a missing trial counts.
MISSING_TRIAL_METRICS = frozenset({"golden_recall", "abstention_accuracy", "cited_golden_recall", COMPLETION_METRIC})
_MAX_NAMES = 3  # of runs with the same run_id, in a message
_ONE_RUN = "one run, and counted with its copies where that makes a rate worse"

FindingsByRun = defaultdict[str, list[Finding]]


@dataclass(slots=True)
class RunCollection:
    """Runs in the order of their names; copies and clones of a run are among the ignored."""

    runs: list[RunFacts] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    copies: dict[str, list[RunFacts]] = field(default_factory=dict)  # by the run that they were merged into
    trials: Counter[int] = field(default_factory=Counter)  # runs by query, with broken ones
    trials_with_copies: Counter[int] = field(default_factory=Counter)  # where every copy counts as a trial
    required_trials: int = 1  # trials that every query must have
    required_with_copies: int = 1
    merged_metrics: Metrics = field(default_factory=dict)  # with copies merged: those that are worse with every copy
    codes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by run, the codes of its findings
    labels: Mapping[str, Counts] = field(default_factory=dict)  # by run, what the labels of its claims count


def collect_runs(
    results: Iterable[RunResult],
    golden: Golden,
    ignored_entries: list[tuple[str, str]],
    contents: Callable[[list[str]], dict[str, ContentDigests]],
    required_trials: int | None = None,
) -> RunCollection:
    """Gather the runs; the results must come in the order of the directories' names.

    `contents` gives the contents of runs by their names, for those that look alike. `required_trials` is set by the
    protocol; None for the most that any query has.
    """
    collected = RunCollection(ignored=list(ignored_entries))
    findings: FindingsByRun = defaultdict(list)  # a copy's findings go with it
    for result in results:
        collected.ignored += result.ignored
        if result.findings:
            findings[result.name] = result.findings
        if result.facts is not None:
            collected.runs.append(result.facts)
    _resolve_run_ids(collected, findings)
    _merge_clones(collected, findings, contents)
    _set_required_trials(collected, golden, required_trials, findings)
    of_runs = [finding for run in collected.runs for finding in findings.get(run.name, ())]
    unmatched_runs = [*_unknown_objectives(collected.runs, golden)]
    for finding in unmatched_runs:
        findings[finding.file.partition("/")[0]].append(finding)
    for run in collected.runs:
        if run.name in findings:
            collected.codes[run.name] = tuple(sorted({finding.code for finding in findings[run.name]}))
    collected.findings = [*golden.findings, *of_runs, *unmatched_runs, *_missing_trials(collected, golden)]
    collected.ignored.sort()
    return collected


def iter_trials(
    collected: RunCollection, golden: Golden, copy_metrics: frozenset[str] | None = None
) -> Iterator[Trial]:
    """Every run with its query, and the missing trials of queries.

    `copy_metrics` are the metrics in which every copy counts; without it, those that are worse for it.
    """
    copy_metrics = frozenset(collected.merged_metrics) if copy_metrics is None else copy_metrics
    for run in collected.runs:
        query = None if run.query == NO_QUERY else golden.queries[run.query]
        weights = (1, 1 + len(collected.copies.get(run.name, ())))
        codes, labels = collected.codes.get(run.name, ()), collected.labels.get(run.name)
        yield Trial(query, run, 1, codes, weights, copy_metrics, labels)
    no_labels = next(((0,) * len(counts) for counts in collected.labels.values()), None)
    for number, query in enumerate(golden.queries):
        missing = Trial(query, None, labels=no_labels)
        missing_trials = max(0, collected.required_trials - collected.trials[number])
        missing_with_copies = max(0, collected.required_with_copies - collected.trials_with_copies[number])
        either = min(missing_trials, missing_with_copies)
        if either:
            yield missing._replace(times=either)
        if missing_trials > either and MISSING_TRIAL_METRICS - copy_metrics:
            times = missing_trials - either
            yield missing._replace(times=times, weights=(1, 0), copy_metrics=copy_metrics)
        if missing_with_copies > either and MISSING_TRIAL_METRICS & copy_metrics:
            times = missing_with_copies - either
            yield missing._replace(times=times, weights=(0, 1), copy_metrics=copy_metrics)


def _resolve_run_ids(collected: RunCollection, findings: FindingsByRun) -> None:
    """The same run_id twice: equal bytes are one run, different ones are both broken."""
    runs = collected.runs
    numbers_by_id: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        if run.run_id is not None:
            numbers_by_id.setdefault(run.run_id, []).append(number)
    copies: set[str] = set()
    for run_id, numbers in numbers_by_id.items():
        originals: dict[bytes, int] = {}
        for number in numbers if len(numbers) > 1 else ():
            run, original = runs[number], runs[originals.setdefault(runs[number].digest, number)]
            if original is not run:
                copies.add(run.name)
                message = f"the same run as {original.name}, byte for byte: {_ONE_RUN}"
                finding = Finding("copied_run", "warning", run.name, None, "", message)
                _merge_copy(collected, original.name, run, finding, findings)
        if len(originals) > 1:
            names = [runs[number].name for number in originals.values()]
            for number in originals.values():
                run = runs[number]
                others = _name_list([name for name in names[: _MAX_NAMES + 1] if name != run.name], len(names) - 1)
                message = f"the run_id {run_id} is also that of {others}, with other content"
                finding = Finding("conflicting_run_id", "error", f"{run.name}/{OUTPUT}", None, "/run_id", message)
                runs[number] = _break_run(run, finding, findings)
    if copies:
        collected.runs = [run for run in runs if run.name not in copies]


def _merge_copy(
    collected: RunCollection, original: str, run: RunFacts, finding: Finding, findings: FindingsByRun
) -> None:
    """Keep a run, and what was merged into it before, as a copy of another one, which gets the finding."""
    collected.copies.setdefault(original, []).extend([run, *collected.copies.pop(run.name, ())])
    collected.ignored.append((f"{run.name}/", finding.message))
    findings[original].append(finding)


def _break_run(run: RunFacts, finding: Finding, findings: FindingsByRun) -> RunFacts:
    """The run as one that counts as failed, for this reason unless it has one already."""
    findings[run.name].append(finding)
    return run._replace(broken=run.broken or finding.code)


def _name_list(names: list[str], number: int) -> str:
    """The first names, and how many more there are: full lists in every message would grow with the square."""
    first = names[:_MAX_NAMES]
    more = number - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")


def _merge_clones(
    collected: RunCollection,
    findings: FindingsByRun,
    contents: Callable[[list[str]], dict[str, ContentDigests]],
) -> None:
    """Runs that are equal but for their ids and times are one; those that only answer alike are pointed out."""
    # A broken run adds nothing to a numerator, and merging it would take from a denominator: it has no `suspect`.
    candidates = Counter(run.suspect for run in collected.runs if run.suspect)
    digests = contents([run.name for run in collected.runs if candidates[run.suspect] > 1])
    originals: dict[bytes, str] = {}
    answers: dict[bytes, str] = {}
    kept: list[RunFacts] = []
    for run in collected.runs:
        content = digests.get(run.name)
        if content is not None and content.content:
            original = originals.setdefault(content.content, run.name)
            if original != run.name:
                message = f"the same as {original} but for ids and times: {_ONE_RUN}"
                finding = Finding("cloned_run", "warning", run.name, None, "", message)
                _merge_copy(collected, original, run, finding, findings)
                continue
            alike = answers.setdefault(content.answer, run.name) if content.answer else run.name
            if alike != run.name:
                message = f"the verified claims and their quotes are those of {alike}, word for word; the rest differs"
                finding = Finding("alike_runs", "warning", f"{run.name}/{OUTPUT}", None, "/claims", message)
                findings[run.name].append(finding)
        kept.append(run)
    collected.runs = kept


def _set_required_trials(
    collected: RunCollection, golden: Golden, required_trials: int | None, findings: FindingsByRun
) -> None:
    """Count trials and set how many every query must have; a query with more than the protocol sets fails."""
    copies = [copy for copies in collected.copies.values() for copy in copies]
    collected.trials = trials = Counter(run.query for run in collected.runs if run.query != NO_QUERY)
    collected.trials_with_copies = trials + Counter(run.query for run in copies if run.query != NO_QUERY)
    collected.required_trials = required_trials or max(trials.values(), default=1)
    collected.required_with_copies = required_trials or max(collected.trials_with_copies.values(), default=1)
    for index, run in enumerate(collected.runs):
        number = collected.trials_with_copies[run.query]
        if number > collected.required_with_copies:
            surplus = number - trials[run.query]
            words = f" ({surplus} of them {'a copy' if surplus == 1 else 'copies'})" if surplus else ""
            message = (
                f"the query {golden.queries[run.query].objective!r} has {number} trials{words}, "
                f"and research.trials is {required_trials}: they count as failed until the surplus is taken away"
            )
            finding = Finding("too_many_trials", "error", f"{run.name}/{OUTPUT}", None, "/objective", message)
            collected.runs[index] = _break_run(run, finding, findings)


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
    """Findings for queries with fewer trials than required."""
    for number, query in enumerate(golden.queries):
        trials, with_copies = collected.trials[number], collected.trials_with_copies[number]
        if not trials:
            message = f"no run answers the query {query.objective!r}: it counts as failed"
            yield Finding("missing_run", "error", golden.file, None, query.pointer, message)
        elif trials < collected.required_trials:
            copies = with_copies - trials
            left_out = f", {copies} {'copy' if copies == 1 else 'copies'} left out" if copies else ""
            message = _too_few_message(query, trials, collected.required_trials, left_out)
            yield Finding("too_few_trials", "error", golden.file, None, query.pointer, message)
        elif with_copies < collected.required_with_copies:
            condition = " where copies of runs are trials"
            message = _too_few_message(query, with_copies, collected.required_with_copies, condition)
            message += " in rates that this makes worse"
            yield Finding("too_few_trials", "warning", golden.file, None, query.pointer, message)


def _too_few_message(query: Query, trials: int, required_trials: int, words: str) -> str:
    failed = "one counts as failed" if required_trials - trials == 1 else f"{required_trials - trials} count as failed"
    trials_text = f"{trials} of the {required_trials} trials that every query owes{words}"
    return f"the query {query.objective!r} has {trials_text}: {failed}"
