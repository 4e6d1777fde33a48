"""Scoring with every quick way turned off: each says that it does not know, so that the rule decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

_EXTRACTION = "goldgate.suites.extraction"

# Where each quick way is looked up when it is called.
QUICK_WAYS = (
    "goldgate.response.fast_parse",
    f"{_EXTRACTION}.events.fast_events",
    "goldgate.core.value_text.fast_normalize",
)


@contextmanager
def slow_ways_only() -> Iterator[None]:
    """Inside, no quick way is taken."""
    with ExitStack() as stack:
        for name in QUICK_WAYS:
            stack.enter_context(patch(name, lambda *_: None))
        yield
