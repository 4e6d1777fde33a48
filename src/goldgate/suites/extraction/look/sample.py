"""A sample put together again: its record, what it was made from, and its answer read once more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from goldgate.errors import InputError
from goldgate.suites.extraction.events.event import Events, Span, Unit, Value, event_list
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.response import Method, Parsed
from goldgate.suites.extraction.sample import Gold, Sample
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings


@dataclass(slots=True)
class Written:
    """A unit as one side wrote it first, the numbers of the events that have it, within its type, and its offsets."""

    text: str | None = None
    events: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


class Side(NamedTuple):
    """What one side says: units as they were scored, with how they were written as far as that is known."""

    units: dict[Unit, Written]
    types: tuple[str, ...]
    events: Mapping[str, int]  # how many of each type

    def text(self, unit: Unit) -> str:
        """The value as it was written, or else in its comparable form."""
        known = self.units.get(unit)
        return unit[2] if known is None or known.text is None else known.text


class LookedAt(NamedTuple):
    """What a page shows. `gold_record` and `parsed` are None where they are not known any more."""

    record: Mapping[str, Any]
    gold_record: Gold | None
    has_prediction: bool  # whether it is known; the record says whether there was one
    response: str | None
    events: list[Any] | None  # of a structured prediction
    parsed: Parsed | None
    reader: Scorer | None  # what reads answers as the protocol says
    gold: Side
    predicted: Side
    wrong: Mapping[tuple[str, Unit], str]  # side and unit → error
    triggers: Mapping[str, dict[tuple[str, str], None]]  # side → type and trigger of events whose type has no arguments
    read_otherwise: bool = False  # the answer is not read as it was when it was scored


def reader_of(settings: ExtractionSettings, schema: EventSchema | None = None) -> Scorer:
    """What reads an answer once more. The schema has no part in that, only in reading flat gold."""
    plain = replace(
        settings, schema=replace(settings.schema, mode="syntax_only"), cot=replace(settings.cot, enabled=False)
    )
    return Scorer(plain, schema)


def look_at(record: Mapping[str, Any], given: Mapping[str, Any]) -> LookedAt:
    """The sample of a record. Whatever cannot be read any more is not there."""
    reader: Scorer | None = given.get("protocol")
    gold = _gold(given.get("gold"), None if reader is None else reader.schema)
    answer = _answer(given.get("predictions"))
    parsed: Parsed | None = None
    predicted: Events | None = None
    if answer is not None and reader is not None:
        parsed, predicted = _read_again(record, reader, *answer)
    otherwise = parsed is not None and not _reads_as_before(parsed, record["parse"])
    if otherwise:
        parsed = predicted = None
    response, events = answer or (None, None)
    return LookedAt(
        record,
        gold,
        answer is not None,
        response,
        events,
        parsed,
        reader,
        _side(record["gold"], gold.events if gold is not None else None),
        _side(record["predicted"], predicted),
        {(error["side"], stored_unit(error["unit"])): error["error"] for error in record["errors"]},
        {
            "gold": _triggers(record["gold"], None if gold is None else [*gold.listed]),
            "predicted": _triggers(record["predicted"], events if parsed is None else parsed.value),
        },
        otherwise,
    )


def stored_unit(stored: Sequence[str]) -> Unit:
    """A unit as a record has it, which is a list."""
    event_type, role, argument = stored
    return event_type, role, argument


def _gold(record: Any, schema: EventSchema | None) -> Gold | None:
    try:
        return None if record is None else parse_gold(record, schema=schema)
    except InputError:  # nobody could have scored it
        return None


def _answer(record: Any) -> tuple[str | None, list[Any] | None] | None:
    try:
        return None if record is None else parse_prediction(record)
    except InputError:
        return None


def _read_again(
    record: Mapping[str, Any], reader: Scorer, response: str | None, events: list[Any] | None
) -> tuple[Parsed | None, Events]:
    """How the answer is read, and its events. Of gold only the types have a part in it."""
    types = Events({name: {} for name in record["gold"]}, [], [], [])
    facts = reader.facts(Sample(Gold("", None, types), response, events))
    return facts.parsed, facts.predicted


def _reads_as_before(parsed: Parsed, stored: Mapping[str, Any] | None) -> bool:
    if stored is None:
        return False
    if parsed.method == Method.STRUCTURED:
        return bool(stored["method"] == Method.STRUCTURED)
    place = (stored["start"], stored["end"], stored["status"], [*stored["repairs"]])
    return (parsed.start, parsed.end, parsed.status, [*map(str, parsed.repairs)]) == place


def _side(stored: Mapping[str, Iterable[tuple[str, str]]], events: Events | None) -> Side:
    """The units of a record, in its order, with what the events say of them."""
    units = {(event_type, *pair): Written() for event_type, pairs in stored.items() for pair in pairs}
    counted: dict[str, int] = {}
    for columns in events.columns if events is not None else ():
        event_type = columns[0]
        number = counted[event_type] = counted.get(event_type, 0) + 1
        for value in Events({}, [columns], [], []).values():
            _note(units, value, number)
    return Side(units, tuple(stored), counted)


def _triggers(stored: Mapping[str, Any], value: Any) -> dict[tuple[str, str], None]:
    """Where a type has no arguments, all that can be shown of its events is the words that name them."""
    listed = event_list(value)
    found: dict[tuple[str, str], None] = {}
    for event in listed.items if listed is not None else ():
        if isinstance(event, dict):
            event_type, trigger = event.get("event_type"), event.get("trigger")
            if isinstance(event_type, str) and isinstance(trigger, str) and stored.get(event_type.strip()) == []:
                found[event_type.strip(), trigger] = None
    return found


def _note(units: Mapping[Unit, Written], value: Value, number: int) -> None:
    written = units.get(value.unit)
    if written is None:
        return
    if written.text is None:
        written.text = value.text
    if written.events[-1:] != [number]:
        written.events.append(number)
    if value.span is not None:
        written.spans.append(value.span)
