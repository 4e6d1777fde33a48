"""The files of one run, read and checked again, with what became of each evidence record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from goldgate.core.finding import Finding, Findings
from goldgate.shape.fits import fits
from goldgate.suites.research.contracts import Manifest
from goldgate.suites.research.golden import Golden
from goldgate.suites.research.run.decode import decode, decode_lines, decode_once
from goldgate.suites.research.run.evidence import check_record
from goldgate.suites.research.run.facts import RunFacts, Settings, judge_run
from goldgate.suites.research.run.files import read_run
from goldgate.suites.research.run.ledger import read_sources, records
from goldgate.suites.research.run.sources import Checked, Sources


@dataclass(frozen=True, slots=True)
class CheckedRecord:
    """An evidence record, and what became of it."""

    record: dict[str, Any]
    pointer: str
    checked: Checked

    @property
    def id(self) -> str:
        return str(self.record.get("evidence_id"))


@dataclass(frozen=True, slots=True)
class LookedAtRun:
    """What a run left behind. `output` is None where it cannot be read; manifests are those that can."""

    sha256: str
    facts: RunFacts
    findings: list[Finding]
    output: dict[str, Any] | None
    evidence: list[CheckedRecord]
    sources: Sources
    manifests: list[dict[str, Any]]


_manifest_fits = fits(Manifest)


def look_at_run(root: str, name: str, golden: Golden | None, settings: Settings) -> LookedAtRun | None:
    """The run in a folder under `root`, a real path; None if there is none."""
    result = judge_run(root, name, golden, settings)
    files = read_run(root, name, settings.limits)
    if result.facts is None or files is None or files.digest != result.facts.digest:
        return None
    output = _output(files.output)
    sources = read_sources(files, settings.anchors, Findings(name))
    evidence = [
        CheckedRecord(record, f"{pointer}/{number}", check_record(record, sources, settings.demands))
        for pointer, number, record in (records(output) if output is not None else ())
        if type(record) is dict
    ]
    stored = [decode_once(data) for _, data in files.manifests]
    stored += [value for _, value in decode_lines(files.manifest_lines or b"")]
    manifests = sorted((value for value in stored if _manifest_fits(value)), key=lambda value: value["step_id"])
    return LookedAtRun(files.digest.hex(), result.facts, result.findings, output, evidence, sources, manifests)


def _output(data: bytes | None) -> dict[str, Any] | None:
    """The decoded output, its lists as lists."""
    try:
        value = decode(data) if data is not None else None
    except ValueError:
        return None
    if type(value) is not dict:
        return None
    return {**value, **{key: [] for key in ("claims", "evidence") if type(value.get(key)) is not list}}
