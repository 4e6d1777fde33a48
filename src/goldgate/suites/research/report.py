"""The research suite's report: from the counts of all runs to plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any, NamedTuple

import goldgate
from goldgate.baseline.support import support
from goldgate.core.evaluation import FORMAT_VERSION, Evaluation
from goldgate.core.finding import Finding, cut
from goldgate.core.gate import GateResult, Verdict, check_gates, overall
from goldgate.core.metric import Mean, Metric, Metrics, Rate
from goldgate.core.signature import signature
from goldgate.core.tally import Tally, total
from goldgate.protocol.load import LoadedProtocol
from goldgate.protocol.model import Protocol, ResearchSettings
from goldgate.stats.binomial import CONFIDENCE, lower_bound
from goldgate.suites.research.collect import Collected, trials, trials_of
from goldgate.suites.research.corpus import Corpus
from goldgate.suites.research.dilution import (
    not_by_strangers,
    not_with_unknown_claims,
    note_nothing_stored,
    note_uneven_runs,
)
from goldgate.suites.research.golden import Golden, Query
from goldgate.suites.research.measures import MEASURES
from goldgate.suites.research.run.evidence import FAILURES
from goldgate.suites.research.run.facts import NO_QUERY, RunFacts
from goldgate.suites.research.run.fold import FOLDING
from goldgate.suites.research.run.sources import LEVELS
from goldgate.suites.research.run.suspicion import ABSTAINED
from goldgate.suites.research.settings import ALARMS, METRICS_VERSION, SUITE


class Origin(NamedTuple):
    """What the numbers come from, beside the golden queries."""

    plan: LoadedProtocol
    baseline_sha256: str | None
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


def judge(collected: Collected, golden: Golden, origin: Origin) -> Evaluation:
    """Sum, divide, check the gates, and put the report together."""
    asked, strangers = Tally(), Tally()  # trials of golden queries, and runs of none
    for trial in trials(collected, golden):
        for measure in MEASURES:
            measure.count(trial, asked if trial.query is not None else strangers)
    tally = total((asked, strangers))
    sections = _sections(tally)
    metrics = {**sections["main"], **sections["companions"]}
    of_queries = {name: metric for section in _sections(asked).values() for name, metric in section.items()}
    protocol = origin.plan.protocol
    gates = not_by_strangers(check_gates(protocol.gates, metrics), of_queries)
    gates = [_not_with_torn_logs(gate, tally) for gate in gates]
    runs = collected.runs
    gates = not_with_unknown_claims(gates, runs)
    collected.findings += [*note_uneven_runs(gates, runs), *note_nothing_stored(runs), *_alarms(metrics)]
    balance = conservation(collected, golden, origin.directories)
    report: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "suite": SUITE,
        "status": overall(gates),
        "protocol": asdict(protocol.protocol),
        "signature": signature(_settings(protocol, golden, origin.corpus)),
        "inputs": {
            "golden": {"sha256": golden.sha256, "queries": len(golden.queries)},
            "outputs": {"sha256": origin.outputs_sha256, "runs": len(collected.runs)},
            "corpus": _corpus(origin.corpus),
            "protocol": origin.plan.sha256,
            "baseline": origin.baseline_sha256,
        },
        "gates": [{**gate.as_json(), "support": support(gate.gate, gate.measured)} for gate in gates],
        "metrics": {
            "version": METRICS_VERSION,
            **{
                section: {name: _with_bound(metric) for name, metric in found.items()}
                for section, found in sections.items()
            },
        },
        "evidence": {**_evidence(collected.runs), "note": None if origin.anchored else UNANCHORED},
        "conservation": balance,
        "queries": _queries(collected, golden),
        "runs": _runs(collected, golden),
        "findings": [finding.as_json() for finding in collected.findings],
        "ignored": [{"path": path, "reason": reason} for path, reason in collected.ignored],
        "error": None,
    }
    return Evaluation(report, metrics, gates)


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


def _sections(tally: Tally) -> dict[str, Metrics]:
    sections: dict[str, Metrics] = {"main": {}, "companions": {}}
    for measure in MEASURES:
        sections[measure.section].update(measure.metrics(tally))
    return sections


def _alarms(metrics: Metrics) -> Iterator[Finding]:
    """Companions that stand out: the four can be passed by an agent that is of no use."""
    for result in check_gates(ALARMS, metrics):
        if result.verdict is Verdict.FAIL and result.measured.exact is not None:
            message = f"{result.metric}: {result.reason}"
            yield Finding("stands_out", "warning", "", None, f"/metrics/companions/{result.metric}", message)


def _corpus(corpus: Corpus | None) -> dict[str, Any] | None:
    return None if corpus is None else {"sha256": corpus.sha256, "hashes": len(corpus.hashes)}


def _not_with_torn_logs(result: GateResult, tally: Tally) -> GateResult:
    """A torn log hides steps: the gate on manifests cannot pass, wherever its threshold is."""
    torn = tally.counts["torn_logs"]
    if result.metric != "manifest_integrity" or not torn:
        return result
    logs = "1 event log is torn" if torn == 1 else f"{torn} event logs are torn"
    return replace(result, verdict=Verdict.FAIL, reason=f"{result.reason}; {logs}: not all steps are known")


def _with_bound(metric: Metric) -> dict[str, object]:
    shown = metric.as_json()
    if isinstance(metric, Rate) and metric.denominator:
        shown["lower_bound"] = float(lower_bound(metric.numerator, metric.denominator))
    elif isinstance(metric, Rate):
        shown["lower_bound"] = None
    return shown


def _evidence(runs: Iterable[RunFacts]) -> dict[str, Any]:
    """Levels and failures over the runs that count."""
    levels: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for run in runs:
        if run.broken is None:
            for level in LEVELS:
                levels[level] += getattr(run, level)
            failures.update(dict(run.failures))
    return {
        "levels": {level: levels[level] for level in LEVELS},
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
        entries.append(_run(facts.pop(), golden))
    return entries


def _run(run: RunFacts, golden: Golden) -> dict[str, Any]:
    known = run.query != NO_QUERY
    return {
        "run": run.name,
        "run_id": None if run.run_id is None else cut(run.run_id),
        "query": run.query if known else None,
        "status": "evaluated" if run.broken is None else "broken",
        "reason": run.broken,
        "stop_reason": None if run.stop_reason is None else cut(run.stop_reason),
        "verified_claims": run.verified,
        "covered_claims": run.covered,
        "required_ids": len(golden.queries[run.query].required) if known else 0,
        "found_ids": run.found,
        "ledger": run.ledger,
        "uncited": run.uncited,
        "structural": run.structural,
        "verbatim": run.verbatim,
        "chain": run.chain,
        "anchored": run.anchored,
        "steps": run.steps,
        "steps_with_manifest": run.with_manifest,
        "fingerprint": run.fingerprint.hex() or None,
    }


def _settings(protocol: Protocol, golden: Golden, corpus: Corpus | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    research = protocol.research
    return {
        "goldgate": goldgate.__version__,
        "suite": SUITE,
        "metrics": METRICS_VERSION,
        "protocol": f"{protocol.protocol.name}@{protocol.protocol.version}",
        "fold": FOLDING,
        "require": research.require,
        "verbatim": research.require_verbatim,
        "anchored": research.require_anchored,
        "trials": "most" if research.trials is None else f"{research.trials.normalize():f}",
        "limit": "/".join(f"{limit.normalize():f}" for limit in _limits(research)) + "MB",
        "bound": f"clopper-pearson-{CONFIDENCE}",
        "golden": golden.sha256[:12],
        "corpus": "none" if corpus is None else corpus.sha256[:12],
    }


def _limits(research: ResearchSettings) -> tuple[Decimal, ...]:
    return research.max_file_megabytes, research.max_run_megabytes, research.max_total_megabytes
