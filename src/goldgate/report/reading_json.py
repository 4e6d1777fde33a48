"""What was read of an answer as JSON: the `parse` of its sample's record, with every repair's place and the value."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from goldgate.report.escape import in_json
from goldgate.report.places import Places
from goldgate.suites.extraction.events.alone import ReadAnswer
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.response import Parsed, Status
from goldgate.suites.extraction.response.decode import decode_exactly

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\r\n]+')


def render_read_json(answer: ReadAnswer, *, on_one_line: bool) -> str:
    """One object."""
    option = orjson.OPT_APPEND_NEWLINE | (0 if on_one_line else orjson.OPT_INDENT_2)
    return in_json(orjson.dumps(read_as_json(answer), option=option).decode())


def read_as_json(answer: ReadAnswer) -> dict[str, Any]:
    """What was read, by the names of the samples' records."""
    parsed, places = answer.parsed, Places(answer.response)
    return {
        "id": answer.id,
        "status": parsed.status,
        "method": parsed.method,
        "repairs": parsed.repairs,
        "thought": parsed.thought_state,
        "start": parsed.start,
        "end": parsed.end,
        "left_out": [
            {"start": start, "end": end, "reason": reason, "line": line, "column": column}
            for start, end, reason in parsed.left_out
            for line, column in [places.position(start)]
        ],
        "places": [
            {"repair": step, "at": at, "line": line, "column": column}
            for step, at in parsed.places
            for line, column in [places.position(at)]
        ],
        "events": [
            {
                "event_type": event.event_type,
                "arguments": [{"role": role, "argument": argument} for role, argument in event.arguments],
            }
            for event in answer.written
        ],
        "violations": [
            {"violation": found.violation, "path": found.path}
            for found in answer.events.violations
            if found.violation != Violation.NOT_PARSED
        ],
        "value": orjson.Fragment(value_text(answer.response, parsed)),
    }


def value_text(response: str, parsed: Parsed) -> str:
    """The value on one line, its numbers as they were written."""
    source = parsed.source
    if source is None and parsed.status == Status.RAW and parsed.start is not None:
        written = response[parsed.start : parsed.end]
        source = None if decode_exactly(written) is None else written  # part of it may be in the prefix
    if source is not None:
        return _TOKEN.sub(lambda token: token.group() if token.group()[0] == '"' else "", source)
    try:
        return orjson.dumps(parsed.value, default=lambda number: orjson.Fragment(number.text)).decode()
    except orjson.JSONEncodeError:  # it follows no more than 254 levels
        return json.dumps(parsed.value, ensure_ascii=False, default=lambda number: number.text)
