"""The claims of a run: counted by status, and which verified ones a valid record covers.

Output and log are read together. Where they contradict each other, what is worse for the run counts: a claim is
verified if either of them ends with that, and retracted only if both do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from goldgate.core.finding import Findings
from goldgate.suites.research.run.decode import same
from goldgate.suites.research.run.files import OUTPUT
from goldgate.suites.research.run.ledger import Ledger
from goldgate.suites.research.run.letters import letters
from goldgate.suites.research.run.log import Log, normal_status

MANY = 8  # records; fewer are no sign of anything
_MANY_CLAIMS = 16
_UNREADABLE = "unreadable"


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


def check_claims(
    listed: list[Any], log: Log | None, ledger: Ledger, findings: Findings, *, fitting: bool = False
) -> Claims:
    """Count the claims that the output lists, and those that only the log shows.

    `fitting` says that the claims are known to have the shape of the contract, as nearly always.
    """
    claims = plain_claims(listed, log, ledger, findings) if fitting and log is not None else None
    if claims is None:
        claims = any_claims(listed, log, ledger, findings)
    _add_unlisted(claims, listed, log, findings)
    _note_repetition(claims, ledger, findings)
    return claims


def plain_claims(listed: list[Any], log: Log, ledger: Ledger, findings: Findings) -> Claims | None:
    """Claims by the contract, each with its own id and without records of its own, fast; None is no answer."""
    if log.foreign.statuses or len({claim["claim_id"] for claim in listed}) < len(listed):
        return None
    if any("evidence" in claim for claim in listed):
        return None
    claims, logged = Claims(), log.own.statuses
    for number, claim in enumerate(listed):
        name, status = claim["claim_id"], claim["status"]
        if logged.get(name, status) != status:
            status = _status(claim, number, log, findings)
        cited = [*dict.fromkeys(claim.get("evidence_ids", ()))]
        claims.read.append(ReadClaim(claim["statement"], status, cited))
        _count(claims, status, cited)
        if status == "verified":
            _cover(claims, cited, number, ledger, findings, named=True)
    return claims


def any_claims(listed: list[Any], log: Log | None, ledger: Ledger, findings: Findings) -> Claims:
    """The rule of `plain_claims`, for all that an output can list."""
    claims = Claims()
    conflicting, copies = _by_id(listed, findings)
    for number, claim in enumerate(listed):
        if number in copies:
            continue
        status = _status(claim, number, log, findings)
        if status == _UNREADABLE:
            claims.unreadable += 1
            claims.verified += 1
            continue
        name, statement, cited = _id(claim), claim.get("statement"), _cited(claim)
        claims.read.append(ReadClaim(statement if type(statement) is str else "", status, cited))
        if name in conflicting and (conflicting[name] or status == "verified"):
            claims.verified += 1  # uncovered, whatever this copy of it says
            continue
        _count(claims, status, cited)
        if status == "verified":
            _cover(claims, cited, number, ledger, findings, named=name is not None and name.strip() != "")
    return claims


def _by_id(listed: list[Any], findings: Findings) -> tuple[dict[str, bool], set[int]]:
    """Ids under which claims differ, and whether one of them is verified; and the numbers of equal copies."""
    first: dict[str, int] = {}
    conflicting: dict[str, bool] = {}
    copies: set[int] = set()
    names = [name for claim in listed if (name := _id(claim)) is not None]
    if len(set(names)) == len(names):  # as nearly always
        return conflicting, copies
    for number, claim in enumerate(listed):
        name = _id(claim)
        if name is None or not name.strip():
            continue
        known = first.setdefault(name, number)
        if known == number:
            continue
        if same(listed[known], claim) and name not in conflicting:
            copies.add(number)
            message = f"the claim {name} is there twice and is counted once"
            findings.add("repeated_claim", "warning", OUTPUT, message, f"/claims/{number}")
        elif not same(listed[known], claim):
            conflicting[name] = False
            message = f"the claim {name} is there twice, with different content: none of them is covered"
            findings.add("conflicting_claim", "error", OUTPUT, message, f"/claims/{number}")
    if conflicting:
        for claim in listed:
            if (name := _id(claim)) in conflicting:
                conflicting[name] |= normal_status(claim.get("status")) in ("verified", None)
        # Copies of what is in conflict are no proof of anything: they count as well.
        copies = {number for number in copies if listed[number]["claim_id"] not in conflicting}
    return conflicting, copies


def _status(claim: object, number: int, log: Log | None, findings: Findings) -> str:
    """The worse of what output and log say."""
    if type(claim) is not dict or (stated := normal_status(claim.get("status"))) is None:
        return _UNREADABLE
    name = _id(claim)
    if log is None or name is None:
        return stated
    logged = log.statuses(name)
    if logged in ([], [stated], [stated, stated]):
        return stated
    counted = "verified" if stated == "verified" or "verified" in logged else "candidate"
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
    covered = False
    for identity in cited:
        if identity in valid:
            covered = True
        elif identity not in failed:
            message = f"{identity} is not in this run's ledger"
            findings.add("dangling_ref", "error", OUTPUT, message, f"/claims/{number}/evidence_ids")
    if named and covered:
        claims.covered += 1
    else:
        words = "a verified claim without a valid evidence record" if named else "a verified claim without a claim_id"
        findings.add("claim_not_covered", "error", OUTPUT, words, f"/claims/{number}")


def _add_unlisted(claims: Claims, listed: list[Any], log: Log | None, findings: Findings) -> None:
    """Verified claims that the log shows and the output does not list are uncovered claims."""
    if log is None or not (log.own.statuses or log.foreign.statuses):
        return
    names = {_id(claim) for claim in listed}
    if not log.foreign.statuses and log.own.statuses.keys() <= names:
        return
    unlisted = [name for name in (*log.own.statuses, *log.foreign.statuses) if name not in names]
    for name in dict.fromkeys(unlisted):
        if "verified" in log.statuses(name):
            claims.verified += 1
            claims.unreadable += 1
            message = f"the log has the claim {name} verified; the output does not list it"
            findings.add("contradiction", "error", OUTPUT, message, "/claims")


def _note_repetition(claims: Claims, ledger: Ledger, findings: Findings) -> None:
    """Claims that are one claim many times over, and a claim that cites the whole ledger: shown, not judged."""
    records = len(ledger)
    for claim in claims.read:
        if len(claim.cited) < MANY:
            continue
        cited = sum(identity in ledger.valid or identity in ledger.failed for identity in claim.cited)
        if cited >= MANY and cited * 4 >= records * 3:
            message = f"one claim ({claim.status}) cites {cited} of {records} evidence records"
            findings.add("claim_cites_all", "warning", OUTPUT, message, "/claims")
    if claims.verified < _MANY_CLAIMS:
        return
    stated = [claim.statement for claim in claims.read if claim.status == "verified"]
    count = max(Counter(map(letters, stated)).values(), default=0)  # numbers do not tell statements apart
    if count >= _MANY_CLAIMS and count * 2 > claims.verified:
        message = f"{count} of {claims.verified} verified claims state the same, but for numbers and punctuation"
        findings.add("repeated_statement", "warning", OUTPUT, message, "/claims")


def _id(claim: object) -> str | None:
    """A claim's id; None if it has none that can be read."""
    name = claim.get("claim_id") if type(claim) is dict else None
    return name if type(name) is str else None


def _cited(claim: dict[str, Any]) -> list[str]:
    """The ids that a claim cites, each once."""
    ids, embedded = claim.get("evidence_ids"), claim.get("evidence")
    cited = [identity for identity in ids if type(identity) is str] if type(ids) is list else []
    if type(embedded) is list:
        records = [record.get("evidence_id") for record in embedded if type(record) is dict]
        cited += [identity for identity in records if type(identity) is str]
    return [*dict.fromkeys(cited)]
