"""What a research evaluation came to: the settled runs, and its own parts of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from goldgate.core.gate import GateResult, Verdict, counts_of
from goldgate.core.metric import Mean, Metrics, Rate
from goldgate.core.plan import Plan
from goldgate.core.remarks import Remark
from goldgate.core.suite import Measure, Outcome, Report
from goldgate.core.tally import Tally
from goldgate.suites.research.collect import Collected, trials, trials_of, trials_with_copies
from goldgate.suites.research.corpus import Corpus
from goldgate.suites.research.dilution import (
    better_if_merged,
    not_by_easy_queries,
    not_unless_also,
    not_with_unknown_claims,
    note_copies,
    note_empty_evidence,
    note_nothing_stored,
    note_uneven_runs,
    note_uniform_dilution,
)
from goldgate.suites.research.golden import Golden, Query
from goldgate.suites.research.measures import all_measures
from goldgate.suites.research.measures.trial import Trial, metrics_of
from goldgate.suites.research.run.evidence import FAILURES
from goldgate.suites.research.run.facts import NO_QUERY, RunFacts
from goldgate.suites.research.run.fold import FOLDING
from goldgate.suites.research.run.sources import LEVELS
from goldgate.suites.research.run.suspicion import ABSTAINED
from goldgate.suites.research.run_record import run_entry
from goldgate.suites.research.settings import ResearchSettings
from goldgate.suites.research.stands_out import stands_out


class Origin(NamedTuple):
    """What the numbers come from, beside the golden queries."""

    plan: Plan
    directories: int
    outputs_sha256: str
    corpus: Corpus | None = None
    anchored: bool = False  # whether there is anything that evidence could be anchored to


# What the levels leave open, said where the records are counted.
UNANCHORED = (
    "No corpus was given: verbatim and chain show that a quote is in a text which the run itself stored, not that it "
    "is from one of your sources. With --corpus, or artifact_hashes in the golden queries, records that reach your "
    "sources are anchored."
)


class ResearchOutcome(Outcome):
    """The runs of all directories, settled, beside the golden queries."""

    def __init__(self, collected: Collected, golden: Golden, origin: Origin) -> None:
        self._collected = collected
        self._golden = golden
        self._origin = origin
        inputs: dict[str, Any] = {
            "golden": {"sha256": golden.sha256, "queries": len(golden.queries)},
            "outputs": {"sha256": origin.outputs_sha256, "runs": len(collected.runs)},
            "corpus": _corpus(origin.corpus),
        }
        super().__init__(inputs, _signed(origin.plan.settings, golden, origin.corpus), collected.findings)

    def overrule(self, gates: list[GateResult], tally: Tally) -> list[GateResult]:
        collected = self._collected
        measures = all_measures(self._origin.plan.settings)
        merged, with_copies = trials_of(collected.runs), trials_with_copies(collected)
        uneven = len({*merged.values()}) > 1 or len({*with_copies.values()}) > 1
        strangers = merged.total() < len(collected.runs)
        for condition, counted in readings(collected, measures).items():
            every = [*trials(collected, self._golden, counted)] if collected.copies or strangers or uneven else []
            asked = [trial for trial in every if trial.query is not None]
            if collected.copies:
                gates = not_unless_also(gates, metrics_of(every, measures), condition)
            if strangers:  # anyone can add runs with a thousand claims about nothing in question
                gates = not_unless_also(gates, metrics_of(asked, measures), "without the runs of no query")
            if uneven:
                gates = not_by_easy_queries(gates, asked)
        gates = [_not_with_torn_logs(_with_merged(gate, collected.merged), tally) for gate in gates]
        return not_with_unknown_claims(gates, collected.runs)

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> dict[str, Any]:
        collected, golden, origin = self._collected, self._golden, self._origin
        runs = collected.runs
        collected.findings += [
            *note_copies(metrics, collected.merged),
            *note_uneven_runs(gates, runs),
            *note_nothing_stored(runs),
            *note_empty_evidence(runs),
            *note_uniform_dilution(gates, runs),
        ]
        return {
            "evidence": {**_evidence(collected.runs), "note": None if origin.anchored else UNANCHORED},
            "conservation": conservation(collected, golden, origin.directories),
            "queries": _queries(collected, golden),
            "runs": _runs(collected, golden),
            "ignored": [{"path": path, "reason": reason} for path, reason in collected.ignored],
        }

    def remarks(self, report: Report) -> Iterable[Remark]:
        return stands_out(report)


def readings(collected: Collected, measures: Sequence[Measure[Trial]]) -> dict[str, frozenset[str]]:
    """The metrics in which every copy counts: none, and where there are copies all, each with words for it."""
    every = frozenset(metrics_of((), measures))
    return {"with copies merged": frozenset(), **({"with every copy counted": every} if collected.copies else {})}


def settle_copies(collected: Collected, golden: Golden, measures: Sequence[Measure[Trial]]) -> None:
    """Find the metrics in which every copy of a run must count, because merging would make them better."""
    if collected.copies:
        both = [
            metrics_of(trials(collected, golden, counted), measures)
            for counted in readings(collected, measures).values()
        ]
        collected.merged = better_if_merged(*both)


def conservation(collected: Collected, golden: Golden, directories: int) -> dict[str, Any]:
    """Each total beside the parts that must add up to it."""
    runs = collected.runs
    answered = {run.query for run in runs if run.query != NO_QUERY}
    whole = {run.query for run in runs if run.query != NO_QUERY and run.broken is None}
    broken = sum(run.broken is not None for run in runs)
    valid = sum(getattr(run, level) for run in runs for level in LEVELS)
    present = trials_of(runs)
    lacking = sum(max(0, collected.owed - present[number]) for number in range(len(golden.queries)))
    verified, candidate, retracted = (
        sum(getattr(run, n) for run in runs) for n in ("verified", "candidate", "retracted")
    )
    steps, with_manifest = sum(run.steps for run in runs), sum(run.with_manifest for run in runs)
    return {
        "queries": {
            "total": len(golden.queries),
            "answered": len(answered),
            "missing": len(golden.queries) - len(answered),
            "broken_only": len(answered - whole),
        },
        "trials": {"total": present.total() + lacking, "runs": present.total(), "missing": lacking},
        "directories": {"total": directories, "runs": len(runs), "ignored": directories - len(runs)},
        "runs": {"total": len(runs), "evaluated": len(runs) - broken, "broken": broken},
        "claims": {
            "total": verified + candidate + retracted,
            "verified": verified,
            "candidate": candidate,
            "retracted": retracted,
            "unreadable": sum(run.unreadable_claims for run in runs),
        },
        "evidence": {
            "total": sum(run.ledger for run in runs),
            "valid": valid,
            "failed": sum(count for run in runs for _, count in run.failures),
        },
        "steps": {
            "total": steps,
            "with_manifest": with_manifest,
            "without_manifest": steps - with_manifest,
            "orphan_manifests": sum(run.orphans for run in runs),
        },
        "files_read": sum(run.files for run in runs),
    }


def _corpus(corpus: Corpus | None) -> dict[str, Any] | None:
    return None if corpus is None else {"sha256": corpus.sha256, "hashes": len(corpus.hashes)}


def _with_merged(result: GateResult, merged: Metrics) -> GateResult:
    """The result; where every copy counts, with what it would be without copies."""
    metric = merged.get(result.metric)
    if metric is None:
        return result
    value = counts_of(metric, result.gate)
    return replace(result, reason=f"{result.reason}; every copy counts: with copies merged it is {value}")


def _not_with_torn_logs(result: GateResult, tally: Tally) -> GateResult:
    """A torn log hides steps: the gate on manifests cannot pass, wherever its threshold is."""
    torn = tally.counts["torn_logs"]
    if result.metric != "manifest_integrity" or not torn:
        return result
    logs = "1 event log is torn" if torn == 1 else f"{torn} event logs are torn"
    return replace(result, verdict=Verdict.FAIL, reason=f"{result.reason}; {logs}: not all steps are known")


def _evidence(runs: Iterable[RunFacts]) -> dict[str, Any]:
    """Levels and failures over the runs that count."""
    counted = [run for run in runs if run.broken is None]
    failures: Counter[str] = Counter()
    for run in counted:
        for name, count in run.failures:
            failures[name] += count
    return {
        "levels": {level: sum(getattr(run, level) for run in counted) for level in LEVELS},
        "failures": {name: failures[name] for name in FAILURES if failures[name]},
    }


def _queries(collected: Collected, golden: Golden) -> list[dict[str, Any]]:
    by_query: dict[int, list[RunFacts]] = {}
    for run in collected.runs:
        by_query.setdefault(run.query, []).append(run)
    return [_query(query, by_query.get(number, []), collected.owed) for number, query in enumerate(golden.queries)]


def _query(query: Query, runs: list[RunFacts], owed: int) -> dict[str, Any]:
    whole = [run for run in runs if run.broken is None]
    entry: dict[str, Any] = {
        "objective": query.objective,
        "id": query.id,
        "evidence_sufficient": query.sufficient,
        "required_ids": len(query.required),
        "status": "answered" if whole else "broken" if runs else "missing",
        "trials": len(runs),
        "owed_trials": owed,
        "broken_trials": len(runs) - len(whole),
        "recall": None,
        "abstention": None,
        "right_abstentions": None,
    }
    missing = max(0, owed - len(runs))
    if query.required and runs:
        entry["recall"] = _over_trials(
            [run.found if run.broken is None else 0 for run in runs], len(query.required), missing
        )
    if not query.sufficient:
        right = [run.broken is None and run.stop_reason == ABSTAINED and not run.verified for run in runs]
        entry["right_abstentions"] = sum(right)
        if runs:
            entry["abstention"] = _over_trials([int(abstained) for abstained in right], 1, missing)
    return entry


def _over_trials(hits: list[int], of: int, missing: int) -> dict[str, Any]:
    """Best, worst and mean over the trials of a query; one that is missing has hit nothing."""
    averaged = len(hits) + missing
    return {
        "best": Rate(max(hits), of).as_json(),
        "worst": Rate(0 if missing else min(hits), of).as_json(),
        "mean": Mean(sum(hits) / (of * averaged), averaged, 0).as_json(),
    }


def _runs(collected: Collected, golden: Golden) -> list[dict[str, Any]]:
    """An entry for each run. A run's facts are let go as its entry is made: there may be very many."""
    facts, collected.runs = collected.runs[::-1], []
    entries = []
    while facts:
        run = facts.pop()
        query = golden.queries[run.query] if run.query != NO_QUERY else None
        entries.append(run_entry(run, query, len(collected.copies.get(run.name, ()))))
    return entries


def _signed(research: ResearchSettings, golden: Golden, corpus: Corpus | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    limits = research.max_file_megabytes, research.max_run_megabytes, research.max_total_megabytes
    return {
        "fold": FOLDING,
        "require": research.require,
        "verbatim": research.require_verbatim,
        "anchored": research.require_anchored,
        **({} if research.manifests == "required" else {"manifests": research.manifests}),
        "trials": "most" if research.trials is None else f"{research.trials.normalize():f}",
        "limit": "/".join(f"{limit.normalize():f}" for limit in limits) + "MB",
        "golden": golden.sha256[:12],
        "corpus": "none" if corpus is None else corpus.sha256[:12],
    }
