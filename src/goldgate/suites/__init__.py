"""The suites: each judges one kind of work, from one folder. A new one is a folder and a line here.

Other packages add theirs through the entry points `goldgate.suites`.
"""

from __future__ import annotations

from typing import NamedTuple

from goldgate.core.plugins import find_plugins, load_plugins, load_target, warn
from goldgate.core.suite import Ability, Suite

GROUP = "goldgate.suites"  # of entry points

SUITES = {  # name → module and attribute; imported when it is asked for
    "extraction": "goldgate.suites.extraction.suite:SUITE",
    "research": "goldgate.suites.research.suite:SUITE",
    "fields": "goldgate.suites.fields.suite:SUITE",
    "judged": "goldgate.suites.judged.suite:SUITE",
}


class SuiteAbility(NamedTuple):
    """Something that a suite can do beside scoring, and the suite."""

    suite: Suite
    ability: Ability


def suite_names() -> list[str]:
    """The names of all suites: ours, then those of other distributions."""
    return [*SUITES, *find_plugins(GROUP, SUITES)]


def load_suite(name: str) -> Suite:
    """The suite of this name; a ConfigError if it is another distribution's and cannot be loaded."""
    if name not in SUITES:
        return find_plugins(GROUP, SUITES)[name].load(Suite, GROUP)
    suite = load_target(SUITES[name])
    assert isinstance(suite, Suite)
    return suite


def all_suites() -> list[Suite]:
    """Every suite, ours first. What cannot be loaded, or would take another's place, is left out with a warning."""
    suites = [load_suite(name) for name in SUITES]
    for suite in load_plugins(GROUP, Suite, SUITES):
        if any(suite.section == other.section or suite.name == other.name for other in suites):
            warn(f"the suite {suite.name} is left out: another one has its name, or its section {suite.section}")
        else:
            suites.append(suite)
    return suites


def recognize_suite(command: str, path: str) -> str | None:
    """The name of the suite that recognizes a file as one for this command; None where none does."""
    candidates = (each for each in abilities_for(command) if each.ability.recognizes is not None)
    return next((each.suite.name for each in candidates if each.ability.recognizes(path)), None)  # type: ignore[misc]


def abilities_for(command: str) -> list[SuiteAbility]:
    """What suites can do for a command, in the order of the list: the first is what it does unless told otherwise."""
    return [
        SuiteAbility(suite, ability)
        for suite in all_suites()
        for ability in suite.abilities
        if ability.command == command
    ]
