"""What a run does that no gate forbids and a reader must know: each is a way to pass the four and be of no use."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from goldgate.core.finding import Findings
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run.claims import MANY, Claims
from goldgate.suites.research.run.files import OUTPUT
from goldgate.suites.research.run.ledger import Ledger
from goldgate.suites.research.run.telling import asked_words, empty_claim

ABSTAINED = "NO_EVIDENCE"
_RARE = 8  # one required id among so many records is a heap, not a selection


class Outcome(NamedTuple):
    """What a run came to."""

    query: Query | None
    stop_reason: str | None
    claims: Claims
    ledger: Ledger
    found: int  # required ids in the ledger
    uncited: int
    objective: str | None = None


def note_empty_claims(run: Outcome, findings: Findings) -> int:
    """Count the covered claims that claim nothing, or rest on evidence of nothing; a finding says why."""
    empty, valid = run.ledger.empty, run.ledger.valid
    asked = asked_words(run.objective or "")
    reasons: Counter[str] = Counter()
    for claim in run.claims.read:
        records = [identity for identity in claim.cited if identity in valid] if claim.status == "verified" else []
        if not records:
            continue
        if (nothing := empty_claim(claim.statement, asked)) is not None:
            reasons[nothing] += 1
        elif all(identity in empty for identity in records):
            reasons[f"only {empty[records[0]]}"] += 1
    if reasons:
        words = ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
        message = f"{reasons.total()} of {run.claims.covered} covered claims are empty: {words}"
        findings.add("empty_evidence", "warning", OUTPUT, message, "/claims")
    return reasons.total()


def note_suspicions(run: Outcome, findings: Findings) -> None:
    """Findings of severity `warning`: they never change a verdict."""
    records = len(run.ledger)
    if records >= MANY and run.uncited * 4 >= records * 3:
        message = f"{run.uncited} of {records} evidence records are cited by no claim: is this the whole corpus?"
        findings.add("uncited_ledger", "warning", OUTPUT, message, "/evidence")
    if run.query is None or not run.query.sufficient:
        return
    if records >= MANY and run.found * _RARE < records:
        message = f"{run.found} of {records} evidence records are required: is this the whole corpus?"
        findings.add("heaped_ledger", "warning", OUTPUT, message, "/evidence")
    if run.stop_reason == ABSTAINED:
        message = "the run stops with NO_EVIDENCE, and the golden query has sufficient evidence"
        findings.add("false_abstention", "warning", OUTPUT, message, "/stop_reason")
    if run.found and not run.claims.verified:
        message = f"{run.found} required id(s) are filed as evidence, and no claim is verified"
        findings.add("nothing_verified", "warning", OUTPUT, message, "/claims")
