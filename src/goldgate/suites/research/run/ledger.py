"""A run's ledger: every evidence record checked against the stored chunks and artifacts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from goldgate.core.finding import Findings
from goldgate.files.storable import storable_name
from goldgate.shape.fits import fits
from goldgate.shape.problems import problems, wrong_fields
from goldgate.suites.research.contracts import Chunk
from goldgate.suites.research.run.decode import BadLine, decode_lines, same
from goldgate.suites.research.run.evidence import Demands, check_record, is_plainly_verbatim
from goldgate.suites.research.run.files import CHUNKS, OUTPUT, RunFiles
from goldgate.suites.research.run.sources import Level, Sources
from goldgate.suites.research.run.telling import LONGEST_EMPTY, empty_quote, tells

_chunk_fits = fits(Chunk)

_FEW_CHARACTERS = 3  # letters and digits: the quote "a" is in every source
_NEARLY_ALL = 0.8  # of a chunk: a quote of so much of it points at nothing
_BOILERPLATE_CHUNKS = 4  # a short text that is quoted from so many chunks is a heading or a footer
_SHORT = 24  # characters of a quote that is looked at more closely


@dataclass(slots=True)
class Ledger:
    """Distinct records: the level of each valid one, the failure of each other one."""

    valid: dict[str, Level] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    nameless: int = 0  # records without an id that can be read
    empty: dict[str, str] = field(default_factory=dict)  # valid records that are evidence of nothing, and why

    def __len__(self) -> int:
        return len(self.valid) + len(self.failed) + self.nameless

    def failures(self) -> Counter[str]:
        """How many records failed under each name."""
        counts = Counter(self.failed.values())
        if self.nameless:
            counts["malformed"] += self.nameless
        return counts


def read_sources(files: RunFiles, anchors: frozenset[str], findings: Findings) -> Sources:
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
            findings.add("hash_mismatch", "error", f"artifacts/{storable_name(name)}", message)
    return Sources(chunks, frozenset(conflicting), files.artifacts, anchors)


def check_ledger(output: dict[str, Any], sources: Sources, demands: Demands, findings: Findings) -> Ledger:
    """Check every record once; two different records under one id are both void."""
    ledger = Ledger()
    valid, failed = ledger.valid, ledger.failed
    seen: dict[str, dict[str, Any]] = {}
    repeated: dict[str, dict[str, list[str]]] = {}  # by short quote and chunk: ids
    unstored = thin = 0
    plainly = not demands.anchored
    for pointer, number, record in records(output):
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is not str or not identity.strip():
            ledger.nameless += 1
            findings.add("malformed", "error", OUTPUT, "an evidence record needs an evidence_id", f"{pointer}/{number}")
            continue
        if identity in seen:
            if not same(seen[identity], record):
                valid.pop(identity, None)
                failed[identity] = "conflicting_id"
                message = f"{identity} is there twice, with different content"
                findings.add("conflicting_id", "error", OUTPUT, message, f"{pointer}/{number}")
            continue
        seen[identity] = record
        if plainly and is_plainly_verbatim(record, sources):
            valid[identity] = "verbatim"
            if len(record["quote"]) < _SHORT:
                thin += _is_thin(record)
            _note_empty(record, sources, ledger, repeated)
            continue
        checked = check_record(record, sources, demands)
        if checked.level is not None:
            valid[identity] = checked.level
            unstored += checked.level == "structural"
            if type(quote := record.get("quote")) is not str or len(quote) < _SHORT:
                thin += _is_thin(record)
            _note_empty(record, sources, ledger, repeated)
        else:
            assert checked.failure is not None
            failed[identity] = checked.failure
            findings.add(checked.failure, "error", OUTPUT, f"{identity}: {checked.message}", f"{pointer}/{number}")
    for by_chunk in repeated.values():
        if len(by_chunk) >= _BOILERPLATE_CHUNKS:
            ledger.empty |= {identity: "boilerplate" for ids in by_chunk.values() for identity in ids}
    if unstored and sources.chunks:
        message = f"{unstored} record(s) cite chunks whose text is not among those stored: only their form was checked"
        findings.add("chunk_not_stored", "warning", CHUNKS, message)
    outside = sum(level == "chain" for level in valid.values()) if sources.anchors else 0
    if outside:
        message = f"{outside} record(s) rest on stored artifacts that are not in the evaluator's corpus"
        findings.add("not_in_corpus", "warning", OUTPUT, message, "/evidence")
    if thin:
        message = f"{thin} record(s) quote fewer than {_FEW_CHARACTERS} letters or digits, which any source has"
        findings.add("thin_quote", "warning", OUTPUT, message, "/evidence")
    return ledger


def _note_empty(
    record: dict[str, Any], sources: Sources, ledger: Ledger, repeated: dict[str, dict[str, list[str]]]
) -> None:
    """Put a valid record into `ledger.empty` if it quotes nothing in particular, or else into `repeated` if it may."""
    quote, identity, chunk_id = record.get("quote"), record["evidence_id"], record["chunk_id"]
    chunk = sources.chunks.get(chunk_id)
    if quote is None:
        start, end = record["span"]["start"], record["span"]["end"]
        size = end - start
        quote = chunk["text"][start:end] if chunk is not None and size <= LONGEST_EMPTY else None
    else:
        size = len(quote)
    if chunk is not None and size >= _NEARLY_ALL * len(chunk["text"]) and sources.has_several_sentences(chunk):
        ledger.empty[identity] = "whole chunks"
    elif quote is not None and size <= LONGEST_EMPTY:
        if (reason := empty_quote(quote)) is not None:
            ledger.empty[identity] = reason
        else:
            repeated.setdefault(quote, {}).setdefault(chunk_id, []).append(identity)


def _is_thin(record: dict[str, Any]) -> bool:
    quote, span = record.get("quote"), record.get("span")
    if quote is None:
        return type(span) is dict and bool(span["end"] - span["start"] < _FEW_CHARACTERS)
    signs = "".join(filter(tells, quote))
    return len(signs) < _FEW_CHARACTERS and signs.isascii()  # a word may be a single character elsewhere


def records(output: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """The ledger's records, then those embedded in claims: pointer, number, record."""
    for number, record in enumerate(output.get("evidence") or ()):
        yield "/evidence", number, record
    for index, claim in enumerate(output["claims"]):
        if type(claim) is dict and type(embedded := claim.get("evidence")) is list:
            for number, record in enumerate(embedded):
                yield f"/claims/{index}/evidence", number, record


def _note_chunk(line: int, value: object, findings: Findings) -> None:
    if isinstance(value, BadLine):
        findings.add("bad_chunk", "error", CHUNKS, str(value), line=line)
        return
    if findings.is_full("bad_chunk", "error"):
        findings.count("bad_chunk", "error", len(wrong_fields(Chunk, value)) if type(value) is dict else 1)
        return
    for problem in problems(Chunk, value):
        findings.add("bad_chunk", "error", CHUNKS, problem.message, problem.pointer, line)
