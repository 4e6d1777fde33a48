"""One run directory checked for whoever writes an agent: its files against the contracts, its evidence, its steps."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from goldgate.core.finding import Finding
from goldgate.core.gate import Verdict
from goldgate.errors import InputError, Place
from goldgate.suites.research.run.facts import RunFacts, Settings, judge_run
from goldgate.suites.research.run.sources import LEVELS

FORMAT_VERSION = 1  # of the JSON form
SUITE = "validate"


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found in a run directory."""

    run: str
    facts: RunFacts
    findings: list[Finding] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.facts.broken is None and not any(finding.severity == "error" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        facts = self.facts
        return {
            "format_version": FORMAT_VERSION,
            "suite": SUITE,
            "status": Verdict.PASS if self.passed else Verdict.FAIL,
            "run": self.run,
            "run_id": facts.run_id,
            "broken": facts.broken,
            "claims": {"verified": facts.verified, "covered": facts.covered},
            "evidence": {level: getattr(facts, level) for level in LEVELS},
            "steps": {"total": facts.steps, "with_manifest": facts.with_manifest},
            "findings": [finding.as_json() for finding in self.findings],
            "ignored": [{"path": path, "reason": reason} for path, reason in self.ignored],
            "error": None,
        }


def validate_run(path: str, settings: Settings) -> Validation:
    """Read one run directory with the functions that an evaluation reads it with."""
    if not os.path.isdir(path):
        code = "run.not_a_directory" if os.path.exists(path) else "run.missing"
        raise InputError(code, "there is no such run directory", place=Place(path), expected="a run directory")
    root, name = os.path.split(os.path.realpath(path))
    result = judge_run(root, name, None, settings)
    if result.facts is None:
        raise InputError(
            "run.no_files",
            "this directory has none of a run's files",
            place=Place(path),
            expected="research_output.json, events.jsonl, manifests/ or manifests.jsonl, chunks.jsonl, artifacts/",
            advice="name the directory of one run, not the folder that holds them all",
        )
    return Validation(result.name, result.facts, result.findings, result.ignored)
