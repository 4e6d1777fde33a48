"""How much went wrong in a sample, from its facts: the weight of its summary, without going by its record."""

from __future__ import annotations

from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.response.parsed import Status
from goldgate.suites.extraction.sample import Facts


def weight(facts: Facts) -> int:
    """The number of errors, and one more for each of: no answer, violations, unsupported values; see `summary`."""
    parsed, predicted = facts.parsed, facts.predicted
    found = len(facts.mistakes)
    unread = parsed is None or parsed.status == Status.ERROR
    violations = predicted.violations
    if unread:
        found += 1
        violations = [each for each in violations if each.violation != Violation.NOT_PARSED]  # it says the same
    gold_units, units = facts.sample.gold.events.units, predicted.units
    if gold_units.keys() != units.keys():  # event types without arguments, which no error names
        found += sum([1 for name, pairs in gold_units.items() if not pairs and name not in units])
        found += sum([1 for name, pairs in units.items() if not pairs and name not in gold_units])
    return found + bool(violations) + bool(facts.text is not None and facts.unsupported)
