"""Answers whose values are all different, damaged in many ways, and what was read of them under another role or event.

The oracle of a law: nothing is moved. A value that damage changed or joined to another is not held against the
reader here; whether it was invented is another law.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from goldgate.suites.extraction.events.answer_form import Form
from tests.responses.damage import Event, events, items, marks

TYPES = ("Hire", "Fire", "Sue", "质押")
ROLES = ("Person", "Place", "Time", "Agent", "质押方")
WORDS = ("Ann", "Oslo bank", "May 3", "Bo (Jr)", "海岳", "50 %", "The A, B & C")
LAYOUTS: tuple[dict[str, Any], ...] = ({}, {"indent": 1}, {"separators": (",", ":")})

CANONICAL = Form()
MAPPING = Form(mapping=True)
FLAT = Form(flat=True)
FORMS = (CANONICAL, CANONICAL, CANONICAL, MAPPING, FLAT)

EVENT_KEYS = (
    ("event_type", "arguments"),
    ("event_type", "trigger", "arguments"),
    ("trigger", "event_type", "arguments"),
    ("trigger", "arguments", "event_type"),
)
JUNK = (
    *("...", "…", '"', "}", "]", "{", "[", ",", ":", "}]", "]}"),
    *(" oops ", '"note...', "\n\n", '", "', "// so\n", '"x": '),
)

# Each value with its event (by number), its type and its role.
Places = dict[str, tuple[int, str, str]]


@dataclass(frozen=True)
class Answer:
    """A sound answer, and where each of its values stands."""

    text: str
    form: Form
    places: Places


def make_answer(rng: random.Random) -> Answer:
    """An answer of one to four events with one to four roles each; no value comes twice, and no role of an event."""
    form = rng.choice(FORMS)
    numbers, places = count(1), Places()
    answer = []
    for number in range(1 if form is FLAT else rng.randint(1, 4)):
        event_type = "" if form is FLAT else rng.choice(TYPES)
        said: dict[str, Any] = {}
        for role in rng.sample(ROLES, rng.randint(1, 4)):
            texts = [f"{rng.choice(WORDS)} {next(numbers)}" for _ in range(rng.choice((1, 1, 1, 2, 3)))]
            places |= dict.fromkeys(texts, (number, event_type, role))
            said[role] = texts if len(texts) > 1 else texts[0]
        answer.append(said if form is FLAT else _event(event_type, said, form, rng))
    value = answer[0] if form is FLAT else answer
    return Answer(json.dumps(value, ensure_ascii=False, **rng.choice(LAYOUTS)), form, places)


def _event(event_type: str, said: dict[str, Any], form: Form, rng: random.Random) -> dict[str, Any]:
    arguments: Any = said
    if form is CANONICAL:
        order = rng.choice((("role", "argument"), ("argument", "role"), ("role", "argument", "note")))
        arguments = [
            {key: {"role": role, "argument": texts, "note": "seen"}[key] for key in order}
            for role, texts in said.items()
        ]
    event = {"event_type": event_type, "trigger": "met", "arguments": arguments}
    return {key: event[key] for key in rng.choice(EVENT_KEYS)}


BRIDGES = ("...", "…", "。。。", "...", " ... ", '..."', "...}", "...]", "\n...\n")


def cut(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(1, len(text))]


def elided(text: str, rng: random.Random) -> str:
    """A stretch is left out, and dots stand in its place."""
    begin = rng.randrange(1, len(text))
    return text[:begin] + rng.choice(BRIDGES) + text[begin + rng.choice((0, 2, 5, 10, 20, 40, 80)) :]


def unmarked(text: str, rng: random.Random) -> str:
    """One to three marks of structure are lost, mostly quotation marks and brackets."""
    places = [*marks(text)]
    for place in sorted(rng.sample(places, min(len(places), rng.choice((1, 1, 1, 2, 3)))), reverse=True):
        text = text[:place] + text[place + 1 :]
    return text


def merged(text: str, rng: random.Random) -> str:
    """The brackets between two objects are lost: the keys of the second one come again in the first."""
    return _replaced(text, rng, ("}, {", "},{", "},\n {", "},\n   {", "},\n  {"), ", ")


def repeated(text: str, rng: random.Random) -> str:
    """A key with its colon stands there twice."""
    keys = [key for key in ('"role":', '"argument":', '"event_type":', '"arguments":', '"Person":') if key in text]
    return _replaced(text, rng, keys, None) if keys else text


def stuffed(text: str, rng: random.Random) -> str:
    """Something stands there that does not belong there."""
    place = rng.randrange(1, len(text))
    return text[:place] + rng.choice(JUNK) + text[place:]


def twice(text: str, rng: random.Random) -> str:
    """Two damages, each of which shows."""
    once = rng.choice(DAMAGES[:-1])(text, rng)
    return once if is_json(once) else rng.choice((cut, unmarked, stuffed))(once + " ", rng)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _replaced(text: str, rng: random.Random, parts: Any, other: str | None) -> str:
    """The text with one of the parts somewhere in it replaced, or doubled."""
    places = [(at, part) for part in parts for at in range(len(text)) if text.startswith(part, at)]
    if not places:
        return text
    at, part = rng.choice(places)
    return text[:at] + (part + part if other is None else other) + text[at + len(part) :]


DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (
    cut, elided, elided, unmarked, merged, repeated, stuffed, stuffed, twice
)  # fmt: skip


def moved(answer: Answer, value: Any) -> Iterator[str]:
    """What was read under another type or role, or in one event with what stood in another."""
    for event_type, pairs in _events(answer.form, value):
        numbers = set()
        for role, text in pairs:
            place = answer.places.get(text)
            if place is None:
                continue
            numbers.add(place[0])
            if place[1:] != (event_type, role) and event_type in ("", *TYPES) and role in ROLES:
                yield f"{text}: {place[1]}.{place[2]} is read as {event_type}.{role}"
        if len(numbers) > 1:
            yield f"values of {len(numbers)} events are one event"


def values_read(answer: Answer, value: Any) -> set[str]:
    """The values of the answer that were read, wherever."""
    return {text for _, pairs in _events(answer.form, value) for _, text in pairs} & answer.places.keys()


def _events(form: Form, value: Any) -> list[Event]:
    """The events of a value in our own form; the type of flat answers is empty."""
    canonical = form.to_canonical(value)
    if form is not FLAT:
        return events(canonical) or []
    objects = [item for item in items(canonical) if isinstance(item, dict)]
    return [("", pairs) for item in objects for _, pairs in events([{**item, "event_type": "-"}]) or ()]
