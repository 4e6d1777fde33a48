"""How much went wrong in a sample, from its facts: what `summary` says of its record, without the record."""

from __future__ import annotations

from goldgate.suites.extraction.events.event import Units, Violation
from goldgate.suites.extraction.response.parsed import Status
from goldgate.suites.extraction.sample import Facts


def weight_of(facts: Facts) -> int:
    """The number of errors, and one more for each of: no answer, violations, unsupported values."""
    parsed, violations = facts.parsed, facts.predicted.violations
    weight = len(facts.mistakes)
    if parsed is None or parsed.status == Status.ERROR:
        weight += 1
        violations = [found for found in violations if found.violation != Violation.NOT_PARSED]  # it says the same
    if violations:
        weight += 1
    if facts.unsupported:
        weight += 1
    gold, predicted = facts.sample.gold.events.units, facts.predicted.units
    return weight if gold.keys() == predicted.keys() else weight + _bare(gold, predicted) + _bare(predicted, gold)


def _bare(units: Units, others: Units) -> int:
    """Event types without arguments that the other side lacks: no error names them."""
    return sum([1 for name, pairs in units.items() if not pairs and name not in others])
