"""Events as units that can be compared, with every violation of the expected form on the way.

Gold and predictions go through the same walk: what is a violation in a prediction is a mistake
in gold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from goldgate.extraction.normalize import known, normalize
from goldgate.extraction.repair import NumberText

Span = tuple[int, int]
# Event type → role → normalized argument → its spans. A unit is there once, however often it was said.
Units = dict[str, dict[str, dict[str, tuple[Span, ...]]]]
AllowedRoles = Mapping[str, frozenset[str]]


class Violation(StrEnum):
    """How an answer departs from the form of an event list, or from the event schema."""

    NOT_PARSED = "not_parsed"
    NOT_AN_EVENT_LIST = "not_an_event_list"
    EVENT_NOT_OBJECT = "event_not_object"
    EVENT_TYPE_INVALID = "event_type_invalid"
    ARGUMENTS_NOT_LIST = "arguments_not_list"
    ARGUMENT_NOT_OBJECT = "argument_not_object"
    ROLE_INVALID = "role_invalid"
    VALUE_MISSING = "value_missing"
    VALUE_NUMBER = "value_number"
    VALUE_NULL = "value_null"
    VALUE_INVALID = "value_invalid"
    UNKNOWN_EVENT_TYPE = "unknown_event_type"
    UNKNOWN_ROLE = "unknown_role"


class Found(NamedTuple):
    """A violation and where it is, as a JSON path into the answer."""

    violation: Violation
    path: str


# One argument value as it was written, before units are made of it: event type, role, text,
# normalized text, span. A plain tuple: there are ten a sample, and naming them costs 3 µs.
Value = tuple[str, str, str, str, Span | None]


@dataclass(slots=True)
class Events:
    """What an event list holds."""

    units: Units
    values: list[Value]
    violations: list[Found]
    bad_offsets: list[str]  # paths of `start`/`end` that are no span


def no_events(violation: Violation | None = None) -> Events:
    """Nothing, or nothing but a violation of the whole answer."""
    return Events({}, [], [] if violation is None else [Found(violation, "$")], [])


class EventList(NamedTuple):
    """The list of events that a decoded value holds, and the path of its items (`*` is the number)."""

    items: list[Any]
    path: str


def event_list(value: Any) -> EventList | None:
    """A list is the events; so is one under `events` or `event_list`; an object with a type is one event."""
    if isinstance(value, list):
        return EventList(value, "$[*]")
    if isinstance(value, dict):
        for key in ("events", "event_list"):
            if isinstance(value.get(key), list):
                return EventList(value[key], f"$.{key}[*]")
        if "event_type" in value:
            return EventList([value], "$")
    return None


def reads_as_events(value: Any) -> bool:
    """Whether a decoded value is meant as events: empty, or with something that has an event type."""
    if isinstance(value, dict):
        return event_list(value) is not None
    return isinstance(value, list) and (not value or any(is_event(item) for item in value))


def is_event(value: Any) -> bool:
    """Whether a decoded value is meant as one event."""
    return isinstance(value, dict) and "event_type" in value


def read_events(events: EventList, source: str | bytes | None, roles: AllowedRoles | None = None) -> Events:
    """Walk an event list; `roles` adds the event schema's checks.

    `source` is the JSON text that the list was decoded from: a number that is no small
    integer is read from it once more, because its text (1.10) is what counts, not its value.
    """
    walk = _Walk(roles, events.path)
    walk.read(events.items)
    if walk.inexact and source is not None:
        exact = event_list(_with_number_texts(source))
        if exact is not None:
            walk = _Walk(roles, exact.path)
            walk.read(exact.items)
    return walk.found


class _Walk:
    """One pass over an event list. The usual argument is read inline; whatever is odd about one, in `_odd`."""

    def __init__(self, roles: AllowedRoles | None, path: str) -> None:
        self.roles = roles
        self.path = path
        self.found = Events({}, [], [], [])
        self.inexact = False

    def read(self, events: list[Any]) -> None:
        roles, values, units = self.roles, self.found.values, self.found.units
        for number, event in enumerate(events):
            if type(event) is not dict:
                self._note(Violation.EVENT_NOT_OBJECT, number, "")
                continue
            allowed: frozenset[str] | None = None
            event_type = event.get("event_type")
            if type(event_type) is not str or not (event_type := event_type.strip()):
                self._note(Violation.EVENT_TYPE_INVALID, number, ".event_type")
                event_type, by_role = None, {}  # walked for its violations alone
            else:
                by_role = units.setdefault(event_type, {})
                if roles is not None:
                    allowed = roles.get(event_type)
                    if allowed is None:
                        self._note(Violation.UNKNOWN_EVENT_TYPE, number, ".event_type")
            arguments = event.get("arguments")
            if type(arguments) is not list:
                self._note(Violation.ARGUMENTS_NOT_LIST, number, ".arguments")
                continue
            for place, argument in enumerate(arguments):
                if type(argument) is dict and event_type is not None and "start" not in argument:
                    role, text = argument.get("role"), argument.get("argument")
                    if type(role) is str and type(text) is str and (role := role.strip()):
                        if allowed is not None and role not in allowed:
                            self._note(Violation.UNKNOWN_ROLE, number, f".arguments[{place}].role")
                        normalized = known.get(text)
                        if normalized is None:
                            normalized = normalize(text)
                        if normalized:
                            values.append((event_type, role, text, normalized, None))
                            same_role = by_role.get(role)
                            if same_role is None:
                                by_role[role] = {normalized: ()}
                            elif normalized not in same_role:
                                same_role[normalized] = ()
                        continue
                self._odd(argument, event_type, by_role, allowed, number, place)

    def _odd(
        self,
        argument: Any,
        event_type: str | None,
        by_role: dict[str, dict[str, tuple[Span, ...]]],
        allowed: frozenset[str] | None,
        number: int,
        place: int,
    ) -> None:
        """An argument that is malformed, has offsets, or is no plain string."""
        path = f".arguments[{place}]"
        if type(argument) is not dict:
            self._note(Violation.ARGUMENT_NOT_OBJECT, number, path)
            return
        role = argument.get("role")
        if type(role) is not str or not (role := role.strip()):
            self._note(Violation.ROLE_INVALID, number, f"{path}.role")
            role = None
        elif allowed is not None and role not in allowed:
            self._note(Violation.UNKNOWN_ROLE, number, f"{path}.role")
        texts = self._texts(argument, number, f"{path}.argument")
        span = self._span(argument, number, path)
        if role is None or event_type is None:
            return
        for text in texts:
            if normalized := normalize(text):
                here = span if len(texts) == 1 else None  # offsets of a list could belong to any of its items
                self.found.values.append((event_type, role, text, normalized, here))
                same_role = by_role.setdefault(role, {})
                same_role[normalized] = same_role.get(normalized, ()) + (() if here is None else (here,))

    def _note(self, violation: Violation, number: int, path: str) -> None:
        self.found.violations.append(Found(violation, self.path.replace("*", str(number)) + path))

    def _texts(self, argument: dict[str, Any], number: int, path: str) -> tuple[str, ...]:
        """The texts that an argument gives, noting what is wrong with it."""
        if "argument" not in argument:
            self._note(Violation.VALUE_MISSING, number, path)
            return ()
        value = argument["argument"]
        if type(value) is str:
            return (value,)
        if value is None:
            self._note(Violation.VALUE_NULL, number, path)
            return ()
        if type(value) is not list:
            return self._number(value, number, path)
        texts: list[str] = []
        for place, item in enumerate(value):
            texts.extend((item,) if type(item) is str else self._number(item, number, f"{path}[{place}]"))
        return tuple(texts)

    def _number(self, value: Any, number: int, path: str) -> tuple[str, ...]:
        if type(value) is int or type(value) is NumberText:
            self._note(Violation.VALUE_NUMBER, number, path)
            return (str(value),)
        if type(value) is float:
            self._note(Violation.VALUE_NUMBER, number, path)
            self.inexact = True
            return (repr(value),)
        self._note(Violation.VALUE_INVALID, number, path)
        return ()

    def _span(self, argument: dict[str, Any], number: int, path: str) -> Span | None:
        start, end = argument.get("start"), argument.get("end")
        if start is None and end is None:
            return None
        if type(start) is int and type(end) is int and 0 <= start < end:
            return start, end
        self.found.bad_offsets.append(self.path.replace("*", str(number)) + path)
        return None


def _with_number_texts(source: str | bytes) -> Any:
    try:
        return json.loads(source, parse_int=_integer, parse_float=NumberText)
    except (ValueError, RecursionError):  # orjson and json disagree on some text: keep what orjson read
        return None


def _integer(text: str) -> int | NumberText:
    return int(text) if len(text) < 19 and text != "-0" else NumberText(text)
