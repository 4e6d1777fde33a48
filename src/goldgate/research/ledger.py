"""A run's ledger: every evidence record checked, and what its claims cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from goldgate.research.contracts import Chunk
from goldgate.research.decode import BadLine, decode_lines, same
from goldgate.research.evidence import Demands, Level, Sources, check_record
from goldgate.research.finding import Findings
from goldgate.research.fits import fits, problems
from goldgate.research.run_files import CHUNKS, OUTPUT, RunFiles, storable

_chunk_fits = fits(Chunk)

STATUSES = ("verified", "candidate", "retracted")


@dataclass(slots=True)
class Ledger:
    """Distinct records: the level of each valid one, the failure of each other one."""

    valid: dict[str, Level] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    nameless: int = 0  # records without an id that can be read

    def __len__(self) -> int:
        return len(self.valid) + len(self.failed) + self.nameless

    def failures(self) -> Counter[str]:
        """How many records failed under each name."""
        counts = Counter(self.failed.values())
        if self.nameless:
            counts["malformed"] += self.nameless
        return counts


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


def read_sources(files: RunFiles, findings: Findings) -> Sources:
    """The stored chunks; equal copies are one, different texts under one id are none."""
    chunks: dict[str, Chunk] = {}
    conflicting: set[str] = set()
    if files.chunks is not None:
        for line, value in decode_lines(files.chunks):
            if not _chunk_fits(value):
                _note_chunk(line, value, findings)
                continue
            name = value["chunk_id"]
            if name not in chunks:
                chunks[name] = value
            elif not same(chunks[name], value):
                conflicting.add(name)
                findings.add("conflicting_id", "error", CHUNKS, f"chunk {name} is stored twice, differently", line=line)
    for name, artifact in files.artifacts.items():
        if artifact.sha256 != name:
            message = f"the content has the hash {artifact.sha256}; the file must be named so"
            findings.add("hash_mismatch", "error", f"artifacts/{storable(name)}", message)
    return Sources(chunks, frozenset(conflicting), files.artifacts)


def check_ledger(output: dict[str, Any], sources: Sources, demands: Demands, findings: Findings) -> Ledger:
    """Check every record once; two different records under one id are both void."""
    ledger = Ledger()
    valid, failed = ledger.valid, ledger.failed
    seen: dict[str, dict[str, Any]] = {}
    unstored = 0
    for pointer, number, record in _records(output):
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is not str or not identity.strip():
            ledger.nameless += 1
            findings.add("malformed", "error", OUTPUT, "an evidence record needs an evidence_id", f"{pointer}/{number}")
            continue
        if identity in seen:
            if not same(seen[identity], record):
                valid.pop(identity, None)
                failed[identity] = "conflicting_id"
                message = f"{identity} stands twice, with different content"
                findings.add("conflicting_id", "error", OUTPUT, message, f"{pointer}/{number}")
            continue
        seen[identity] = record
        checked = check_record(record, sources, demands)
        if checked.level is not None:
            valid[identity] = checked.level
            unstored += checked.level == "structural"
        else:
            assert checked.failure is not None
            failed[identity] = checked.failure
            findings.add(checked.failure, "error", OUTPUT, f"{identity}: {checked.message}", f"{pointer}/{number}")
    if unstored and sources.chunks:
        message = f"{unstored} record(s) cite chunks whose text is not among those stored: only their form was checked"
        findings.add("chunk_not_stored", "warning", CHUNKS, message)
    return ledger


def check_claims(output: dict[str, Any], statuses: dict[str, str], ledger: Ledger, findings: Findings) -> Claims:
    """Count the claims by status, and those verified ones that cite a valid record. The log's status wins."""
    claims = Claims()
    valid, failed = ledger.valid, ledger.failed
    unseen = dict(statuses)
    for number, claim in enumerate(output["claims"]):
        status = _status(claim, number, statuses, unseen, findings)
        if status is None:
            claims.unreadable += 1
            claims.verified += 1
            continue
        cited = list(_cited(claim))
        if status == "retracted":
            claims.retracted += 1
            continue
        claims.cited.update(cited)
        if status == "candidate":
            claims.candidate += 1
            continue
        claims.verified += 1
        claims.cited_by_verified.update(cited)
        for identity in cited:
            if identity in valid:
                claims.covered += 1
                break
        else:
            message = "a verified claim without a valid evidence record"
            findings.add("claim_not_covered", "error", OUTPUT, message, f"/claims/{number}")
        for identity in cited:
            if identity not in valid and identity not in failed:
                message = f"{identity} is not in this run's ledger"
                findings.add("dangling_ref", "error", OUTPUT, message, f"/claims/{number}/evidence_ids")
    for name, status in unseen.items():
        if _normal(status) == "verified":
            claims.verified += 1
            claims.unreadable += 1
            message = f"the log has the claim {name} verified; the output does not list it"
            findings.add("contradiction", "error", OUTPUT, message, "/claims")
    return claims


def _records(output: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """The ledger's records, then those embedded in claims."""
    for number, record in enumerate(output.get("evidence") or ()):
        yield "/evidence", number, record
    for index, claim in enumerate(output["claims"]):
        if type(claim) is dict and type(embedded := claim.get("evidence")) is list:
            for number, record in enumerate(embedded):
                yield f"/claims/{index}/evidence", number, record


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


def _status(
    claim: object, number: int, statuses: dict[str, str], unseen: dict[str, str], findings: Findings
) -> str | None:
    """The claim's status; None if neither the output nor the log has one that can be read."""
    if type(claim) is not dict:
        return None
    stated = claim.get("status")
    name = claim.get("claim_id")
    if type(name) is str and name in statuses:
        unseen.pop(name, None)
        logged = statuses[name]
        if _normal(logged) != _normal(stated):
            message = f"the output says {stated}, the log {logged}: the log wins"
            findings.add("contradiction", "warning", OUTPUT, message, f"/claims/{number}/status")
            stated = logged
    return _normal(stated)


def _normal(status: object) -> str | None:
    """One of the three statuses; case and outer space do not move a claim out."""
    if type(status) is not str:
        return None
    if status in STATUSES:
        return status
    plain = status.strip().casefold()
    return plain if plain in STATUSES else None


def _note_chunk(line: int, value: object, findings: Findings) -> None:
    if isinstance(value, BadLine):
        findings.add("bad_chunk", "error", CHUNKS, str(value), line=line)
        return
    for problem in problems(Chunk, value):
        findings.add("bad_chunk", "error", CHUNKS, problem.message, problem.pointer, line)
