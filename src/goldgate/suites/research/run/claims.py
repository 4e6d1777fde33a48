"""The ledger and the claims of a run: every evidence record checked, which verified claims a valid record covers, and
what people and judges are shown of those.

Output and log are read together. Where they contradict each other, what is worse for the run counts: a claim is
verified if either of them ends with that, and retracted only if both do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NotRequired, TypedDict

from goldgate.core.finding import RunFindings, limit_length
from goldgate.core.page import count_text
from goldgate.files.writing import escape_name
from goldgate.readers.draw import ItemKey
from goldgate.shape.validation import problems, type_test, wrong_fields
from goldgate.suites.research.contracts import Chunk
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run.evidence import EvidenceCheck, EvidenceDemands, Level, Sources, check_evidence
from goldgate.suites.research.run.files import CHUNKS, OUTPUT, BadLine, RunFiles, decode_lines, equal_values
from goldgate.suites.research.run.log import EventLog, StepCounts, normalize_status
from goldgate.suites.research.text import (
    MAX_EMPTY_QUOTE,
    SourceText,
    TextRange,
    empty_claim_reason,
    empty_quote_reason,
    is_letter_or_digit,
    letters_of,
    question_words,
    text_range,
)

_chunk_fits = type_test(Chunk)

_FEW_CHARACTERS = 3  # letters and digits: the quote "a" is in every source
_NEARLY_ALL = 0.8  # a quote of this share of a chunk points at nothing
_BOILERPLATE_CHUNKS = 4  # a short text that is quoted from 4 chunks is a heading or a footer
_SHORT_QUOTE = 24  # characters of a quote that is looked at more closely


@dataclass(slots=True)
class EvidenceChecks:
    """The checks of the evidence records in a run's ledger, and which of the records are valid."""

    checks: dict[str, EvidenceCheck] = field(default_factory=dict)  # by id, distinct records once
    valid: dict[str, Level] = field(default_factory=dict)  # those that reached a level
    nameless: int = 0  # records without an id that can be read
    empty: dict[str, str] = field(default_factory=dict)  # valid records that are evidence of nothing, and why

    def __len__(self) -> int:
        return len(self.checks) + self.nameless

    def status(self, identity: str) -> str:
        """What the ledger makes of a record, in words."""
        check = self.checks.get(identity)
        return "not in the ledger" if check is None else check.level or str(check.failure)

    def failures(self) -> Counter[str]:
        """How many records failed under each name."""
        counts = Counter(check.failure for check in self.checks.values() if check.failure is not None)
        if self.nameless:
            counts["malformed"] += self.nameless
        return counts


def read_sources(files: RunFiles, anchors: frozenset[str], findings: RunFindings) -> Sources:
    """The stored chunks and artifacts of a run; a chunk that is stored twice with different texts is in conflict."""
    chunks: dict[str, Chunk] = {}
    conflicting: set[str] = set()
    stores_chunks, broken = False, None
    for line, value in decode_lines(files.chunks or b""):
        stores_chunks = True
        if isinstance(value, BadLine):
            broken = "unreadable_chunks"  # what it holds might refute a quote
            findings.add(broken, "error", CHUNKS, str(value), line=line)
            continue
        if not _chunk_fits(value):
            _note_chunk(line, value, findings)
            continue
        name = value["chunk_id"]
        if name not in chunks:
            chunks[name] = value
        elif not equal_values(chunks[name], value):
            conflicting.add(name)
            findings.add("conflicting_id", "error", CHUNKS, f"chunk {name} is stored twice, differently", line=line)
    for name, artifact in files.artifacts.items():
        if artifact.sha256 != name:
            message = f"the content has the hash {artifact.sha256}; the file must be named so"
            findings.add("hash_mismatch", "error", f"artifacts/{escape_name(name)}", message)
    return Sources(chunks, frozenset(conflicting), files.artifacts, anchors, stores_chunks=stores_chunks, broken=broken)


def check_ledger(
    output: dict[str, Any], sources: Sources, demands: EvidenceDemands, findings: RunFindings
) -> EvidenceChecks:
    """Check every evidence record of an output once; two different records under one id are both invalid."""
    ledger = EvidenceChecks()
    checks, valid = ledger.checks, ledger.valid
    first: dict[str, dict[str, Any]] = {}
    filed: list[dict[str, Any]] = []  # records that are valid by themselves
    for pointer, record in evidence_records(output):
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is not str or not identity.strip():
            ledger.nameless += 1
            findings.add("malformed", "error", OUTPUT, "an evidence record needs an evidence_id", pointer)
        elif identity not in first:
            first[identity] = record
            checks[identity] = check = check_evidence(record, sources, demands)
            if check.level is not None:
                valid[identity] = check.level
                filed.append(record)
            else:
                findings.add(str(check.failure), "error", OUTPUT, f"{identity}: {check.message}", pointer)
        elif not equal_values(first[identity], record):
            valid.pop(identity, None)
            message = f"{identity} is there twice, with different content"
            checks[identity] = EvidenceCheck(None, "conflicting_id", message)
            findings.add("conflicting_id", "error", OUTPUT, message, pointer)
    ledger.empty, thin = _weak_records(filed, sources)
    outside = [*valid.values()].count("chain")
    if outside and sources.anchors:
        message = f"{outside} record(s) rest on stored artifacts that are not in the evaluator's corpus"
        findings.add("not_in_corpus", "warning", OUTPUT, message, "/evidence")
    if thin:
        message = f"{thin} record(s) quote fewer than {_FEW_CHARACTERS} letters or digits, which any source has"
        findings.add("thin_quote", "warning", OUTPUT, message, "/evidence")
    return ledger


def _weak_records(records: list[dict[str, Any]], sources: Sources) -> tuple[dict[str, str], int]:
    """The ids of valid records that quote nothing in particular, and why; how many quote hardly a letter."""
    empty: dict[str, str] = {}
    thin = 0
    ids_by_quote: dict[str, dict[str, list[str]]] = {}  # of short quotes, and by chunk
    for record in records:
        quote, identity, chunk = record.get("quote"), record["evidence_id"], sources.chunk_of(record)
        chunk_id = str(record.get("chunk_id")) if chunk is None else chunk["chunk_id"]
        size = len(quote) if quote is not None else record["span"]["end"] - record["span"]["start"]
        if size < _SHORT_QUOTE:
            thin += _is_thin(quote) if quote is not None else size < _FEW_CHARACTERS
        if chunk is not None and size >= _NEARLY_ALL * len(chunk["text"]) and sources.has_several_sentences(chunk_id):
            empty[identity] = "whole chunks"
            continue
        if quote is None and chunk is not None and size <= MAX_EMPTY_QUOTE:
            quote = chunk["text"][record["span"]["start"] : record["span"]["end"]]
        if quote is None or size > MAX_EMPTY_QUOTE:
            continue
        if (reason := empty_quote_reason(quote)) is not None:
            empty[identity] = reason
        else:
            ids_by_quote.setdefault(quote, {}).setdefault(chunk_id, []).append(identity)
    for by_chunk in ids_by_quote.values():
        if len(by_chunk) >= _BOILERPLATE_CHUNKS:
            empty |= {identity: "boilerplate" for ids in by_chunk.values() for identity in ids}
    return empty, thin


def _is_thin(quote: str) -> bool:
    signs = "".join(filter(is_letter_or_digit, quote))
    return len(signs) < _FEW_CHARACTERS and signs.isascii()  # a word may be a single character elsewhere


def evidence_records(output: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The evidence records of an output with their pointers: those of its ledger, then those inside claims."""
    for number, record in enumerate(output.get("evidence") or ()):
        yield f"/evidence/{number}", record
    for index, claim in enumerate(output["claims"]):
        if type(claim) is dict and type(embedded := claim.get("evidence")) is list:
            for number, record in enumerate(embedded):
                yield f"/claims/{index}/evidence/{number}", record


def _note_chunk(line: int, value: object, findings: RunFindings) -> None:
    if findings.is_full("bad_chunk", "error"):
        findings.count("bad_chunk", "error", len(wrong_fields(Chunk, value)) if type(value) is dict else 1)
        return
    for problem in problems(Chunk, value):
        findings.add("bad_chunk", "error", CHUNKS, problem.message, problem.pointer, line)


MAX_LISTED = 1_000  # of the claims that are not covered and the ids that are missing, in the record of a run
_MAX_CITED = 3  # records that a message names
MANY_RECORDS = 8  # records; fewer are no sign of anything
_MANY_CLAIMS = 16


class CountedClaim(NamedTuple):
    """A claim as it is counted: the worse of the statuses in output and log, and the ids that it cites, each once."""

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
    cited: set[str] = field(default_factory=set)  # by verified claims: citing in a candidate costs nothing
    entries: list[CountedClaim] = field(default_factory=list)
    covered_numbers: list[int] = field(default_factory=list)  # places of the covered claims in the output
    uncovered: list[str] = field(default_factory=list)  # the ids of the first verified claims that are not covered


def check_claims(entries: list[Any], log: EventLog, ledger: EvidenceChecks, findings: RunFindings) -> Claims:
    """Count the claims that the output lists, and those that only the log shows."""
    claims = Claims()
    names = [claim.get("claim_id") if type(claim) is dict else None for claim in entries]
    names = [name if type(name) is str else None for name in names]  # None: it has none that can be read
    conflicting, copies = _repeated_ids(entries, names, findings)
    for number, (name, claim) in enumerate(zip(names, entries, strict=True)):
        if number in copies:
            continue
        status = _claim_status(claim, name, number, log, findings)
        if status is None:
            claims.unreadable += 1
            _count_uncovered(claims, name, number, "its status cannot be read", findings)
            continue
        statement, cited = claim.get("statement"), cited_ids(claim)
        claims.entries.append(CountedClaim(statement if type(statement) is str else "", status, cited))
        if name in conflicting and (conflicting[name] or status == "verified"):
            _count_uncovered(claims, name, number, "another claim has its id", findings)
            continue  # whatever this copy of it says
        if status == "retracted":
            claims.retracted += 1
            continue
        if status == "candidate":
            claims.candidate += 1
            continue
        claims.cited.update(cited)
        _count_coverage(claims, name if name and name.strip() else None, cited, number, ledger, findings)
    _add_unlisted(claims, {*names}, log, findings)
    _note_repetition(claims, ledger, findings)
    return claims


def _repeated_ids(
    entries: list[Any], names: list[str | None], findings: RunFindings
) -> tuple[dict[str, bool], set[int]]:
    """Ids under which claims differ, and whether one of them is verified; and the numbers of equal copies."""
    first: dict[str, int] = {}
    conflicting: dict[str, bool] = {}
    copies: set[int] = set()
    if len(set(names)) == len(names):  # as nearly always
        return conflicting, copies
    for number, (name, claim) in enumerate(zip(names, entries, strict=True)):
        if name is None or not name.strip():
            continue
        original = first.setdefault(name, number)
        if original == number:
            continue
        equal = equal_values(entries[original], claim)
        if equal and name not in conflicting:
            copies.add(number)
            message = f"the claim {name} is there twice and is counted once"
            findings.add("repeated_claim", "warning", OUTPUT, message, f"/claims/{number}")
        elif not equal:
            conflicting[name] = False
            message = f"the claim {name} is there twice, with different content: none of them is covered"
            findings.add("conflicting_claim", "error", OUTPUT, message, f"/claims/{number}")
    if conflicting:
        for name, claim in zip(names, entries, strict=True):
            if name in conflicting:
                conflicting[name] |= normalize_status(claim.get("status")) in ("verified", None)
        # Copies of what is in conflict are no proof of anything: they count as well.
        copies = {number for number in copies if names[number] not in conflicting}
    return conflicting, copies


def _claim_status(claim: object, name: str | None, number: int, log: EventLog, findings: RunFindings) -> str | None:
    """A claim's status by output and log, the worse one if they differ; None if the output's cannot be read."""
    stated = normalize_status(claim.get("status")) if type(claim) is dict else None
    if name is None or stated is None:
        return stated
    logged = log.statuses(name)
    if logged in ([], [stated], [stated, stated]):
        return stated
    counted = "verified" if stated == "verified" or "verified" in logged else "candidate"
    message = f"the output says {stated}, the log {' and '.join(logged)}: it counts as {counted}"
    findings.add("contradiction", "warning", OUTPUT, message, f"/claims/{number}/status")
    return counted


def _count_uncovered(claims: Claims, name: str | None, number: int, why: str, findings: RunFindings) -> None:
    """Count a verified claim that is not covered."""
    claims.verified += 1
    if len(claims.uncovered) < MAX_LISTED:
        claims.uncovered.append(limit_length(name or f"/claims/{number}"))
    message = f"the claim {name or number} is verified and not covered: {why}"
    findings.add("claim_not_covered", "error", OUTPUT, message, f"/claims/{number}")


def _count_coverage(
    claims: Claims, name: str | None, cited: list[str], number: int, ledger: EvidenceChecks, findings: RunFindings
) -> None:
    """Count a verified claim as covered if it has an id and cites a valid record."""
    covered = False
    for identity in cited:
        if identity in ledger.valid:
            covered = True
        elif identity not in ledger.checks:
            message = f"{identity} is not in this run's ledger"
            findings.add("dangling_ref", "error", OUTPUT, message, f"/claims/{number}/evidence_ids")
    if name is not None and covered:
        claims.verified += 1
        claims.covered += 1
        claims.covered_numbers.append(number)
        return
    why = ", ".join(f"{identity} is {ledger.status(identity)}" for identity in cited[:_MAX_CITED])
    more = f" and {len(cited) - _MAX_CITED} more" if len(cited) > _MAX_CITED else ""
    why = f"{why}{more}" if cited else "it cites no record"
    _count_uncovered(claims, name, number, "it has no claim_id" if name is None else why, findings)


def _add_unlisted(claims: Claims, names: set[str | None], log: EventLog, findings: RunFindings) -> None:
    """Verified claims that the log shows and the output does not list are uncovered claims."""
    for name in log.own.statuses | log.foreign.statuses:
        if name not in names and "verified" in log.statuses(name):
            claims.unreadable += 1
            why = "the log has it verified, the output does not list it"
            findings.add("contradiction", "warning", OUTPUT, f"the claim {name}: {why}", "/claims")
            _count_uncovered(claims, name, len(names), why, findings)


def _note_repetition(claims: Claims, ledger: EvidenceChecks, findings: RunFindings) -> None:
    """Warn of one claim that is stated many times, and of a claim that cites most of the ledger; neither counts."""
    records = len(ledger)
    for claim in claims.entries:
        if len(claim.cited) < MANY_RECORDS:
            continue
        cited = sum(identity in ledger.checks for identity in claim.cited)
        if cited >= MANY_RECORDS and cited * 4 >= records * 3:
            message = f"one claim ({claim.status}) cites {cited} of {records} evidence records"
            findings.add("claim_cites_all", "warning", OUTPUT, message, "/claims")
    if claims.verified < _MANY_CLAIMS:
        return
    stated = [claim.statement for claim in claims.entries if claim.status == "verified"]
    count = max(Counter(map(letters_of, stated)).values(), default=0)  # numbers do not tell statements apart
    if count >= _MANY_CLAIMS and count * 2 > claims.verified:
        message = f"{count} of {claims.verified} verified claims state the same, but for numbers and punctuation"
        findings.add("repeated_statement", "warning", OUTPUT, message, "/claims")


def cited_ids(claim: dict[str, Any]) -> list[str]:
    """The ids that a claim cites, each once."""
    ids, embedded = claim.get("evidence_ids"), claim.get("evidence")
    cited = [identity for identity in ids if type(identity) is str] if type(ids) is list else []
    if type(embedded) is list:
        records = [record.get("evidence_id") for record in embedded if type(record) is dict]
        cited += [identity for identity in records if type(identity) is str]
    return [*dict.fromkeys(cited)]


ABSTAINED = "NO_EVIDENCE"
_RECORDS_PER_REQUIRED = 8  # one required id among 8 records is a heap, not a selection


@dataclass
class JudgedRun:
    """A run with its query, claims, evidence and steps. `output` is empty where it cannot be read."""

    run_id: str | None
    number: int  # of its query
    query: Query | None
    objective: str | None
    stop_reason: str | None
    output: dict[str, Any]
    claims: Claims
    ledger: EvidenceChecks
    sources: Sources
    steps: StepCounts
    torn: bool  # whether its log breaks off
    empty: int = 0  # covered claims that claim nothing, or rest on evidence of nothing

    @cached_property
    def found_ids(self) -> list[str]:
        """The required ids that are in the ledger as valid records."""
        return [identity for identity in self.query.required if identity in self.ledger.valid] if self.query else []

    @cached_property
    def missing_ids(self) -> list[str]:
        """The required ids that are not in the ledger as valid records, in their order."""
        return sorted(self.query.required - {*self.found_ids}) if self.query else []

    @cached_property
    def uncited(self) -> int:
        """How many records of the ledger no verified claim cites."""
        return len(self.ledger) - len(self.claims.cited & self.ledger.checks.keys())


def note_empty_claims(run: JudgedRun, findings: RunFindings) -> int:
    """Count the covered claims that claim nothing, or rest on evidence of nothing; a finding says why."""
    empty, valid = run.ledger.empty, run.ledger.valid
    asked = question_words(run.objective or "")
    reasons: Counter[str] = Counter()
    for claim in run.claims.entries:
        records = [identity for identity in claim.cited if identity in valid] if claim.status == "verified" else []
        if not records:
            continue
        if (nothing := empty_claim_reason(claim.statement, asked)) is not None:
            reasons[nothing] += 1
        elif all(identity in empty for identity in records):
            reasons[f"only {empty[records[0]]}"] += 1
    if reasons:
        words = ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
        message = f"{reasons.total()} of {run.claims.covered} covered claims are empty: {words}"
        findings.add("empty_evidence", "warning", OUTPUT, message, "/claims")
    return reasons.total()


def note_suspicions(run: JudgedRun, findings: RunFindings) -> None:
    """Add warnings about ledgers that look like a whole corpus, false abstentions, and evidence without a claim."""
    records, required = len(run.ledger), len(run.found_ids)
    if records >= MANY_RECORDS and run.uncited * 4 >= records * 3:
        message = (
            f"{run.uncited} of {records} evidence records are cited by no verified claim: is this the whole corpus?"
        )
        findings.add("uncited_ledger", "warning", OUTPUT, message, "/evidence")
    if run.query is None or not run.query.sufficient:
        return
    if records >= MANY_RECORDS and required * _RECORDS_PER_REQUIRED < records:
        message = f"{required} of {records} evidence records are required: is this the whole corpus?"
        findings.add("heaped_ledger", "warning", OUTPUT, message, "/evidence")
    if run.stop_reason == ABSTAINED:
        message = "the run stops with NO_EVIDENCE, and the golden query has sufficient evidence"
        findings.add("false_abstention", "warning", OUTPUT, message, "/stop_reason")
    if required and not run.claims.verified:
        message = f"{required} required id(s) are filed as evidence, and no claim is verified"
        findings.add("nothing_verified", "warning", OUTPUT, message, "/claims")


def note_failures(run: JudgedRun, findings: RunFindings) -> None:
    """Name each required id that is missing, and a run that does not abstain where it must."""
    for identity in run.missing_ids:
        findings.add(
            "missing_id", "error", OUTPUT, f"{identity} is required, and {run.ledger.status(identity)}", "/evidence"
        )
    if run.query is None or run.query.sufficient:
        return
    if run.stop_reason != ABSTAINED:
        message = f"the evidence is not sufficient, and the run stops with {run.stop_reason} in place of {ABSTAINED}"
        findings.add("failed_abstention", "error", OUTPUT, message, "/stop_reason")
    elif run.claims.verified:
        message = f"the evidence is not sufficient, and the run verifies {count_text(run.claims.verified, 'claim')}"
        findings.add("failed_abstention", "error", OUTPUT, message, "/claims")


MAX_QUOTES = 50  # of one item
SOURCE_CHARACTERS = 2_000  # of a source before and after a quote
_MAX_FOLDED = 1_000_000  # characters of sources that are folded to find quotes: each takes a microsecond
_MAX_SHOWN = 100_000_000  # characters of sources in all items of a run; quotes after that are shown alone


class ClaimItem(TypedDict):
    """A verified claim for people and judges: does what it quotes support it?"""

    id: str  # run/claim
    group: str  # the run
    objective: str | None
    claim: str
    quotes: list[QuoteItem]


class QuoteItem(TypedDict):
    """A quote of a valid evidence record; where its source is stored, the text around it and the source's id."""

    text: str
    source: NotRequired[str]
    source_id: NotRequired[str]


def claim_key(run: str, claim: str) -> ItemKey:
    """What a claim is named by in items and labels."""
    return ItemKey(f"{run}/{claim}")


def make_claim_items(name: str, run: JudgedRun) -> Iterator[ClaimItem]:
    """What people and judges label: the covered claims of a run, with what they quote."""
    covered, output = run.claims.covered_numbers, run.output
    records: dict[str, dict[str, Any]] = {}
    for _, record in evidence_records(output) if covered else ():
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is str and identity in run.ledger.valid:
            records.setdefault(identity, record)
    quotes, objective = _QuoteItems(run.sources), output.get("objective")
    for claim in (output["claims"][number] for number in covered):
        cited = [records[identity] for identity in cited_ids(claim) if identity in records]
        yield {
            "id": claim_key(name, claim["claim_id"]).id,
            "group": name,
            "objective": objective if type(objective) is str and objective.strip() else None,
            "claim": str(claim.get("statement")),
            "quotes": [quotes.item(record) for record in cited[:MAX_QUOTES]],
        }


class _QuoteItems:
    """Quotes with the text around them, of one run; what is searched, folded and shown has an end."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._to_search, self._to_fold, self._to_show = sources.budget, _MAX_FOLDED, _MAX_SHOWN
        self._finders: dict[str, SourceText] = {}  # by their texts
        self._places: dict[str, TextRange] = {}  # by the id of the record

    def item(self, record: dict[str, Any]) -> QuoteItem:
        sources, quote = self._sources, record.get("quote") or ""
        chunk, artifact = sources.chunk_of(record), sources.named_artifact(record.get("provenance"))
        text = chunk["text"] if chunk is not None else sources.artifact_text(artifact) if artifact is not None else None
        if text is None:
            return {"text": quote}
        start, end = self._place(record, text)
        begin, stop = max(0, start - SOURCE_CHARACTERS), min(len(text), end + SOURCE_CHARACTERS)
        self._to_show -= stop - begin
        item: QuoteItem = {"text": text[start:end] or quote}
        if self._to_show < 0:
            return item
        item["source"] = f"{'…' if begin else ''}{text[begin:stop]}{'…' if stop < len(text) else ''}"
        return item if chunk is None else {**item, "source_id": chunk["source_id"]}

    def _place(self, record: dict[str, Any], text: str) -> TextRange:
        """Where the quote of a record is first; the beginning of the text if that is not known."""
        name = record["evidence_id"]
        if name not in self._places:
            finder = self._finders.setdefault(text, SourceText(text))
            self._places[name] = next(iter(self._find(finder, record)), TextRange(0, 0))
        return self._places[name]

    def _find(self, finder: SourceText, record: dict[str, Any]) -> list[TextRange]:
        quote, size = record.get("quote"), len(finder.text)
        if self._to_search < size:
            return []
        self._to_search -= size
        places = finder.exact_places(quote, text_range(record.get("span")), 1)
        if places or quote is None:
            return places
        if not finder.is_folded:
            if self._to_fold < size:
                return []
            self._to_fold -= size
        return finder.folded_places(quote, 1)
