"""Traces in, run folders out, and a report of what they lack."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from goldgate.core.finding import Finding
from goldgate.core.gate import Verdict
from goldgate.imports.build import ImportedRun, build_run
from goldgate.imports.formats import FORMATS
from goldgate.imports.gather import Flaw, Gathered, gather
from goldgate.imports.mapping import Mapping, ready_mapping
from goldgate.imports.names import folder_name
from goldgate.imports.trace import Trace, trace_of
from goldgate.imports.write import new_folder, require_free, write_run

FORMAT_VERSION = 1  # of the JSON form
SUITE = "import-runs"
_LISTED = 1000  # runs with their findings; of the rest the counts are enough


@dataclass(slots=True)
class Imported:
    """What was read and written."""

    mapping: Mapping
    spans: int = 0
    flaws: int = 0
    runs: int = 0
    complete: int = 0
    lacking: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.complete == self.runs and not self.flaws

    def as_json(self) -> dict[str, Any]:
        return {
            "format_version": FORMAT_VERSION,
            "suite": SUITE,
            "status": Verdict.PASS if self.passed else Verdict.FAIL,
            "format": self.mapping.format,
            "mapping": self.mapping.name,
            "spans": self.spans,
            "unread": self.flaws,
            "runs": self.runs,
            "complete": self.complete,
            "lacking": dict(sorted(self.lacking.items())),
            "findings": [finding.as_json() for finding in self.findings],
            "error": None,
        }


def import_runs(paths: Sequence[str], out: str, mapping: Mapping | None = None, form: str | None = None) -> Imported:
    """Write a run folder for every trace. Without a mapping: the ready one of the form, which the files may show."""
    chosen = mapping.format if mapping is not None else form
    require_free(out)
    gathered = gather(paths, FORMATS[chosen] if chosen is not None else None)
    try:
        result = Imported(mapping or ready_mapping(gathered.format.name), gathered.spans, gathered.flaws.count)
        result.findings += [_unread(flaw) for flaw in gathered.flaws.first]
        with new_folder(out) as folder:
            _write_runs(gathered, folder, result)
    finally:
        gathered.close()
    return result


def _write_runs(gathered: Gathered, folder: str, result: Imported) -> None:
    for identity, spans in gathered.traces():
        trace = trace_of(identity, spans)
        run = build_run(trace, result.mapping)
        name = folder_name(identity)
        write_run(os.path.join(folder, name), run, _notes(trace, run, result.mapping))
        result.runs += 1
        result.complete += not any(missing.fails for missing in run.missing)
        result.lacking.update({missing.what.split("/")[0] for missing in run.missing})
        if result.runs <= _LISTED:
            result.findings += _findings(name, trace, run)


def _notes(trace: Trace, run: ImportedRun, mapping: Mapping) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "format": mapping.format,
        "mapping": mapping.name,
        "spans": len(trace.spans),
        "steps": len(run.events) - 1,
        "origin": run.origin,
        "missing": [missing._asdict() for missing in run.missing],
        "problems": list(trace.problems),
    }


def _findings(name: str, trace: Trace, run: ImportedRun) -> list[Finding]:
    lacking = [
        Finding(
            f"missing_{missing.what}" if missing.what.isidentifier() else "misfit",
            "error" if missing.fails else "warning",
            name,
            None,
            "" if missing.what.isidentifier() else f"/{missing.what}",
            missing.why,
        )
        for missing in run.missing
    ]
    return lacking + [Finding("odd_spans", "hint", name, None, "", problem) for problem in trace.problems]


def _unread(flaw: Flaw) -> Finding:
    return Finding("unread", "error", flaw.file, flaw.line, "", flaw.reason)
