"""Gold and prediction records as they are stored, turned into values, every mistake with its field.

An error raised here knows the field; whoever read the record adds the file and the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.errors import InputError, Place, describe
from goldgate.readers.dialects import nearest
from goldgate.readers.group import record_group
from goldgate.readers.guess import SWAPPED, no_answer
from goldgate.readers.layouts.chat import is_reply
from goldgate.readers.layouts.openai_batch import body_text
from goldgate.suites.extraction.events.event import EventList, Events, Violation, no_events
from goldgate.suites.extraction.events.read_events import read_events
from goldgate.suites.extraction.messages import is_chat, read_chat
from goldgate.suites.extraction.sample import Gold

# Gold may hold numbers and nulls where a prediction should not: they give units, or none.
TOLERATED_IN_GOLD = frozenset({Violation.VALUE_NUMBER, Violation.VALUE_NULL})

_EXPECTED = {
    "events_not_list": "a list of events (empty if there are none)",
    "offsets_invalid": "two integers, 0 <= start < end",
    Violation.EVENT_NOT_OBJECT: "an object",
    Violation.EVENT_TYPE_INVALID: "a string that is not empty",
    Violation.ARGUMENTS_NOT_LIST: "a list (empty if there are no arguments)",
    Violation.ARGUMENT_NOT_OBJECT: "an object with role and argument",
    Violation.ROLE_INVALID: "a string that is not empty",
    Violation.VALUE_MISSING: "an argument",
    Violation.VALUE_INVALID: "a string, a number, or a list of these",
}


def parse_gold(record: Mapping[str, Any], identity: str = "", source: bytes | None = None) -> Gold:
    """A gold record; the first mistake in it is an InputError. `source` is the line it was decoded from.

    Without an `identity`, its own id is taken.
    """
    if not isinstance(record, Mapping):
        raise _not_a_record(record)
    identity = identity or str(record.get("id", ""))
    events = gold_events(record, source)
    if events.violations or events.bad_offsets or type(record.get("events")) is not list:
        problems = gold_problems(record, events)
        if problems:
            raise gold_error(*problems[0], record)
    text = record.get("text")
    if "title" in record:
        text = source_text(record)
    if text is not None and type(text) is not str:
        raise InputError(
            "gold.wrong_type",
            "the source text is not text",
            place=Place(field="text"),
            expected="a string",
            found=describe(text),
        )
    group = record_group(record) if "group" in record else None
    return Gold(identity, text or None, events, group, record.get("events") or record.get("event_list") or ())


def source_text(record: Mapping[str, Any]) -> Any:
    """The text that offsets refer to. In DuEE-Fin files it is the title, a new line, and the text."""
    text = record.get("text")
    title = record.get("title")
    if type(title) is str and type(text) is str:
        return f"{title}\n{text}"
    return text


def events_key(record: Mapping[str, Any]) -> str:
    """The key under which a record has its events: `events`, or `event_list` where that says nothing."""
    if "event_list" in record and record.get("events") is None:
        return "event_list" if "events" not in record or record["event_list"] is not None else "events"
    return "events"


def gold_events(record: Mapping[str, Any], source: bytes | None) -> Events:
    """The events of a gold record, with whatever is wrong with them."""
    listed = record.get("events")
    if type(listed) is list:
        return read_events(EventList(listed, "$.events[*]"), source)
    listed = record.get("event_list")
    if type(listed) is list and events_key(record) == "event_list":
        return read_events(EventList(listed, "$.event_list[*]"), source)
    return no_events()


def gold_problems(record: Mapping[str, Any], events: Events) -> list[tuple[str, str]]:
    """Everything that is wrong with the events of a gold record: what, and its JSON path."""
    problems: list[tuple[str, str]] = []
    key = events_key(record)
    # Published DuEE-Fin files have no list at all for a document without events.
    without_list = key not in record and type(record.get("title")) is str
    if type(record.get(key)) is not list and not without_list:
        problems.append(("events_not_list", f"$.{key}"))
    for found in events.violations:
        if found.violation not in TOLERATED_IN_GOLD:
            problems.append((found.violation.value, found.path))
    problems += [("offsets_invalid", path) for path in events.bad_offsets]
    return problems


def gold_error(what: str, path: str, record: Mapping[str, Any]) -> InputError:
    """The error for a gold record whose events are not what they must be."""
    is_answer = what == "events_not_list" and "response" in record
    return InputError(
        f"gold.{what}",
        "this gold record is malformed",
        place=Place(field=path.removeprefix("$.")),
        expected=_EXPECTED[what],
        found=_found_at(record, path, what) + (" beside a response, as predictions have it" if is_answer else ""),
        advice=SWAPPED if is_answer else nearest(record) if what == "events_not_list" else None,
    )


def parse_prediction(record: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The response of a prediction record, as the model wrote it, or what was decoded elsewhere; null is no answer.

    Of chat messages the last one of the assistant is the response, of an endpoint's reply its text.
    """
    response = record.get("response")
    if type(response) is str:
        return response, None
    if response is not None:
        return _other_response(response)
    key = events_key(record)
    if key in record:
        events = record[key]
        if events is None or type(events) is list:
            return None, events
        raise InputError(
            "predictions.wrong_type",
            "the events of a structured prediction are a list",
            place=Place(field=key),
            expected="a list",
            found=describe(events),
        )
    if "response" in record:
        return None, None
    raise no_answer(record)


def _other_response(response: Any) -> tuple[str | None, Any]:
    """A response that is not text: chat messages, an endpoint's reply, or JSON that was decoded elsewhere."""
    found, advice = describe(response), None
    if is_chat(response):
        try:
            return read_chat(response).response, None
        except TypeError as problem:
            found = str(problem)
    elif is_reply(response):
        return body_text(response), None
    elif isinstance(response, dict):
        return None, response
    elif isinstance(response, list):
        if all(isinstance(event, dict) for event in response):
            return None, response
        advice = "are these several answers? then --response-field response.0 takes the first of each"
    raise InputError(
        "predictions.wrong_type",
        "a response is the raw text that the model wrote",
        place=Place(field="response"),
        expected='a string ("" if the model wrote nothing), chat messages, decoded events, or null for no answer',
        found=found,
        advice=advice,
    )


def _not_a_record(value: object) -> InputError:
    advice = "decode it first: json.loads(line)" if isinstance(value, (str, bytes)) else None
    return InputError(
        "gold.wrong_type",
        "a gold record is an object with events" + (", not text" if isinstance(value, (str, bytes)) else ""),
        expected='a mapping such as {"id": "1", "text": "…", "events": […]}, or what parse_gold gives',
        found=describe(value),
        advice=advice,
    )


def _found_at(record: Mapping[str, Any], path: str, what: str) -> str:
    """What is at a JSON path of the form that `read_events` gives."""
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
