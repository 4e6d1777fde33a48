"""Schema compliance: the share of samples whose answer has the form that was asked for."""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts


class SchemaCompliance:
    """Samples without a violation / all samples. What did not parse fails; an empty list passes."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        tally.counts["schema_samples"] += 1
        violations = facts.predicted.violations
        if not violations:
            tally.counts["schema_compliant"] += 1
            return
        for violation in {found.violation for found in violations}:
            tally.counts[f"violation_samples.{violation}"] += 1
        for found in violations:
            tally.counts[f"violation.{found.violation}"] += 1

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        return {
            "schema_compliance_rate": Rate(counts["schema_compliant"], counts["schema_samples"], "there are no samples")
        }
