"""What a protocol may set for the research suite, with the defaults, and the default gates."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from goldgate.core.gate import Gate
from goldgate.shape.kinds import Positive

METRICS_VERSION = "2.1"

# eval-gates.md, "Pass/fail gates (MVP defaults)".
DEFAULT_GATES: dict[str, Gate] = {
    "evidence_coverage_rate": Gate(min=Decimal("0.95")),
    "golden_recall": Gate(min=Decimal("0.80")),
    "abstention_accuracy": Gate(min=Decimal("0.90")),
    "manifest_integrity": Gate(equals=Decimal("1.00")),
}

# Companions beyond these stand out, whatever the protocol gates: an agent can pass the four and be of no use.
ALARMS: dict[str, Gate] = {
    "false_abstention_rate": Gate(max=Decimal("0.10")),
    "cited_golden_recall": Gate(min=Decimal("0.50")),
    "ledger_precision": Gate(min=Decimal("0.25")),
    "uncited_evidence_rate": Gate(max=Decimal("0.50")),
}


@dataclass(frozen=True, slots=True)
class ResearchSettings:
    """The section `research` of a protocol: what a valid evidence record needs, and how much is read."""

    require: Literal["quote_or_span", "quote_and_span"] = "quote_or_span"
    require_verbatim: bool = False
    require_anchored: bool = False
    manifests: Literal["required", "not_kept"] = "required"
    trials: Decimal | None = None  # of every query, a whole number; without it the most that any query has
    max_file_megabytes: Positive = Positive(64)
    max_run_megabytes: Positive = Positive(256)
    max_total_megabytes: Positive = Positive(64_000)
    baseline: str | None = None  # a file, named from the protocol's own folder; `baseline` at the top says the same
