"""What a reader of the report must know of single samples: no answer, or none that could be read."""

from __future__ import annotations

from collections.abc import Iterator

from goldgate.core.finding import Finding
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.response import Status
from goldgate.suites.extraction.sample import Facts


def findings_of(facts: Facts) -> Iterator[Finding]:
    """At most one for a sample."""
    parsed = facts.parsed
    if parsed is None:
        yield _finding("missing_prediction", facts, "no prediction: everything in its gold counts as missed")
    elif parsed.status == Status.ERROR:
        yield _finding("unreadable_answer", facts, f"the answer cannot be read: {parsed.method}")
    elif facts.predicted.violations and facts.predicted.violations[0].violation == Violation.NOT_AN_EVENT_LIST:
        yield _finding("not_an_event_list", facts, "the answer is JSON, but no list of events")


def _finding(code: str, facts: Facts, message: str) -> Finding:
    return Finding(code, "error", "predictions", None, "", message, facts.sample.gold.id)
