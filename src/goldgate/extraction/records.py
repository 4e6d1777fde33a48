"""Gold and prediction records as they are stored, turned into samples, every mistake with its field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from goldgate.errors import InputError, Place, describe
from goldgate.extraction.event import Events, Violation, event_list, no_events, read_events
from goldgate.extraction.sample import Gold

# Gold may hold numbers and nulls where a prediction should not: they give units, or none.
TOLERATED_IN_GOLD = frozenset({Violation.VALUE_NUMBER, Violation.VALUE_NULL})

_EXPECTED = {
    Violation.EVENT_NOT_OBJECT: "an object",
    Violation.EVENT_TYPE_INVALID: "a string that is not empty",
    Violation.ARGUMENTS_NOT_LIST: "a list (empty if there are no arguments)",
    Violation.ARGUMENT_NOT_OBJECT: "an object with role and argument",
    Violation.ROLE_INVALID: "a string that is not empty",
    Violation.VALUE_MISSING: "an argument",
    Violation.VALUE_INVALID: "a string, a number, or a list of these",
}

PlaceOf = Callable[[str | None], Place]


def parse_gold(identity: str, record: Mapping[str, Any], source: bytes | None, place: PlaceOf) -> Gold:
    """A gold record; a mistake in it is an InputError."""
    events, problem = read_gold_events(record, source)
    if problem is not None:
        raise gold_error(problem[0], problem[1], record, place)
    text = source_text(record)
    if text is not None and type(text) is not str:
        raise InputError(
            "gold.wrong_type", "the source text is not text", place=place("text"), expected="a string", found=describe(text)
        )
    return Gold(identity, text or None, events)


def source_text(record: Mapping[str, Any]) -> Any:
    """The text that offsets refer to. In DuEE-Fin files it is the title, a new line, and the text."""
    text = record.get("text")
    title = record.get("title")
    if type(title) is str and type(text) is str:
        return f"{title}\n{text}"
    return text


def read_gold_events(record: Mapping[str, Any], source: bytes | None) -> tuple[Events, tuple[str, str] | None]:
    """The events of a gold record, and the first thing that is wrong with them (what, JSON path)."""
    key = "events" if "events" in record else "event_list"
    listed = record.get(key)
    if type(listed) is not list:
        if key not in record and type(record.get("title")) is str:
            return no_events(), None  # published DuEE-Fin: a document without events has no list
        return no_events(), ("events_not_list", f"$.{key if key in record else 'events'}")
    if _is_published(listed, source):
        record, source = {key: [_with_offsets(event) for event in listed]}, None
    found = event_list(record)
    assert found is not None  # it has a list under one of the two keys
    events = read_events(found, source)
    problems = [(str(f.violation), f.path) for f in events.violations if f.violation not in TOLERATED_IN_GOLD]
    problems += [("offsets_invalid", path) for path in events.bad_offsets]
    return events, (problems[0] if problems else None)


def gold_error(what: str, path: str, record: Mapping[str, Any], place: PlaceOf) -> InputError:
    """The error for a gold record whose events are not what they must be."""
    expected = "two integers, 0 <= start < end"
    if what == "events_not_list":
        expected = "a list of events (empty if there are none)"
    elif what != "offsets_invalid":
        expected = _EXPECTED[Violation(what)]
    return InputError(
        f"gold.{what}",
        "this gold record is malformed",
        place=place(path.removeprefix("$.")),
        expected=expected,
        found=_found_at(record, path, what),
    )


class Prediction:
    """What a prediction record says: a response, or decoded events."""

    __slots__ = ("events", "response")

    def __init__(self, response: str | None, events: Any) -> None:
        self.response = response
        self.events = events


def parse_prediction(record: Mapping[str, Any], place: PlaceOf) -> Prediction:
    """A prediction record; if it has both, the response is what the model said."""
    if "response" in record:
        response = record["response"]
        if type(response) is str:
            return Prediction(response, None)
        raise InputError(
            "predictions.wrong_type",
            "a response is the raw text that the model wrote",
            place=place("response"),
            expected='a string ("" if the model said nothing)',
            found=describe(response),
        )
    if "events" in record:
        if type(record["events"]) is list:
            return Prediction(None, record["events"])
        raise InputError(
            "predictions.wrong_type",
            "the events of a structured prediction are a list",
            place=place("events"),
            expected="a list",
            found=describe(record["events"]),
        )
    raise InputError(
        "predictions.no_answer",
        "this prediction has no answer",
        place=place("response"),
        expected='"response" (raw text) or "events" (a list)',
        found="the keys " + ", ".join(sorted(map(str, record))[:8]),
    )


def _is_published(events: list[Any], source: bytes | None) -> bool:
    """Whether offsets are given as in the published DuEE files; a look at the bytes is the cheap answer."""
    if source is not None and b'"argument_start_index"' not in source:
        return False
    return any(_has_published_offset(event) for event in events)


def _has_published_offset(event: Any) -> bool:
    arguments = event.get("arguments") if isinstance(event, dict) else None
    return isinstance(arguments, list) and any("argument_start_index" in a for a in arguments if isinstance(a, dict))


def _with_offsets(event: Any) -> Any:
    """A DuEE event with `argument_start_index` as start and end."""
    if not isinstance(event, dict) or not isinstance(event.get("arguments"), list):
        return event
    return {**event, "arguments": [_with_offset(argument) for argument in event["arguments"]]}


def _with_offset(argument: Any) -> Any:
    if not isinstance(argument, dict) or "argument_start_index" not in argument:
        return argument
    start, text = argument["argument_start_index"], argument.get("argument")
    if type(start) is not int or type(text) is not str:
        return argument
    return {**argument, "start": start, "end": start + len(text)}


def _found_at(record: Mapping[str, Any], path: str, what: str) -> str:
    """What stands at a JSON path of the form that `read_events` gives."""
    value: Any = record
    for part in path.removeprefix("$").replace("[", ".").replace("]", "").split("."):
        if not part:
            continue
        if isinstance(value, list):
            value = value[int(part)]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            return "nothing"
    if what == "offsets_invalid" and isinstance(value, Mapping):
        return f"start {describe(value.get('start'))}, end {describe(value.get('end'))}"
    return describe(value)


