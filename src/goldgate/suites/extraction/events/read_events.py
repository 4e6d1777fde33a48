"""Events read from a decoded list: the quick way where it is enough, else the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goldgate.suites.extraction.events.event import AllowedRoles, EventList, Events, read_any_events
from goldgate.suites.extraction.events.usual_events import read_usual_events


def read_events(
    events: EventList,
    source: str | bytes | None,
    roles: AllowedRoles | None = None,
    to_canonical: Callable[[Any], Any] | None = None,
) -> Events:
    """Walk an event list; `roles` adds the event schema's checks.

    `source` is the JSON text that the list was decoded from: a number that is no small
    integer is read from it once more, because its text (1.10) is what counts, not its value.
    `to_canonical` is what was done to the decoded text, where it was in another form.
    """
    return read_usual_events(events, source, roles) or read_any_events(events, source, roles, to_canonical)
