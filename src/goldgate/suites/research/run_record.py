"""A run as an entry of the report, and a trial as a line of runs.jsonl."""

from __future__ import annotations

from typing import Any

from goldgate.core.finding import cut
from goldgate.suites.research.golden import Query
from goldgate.suites.research.measures.trial import Trial
from goldgate.suites.research.run.facts import RunFacts


def trial_record(trial: Trial) -> dict[str, Any]:
    """The run of a trial with its objective; for trials that a query owes and has not, how many they are."""
    query = trial.query
    if trial.run is None:
        assert query is not None  # what is owed is owed by a query
        head = {"run": None, "objective": cut(query.objective), "query_id": query.id}
        return {**head, "status": "missing", "trials": trial.times}
    objective = query.objective if query is not None else trial.run.objective
    return {
        **run_entry(trial.run, query, trial.readings[1] - 1),
        "objective": None if objective is None else cut(objective),
        "query_id": None if query is None else query.id,
        "failures": dict(trial.run.failures),
        "findings": trial.findings,
        "sha256": trial.run.digest.hex() or None,
    }


def run_entry(run: RunFacts, query: Query | None, copies: int = 0) -> dict[str, Any]:
    """The counts of a run, and how many copies of it there are, if any."""
    return {
        "run": run.name,
        "run_id": None if run.run_id is None else cut(run.run_id),
        "query": None if query is None else run.query,
        "status": "evaluated" if run.broken is None else "broken",
        "reason": run.broken,
        "stop_reason": None if run.stop_reason is None else cut(run.stop_reason),
        "verified_claims": run.verified,
        "covered_claims": run.covered,
        "required_ids": 0 if query is None else len(query.required),
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
        **({"copies": copies} if copies else {}),
    }
