"""What a protocol may set for the research suite, with the defaults, and the default gates."""

from __future__ import annotations

from decimal import Decimal

from goldgate.core.gate import Gate

SUITE = "research"
METRICS_VERSION = "2.0"

# eval-gates.md, "Pass/fail gates (MVP defaults)".
DEFAULT_GATES: dict[str, Gate] = {
    "evidence_coverage_rate": Gate(min=Decimal("0.95")),
    "golden_recall": Gate(min=Decimal("0.80")),
    "abstention_accuracy": Gate(min=Decimal("0.90")),
    "manifest_integrity": Gate(equals=Decimal("1.00")),
}

# Companions beyond these are findings, whatever the protocol gates: an agent can pass the four and be of no use.
ALARMS: dict[str, Gate] = {
    "false_abstention_rate": Gate(max=Decimal("0.10")),
    "cited_golden_recall": Gate(min=Decimal("0.50")),
    "ledger_precision": Gate(min=Decimal("0.25")),
    "uncited_evidence_rate": Gate(max=Decimal("0.50")),
}
