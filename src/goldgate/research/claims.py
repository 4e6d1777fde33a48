"""The claims of a run: counted by status, and which verified ones a valid record covers.

Output and log are read together. Where they contradict each other, what is worse for the run counts: a claim is
verified if either of them ends with that, and retracted only if both do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from goldgate.research.decode import same
from goldgate.research.finding import Findings
from goldgate.research.ledger import Ledger
from goldgate.research.log import Log, normal_status
from goldgate.research.run_files import OUTPUT

MANY = 8  # records or claims; fewer are no sign of anything
_UNREADABLE = "unreadable"
_NO_LETTER = re.compile(r"[\W\d_]+")
_COMPARED = 1_000  # characters of a statement


class ReadClaim(NamedTuple):
    """A claim as it counts."""

    statement: str
    status: str
    cited: list[str]


@dataclass(slots=True)
class Claims:
    """Counts of claims. One whose status cannot be read counts as verified and not covered."""

    verified: int = 0
    covered: int = 0
    candidate: int = 0
    retracted: int = 0
    unreadable: int = 0
    cited: set[str] = field(default_factory=set)  # by claims that are not retracted
    cited_by_verified: set[str] = field(default_factory=set)
    read: list[ReadClaim] = field(default_factory=list)


def check_claims(listed: list[Any], log: Log | None, ledger: Ledger, findings: Findings) -> Claims:
    """Count the claims that the output lists, and those that only the log shows."""
    claims = Claims()
    conflicting, copies = _by_id(listed, findings)
    for number, claim in enumerate(listed):
        if number in copies:
            continue
        status = _status(claim, number, log, findings)
        name = claim.get("claim_id") if type(claim) is dict else None
        if status == _UNREADABLE:
            claims.unreadable += 1
            claims.verified += 1
            continue
        cited = [*dict.fromkeys(_cited(claim))]
        claims.read.append(ReadClaim(claim["statement"] if type(claim.get("statement")) is str else "", status, cited))
        if name in conflicting and (conflicting[name] or status == "verified"):
            claims.verified += 1  # uncovered, whatever this copy of it says
            continue
        _count(claims, status, cited)
        if status == "verified":
            _cover(claims, cited, number, ledger, findings, named=type(name) is str and bool(name.strip()))
    _add_unlisted(claims, listed, log, findings)
    _note_repetition(claims, ledger, findings)
    return claims


def _by_id(listed: list[Any], findings: Findings) -> tuple[dict[str, bool], set[int]]:
    """Ids under which claims differ, and whether one of them is verified; and the numbers of equal copies."""
    first: dict[str, int] = {}
    conflicting: dict[str, bool] = {}
    copies: set[int] = set()
    for number, claim in enumerate(listed):
        name = claim.get("claim_id") if type(claim) is dict else None
        if type(name) is not str or not name.strip():
            continue
        known = first.setdefault(name, number)
        if known == number:
            continue
        if same(listed[known], claim) and name not in conflicting:
            copies.add(number)
            message = f"the claim {name} stands twice and is counted once"
            findings.add("repeated_claim", "warning", OUTPUT, message, f"/claims/{number}")
        elif not same(listed[known], claim):
            conflicting[name] = False
            message = f"the claim {name} stands twice, with different content: none of them is covered"
            findings.add("conflicting_claim", "error", OUTPUT, message, f"/claims/{number}")
    if conflicting:
        for claim in listed:
            if type(claim) is dict and claim.get("claim_id") in conflicting:
                conflicting[claim["claim_id"]] |= normal_status(claim.get("status")) in ("verified", None)
        # Copies of what is in conflict are no proof of anything: they count as well.
        copies = {number for number in copies if listed[number]["claim_id"] not in conflicting}
    return conflicting, copies


def _status(claim: object, number: int, log: Log | None, findings: Findings) -> str:
    """The worse of what output and log say."""
    stated = normal_status(claim.get("status")) if type(claim) is dict else None
    if stated is None:
        return _UNREADABLE
    assert type(claim) is dict
    name = claim.get("claim_id")
    logged = log.statuses(name) if log is not None and type(name) is str else []
    if not logged or set(logged) == {stated}:
        return stated
    readings = {stated, *logged}
    counted = "verified" if "verified" in readings else "candidate"
    message = f"the output says {stated}, the log {' and '.join(logged)}: it counts as {counted}"
    findings.add("contradiction", "warning", OUTPUT, message, f"/claims/{number}/status")
    return counted


def _count(claims: Claims, status: str, cited: list[str]) -> None:
    if status == "retracted":
        claims.retracted += 1
        return
    claims.cited.update(cited)
    if status == "candidate":
        claims.candidate += 1
    else:
        claims.verified += 1
        claims.cited_by_verified.update(cited)


def _cover(claims: Claims, cited: list[str], number: int, ledger: Ledger, findings: Findings, *, named: bool) -> None:
    """Count a verified claim as covered if it has an id and cites a valid record."""
    valid, failed = ledger.valid, ledger.failed
    if named and any(identity in valid for identity in cited):
        claims.covered += 1
    else:
        words = "a verified claim without a valid evidence record" if named else "a verified claim without a claim_id"
        findings.add("claim_not_covered", "error", OUTPUT, words, f"/claims/{number}")
    for identity in cited:
        if identity not in valid and identity not in failed:
            message = f"{identity} is not in this run's ledger"
            findings.add("dangling_ref", "error", OUTPUT, message, f"/claims/{number}/evidence_ids")


def _add_unlisted(claims: Claims, listed: list[Any], log: Log | None, findings: Findings) -> None:
    """Verified claims that the log shows and the output does not list are uncovered claims."""
    if log is None or not (log.own.statuses or log.foreign.statuses):
        return
    names = {claim["claim_id"] for claim in listed if type(claim) is dict and type(claim.get("claim_id")) is str}
    for name in dict.fromkeys((*log.own.statuses, *log.foreign.statuses)):
        if name not in names and "verified" in log.statuses(name):
            claims.verified += 1
            claims.unreadable += 1
            message = f"the log has the claim {name} verified; the output does not list it"
            findings.add("contradiction", "error", OUTPUT, message, "/claims")


def _note_repetition(claims: Claims, ledger: Ledger, findings: Findings) -> None:
    """Claims that are one claim many times over, and a claim that cites the whole ledger: shown, not judged."""
    records = len(ledger)
    for claim in claims.read:
        cited = sum(identity in ledger.valid or identity in ledger.failed for identity in claim.cited)
        if cited >= MANY and cited * 4 >= records * 3:
            message = f"one claim ({claim.status}) cites {cited} of {records} evidence records"
            findings.add("claim_cites_all", "warning", OUTPUT, message, "/claims")
    if claims.verified < MANY:
        return
    stated = (claim.statement[:_COMPARED].casefold() for claim in claims.read if claim.status == "verified")
    alike = Counter(_NO_LETTER.sub(" ", statement).strip() for statement in stated)  # numbering does not tell apart
    statement, count = max(alike.items(), key=lambda item: item[1], default=("", 0))
    if count >= MANY and count * 2 > claims.verified:
        message = f"{count} of {claims.verified} verified claims state the same: {statement!r}"
        findings.add("repeated_statement", "warning", OUTPUT, message, "/claims")


def _cited(claim: dict[str, Any]) -> Iterator[str]:
    ids = claim.get("evidence_ids")
    if type(ids) is list:
        for identity in ids:
            if type(identity) is str:
                yield identity
    embedded = claim.get("evidence")
    if type(embedded) is list:
        for record in embedded:
            if type(record) is dict and type(record.get("evidence_id")) is str:
                yield record["evidence_id"]
