"""Scoring with every quick way turned off: each says that it does not know, so that the rule decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

_EXTRACTION = "goldgate.suites.extraction"

# Where each quick way is looked up when it is called.
QUICK_WAYS = (
    f"{_EXTRACTION}.response.fast_parse",
    f"{_EXTRACTION}.events.read_events.read_usual_events",
    f"{_EXTRACTION}.events.normalize.normalize_quickly",
    f"{_EXTRACTION}.events.normalize.normalize_all_at_once",
    f"{_EXTRACTION}.measures.hallucination.unsupported_quickly",
    f"{_EXTRACTION}.measures.hallucination.count_where_none_is_repeated",
    f"{_EXTRACTION}.thought.named_in_thought.first_missing_quickly",
)


@contextmanager
def slow_ways_only() -> Iterator[None]:
    """Inside, no quick way is taken."""
    with ExitStack() as stack:
        for name in QUICK_WAYS:
            stack.enter_context(patch(name, lambda *_: None))
        yield
