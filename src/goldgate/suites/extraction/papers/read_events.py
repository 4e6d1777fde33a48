"""Events with what papers look at beside the units: the trigger, offsets, and which argument belongs to which event.

The values are those that units are made of; only triggers are read from the list once more, so that whoever sets no
profile pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from goldgate.suites.extraction.events.event import Events, Span, event_list
from goldgate.suites.extraction.events.form import Form
from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.response import Status
from goldgate.suites.extraction.sample import Facts

# Where a trigger begins: in our own form, and in DuEE 1.0, which does not say where it ends.
_STARTS = ("start", "trigger_start_index")


class Mention(NamedTuple):
    """Some words: as they were written, normalized, and where they stand, if that was said."""

    written: str
    text: str
    span: Span | None


class Argument(NamedTuple):
    """A role and the words that fill it."""

    role: str
    mention: Mention


class PaperEvent(NamedTuple):
    """An event as papers score it; `trigger` is None where none was given."""

    event_type: str
    trigger: Mention | None
    arguments: tuple[Argument, ...]


def gold_events(facts: Facts) -> list[PaperEvent]:
    """The events of the gold record."""
    gold = facts.sample.gold
    return paper_events(gold.events, gold.listed)


def predicted_events(facts: Facts, form: Form) -> list[PaperEvent]:
    """The events of the answer; none where there is no answer, or none that could be read."""
    parsed, sample = facts.parsed, facts.sample
    if parsed is None or parsed.status == Status.ERROR:
        return []
    value = parsed.value
    if sample.response is not None:
        value = form.to_canonical(value, tuple(sample.gold.events.units))
    listed = event_list(value)
    return paper_events(facts.predicted, () if listed is None else listed.items)


def paper_events(events: Events, listed: Sequence[Any]) -> list[PaperEvent]:
    """Events with the triggers that the list has for them. An event without a type is none, and has none."""
    triggers = [_trigger(item) for item in listed if _has_type(item)]
    found = []
    for number, (event_type, roles, texts, normalized, spans) in enumerate(events.columns):
        arguments = tuple(
            Argument(role, Mention(texts[place].strip(), normalized[place], None if spans is None else spans[place]))
            for place, role in enumerate(roles)
        )
        found.append(PaperEvent(event_type, triggers[number] if number < len(triggers) else None, arguments))
    return found


def _has_type(item: Any) -> bool:
    return type(item) is dict and type(item.get("event_type")) is str and bool(item["event_type"].strip())


def _trigger(item: dict[str, Any]) -> Mention | None:
    """The trigger of an event: words with the event's own offsets, or an object that has both."""
    trigger, place = item.get("trigger"), item
    if type(trigger) is dict:
        place = trigger
        trigger = next((place[key] for key in ("text", "trigger", "argument") if key in place), None)
    if type(trigger) is not str or not (text := normalize(trigger)):
        return None
    return Mention(trigger.strip(), text, _span(place, trigger))


def _span(place: dict[str, Any], text: str) -> Span | None:
    start = next((place[key] for key in _STARTS if place.get(key) is not None), None)
    if type(start) is not int:
        return None
    end = place.get("end") if place.get("start") is not None else start + len(text)
    return (start, end) if type(end) is int and 0 <= start < end else None
