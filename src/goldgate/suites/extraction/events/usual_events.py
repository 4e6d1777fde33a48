"""The quick way through an event list: for events as most models write them, errors and all.

Names, strings, nulls, numbers, offsets and names that the schema does not know are read here, column by column. What
is odder than that, such as a value that is a list, makes it answer None: the rule is `event.read_any_events`.
"""

from __future__ import annotations

from typing import Any, Final

from goldgate.suites.extraction.events.event import (
    AllowedRoles,
    ArgumentColumns,
    EventList,
    Events,
    Found,
    Span,
    Violation,
    gather,
)
from goldgate.suites.extraction.events.normalize import normalize_all
from goldgate.suites.extraction.events.spelling import spelling

_DICT: Final[frozenset[object]] = frozenset({dict})
_PLAIN: Final[frozenset[object]] = frozenset({str, int, float, type(None)})
_NULL: Final = Violation.VALUE_NULL
_NUMBER: Final = Violation.VALUE_NUMBER
_UNKNOWN_ROLE: Final = Violation.UNKNOWN_ROLE


def read_usual_events(
    events: EventList, source: str | bytes | None = None, roles: AllowedRoles | None = None
) -> Events | None:
    """What `read_any_events` gives; None if anything about the list is odd.

    What was decoded from a text has only plain kinds of values. Other values may have any, and are looked at first.
    """
    if source is None and not _are_plain(events.items):
        return None
    read: list[tuple[str, list[str], list[Any], list[Span | None] | None]] = []
    written: list[Any] = []
    violations: list[Found] = []
    try:
        for number, event in enumerate(events.items):
            event_type, arguments = event["event_type"], event["arguments"]
            if type(arguments) is not list:
                return None
            names = [argument["role"] for argument in arguments]
            texts = [argument["argument"] for argument in arguments]
            spans: list[Span | None] | None = None
            if sum(map(len, arguments)) != 2 * len(arguments):
                spans = _spans(arguments)
                if spans is None:
                    return None
            if roles is None:
                event_type = event_type.strip()
                names = [name.strip() for name in names]
                if not event_type or "" in names:
                    return None
                is_odd = False
            else:
                is_odd = not roles[event_type].issuperset(names)  # a type that is not known is a KeyError
            if is_odd or not _are_texts(texts):
                allowed = None if roles is None else roles[event_type]
                path = events.path.replace("*", str(number))
                odd = _read_odd(names, texts, spans, allowed, source, path, violations)
                if odd is None:
                    return None
                names, texts, spans = odd
            read.append((event_type, names, texts, spans))
            written += texts
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
    return gather(columns, violations, [])


def _are_plain(items: list[Any]) -> bool:
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


def _spans(arguments: list[dict[str, Any]]) -> list[Span | None] | None:
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


def _read_odd(
    names: list[Any],
    texts: list[Any],
    spans: list[Span | None] | None,
    allowed: frozenset[str] | None,
    source: str | bytes | None,
    path: str,
    violations: list[Found],
) -> tuple[list[str], list[str], list[Span | None] | None] | None:
    """The columns of an event without its nulls, with numbers as they are written; what is wrong is noted."""
    kept: list[int] = []
    for place, value in enumerate(texts):
        name = names[place]
        if allowed is not None and name not in allowed:
            if type(name) is not str or not name or name != name.strip():
                return None
            violations.append(Found(_UNKNOWN_ROLE, f"{path}.arguments[{place}].role"))
        if type(value) is not str:
            if value is None:
                violations.append(Found(_NULL, f"{path}.arguments[{place}].argument"))
                continue
            text = spelling(value, source)
            if text is None:
                return None
            texts[place] = text
            violations.append(Found(_NUMBER, f"{path}.arguments[{place}].argument"))
        kept.append(place)
    if len(kept) == len(texts):
        return names, texts, spans
    return (
        [names[place] for place in kept],
        [texts[place] for place in kept],
        None if spans is None else [spans[place] for place in kept],
    )
