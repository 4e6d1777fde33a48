"""Schema compliance: the share of samples whose answer has the form that was asked for."""

from __future__ import annotations

from goldgate.core.measure import EACH, RatioMeasure, over
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.sample import Facts

_SAMPLES = {violation: f"violation_samples.{violation}" for violation in Violation}
_OCCURRENCES = {violation: f"violation.{violation}" for violation in Violation}


class SchemaCompliance(RatioMeasure[Facts]):
    """Samples without a violation / all samples. What did not parse fails; an empty list passes."""

    table = "schema"
    columns = ("compliant", EACH)
    single = frozenset(columns)
    ratios = {"schema_compliance_rate": over("compliant", EACH, "there are no samples")}

    def units(self, facts: Facts) -> Counts:
        return int(not facts.predicted.violations), 1

    def count(self, facts: Facts, tally: Tally) -> None:
        super().count(facts, tally)
        violations = facts.predicted.violations
        if not violations:
            return
        counts = tally.counts
        named = [found.violation for found in violations]
        for violation in set(named):
            counts[_SAMPLES[violation]] += 1
        for violation in named:
            counts[_OCCURRENCES[violation]] += 1
