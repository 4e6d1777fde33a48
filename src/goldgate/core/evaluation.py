"""The outcome of an evaluation: the report, and the values behind it for whoever calls from Python."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import orjson

from goldgate.core.gate import GateResult, Verdict
from goldgate.core.metric import Metrics
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, GoldgateError

FORMAT_VERSION = 1  # of report.json


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Metrics by name, the gates' verdicts, and the whole report as plain values."""

    report: dict[str, Any]
    metrics: Metrics = field(default_factory=dict)
    gates: list[GateResult] = field(default_factory=list)

    @property
    def status(self) -> str:
        return str(self.report["status"])

    @property
    def passed(self) -> bool:
        """Whether gates were judged and none failed; without gates nothing passed."""
        return self.status == Verdict.PASS

    @property
    def exit_status(self) -> int:
        return EXIT_PASSED if self.status in (Verdict.PASS, Verdict.NO_GATES) else EXIT_GATE_FAILED

    def to_json(self) -> str:
        """The bytes of report.json, as text."""
        return render_json(self.report).decode()

    def __getitem__(self, metric: str) -> float | None:
        """A metric's value; None where it is undefined."""
        return self.metrics[metric].value


def render_json(report: dict[str, Any]) -> bytes:
    """A report as it is stored."""
    try:
        return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a count above 64 bits: step numbers of stored runs add up to anything
        return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()


def error_report(suite: str, error: GoldgateError) -> dict[str, Any]:
    """The report of an evaluation that could not be carried out: no metric values."""
    return {
        "format_version": FORMAT_VERSION,
        "suite": suite,
        "status": Verdict.SYSTEM_ERROR,
        "error": error.as_json(),
    }
