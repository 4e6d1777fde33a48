"""All runs as trials of the golden queries, and the suite's own parts of the report.

Copies of a run are merged, runs with conflicting ids marked as broken, and missing trials counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, cast

from goldgate.core.contracts import RemarkValue, SuiteReport
from goldgate.core.finding import Finding, Severity, limit_length
from goldgate.core.gate import GateResult
from goldgate.core.metric import Mean, Metrics, Rate
from goldgate.core.suite import Measure, Outcome
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.research.contracts import (
    Conservation,
    EvidenceValue,
    LevelsValue,
    OverTrials,
    QueryValue,
    ResearchDetails,
    ResearchReport,
    RunValue,
)
from goldgate.suites.research.golden import Corpus, Golden, Query, near_queries
from goldgate.suites.research.measures import (
    BASE_READING,
    COMPLETION_METRIC,
    RATES_OVER_PARTS,
    SUPPORT_METRIC,
    Trial,
    TrialReading,
    TrialReadings,
    WorstReading,
    fail_uneven_queries,
    fail_unknown_claims,
    note_empty_evidence,
    note_nothing_stored,
    note_readings,
    note_uneven_runs,
    note_uniform_dilution,
    overruled,
    require_pass_also,
    research_measures,
    run_entry,
    trial_metrics,
    worst_readings,
)
from goldgate.suites.research.report import research_remarks, setting_remarks
from goldgate.suites.research.run import NO_QUERY, RunFacts, RunResult
from goldgate.suites.research.run.claims import ABSTAINED
from goldgate.suites.research.run.copies import ContentDigests
from goldgate.suites.research.run.evidence import FAILURES, LEVELS
from goldgate.suites.research.run.files import OUTPUT
from goldgate.suites.research.suite import ResearchSettings
from goldgate.suites.research.support import CountedLabels
from goldgate.suites.research.text import FOLDING

# By metric, the findings about what it lacks.
_NO_TRIAL = ("missing_run", "too_few_trials")
CAUSES: dict[str, frozenset[str]] = {
    "evidence_coverage_rate": frozenset(("claim_not_covered", "claims_unknown")),
    "golden_recall": frozenset(("missing_id", *_NO_TRIAL)),
    "abstention_accuracy": frozenset(("failed_abstention", *_NO_TRIAL)),
    "manifest_integrity": frozenset(
        "manifest_missing bad_manifest conflicting_manifest foreign_manifest step_gap no_steps log_missing torn_log "
        "bad_event bad_step".split()
    ),
    COMPLETION_METRIC: frozenset(_NO_TRIAL),
    SUPPORT_METRIC: frozenset(("claim_not_covered", "claims_unknown", "unsupported_claim")),
}
_BROKEN_RUN = "broken_run"
_NAMES_QUERY = frozenset((_BROKEN_RUN,)).union(*CAUSES.values())
_MAX_OBJECTIVE = 100  # characters, in a finding
# The metrics in which a missing trial counts.
MISSING_TRIAL_METRICS = frozenset({"golden_recall", "abstention_accuracy", "cited_golden_recall", COMPLETION_METRIC})
_DEFAULTS = ResearchSettings()
_MAX_NAMES = 3  # of runs with the same run_id, in a message
_ONE_RUN = "one run, and counted with its copies where that makes a rate worse"


@dataclass(slots=True)
class RunCollection:
    """Runs in the order of their names; copies and clones of a run are among the ignored."""

    runs: list[RunFacts] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    copies: dict[str, list[RunFacts]] = field(default_factory=dict)  # by the run that they were merged into
    counted_copies: int = 0  # runs equal to another one that are trials of their own, by the protocol
    trials: Counter[int] = field(default_factory=Counter)  # runs by query, with broken ones
    trials_with_copies: Counter[int] = field(default_factory=Counter)  # where every copy counts as a trial
    required_trials: int = 1  # trials that every query must have
    required_with_copies: int = 1
    metrics_by_reading: dict[TrialReading, Metrics] = field(default_factory=dict)  # empty where there is only one
    worst: dict[str, WorstReading] = field(default_factory=dict)  # metrics that differ between readings
    codes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by run, the codes of its findings
    labels: Mapping[str, Counts] = field(default_factory=dict)  # by run, what the labels of its claims count
    # While runs are collected; a copy's findings go with it.
    by_run: defaultdict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))

    def add_copy(self, original: str, run: RunFacts, code: str, message: str) -> None:
        """Keep a run, and what was merged into it before, as a copy of another one, which gets the finding."""
        self.copies.setdefault(original, []).extend([run, *self.copies.pop(run.name, ())])
        self.ignored.append((f"{run.name}/", message))
        self.by_run[original].append(Finding(code, "warning", run.name, None, "", message))

    def break_run(self, number: int, code: str, message: str, pointer: str) -> None:
        """Let a run count as failed, for this reason unless it has one already."""
        run = self.runs[number]
        self.by_run[run.name].append(_output_finding(run, code, "error", message, pointer))
        self.runs[number] = run._replace(broken=run.broken or code)

    def every_copy(self) -> list[RunFacts]:
        return [copy for copies in self.copies.values() for copy in copies]

    def digest(self) -> str:
        """One digest of all runs and their copies: names and the digests of bytes."""
        total, copies = hashlib.sha256(), self.every_copy()
        for run in sorted([*self.runs, *copies], key=lambda run: run.name) if copies else self.runs:
            total.update(run.name.encode() + b"\0" + run.digest)
        return total.hexdigest()


def collect_runs(
    results: Iterable[RunResult],
    golden: Golden,
    ignored: list[tuple[str, str]],
    contents: Callable[[list[str]], dict[str, ContentDigests]],
    required_trials: int | None = None,
    *,
    merge_clones: bool = True,
) -> RunCollection:
    """Gather the runs; the results must come in the order of the directories' names.

    `contents` gives the contents of runs by their names, for those that look alike. `required_trials` is set by the
    protocol; None for the most that any query has. Without `merge_clones`, equal runs with ids of their own are trials.
    """
    collected = RunCollection(ignored=[*ignored])
    by_run = collected.by_run
    for result in results:
        collected.ignored += result.ignored
        if result.findings:
            by_run[result.name] = result.findings
        if result.facts is not None:
            collected.runs.append(result.facts)
    _resolve_run_ids(collected)
    _find_clones(collected, contents, merge=merge_clones)
    _set_required_trials(collected, golden, required_trials)
    for run in collected.runs:
        if run.broken is not None:
            by_run[run.name].append(_broken_finding(run, by_run[run.name]))
    of_runs = [_name_query(finding, run, golden) for run in collected.runs for finding in by_run.get(run.name, ())]
    unmatched_runs = [*_unknown_objectives(collected.runs, golden)]
    for finding in unmatched_runs:
        by_run[finding.file.partition("/")[0]].append(finding)
    for run in collected.runs:
        if run.name in by_run:
            collected.codes[run.name] = tuple(sorted({finding.code for finding in by_run[run.name]}))
    by_run.clear()
    collected.findings = [*golden.findings, *of_runs, *unmatched_runs, *_missing_trials(collected, golden)]
    collected.ignored.sort()
    return collected


def _broken_finding(run: RunFacts, findings: Sequence[Finding]) -> Finding:
    """Why a run is broken, where that was found."""
    errors = [finding for finding in findings if finding.severity == "error"]
    default = _output_finding(run, _BROKEN_RUN, "error", "", "")
    why = next((finding for finding in errors if finding.code == run.broken), next(iter(errors), default))
    message = f"the run is broken ({run.broken}) and counts as failed: {why.message}"
    return why._replace(code=_BROKEN_RUN, message=message)


def _name_query(finding: Finding, run: RunFacts, golden: Golden) -> Finding:
    """The finding; where it may keep a gate from passing, with the query that its run answers."""
    is_cause = finding.severity == "error" and finding.code in _NAMES_QUERY
    if run.query == NO_QUERY or not is_cause or finding.file == run.name:
        return finding
    asked = limit_length(golden.queries[run.query].objective, _MAX_OBJECTIVE)
    return finding._replace(message=f"query {asked!r}: {finding.message}")


def iter_trials(collected: RunCollection, golden: Golden, readings: TrialReadings | None = None) -> Iterator[Trial]:
    """Every run with its query, and the missing trials of queries.

    `readings` says how each metric is taken; without it, each is taken in the way that is worst for it.
    """
    if readings is None:
        readings = {name: worst.reading for name, worst in collected.worst.items()}
    copy_metrics = {name for name, reading in readings.items() if reading.with_copies}
    for run in collected.runs:
        query = None if run.query == NO_QUERY else golden.queries[run.query]
        weights = (1, 1 + len(collected.copies.get(run.name, ())))
        codes, labels = collected.codes.get(run.name, ()), collected.labels.get(run.name)
        yield Trial(query, run, 1, codes, weights, readings, labels)
    no_labels = next(((0,) * len(counts) for counts in collected.labels.values()), None)
    for number, query in enumerate(golden.queries):
        merged = max(0, collected.required_trials - collected.trials[number])
        with_copies = max(0, collected.required_with_copies - collected.trials_with_copies[number])
        either = min(merged, with_copies)
        for times, weights, metrics in (
            (either, (1, 1), MISSING_TRIAL_METRICS),
            (merged - either, (1, 0), MISSING_TRIAL_METRICS - copy_metrics),
            (with_copies - either, (0, 1), MISSING_TRIAL_METRICS & copy_metrics),
        ):
            if times and metrics:
                yield Trial(query, None, times, (), weights, readings, no_labels)


def _output_finding(run: RunFacts, code: str, severity: Severity, message: str, pointer: str) -> Finding:
    return Finding(code, severity, f"{run.name}/{OUTPUT}", None, pointer, message)


def _resolve_run_ids(collected: RunCollection) -> None:
    """Mark runs with a repeated run_id: equal bytes are one run, different ones are both broken."""
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
                collected.add_copy(original.name, run, "copied_run", message)
        if len(originals) > 1:
            names = [runs[number].name for number in originals.values()]
            for number in originals.values():
                first = [name for name in names[: _MAX_NAMES + 1] if name != runs[number].name]
                others = _name_list(first, len(names) - 1)
                message = f"the run_id {run_id} is also that of {others}, with other content"
                collected.break_run(number, "conflicting_run_id", message, "/run_id")
    if copies:
        collected.runs = [run for run in runs if run.name not in copies]


def _name_list(names: list[str], number: int) -> str:
    """The first names, and how many more there are: full lists in every message would grow with the square."""
    first = names[:_MAX_NAMES]
    more = number - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")


def _find_clones(
    collected: RunCollection, contents: Callable[[list[str]], dict[str, ContentDigests]], *, merge: bool
) -> None:
    """Runs that are equal but for their ids and times are one; those that only answer alike are pointed out."""
    # A broken run adds nothing to a numerator, and merging it would take from a denominator: it has no `suspect`.
    candidates = Counter(run.suspect for run in collected.runs if run.suspect)
    digests = contents([run.name for run in collected.runs if candidates[run.suspect] > 1])
    originals: dict[bytes, str] = {}
    answers: dict[bytes, str] = {}
    remaining: list[RunFacts] = []
    for run in collected.runs:
        content = digests.get(run.name)
        if content is not None:
            original = originals.setdefault(content.content, run.name)
            alike = answers.setdefault(content.answer, run.name) if content.answer else run.name
            if original != run.name:
                words = _ONE_RUN if merge else "a trial of its own, by research.copies"
                message = f"the same as {original} but for ids and times: {words}"
                if merge:
                    collected.add_copy(original, run, "cloned_run", message)
                    continue
                collected.counted_copies += 1
                collected.by_run[run.name].append(_output_finding(run, "cloned_run", "warning", message, ""))
            elif alike != run.name:
                message = f"the verified claims and their quotes are those of {alike}, word for word; the rest differs"
                collected.by_run[run.name].append(_output_finding(run, "alike_runs", "warning", message, "/claims"))
        remaining.append(run)
    collected.runs = remaining


def _set_required_trials(collected: RunCollection, golden: Golden, required_trials: int | None) -> None:
    """Count trials and set how many every query must have; a query with more than the protocol sets fails."""
    copies = collected.every_copy()
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
            collected.break_run(index, "too_many_trials", message, "/objective")


def _unknown_objectives(runs: list[RunFacts], golden: Golden) -> Iterator[Finding]:
    """Runs that no query asked for; near misses are hints."""
    unknown = [run for run in runs if run.query == NO_QUERY and run.objective is not None]
    near = near_queries((run.objective for run in unknown if run.objective is not None), golden)
    for run in unknown:
        message = "the objective is in no golden query: claims and steps count where that is worse"
        yield _output_finding(run, "unknown_objective", "warning", message, "/objective")
        if run.objective in near.queries:
            hint = f"is the golden query {golden.queries[near.queries[run.objective]].objective!r} meant?"
            yield _output_finding(run, "near_miss", "hint", hint, "/objective")
    if near.not_compared:
        message = f"{near.not_compared} objective(s) of no query were not compared with the queries: too much text"
        yield Finding("not_compared", "hint", "", None, "", message)


def _missing_trials(collected: RunCollection, golden: Golden) -> Iterator[Finding]:
    """Findings for queries with fewer trials than required."""
    for number, query in enumerate(golden.queries):
        trials, required = collected.trials[number], collected.required_trials
        copies, words = collected.trials_with_copies[number] - trials, ""
        severity: Severity = "error"
        if not trials:
            message = f"no run answers the query {query.objective!r}: it counts as failed"
            yield Finding("missing_run", "error", golden.file, None, query.pointer, message)
            continue
        if trials < required:
            words = f", {copies} {'copy' if copies == 1 else 'copies'} left out" if copies else ""
        else:
            trials, required, severity = trials + copies, collected.required_with_copies, "warning"
            words = " where copies of runs are trials, in rates that this makes worse"
        if trials < required:
            failed = "one counts as failed" if required - trials == 1 else f"{required - trials} count as failed"
            message = f"has {trials} of the {required} trials that every query owes{words}: {failed}"
            message = f"the query {query.objective!r} {message}"
            yield Finding("too_few_trials", severity, golden.file, None, query.pointer, message)


# What the levels leave open, said where the records are counted.
UNANCHORED_NOTE = (
    "No corpus was given: verbatim and chain show that a quote is in a text which the run itself stored, not that it "
    "is from one of your sources. With --corpus, or artifact_hashes in the golden queries, records that reach your "
    "sources are anchored."
)


class ResearchOutcome(Outcome):
    """The suite's own parts of the report, and the rules on gates that take all runs together."""

    def __init__(
        self,
        collected: RunCollection,
        golden: Golden,
        settings: ResearchSettings,
        directories: int,
        corpus: Corpus | None,
        labels: CountedLabels | None,
    ) -> None:
        self._collected = collected
        self._golden = golden
        self._settings = settings
        self._measures = research_measures(settings)
        self._directories = directories
        self._anchored = bool(golden.anchors) or corpus is not None  # whether evidence could be anchored to anything
        self._labels = labels
        inputs: dict[str, Any] = {
            "golden": {"sha256": golden.sha256, "queries": len(golden.queries)},
            "outputs": {"sha256": collected.digest(), "runs": len(collected.runs)},
            "corpus": None if corpus is None else {"sha256": corpus.sha256, "hashes": len(corpus.hashes)},
            **({} if labels is None else labels.inputs),
        }
        fields = _signature_fields(settings, golden, corpus) | ({} if labels is None else {"people": labels.people})
        collected.findings += [] if labels is None else labels.findings
        super().__init__(inputs, fields, collected.findings)

    def overrule(self, gates: list[GateResult], tally: Tally) -> list[GateResult]:
        collected, readings = self._collected, self._collected.metrics_by_reading
        words = {name: worst.words for name, worst in collected.worst.items()}
        gates = [
            replace(gate, reason=f"{gate.reason} {words[gate.metric]}") if gate.metric in words else gate
            for gate in gates
        ]
        for reading, metrics in readings.items():  # what is undefined may pass, and bounds of an interval differ
            gates = require_pass_also(gates, metrics, reading.words(readings))
        if any(len({*trials.values()}) > 1 for trials in (collected.trials, collected.trials_with_copies)):
            for reading in readings or (BASE_READING,):
                every = iter_trials(collected, self._golden, dict.fromkeys(RATES_OVER_PARTS, reading))
                gates = fail_uneven_queries(gates, [trial for trial in every if trial.query is not None])
        return fail_unknown_claims([_fail_torn_logs(gate, tally) for gate in gates], collected.runs)

    def causes(self, gate: GateResult) -> Iterator[Finding] | None:
        """The findings about trials, claims, ids and steps that a metric lacks."""
        if gate.metric not in CAUSES:
            return None
        metric, worst = gate.metric, self._collected.worst.get(gate.metric)
        runs = {run.name: run for run in self._collected.runs}
        queries = {query.pointer: query for query in self._golden.queries}
        nothing_counts = gate.measured.exact is None and metric in RATES_OVER_PARTS

        def keeps_from_passing(finding: Finding) -> bool:
            if finding.code in _NO_TRIAL:
                is_asked = finding.code in CAUSES[metric] and _is_asked(metric, queries.get(finding.pointer))
                return is_asked or nothing_counts
            run = runs.get(finding.file.partition("/")[0])
            if run is None or (worst is not None and worst.reading.only_queries and run.is_of_no_query):
                return False
            query = self._golden.queries[run.query] if run.query != NO_QUERY else None
            is_of_claims = metric in ("evidence_coverage_rate", SUPPORT_METRIC)
            counts = run.verified > 0 if is_of_claims else _is_asked(metric, query)
            is_why = finding.code == _BROKEN_RUN and counts
            return finding.severity == "error" and (is_why or finding.code in CAUSES[metric])

        labelled = self._labels.unsupported if metric == SUPPORT_METRIC and self._labels is not None else ()
        causes = (_name_query(each, runs[each.file.partition("/")[0]], self._golden) for each in labelled)
        without_claims = self._without_claims() if nothing_counts else ()
        return chain(causes, without_claims, filter(keeps_from_passing, self._collected.findings))

    def _without_claims(self) -> Iterator[Finding]:
        """Every run of a query without a verified claim."""
        for run in self._collected.runs:
            if run.query != NO_QUERY and not run.verified:
                finding = _output_finding(run, "claim_not_covered", "error", "the run verifies no claim", "/claims")
                yield _name_query(finding, run, self._golden)

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> ResearchDetails:
        collected, golden = self._collected, self._golden
        runs = collected.runs
        collected.findings += [
            *note_readings(metrics, collected.worst),
            *note_uneven_runs(gates, runs),
            *note_nothing_stored(runs),
            *note_empty_evidence(runs),
            *note_uniform_dilution(gates, runs),
        ]
        details: ResearchDetails = {
            "evidence": _evidence_counts(runs, None if self._anchored else UNANCHORED_NOTE),
            "conservation": conservation(collected, golden, self._directories),
            "queries": _query_entries(collected, golden),
            "runs": _run_entries(collected, golden),
            "ignored": [{"path": path, "reason": reason} for path, reason in collected.ignored],
        }
        return details if self._labels is None else {**details, "support": self._labels.value}

    def remarks(self, report: SuiteReport) -> Iterable[RemarkValue]:
        yield from research_remarks(cast(ResearchReport, report))
        yield from setting_remarks(self._settings, self._collected.counted_copies)
        if self._labels is not None:
            yield from self._labels.remarks


def _is_asked(metric: str, query: Query | None) -> bool:
    """Whether a trial of the query counts in a metric."""
    if query is None:
        return False
    asked = {"golden_recall": bool(query.required), "abstention_accuracy": not query.sufficient}
    return asked.get(metric, metric == COMPLETION_METRIC)


def choose_readings(collected: RunCollection, golden: Golden, measures: Sequence[Measure[Trial]]) -> None:
    """Take each metric with and without copies, and with and without runs that match no query; the worst counts."""
    copies = (False, True) if collected.copies else (False,)
    queries = (False, True) if any(run.is_of_no_query for run in collected.runs) else (False,)
    readings = [TrialReading(with_copies, only_queries) for only_queries in queries for with_copies in copies]
    names = trial_metrics((), measures)
    if len(readings) > 1:
        collected.metrics_by_reading = {
            reading: trial_metrics(iter_trials(collected, golden, dict.fromkeys(names, reading)), measures)
            for reading in readings
        }
        collected.worst = worst_readings(collected.metrics_by_reading)


def conservation(collected: RunCollection, golden: Golden, directories: int) -> Conservation:
    """Each total beside the parts that must add up to it."""
    runs, queries, trials = collected.runs, len(golden.queries), collected.trials.total()
    answered = len(collected.trials)
    whole = {run.query for run in runs if run.query != NO_QUERY and run.broken is None}
    broken = sum(run.broken is not None for run in runs)
    lacking = sum(max(0, collected.required_trials - collected.trials[number]) for number in range(queries))

    def total(*names: str) -> int:
        return sum(getattr(run, name) for run in runs for name in names)

    verified, candidate, retracted = map(total, ("verified", "candidate", "retracted"))
    steps, with_manifest = total("steps"), total("with_manifest")
    return {
        "queries": {
            "total": queries,
            "answered": answered,
            "missing": queries - answered,
            "broken_only": answered - len(whole),
        },
        "trials": {"total": trials + lacking, "runs": trials, "missing": lacking},
        "directories": {"total": directories, "runs": len(runs), "ignored": directories - len(runs)},
        "runs": {"total": len(runs), "evaluated": len(runs) - broken, "broken": broken},
        "claims": {
            "total": verified + candidate + retracted,
            "verified": verified,
            "candidate": candidate,
            "retracted": retracted,
            "unreadable": total("unreadable_claims"),
        },
        "evidence": {
            "total": total("ledger"),
            "valid": total(*LEVELS),
            "failed": sum(count for run in runs for _, count in run.failures),
        },
        "steps": {
            "total": steps,
            "with_manifest": with_manifest,
            "without_manifest": steps - with_manifest,
            "orphan_manifests": total("orphans"),
        },
        "files_read": total("files"),
    }


def _fail_torn_logs(result: GateResult, tally: Tally) -> GateResult:
    """A torn log hides steps: the gate on manifests cannot pass, wherever its threshold is."""
    torn = tally.counts["torn_logs"]
    if result.metric != "manifest_integrity" or not torn:
        return result
    logs = "1 event log is torn" if torn == 1 else f"{torn} event logs are torn"
    return overruled(result, f"{logs}: not all steps are known")


def _evidence_counts(runs: Iterable[RunFacts], note: str | None) -> EvidenceValue:
    """Levels and failures over the runs that count."""
    counted = [run for run in runs if run.broken is None]
    failures: Counter[str] = Counter()
    for run in counted:
        for name, count in run.failures:
            failures[name] += count
    return {
        "levels": cast(LevelsValue, {level: sum(getattr(run, level) for run in counted) for level in LEVELS}),
        "failures": {name: failures[name] for name in FAILURES if failures[name]},
        "note": note,
    }


def _query_entries(collected: RunCollection, golden: Golden) -> list[QueryValue]:
    by_query: defaultdict[int, list[RunFacts]] = defaultdict(list)
    for run in collected.runs:
        by_query[run.query].append(run)
    return [
        _query_entry(query, by_query[number], collected.required_trials) for number, query in enumerate(golden.queries)
    ]


def _query_entry(query: Query, runs: list[RunFacts], owed: int) -> QueryValue:
    whole = [run for run in runs if run.broken is None]
    missing = max(0, owed - len(runs))
    hits = [run.found_ids if run.broken is None else 0 for run in runs]
    right = [int(run.broken is None and run.stop_reason == ABSTAINED and not run.verified) for run in runs]
    return {
        "objective": query.objective,
        "id": query.id,
        "evidence_sufficient": query.sufficient,
        "required_ids": len(query.required),
        "status": "answered" if whole else "broken" if runs else "missing",
        "trials": len(runs),
        "owed_trials": owed,
        "broken_trials": len(runs) - len(whole),
        "recall": _over_trials(hits, len(query.required), missing),
        "abstention": None if query.sufficient else _over_trials(right, 1, missing),
        "right_abstentions": None if query.sufficient else sum(right),
    }


def _over_trials(hits: list[int], possible: int, missing: int) -> OverTrials | None:
    """Best, worst and mean over the trials of a query, a missing one with no hit; None where nothing can be hit."""
    if not hits or not possible:
        return None
    averaged = len(hits) + missing
    return {
        "best": Rate(max(hits), possible).as_json(),
        "worst": Rate(0 if missing else min(hits), possible).as_json(),
        "mean": Mean(sum(hits) / (possible * averaged), averaged, 0).as_json(),
    }


def _run_entries(collected: RunCollection, golden: Golden) -> list[RunValue]:
    """An entry for each run. A run's facts are let go as its entry is made: there may be very many."""
    facts, collected.runs = collected.runs[::-1], []
    entries = []
    while facts:
        run = facts.pop()
        query = golden.queries[run.query] if run.query != NO_QUERY else None
        entries.append(run_entry(run, query, len(collected.copies.get(run.name, ()))))
    return entries


def _signature_fields(research: ResearchSettings, golden: Golden, corpus: Corpus | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    labels = sorted(research.labels.items())
    limits = research.max_file_megabytes, research.max_run_megabytes, research.max_total_megabytes
    return {
        "fold": FOLDING,
        "require": research.require,
        "verbatim": research.require_verbatim,
        "anchored": research.require_anchored,
        **{
            name: getattr(research, name)
            for name in ("provenance", "manifests", "manifest", "copies")
            if getattr(research, name) != getattr(_DEFAULTS, name)
        },
        **({} if research.sampling == "drawn" else {"sampling": research.sampling}),
        **({"labels": ",".join(f"{word}={number}" for word, number in labels)} if labels else {}),
        "trials": "most" if research.trials is None else f"{research.trials.normalize():f}",
        "limit": "/".join(f"{limit.normalize():f}" for limit in limits) + "MB",
        "golden": golden.sha256[:12],
        "corpus": "none" if corpus is None else corpus.sha256[:12],
    }
