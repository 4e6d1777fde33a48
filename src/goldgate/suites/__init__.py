"""The suites: each judges one kind of work, from one folder. A new one is a folder and a line here."""

from __future__ import annotations

from importlib import import_module

from goldgate.core.suite import Suite

SUITES = {  # name → module and attribute; imported when it is asked for
    "extraction": "goldgate.suites.extraction.suite:SUITE",
    "research": "goldgate.suites.research.suite:SUITE",
}


def load_suite(name: str) -> Suite:
    """The suite of this name."""
    module, _, attribute = SUITES[name].partition(":")
    suite = getattr(import_module(module), attribute)
    assert isinstance(suite, Suite)
    return suite


def all_suites() -> list[Suite]:
    """Every suite, in the order of the list."""
    return [load_suite(name) for name in SUITES]
