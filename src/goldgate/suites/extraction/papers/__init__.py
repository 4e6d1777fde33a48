"""Numbers that papers report, beside the specification's: what a profile of the protocol adds to a report."""

from __future__ import annotations

from collections.abc import Callable

from goldgate.core.suite import Measure
from goldgate.suites.extraction.papers.published_scores import (
    Doc2edagRates,
    Doc2edagRoleRates,
    DueeFinRates,
    TexteeRates,
)
from goldgate.suites.extraction.papers.value_matching import ValueRates
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

# The measures of each profile. A new one is a file and a line here, and its name in the settings.
PROFILES: dict[str, tuple[Callable[[ExtractionSettings], Measure[Facts]], ...]] = {
    "textee": (TexteeRates,),
    "doc2edag": (Doc2edagRates, Doc2edagRoleRates),
    "duee-fin": (DueeFinRates,),
    "values": (ValueRates,),
}
ALL = "all"


def profile_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """The measures that the protocol's profile adds; none without a profile."""
    chosen = settings.profile
    return [make(settings) for name, made in PROFILES.items() if chosen in (name, ALL) for make in made]
