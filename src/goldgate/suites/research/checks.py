"""What `goldgate check` does with golden queries and with one run directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from goldgate.core.finding import Finding
from goldgate.core.gate import Verdict
from goldgate.core.suite import CheckResult, Options
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.address import is_url, public_url
from goldgate.files.reading import read_text_file
from goldgate.suites.research.contracts import GoldenQuery
from goldgate.suites.research.golden import (
    GOLDEN_KIND,
    Golden,
    load_corpus,
    match_key,
    nearly_equal,
    parse_golden,
    plain_objective,
)
from goldgate.suites.research.run import RunFacts, RunSettings, judge_run, parse_output
from goldgate.suites.research.run.claims import evidence_records
from goldgate.suites.research.run.evidence import LEVELS
from goldgate.suites.research.run.files import ReadLimits, RunFiles, decode_lines, read_run
from goldgate.suites.research.source import list_outputs

_FORMAT_VERSION = 1  # of the JSON form
_MAX_COMPARED = 2_000_000  # pairs of objectives


def check_json(command: str, passed: bool, parts: dict[str, Any]) -> dict[str, Any]:
    """The JSON form of what a check found: its verdict, then its own parts."""
    status = Verdict.PASS if passed else Verdict.FAIL
    return {"format_version": _FORMAT_VERSION, "suite": command, "status": status, **parts, "error": None}


def check_golden(paths: Sequence[str], options: Options) -> CheckResult:
    """`goldgate check` of a file of golden queries: by itself and, with outputs, against what their runs store."""
    file, outputs = _only(paths, "one file of golden queries"), options.get("outputs")
    name = PurePath(file).name
    parsed = parse_golden(read_text_file(file, GOLDEN_KIND).text, file)
    findings = [
        Finding("malformed", "error", name, None, problem.pointer, problem.message) for problem in parsed.problems
    ]
    findings += _label_findings(parsed.queries, name)
    findings += _duplicate_findings(parsed.queries, name)
    if outputs is not None:
        findings += _unstored_findings(parsed.queries, name, _stored_ids(outputs))
    parts = {"queries": len(parsed.queries), "findings": [finding.as_json() for finding in findings]}
    report = check_json("check", not _has_errors(findings), parts)
    return CheckResult(report, f"{len(parsed.queries)} golden queries")


def _stored_ids(outputs: str) -> set[str]:
    """The ids of all evidence records and chunks that the runs store."""
    listing = list_outputs(outputs)
    ids: set[str] = set()
    for entry in listing.directories:
        files = None if entry.refused is not None else read_run(listing.root, entry.name, ReadLimits())
        if files is not None:
            ids.update(_ids_in_run(files))
    return ids


def _ids_in_run(files: RunFiles) -> Iterator[str]:
    output = parse_output(files.output)
    records = [("chunk_id", chunk) for _, chunk in decode_lines(files.chunks or b"")]
    records += [("evidence_id", record) for _, record in evidence_records(output)] if output else []
    for key, record in records:
        if type(record) is dict and type(record.get(key)) is str:
            yield record[key]


def _label_findings(queries: dict[str, GoldenQuery], file: str) -> Iterator[Finding]:
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


def _duplicate_findings(queries: dict[str, GoldenQuery], file: str) -> Iterator[Finding]:
    """Objectives that are the same, or nearly; with other labels or ids they contradict each other."""
    seen: list[tuple[str, str, str]] = []  # pointer, key, bare objective
    compared = 0
    for pointer, query in queries.items():
        key, plain = match_key(query["objective"]), plain_objective(query["objective"])
        for other_pointer, other_key, other_plain in seen:
            compared += 1
            if compared > _MAX_COMPARED:
                message = "there are too many queries to compare them all: those after this one were not compared"
                yield Finding("not_compared", "warning", file, None, pointer, message)
                return
            same = key == other_key
            if not same and not nearly_equal(plain, other_plain):
                continue
            other = queries[other_pointer]
            message = f"{'' if same else 'nearly '}the same objective as {other_pointer}"
            if _label(query) == _label(other):
                yield Finding(
                    "repeated_objective" if same else "near_duplicate", "warning", file, None, pointer, message
                )
            elif same or query["evidence_sufficient"] != other["evidence_sufficient"]:
                message += ", with another label or other ids"
                yield Finding("contradictory_label", "error", file, None, pointer, message)
            else:
                yield Finding("near_duplicate", "warning", file, None, pointer, f"{message}, with other ids")
        seen.append((pointer, key, plain))


def _label(query: GoldenQuery) -> tuple[bool, frozenset[str]]:
    return query["evidence_sufficient"], frozenset(query["required_evidence_ids"])


def _unstored_findings(queries: dict[str, GoldenQuery], file: str, stored: set[str]) -> Iterator[Finding]:
    for pointer, query in queries.items():
        for number, identity in enumerate(query["required_evidence_ids"]):
            if identity not in stored:
                message = f'no stored ledger or chunk has the id "{identity}"'
                where = f"{pointer}/required_evidence_ids/{number}"
                yield Finding("unstored_id", "error", file, None, where, message)


def _has_errors(findings: list[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


@dataclass(frozen=True, slots=True)
class RunValidation:
    """What was found in a run directory."""

    run: str
    facts: RunFacts
    findings: list[Finding] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.facts.broken is None and not _has_errors(self.findings)

    def as_json(self) -> dict[str, Any]:
        facts = self.facts
        parts = {
            "run": self.run,
            "run_id": facts.run_id,
            "broken": facts.broken,
            "claims": {"verified": facts.verified, "covered": facts.covered},
            "evidence": {level: getattr(facts, level) for level in LEVELS},
            "steps": {"total": facts.steps, "with_manifest": facts.with_manifest},
            "findings": [finding.as_json() for finding in self.findings],
            "ignored": [{"path": path, "reason": reason} for path, reason in self.ignored],
        }
        return check_json("check", self.passed, parts)


def validate_run(path: str, settings: RunSettings) -> RunValidation:
    """Read one run directory with the functions that an evaluation reads it with."""
    if not os.path.isdir(path):
        code = "run.not_a_directory" if os.path.exists(path) else "run.missing"
        raise InputError(code, "there is no such run directory", place=Place(path), expected="a run directory")
    root, name = os.path.split(os.path.realpath(path))
    result = judge_run(root, name, Golden([]), settings)
    if result.facts is None:
        raise InputError(
            "run.no_files",
            "this directory has none of a run's files",
            place=Place(path),
            expected="research_output.json, events.jsonl, manifests/ or manifests.jsonl, chunks.jsonl, artifacts/",
            advice=f"is this a stored result? goldgate verify {path}"
            if os.path.isfile(os.path.join(path, "report.json"))
            else "name the directory of one run, not the folder that holds them all",
        )
    return RunValidation(result.name, result.facts, result.findings, result.ignored)


def check_run(paths: Sequence[str], options: Options) -> CheckResult:
    """`goldgate check` of one run directory."""
    from goldgate.suites.plan import load_plan
    from goldgate.suites.research.source import run_settings
    from goldgate.suites.research.suite import SUITE

    run, corpus = _only(paths, "one run directory"), options.get("corpus")
    if is_url(run):
        raise InputError(
            "run.elsewhere",
            "a run is validated on a disk, not behind a URL",
            place=Place(public_url(run)),
            expected="a run directory",
            advice="copy the folder to this machine first; goldgate research judges runs where they are",
        )
    anchors = load_corpus(corpus).hashes if corpus is not None else frozenset()
    result = validate_run(run, run_settings(load_plan(SUITE, options.get("protocol")), anchors))
    facts = result.facts
    valid = facts.structural + facts.verbatim + facts.chain + facts.anchored
    summary = (
        f"{result.run}: {facts.covered} of {facts.verified} verified claims covered, {valid} of {facts.ledger} "
        f"evidence records valid, {facts.with_manifest} of {facts.steps} steps with a manifest"
    )
    return CheckResult(result.as_json(), summary)


def _only(paths: Sequence[str], expected: str) -> str:
    if len(paths) != 1:
        raise ConfigError(
            "option.wrong_value", "only one of these is checked at a time", place=Place(paths[1]), expected=expected
        )
    return paths[0]
