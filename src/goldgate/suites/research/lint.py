"""Golden queries checked for what measures nothing: labels that contradict, ids that nobody stores, near copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from goldgate.core.finding import Finding
from goldgate.core.gate import Verdict
from goldgate.files.text_file import read_text
from goldgate.suites.research.contracts import GoldenQuery
from goldgate.suites.research.golden import KIND, match_key, parse_golden
from goldgate.suites.research.run.decode import BadLine, decode, decode_lines
from goldgate.suites.research.run.files import Limits, RunFiles, read_run
from goldgate.suites.research.run.similar import alike, bare
from goldgate.suites.research.shards import list_outputs

FORMAT_VERSION = 1  # of the JSON form
SUITE = "lint-golden"
_MOST_COMPARED = 2_000_000  # pairs of objectives


@dataclass(frozen=True, slots=True)
class Lint:
    """What was found in a golden file."""

    queries: int
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        return {
            "format_version": FORMAT_VERSION,
            "suite": SUITE,
            "status": Verdict.PASS if self.passed else Verdict.FAIL,
            "queries": self.queries,
            "findings": [finding.as_json() for finding in self.findings],
            "error": None,
        }


def lint_golden(path: str | Path, outputs: str | None, limits: Limits) -> Lint:
    """Check a golden file by itself and, with outputs, against what their runs store."""
    file = str(path)
    name = PurePath(file).name
    parsed = parse_golden(read_text(path, KIND).text, file)
    findings = [
        Finding("malformed", "error", name, None, problem.pointer, problem.message) for problem in parsed.problems
    ]
    findings += _labels(parsed.queries, name)
    findings += _copies(parsed.queries, name)
    if outputs is not None:
        findings += _unstored(parsed.queries, name, stored_ids(outputs, limits))
    return Lint(len(parsed.queries), findings)


def stored_ids(outputs: str, limits: Limits) -> set[str]:
    """The ids of all evidence records and chunks that the runs store."""
    listing = list_outputs(outputs)
    ids: set[str] = set()
    for entry in listing.directories:
        files = None if entry.refused is not None else read_run(listing.root, entry.name, limits)
        if files is not None:
            ids.update(_ids(files))
    return ids


def _ids(files: RunFiles) -> Iterator[str]:
    if files.chunks is not None:
        for _, chunk in decode_lines(files.chunks):
            if not isinstance(chunk, BadLine) and type(chunk) is dict and type(chunk.get("chunk_id")) is str:
                yield chunk["chunk_id"]
    try:
        output = decode(files.output or b"")
    except ValueError:
        return
    claims = output.get("claims") if type(output) is dict else None
    ledgers = [output.get("evidence")] if type(output) is dict else []
    ledgers += [claim.get("evidence") for claim in claims if type(claim) is dict] if type(claims) is list else []
    for ledger in ledgers:
        for record in ledger if type(ledger) is list else ():
            if type(record) is dict and type(record.get("evidence_id")) is str:
                yield record["evidence_id"]


def _labels(queries: dict[str, GoldenQuery], file: str) -> Iterator[Finding]:
    for pointer, query in queries.items():
        ids, sufficient = query["required_evidence_ids"], query["evidence_sufficient"]
        where = f"{pointer}/required_evidence_ids"
        if sufficient and not ids:
            message = "labeled sufficient, and no id is required: nothing of it can be found or missed"
            yield Finding("sufficient_without_ids", "error", file, None, where, message)
        if not sufficient and ids:
            message = f"labeled insufficient, and {len(ids)} id(s) are required: one of the two is wrong"
            yield Finding("insufficient_with_ids", "error", file, None, where, message)
        if len(set(ids)) < len(ids):
            yield Finding("repeated_id", "warning", file, None, where, "duplicate id, counted once")


def _copies(queries: dict[str, GoldenQuery], file: str) -> Iterator[Finding]:
    """Objectives that are the same, or nearly; with other labels or ids they contradict each other."""
    seen: list[tuple[str, str, str]] = []  # pointer, key, bare objective
    compared = 0
    for pointer, query in queries.items():
        key, plain = match_key(query["objective"]), bare(query["objective"])
        for other_pointer, other_key, other_plain in seen:
            compared += 1
            if compared > _MOST_COMPARED:
                message = "there are too many queries to compare them all: those after this one were not compared"
                yield Finding("not_compared", "warning", file, None, pointer, message)
                return
            same = key == other_key
            if not same and not alike(plain, other_plain):
                continue
            other = queries[other_pointer]
            agree = _label(query) == _label(other)
            words = "the same objective" if same else "nearly the same objective"
            if agree:
                message = f"{words} as {other_pointer}"
                yield Finding(
                    "repeated_objective" if same else "near_duplicate", "warning", file, None, pointer, message
                )
            elif same or query["evidence_sufficient"] != other["evidence_sufficient"]:
                message = f"{words} as {other_pointer}, with another label or other ids"
                yield Finding("contradictory_label", "error", file, None, pointer, message)
            else:
                message = f"{words} as {other_pointer}, with other ids"
                yield Finding("near_duplicate", "warning", file, None, pointer, message)
        seen.append((pointer, key, plain))


def _label(query: GoldenQuery) -> tuple[bool, frozenset[str]]:
    return query["evidence_sufficient"], frozenset(query["required_evidence_ids"])


def _unstored(queries: dict[str, GoldenQuery], file: str, stored: set[str]) -> Iterator[Finding]:
    for pointer, query in queries.items():
        for number, identity in enumerate(query["required_evidence_ids"]):
            if identity not in stored:
                message = f'no stored ledger or chunk has the id "{identity}"'
                where = f"{pointer}/required_evidence_ids/{number}"
                yield Finding("unstored_id", "error", file, None, where, message)
