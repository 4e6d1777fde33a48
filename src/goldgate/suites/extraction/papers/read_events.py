"""Events with what papers look at beside the units: the trigger, offsets, and which argument belongs to which event.

The values are those that units are made of; only triggers are read from the list once more, so that whoever sets no
profile pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from goldgate.suites.extraction.events.event import Events, event_list
from goldgate.suites.extraction.events.form import Form
from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.response import Status
from goldgate.suites.extraction.sample import Facts

# Where a trigger begins: in our own form, and in DuEE 1.0, which does not say where it ends.
_STARTS = ("start", "trigger_start_index")


class Mention(NamedTuple):
    """Some words: as they were written, normalized, and where they stand, if that was said.

    Words that normalize to nothing are a mention where they have a place: offsets, or the numbers of empty tokens.
    """

    written: str
    text: str
    span: tuple[int, ...] | None


class Argument(NamedTuple):
    """A role and the words that fill it."""

    role: str
    mention: Mention


class PaperEvent(NamedTuple):
    """An event as papers score it. It may have no trigger, and has several where it is mentioned several times."""

    event_type: str
    triggers: tuple[Mention, ...]
    arguments: tuple[Argument, ...]
    without_unit: tuple[Argument, ...] = ()  # arguments with an empty role, or words that normalize to nothing


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
    if sample.response is None and isinstance(value, list):
        value = form.decoded(value)
    listed = event_list(form.to_canonical(value, tuple(sample.gold.events.units)))
    return paper_events(facts.predicted, () if listed is None else listed.items)


def paper_events(events: Events, listed: Sequence[Any]) -> list[PaperEvent]:
    """Events with the triggers that the list has for them. An event without a type is none, and has none."""
    typed = [item for item in listed if _has_type(item)]
    found = []
    for number, (event_type, roles, texts, normalized, spans) in enumerate(events.columns):
        arguments = tuple(
            Argument(role, Mention(texts[place], normalized[place], None if spans is None else spans[place]))
            for place, role in enumerate(roles)
        )
        item = typed[number] if number < len(typed) else {}
        found.append(PaperEvent(event_type, _triggers(item), arguments, _without_unit(item)))
    return found


def _has_type(item: Any) -> bool:
    return type(item) is dict and type(item.get("event_type")) is str and bool(item["event_type"].strip())


def _triggers(item: dict[str, Any]) -> tuple[Mention, ...]:
    """The trigger of an event (words with the event's own offsets, or an object that has both), and other mentions."""
    trigger, mentions = item.get("trigger"), item.get("mentions")
    objects = [trigger if type(trigger) is dict else item | {"text": trigger}]
    if type(mentions) is list:
        objects += [mention for mention in mentions if type(mention) is dict]
    found = [mention for mention in map(_mention, objects) if mention is not None]
    return tuple(dict.fromkeys(found))


def _without_unit(item: dict[str, Any]) -> tuple[Argument, ...]:
    """The arguments that a published scorer counts by their offsets, although they give no unit."""
    listed = item.get("arguments")
    found = []
    for argument in listed if type(listed) is list else ():
        if type(argument) is dict and type(argument.get("role")) is str:
            role, mention = argument["role"].strip(), _mention(argument, "argument")
            if mention is not None and not (role and mention.text):
                found.append(Argument(role, mention))
    return tuple(found)


def _mention(part: dict[str, Any], key: str = "text") -> Mention | None:
    words = part.get(key)
    if type(words) is not str:
        return None
    text, span = normalize(words), _span(part, words)
    return Mention(words, text, span) if text or span is not None else None


def _span(place: dict[str, Any], text: str) -> tuple[int, ...] | None:
    """The offsets of some words; of empty tokens, their numbers behind offsets that no words have."""
    first, last = place.get("token_start"), place.get("token_end")
    if not text and type(first) is int and type(last) is int:
        return -1, -1, first, last
    start = next((place[key] for key in _STARTS if place.get(key) is not None), None)
    if type(start) is not int:
        return None
    end = place.get("end") if place.get("start") is not None else start + len(text)
    return (start, end) if type(end) is int and 0 <= start < end else None
