"""The research suite's report: from the counts of all runs to plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import goldgate
from goldgate.core.evaluation import FORMAT_VERSION, Evaluation
from goldgate.core.gate import GateResult, Verdict, check_gates, overall
from goldgate.core.metric import Metric, Metrics, Rate, mean
from goldgate.core.signature import signature
from goldgate.core.tally import Tally
from goldgate.gates.support import support
from goldgate.protocol.load import LoadedProtocol
from goldgate.protocol.model import Protocol
from goldgate.research.collect import Collected, trials
from goldgate.research.evidence import FAILURES, LEVELS
from goldgate.research.finding import cut
from goldgate.research.fold import FOLDING
from goldgate.research.golden import Golden, Query
from goldgate.research.measures import MEASURES
from goldgate.research.measures.abstention import ABSTAINED
from goldgate.research.run import NO_QUERY, RunFacts
from goldgate.research.settings import METRICS_VERSION, SUITE
from goldgate.stats.binomial import CONFIDENCE, lower_bound


class Origin(NamedTuple):
    """What the numbers come from, beside the golden queries."""

    plan: LoadedProtocol
    baseline_sha256: str | None
    directories: int
    outputs_sha256: str


def judge(collected: Collected, golden: Golden, origin: Origin) -> Evaluation:
    """Sum, divide, check the gates, and put the report together."""
    tally = Tally()
    for trial in trials(collected.runs, golden):
        for measure in MEASURES:
            measure.count(trial, tally)
    sections: dict[str, Metrics] = {"main": {}, "companions": {}}
    for measure in MEASURES:
        sections[measure.section].update(measure.metrics(tally))
    metrics = {**sections["main"], **sections["companions"]}
    protocol = origin.plan.protocol
    gates = [_not_with_torn_logs(gate, tally) for gate in check_gates(protocol.gates, metrics)]
    balance = conservation(collected, golden, origin.directories)
    report: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "suite": SUITE,
        "status": overall(gates),
        "protocol": asdict(protocol.protocol),
        "signature": signature(_settings(protocol, golden)),
        "inputs": {
            "golden": {"sha256": golden.sha256, "queries": len(golden.queries)},
            "outputs": {"sha256": origin.outputs_sha256, "runs": len(collected.runs)},
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
        "evidence": _evidence(collected.runs),
        "conservation": balance,
        "queries": _queries(collected.runs, golden),
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
    valid = sum(run.structural + run.verbatim + run.chain for run in runs)
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


def _queries(runs: list[RunFacts], golden: Golden) -> list[dict[str, Any]]:
    by_query: dict[int, list[RunFacts]] = {}
    for run in runs:
        by_query.setdefault(run.query, []).append(run)
    return [_query(query, by_query.get(number, [])) for number, query in enumerate(golden.queries)]


def _query(query: Query, runs: list[RunFacts]) -> dict[str, Any]:
    whole = [run for run in runs if run.broken is None]
    entry: dict[str, Any] = {
        "objective": query.objective,
        "id": query.id,
        "evidence_sufficient": query.sufficient,
        "required_ids": len(query.required),
        "status": "answered" if whole else "broken" if runs else "missing",
        "trials": len(runs),
        "broken_trials": len(runs) - len(whole),
        "recall": None,
        "right_abstentions": None,
    }
    if query.required and runs:
        rates = [Rate(run.found if run.broken is None else 0, len(query.required)) for run in runs]
        entry["recall"] = {
            "best": max(rates, key=lambda rate: rate.numerator).as_json(),
            "worst": min(rates, key=lambda rate: rate.numerator).as_json(),
            "mean": mean(rates).as_json(),
        }
    if not query.sufficient:
        entry["right_abstentions"] = sum(run.stop_reason == ABSTAINED and not run.verified for run in whole)
    return entry


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
        "steps": run.steps,
        "steps_with_manifest": run.with_manifest,
    }


def _settings(protocol: Protocol, golden: Golden) -> dict[str, object]:
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
        "limit": f"{research.max_file_megabytes.normalize():f}MB",
        "bound": f"clopper-pearson-{CONFIDENCE}",
        "golden": golden.sha256[:12],
    }
