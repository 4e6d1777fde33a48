"""The shapes of extraction's files, for whoever writes or reads them; the JSON Schemas are generated from here.

The loaders (`records.py`, `events/event_schema.py`) are the law: what they accept fits these types. They also refuse
what no type can say, such as an `end` before its `start`, and with better words.
"""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from typing import Annotated, Any, NotRequired, TypedDict

from goldgate.shape.kinds import AtLeast, Distinct, Matching, NotEmpty
from goldgate.suites.extraction.report_contract import Report, SampleRecord

Words = Annotated[str, Matching(r"\S", "a text that is not blank")]
Name = Annotated[str, Matching(r"^\S([\s\S]*\S)?(?![\s\S])", "a name without blanks around it")]
RecordId = Annotated[str, Matching(r"[\s\S]", "a string that is not empty")] | int
Group = RecordId  # records of one group, the passages of a document for example, count as one in intervals
Offset = Annotated[int, AtLeast(0)]
Value = str | float  # in gold, a number is its text


class GoldArgument(TypedDict):
    """A role and what fills it; null gives no unit. Offsets are code points of the text, the end exclusive."""

    role: Words
    argument: Value | list[Value] | None
    start: NotRequired[Offset | None]
    end: NotRequired[Offset | None]


# From a role to its values; null is none.
GoldRoles = dict[Name, Value | list[Value | None] | None]


class NamedGoldEvent(TypedDict):
    """An event of the gold. Profiles read `trigger`, with `start` and `end`; other keys are not read."""

    event_type: Words
    arguments: list[GoldArgument] | GoldRoles


class TypedGoldEvent(TypedDict):
    """A gold event with `type` for `event_type`. Flat events, read by an event schema, are not described here."""

    type: Words
    arguments: list[GoldArgument] | GoldRoles


GoldEvent = NamedGoldEvent | TypedGoldEvent


class GoldRecord(TypedDict):
    """A gold record: an id, the source text, and the events in it, in an empty list if there are none."""

    id: RecordId
    text: NotRequired[str | None]
    events: list[GoldEvent]
    group: NotRequired[Group | None]


class DueeGoldRecord(TypedDict):
    """The same as DuEE publishes it; the source text is the title, where there is one, a line break, and the text."""

    id: RecordId
    text: NotRequired[str | None]
    event_list: list[GoldEvent]
    events: NotRequired[None]
    group: NotRequired[Group | None]


class DueeGoldWithoutEvents(TypedDict):
    """DuEE-Fin has no list at all for a document without events."""

    id: RecordId
    title: str
    text: NotRequired[str | None]
    events: NotRequired[None]
    event_list: NotRequired[None]
    group: NotRequired[Group | None]


Gold = GoldRecord | DueeGoldRecord | DueeGoldWithoutEvents


class Response(TypedDict):
    """What the model wrote, as it stands; empty if it said nothing, null if there is no answer.

    It may also be chat messages, the reply of an endpoint, or events that were decoded elsewhere.
    """

    id: RecordId
    response: str | list[object] | dict[str, object] | None


class DecodedEvents(TypedDict):
    """Events that were decoded elsewhere. Whatever is in the list is scored: what is wrong with it is counted."""

    id: RecordId
    events: list[object] | None


class DecodedEventList(TypedDict):
    """The same under DuEE's name."""

    id: RecordId
    event_list: list[object] | None


Prediction = Response | DecodedEvents | DecodedEventList


class EventType(TypedDict):
    """The roles of an event type, every one once."""

    roles: Annotated[list[Name], Distinct("every role once")]


class EventSchemaFile(TypedDict):
    """The event types there are, by name."""

    event_types: Annotated[dict[Name, EventType], NotEmpty("an entry for each event type")]


class DueeRole(TypedDict):
    role: Name


class DueeEventType(TypedDict):
    """A line of an event schema as DuEE publishes it; such a file has one for each event type."""

    event_type: Name
    role_list: list[DueeRole | Name]


EventSchema = EventSchemaFile | DueeEventType


# File name → title and type. A new artifact is a line here; `goldgate schemas` writes them all.
CONTRACTS: dict[str, tuple[str, Any]] = {
    "extraction_gold.schema.json": ("Gold record of the extraction suite", Gold),
    "extraction_predictions.schema.json": ("Prediction record of the extraction suite", Prediction),
    "extraction_event_schema.schema.json": ("Event schema", EventSchema),
    "extraction_report.schema.json": ("Report of the extraction suite", Report),
    "extraction_sample.schema.json": ("Sample, a line of samples.jsonl", SampleRecord),
}
