"""What a run does that no gate forbids and a reader must know: each is a way to pass the four and be of no use."""

from __future__ import annotations

from typing import NamedTuple

from goldgate.core.finding import Findings
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run.claims import MANY, Claims
from goldgate.suites.research.run.files import OUTPUT
from goldgate.suites.research.run.ledger import Ledger

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
