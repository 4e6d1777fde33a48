"""Events as units that can be compared, read from a decoded list with every violation of the expected form.

`read_events` takes the fast way where it is enough (`fast_events`) and the rule (`slow_events`) for everything else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import compress
from typing import Any, Final, NamedTuple

from goldgate.core.value_text import (
    Blanks,
    NumberText,
    normalize_all,
    normalize_with_blanks,
    number_spelling,
    number_text,
)
from goldgate.readers.records import replace_surrogate_escapes
from goldgate.suites.extraction.events.limits import MAX_LISTED, Excess, Limits

Span = tuple[int, int]
NO_SPAN: Final[Span] = (0, 0)  # in place of offsets that are not a span
RoleArgument = tuple[str, str]  # role, normalized argument
# Event type → its (role, argument) pairs, each once however often it was written. The keys are an
# ordered set: they keep the order of the answer, and they add and compare like a set.
Units = dict[str, dict[RoleArgument, None]]
AllowedRoles = Mapping[str, frozenset[str]]
Unit = tuple[str, str, str]  # event type, role, normalized argument: a plain tuple, for every error is one


class Violation(StrEnum):
    """How an answer departs from the form of an event list, or from the event schema."""

    NOT_PARSED = "not_parsed"
    NOT_AN_EVENT_LIST = "not_an_event_list"
    SAID_NONE = "said_none"
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
    TOO_MANY = "too_many"


class ViolationPlace(NamedTuple):
    """A violation and where it is, as a JSON path into the answer."""

    violation: Violation
    path: str


class Value(NamedTuple):
    """One argument value as it was written, and the unit that it gives."""

    unit: Unit
    text: str
    span: Span | None


# The values of one event as columns: event type, roles, texts as written, their normalized
# forms, and their offsets (None where no value carries any). A plain tuple of lists: naming
# the parts costs 1 µs a sample.
ArgumentColumns = tuple[str, list[str], list[str], list[str], list[Span | None] | None]


@dataclass(slots=True)
class Events:
    """What an event list holds."""

    units: Units
    columns: list[ArgumentColumns]
    violations: list[ViolationPlace]  # of each name the first MAX_LISTED
    bad_offsets: list[str]  # paths of `start`/`end` that are not a span, likewise
    blanks: Blanks = "remove"  # in normalized forms
    violation_counts: dict[Violation, int] = field(default_factory=dict)  # of all
    excess: Excess | None = None  # what lies beyond the limits of an answer, and is in no other field

    def values(self, without: Container[str] = ()) -> Iterator[Value]:
        """Every value, one by one: the readable form of `columns`; `without` those with some normalized forms."""
        for event_type, roles, texts, arguments, spans in self.columns:
            for number, argument in enumerate(arguments):
                if argument not in without:
                    span = spans[number] if spans is not None else None
                    yield Value((event_type, roles[number], argument), texts[number], span)

    @property
    def beyond(self) -> int:
        """Distinct values beyond the limits."""
        return 0 if self.excess is None else self.excess.values

    def with_problems(
        self, violations: list[ViolationPlace], counts: Mapping[Violation, int], bad_offsets: list[str]
    ) -> Events:
        """These events, to which what is wrong with them is added in place."""
        self.violations += violations
        self.violation_counts |= counts
        self.bad_offsets += bad_offsets
        return self

    def add_violation(self, violation: Violation, times: int = 1) -> None:
        """Add a violation of the whole answer."""
        if violation not in self.violation_counts:
            self.violations.append(ViolationPlace(violation, "$"))
        self.violation_counts[violation] = self.violation_counts.get(violation, 0) + times


def empty_events(violation: Violation | None = None) -> Events:
    """Nothing, or nothing but a violation of the whole answer."""
    events = Events({}, [], [], [])
    if violation is not None:
        events.add_violation(violation)
    return events


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


def slow_events(
    events: EventList,
    source: str | bytes | None,
    roles: AllowedRoles | None = None,
    to_canonical: Callable[[Any], Any] | None = None,
    limits: Limits | None = None,
) -> Events:
    """Walk any event list, with the parameters of `read_events`: the rule."""
    walk = _EventWalk(roles, events.path)
    walk.read(events.items)
    if walk.inexact and source is not None:
        again = value_as_written(source)
        exact = event_list(again if to_canonical is None else to_canonical(again))
        if exact is not None:
            walk = _EventWalk(roles, events.path)
            walk.read(exact.items)
    return collect_events(walk.columns, limits).with_problems(walk.violations, walk.counts, walk.bad_offsets)


def collect_events(columns: list[ArgumentColumns], limits: Limits | None = None) -> Events:
    """Events with the units that their values give."""
    excess = None
    if limits is not None and limits.exceeded_by(columns):
        columns, excess = limits.cut(columns)
    units: Units = {}
    for event_type, roles, _, arguments, _ in columns:
        pairs = dict.fromkeys(zip(roles, arguments))  # noqa: B905  # columns are equally long; strict costs 0.2 µs
        if event_type in units:
            units[event_type].update(pairs)
        else:
            units[event_type] = pairs
    events = Events(units, columns, [], [], excess=excess)
    if excess is not None:
        events.add_violation(Violation.TOO_MANY, excess.values + excess.bare_types)
    return events


def keep_blanks(events: Events, limits: Limits | None = None) -> Events:
    """The same events, with the blanks of their values kept."""
    columns = [
        (event_type, roles, texts, [*map(normalize_with_blanks, texts)], spans)
        for event_type, roles, texts, _, spans in events.columns
    ]
    kept = replace(collect_events(columns, limits), blanks="keep")
    return kept.with_problems(events.violations, events.violation_counts, events.bad_offsets)


class _EventWalk:
    """One pass over an event list in which something is odd, with all that is wrong with it."""

    def __init__(self, roles: AllowedRoles | None, path: str) -> None:
        self.roles = roles
        self.path = path
        self.number = 0  # index of the current event
        self.place: int | None = None  # index of the current argument
        self.columns: list[ArgumentColumns] = []
        self.violations: list[ViolationPlace] = []
        self.counts: dict[Violation, int] = {}
        self.bad_offsets: list[str] = []
        self.inexact = False

    def read(self, events: list[Any]) -> None:
        for number, event in enumerate(events):
            self.number, self.place = number, None
            if type(event) is dict:
                self._event(event)
            else:
                self._add(Violation.EVENT_NOT_OBJECT)

    def _event(self, event: dict[str, Any]) -> None:
        allowed: frozenset[str] | None = None
        event_type = event.get("event_type")
        if type(event_type) is not str or not (event_type := event_type.strip()):
            self._add(Violation.EVENT_TYPE_INVALID, ".event_type")
            event_type = None
        elif self.roles is not None:
            allowed = self.roles.get(event_type)
            if allowed is None:
                self._add(Violation.UNKNOWN_EVENT_TYPE, ".event_type")
        values = _WrittenValues([], [], [])
        arguments = event.get("arguments")
        if type(arguments) is list:
            for place, argument in enumerate(arguments):
                self.place = place
                if type(argument) is dict:
                    self._argument(argument, allowed, values)
                else:
                    self._add(Violation.ARGUMENT_NOT_OBJECT)
        else:
            self._add(Violation.ARGUMENTS_NOT_LIST, ".arguments")
        if event_type is not None:  # else it gives no units
            self.columns.append(_columns(event_type, values))

    def _argument(self, argument: dict[str, Any], allowed: frozenset[str] | None, values: _WrittenValues) -> None:
        """Add the role, text and span of each value that an argument gives."""
        role = argument.get("role")
        if type(role) is not str or not (role := role.strip()):
            self._add(Violation.ROLE_INVALID, ".role")
            role = None
        elif allowed is not None and role not in allowed:
            self._add(Violation.UNKNOWN_ROLE, ".role")
        texts = self._texts(argument)
        span = self._span(argument)
        if role is None:
            return
        if len(texts) > 1 and span != NO_SPAN:
            span = None  # the offsets of a list could belong to any of its items
        values.roles.extend([role] * len(texts))
        values.texts.extend(texts)
        values.spans.extend([span] * len(texts))

    def _texts(self, argument: dict[str, Any]) -> list[str]:
        if "argument" not in argument:
            self._add(Violation.VALUE_MISSING, ".argument")
            return []
        value = argument["argument"]
        if value is None:
            self._add(Violation.VALUE_NULL, ".argument")
            return []
        if type(value) is not list:
            text = value if type(value) is str else self._number(value)
            return [] if text is None else [text]
        if _TEXT.issuperset(map(type, value)):
            return value
        texts = [item if type(item) is str else self._number(item, place) for place, item in enumerate(value)]
        return [text for text in texts if text is not None]

    def _number(self, value: Any, item: int | None = None) -> str | None:
        """The text of a number; None for anything else."""
        if type(value) is NumberText:
            self._add(Violation.VALUE_NUMBER, ".argument", item)
            return value.text
        if type(value) is int or type(value) is float:
            self._add(Violation.VALUE_NUMBER, ".argument", item)
            self.inexact = self.inexact or type(value) is float or value == 0  # -0 is read as 0
            return repr(value)
        self._add(Violation.VALUE_INVALID, ".argument", item)
        return None

    def _span(self, argument: dict[str, Any]) -> Span | None:
        """The offsets of an argument; None where it has none."""
        offsets = stated_offsets(argument)
        if offsets is not None and not is_span(*offsets):
            if len(self.bad_offsets) < MAX_LISTED:
                self.bad_offsets.append(self._here(""))
            return NO_SPAN
        return offsets

    def _add(self, violation: Violation, name: str = "", item: int | None = None) -> None:
        count = self.counts[violation] = self.counts.get(violation, 0) + 1
        if count <= MAX_LISTED:
            place = name if item is None else f"{name}[{item}]"
            self.violations.append(ViolationPlace(violation, self._here(place)))

    def _here(self, name: str) -> str:
        """The path of something in the argument, or in the event, that the walk is at."""
        event = self.path.replace("*", str(self.number))
        return event + name if self.place is None else f"{event}.arguments[{self.place}]{name}"


def stated_offsets(argument: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """The offsets that an argument has, good or bad; DuEE files say only where it begins."""
    start, end = argument.get("start"), argument.get("end")
    if start is None and end is None:
        start, text = argument.get("argument_start_index"), argument.get("argument")
        if start is None or type(text) is not str:
            return None
        end = start + len(text) if type(start) is int else None
    return start, end


def is_span(start: Any, end: Any) -> bool:
    """Whether two values are offsets: integers, the end after the start."""
    return type(start) is int and type(end) is int and 0 <= start < end


class _WrittenValues(NamedTuple):
    """The values of one event as they were written, in columns."""

    roles: list[str]
    texts: list[str]
    spans: list[Span | None]


def _columns(event_type: str, values: _WrittenValues) -> ArgumentColumns:
    """The columns of an event's values; one that is nothing once it is normalized gives no unit."""
    forms = normalize_all(values.texts)
    if "" not in forms:
        return event_type, values.roles, values.texts, forms, values.spans
    roles, texts, spans = values
    return (
        event_type,
        [*compress(roles, forms)],
        [*compress(texts, forms)],
        [*filter(None, forms)],
        [*compress(spans, forms)],
    )


def value_as_written(source: str | bytes) -> Any:
    """The value with numbers as they are written; half of a surrogate pair is U+FFFD, as in records."""
    try:
        text = source.decode() if isinstance(source, bytes) else source
        return json.loads(replace_surrogate_escapes(text), parse_int=number_text, parse_float=NumberText)
    except (ValueError, RecursionError):  # orjson and json disagree on some text: keep what orjson read
        return None


_DICT: Final[frozenset[object]] = frozenset({dict})
_LONG_SOURCE: Final = 100_000  # characters
_TEXT: Final[frozenset[object]] = frozenset({str})
_PLAIN: Final[frozenset[object]] = frozenset({str, int, float, type(None)})
_NULL: Final = Violation.VALUE_NULL
_NUMBER: Final = Violation.VALUE_NUMBER
_UNKNOWN_ROLE: Final = Violation.UNKNOWN_ROLE


_TypedColumns = tuple[str, list[str], list[str], list[Span | None] | None]  # without normalized forms


def fast_events(
    events: EventList,
    source: str | bytes | None = None,
    roles: AllowedRoles | None = None,
    limits: Limits | None = None,
) -> Events | None:
    """What `slow_events` gives; None if anything about the list is odd.

    What was decoded from a text has only plain kinds of values. Other values may have any, and are looked at first.
    """
    if source is None and not _are_plain_dicts(events.items):
        return None
    read: list[_TypedColumns] = []
    written: list[str] = []
    violations: list[ViolationPlace] = []
    try:
        for number, event in enumerate(events.items):
            of_event = _fast_columns(event, source, roles, (events.path, number), violations)
            if of_event is None:
                return None
            read.append(of_event)
            written += of_event[2]
    except (KeyError, TypeError, AttributeError):  # something is missing, or of another kind
        return None
    forms = normalize_all(written)
    if "" in forms:
        return None
    columns: list[ArgumentColumns] = []
    start = 0
    for event_type, names, texts, spans in read:
        end = start + len(texts)
        columns.append((event_type, names, texts, forms[start:end], spans))
        start = end
    collected = collect_events(columns, limits)
    if not violations:
        return collected
    counts = Counter(place.violation for place in violations)
    return collected.with_problems([*first_of_each_name(violations)], counts, [])


def first_of_each_name(violations: list[ViolationPlace]) -> Iterator[ViolationPlace]:
    """The first MAX_LISTED of each name."""
    counts: dict[Violation, int] = {}
    for place in violations:
        count = counts[place.violation] = counts.get(place.violation, 0) + 1
        if count <= MAX_LISTED:
            yield place


def _fast_columns(
    event: Any,
    source: str | bytes | None,
    roles: AllowedRoles | None,
    place: tuple[str, int],
    violations: list[ViolationPlace],
) -> _TypedColumns | None:
    """The columns of an event; None, or one of the errors that `fast_events` catches, if anything about it is odd."""
    event_type, arguments = event["event_type"], event["arguments"]
    if type(arguments) is not list:
        return None
    names = [argument["role"] for argument in arguments]
    texts = [argument["argument"] for argument in arguments]
    spans: list[Span | None] | None = None
    if sum(map(len, arguments)) != 2 * len(arguments):
        spans = _offset_column(arguments)
        if spans is None:
            return None
    allowed: frozenset[str] | None = None
    if roles is None:
        event_type = event_type.strip()
        names = [name.strip() for name in names]
        if not event_type or "" in names:
            return None
    else:
        allowed = roles[event_type]  # a KeyError for a type that is not in the schema
    if (allowed is None or allowed.issuperset(names)) and _are_texts(texts):
        return event_type, names, texts, spans
    path = place[0].replace("*", str(place[1]))
    odd = _odd_columns(names, texts, spans, allowed, source, path, violations)
    return None if odd is None else (event_type, *odd)


def _are_plain_dicts(items: list[Any]) -> bool:
    """Whether objects are dicts and texts are strings, and nothing that only behaves like one."""
    for event in items:
        if type(event) is not dict or type(event.get("event_type")) is not str:
            return False
        arguments = event.get("arguments")
        if type(arguments) is not list or not _DICT.issuperset(map(type, arguments)):
            return False
        for argument in arguments:
            if not _PLAIN.issuperset(map(type, argument.values())):
                return False
    return True


def _are_texts(values: list[Any]) -> bool:
    try:
        "".join(values)
    except TypeError:
        return False
    return True


def _offset_column(arguments: list[dict[str, Any]]) -> list[Span | None] | None:
    """The offsets of arguments, None for one without; None for all if any is odd."""
    spans: list[Span | None] = []
    for argument in arguments:
        start, end = argument.get("start"), argument.get("end")
        if type(start) is int and type(end) is int and 0 <= start < end:
            spans.append((start, end))
        elif start is None and end is None and "argument_start_index" not in argument:
            spans.append(None)
        else:
            return None
    return spans


def _odd_columns(
    names: list[Any],
    texts: list[Any],
    spans: list[Span | None] | None,
    allowed: frozenset[str] | None,
    source: str | bytes | None,
    path: str,
    violations: list[ViolationPlace],
) -> tuple[list[str], list[str], list[Span | None] | None] | None:
    """The columns of an event without its nulls, with numbers as they are written; what is wrong is added."""
    kept: list[int] = []
    for place, value in enumerate(texts):
        name = names[place]
        if allowed is not None and name not in allowed:
            if type(name) is not str or not name or name != name.strip():
                return None
            violations.append(ViolationPlace(_UNKNOWN_ROLE, f"{path}.arguments[{place}].role"))
        if type(value) is not str:
            if value is None:
                violations.append(ViolationPlace(_NULL, f"{path}.arguments[{place}].argument"))
                continue
            if source is not None and len(source) > _LONG_SOURCE and not (type(value) is int and value):
                return None  # each such number would be looked for in all of the source
            text = number_spelling(value, source)
            if text is None:
                return None
            texts[place] = text
            violations.append(ViolationPlace(_NUMBER, f"{path}.arguments[{place}].argument"))
        kept.append(place)
    if len(kept) == len(texts):
        return names, texts, spans
    return (
        [names[place] for place in kept],
        [texts[place] for place in kept],
        None if spans is None else [spans[place] for place in kept],
    )


def read_events(
    events: EventList,
    source: str | bytes | None,
    roles: AllowedRoles | None = None,
    to_canonical: Callable[[Any], Any] | None = None,
    limits: Limits | None = None,
) -> Events:
    """Walk an event list; `roles` adds the event schema's checks, `limits` those of an answer.

    `source` is the JSON text that the list was decoded from: a number that is no small
    integer is read from it once more, because its text (1.10) is what counts, not its value.
    `to_canonical` is what was done to the decoded text, where it was in another form.
    """
    return fast_events(events, source, roles, limits) or slow_events(events, source, roles, to_canonical, limits)
