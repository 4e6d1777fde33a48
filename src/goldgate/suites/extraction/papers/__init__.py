"""Numbers that papers report, beside the specification's: what a profile of the protocol adds to a report."""

from __future__ import annotations

from collections.abc import Callable

from goldgate.core.suite import Measure
from goldgate.suites.extraction.papers.assigned import DueeFin
from goldgate.suites.extraction.papers.doc2edag import Doc2edag, Doc2edagRoles
from goldgate.suites.extraction.papers.textee import Textee
from goldgate.suites.extraction.papers.valued import Valued
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

# The measures of each profile. A new one is a file and a line here, and its name in the settings.
PROFILES: dict[str, tuple[Callable[[ExtractionSettings], Measure[Facts]], ...]] = {
    "textee": (Textee,),
    "doc2edag": (Doc2edag, Doc2edagRoles),
    "duee-fin": (DueeFin,),
    "values": (Valued,),
}
ALL = "all"


def profile_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """The measures that the protocol's profile adds; none without a profile."""
    chosen = settings.profile
    return [make(settings) for name, made in PROFILES.items() if chosen in (name, ALL) for make in made]
