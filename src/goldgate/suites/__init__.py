"""The suites: each judges one kind of work, from one folder. A new one is a folder and a line here.

Other packages add theirs through the entry points `goldgate.suites`.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from goldgate.core.suite import Ability, Suite

SUITES = {  # name → module and attribute; imported when it is asked for
    "extraction": "goldgate.suites.extraction.suite:SUITE",
    "research": "goldgate.suites.research.suite:SUITE",
}


class SuiteAbility(NamedTuple):
    """Something that a suite can do beside scoring, and the suite."""

    suite: Suite
    ability: Ability


def load_suite(name: str) -> Suite:
    """The suite of this name."""
    module, _, attribute = SUITES[name].partition(":")
    suite = getattr(import_module(module), attribute)
    assert isinstance(suite, Suite)
    return suite


def all_suites() -> list[Suite]:
    """Every suite, in the order of the list."""
    return [load_suite(name) for name in SUITES]


def abilities_for(command: str) -> list[SuiteAbility]:
    """What suites can do for a command, in the order of the list: the first is what it does unless told otherwise."""
    return [
        SuiteAbility(suite, ability)
        for suite in all_suites()
        for ability in suite.abilities
        if ability.command == command
    ]
