"""Answers inside something else: a JSON string that holds JSON, a tool call, a list of lists."""

from __future__ import annotations

from typing import Any, NamedTuple

from goldgate.suites.extraction.events.form import Form
from goldgate.suites.extraction.response.cursor import Budget
from goldgate.suites.extraction.response.decode import decode_exactly, with_number_texts
from goldgate.suites.extraction.response.repair import read_tolerantly
from goldgate.suites.extraction.response.step import Step

_CALLS = ("tool_calls", "function_call", "tool_call", "function")  # what holds a call
_PARAMETERS = ("arguments", "parameters", "input", "args")  # what a call was given
_DEEPEST = 4  # {"tool_calls": [{"function": {"arguments": "…"}}]}


class Unwrapped(NamedTuple):
    """An answer that was taken out, and what had to be done."""

    value: Any
    steps: frozenset[Step]


def unwrapped_string(text: str) -> Unwrapped | None:
    """An answer that was encoded twice: a JSON string that holds JSON."""
    content = text.strip()
    if content[:1] not in ("[", "{"):
        return None
    decoded = decode_exactly(content)
    if decoded is not None:
        return Unwrapped(decoded.value, frozenset())
    reading = read_tolerantly(content, 0, len(content), Budget(len(content)))
    return None if reading.value is None else Unwrapped(reading.value, frozenset(reading.steps))


def unwrapped(value: Any, source: str | None, form: Form) -> Unwrapped | None:
    """The answer that was given to a tool, `{"name": …, "arguments": {…}}`, or encoded under its key."""
    if isinstance(value, dict):
        for key in form.names.events:
            inner = unwrapped_string(value[key]) if isinstance(value.get(key), str) else None
            if inner is not None and form.is_answer(inner.value):
                return Unwrapped(inner.value, inner.steps | {Step.UNWRAPPED_STRING})
    if not any(map(_is_call, value if isinstance(value, list) else [value])):
        return None
    return _from_calls(with_number_texts(value, source), form, _DEEPEST)


def flattened(value: Any, source: str | None, form: Form) -> Any:
    """The same with a list of lists of events made one list, or a flat answer in a list of one by itself; else None."""
    if form.flat and isinstance(value, list) and len(value) == 1 and _is_flat(value[0], form):
        return with_number_texts(value, source)[0]
    if isinstance(value, dict):
        key = form.events_key(value)
        if key is None or list not in map(type, value[key]):
            return None
        value = with_number_texts(value, source)
        flat = _flat(value[key])
        return {**value, key: flat} if flat and form.is_answer(flat) else None
    if not isinstance(value, list) or list not in map(type, value):
        return None
    flat = _flat(with_number_texts(value, source))
    return flat if flat and form.is_answer(flat) else None


def _is_flat(value: Any, form: Form) -> bool:
    """Whether an object is a flat answer without doubt: none of its keys is one of our own form's."""
    return isinstance(value, dict) and form.is_answer(value) and not (form.keys & value.keys())


def _flat(items: list[Any]) -> list[Any]:
    flat: list[Any] = []
    rest = [iter(items)]
    while rest:
        item = next(rest[-1], rest)
        if item is rest:
            rest.pop()
        elif isinstance(item, list):
            rest.append(iter(item))
        else:
            flat.append(item)
    return flat


def _events(value: Any, form: Form) -> list[Any]:
    """The events of an answer: the list itself, the list under its key, or the only one."""
    key = form.events_key(value) if isinstance(value, dict) else None
    listed = value if key is None else value[key]
    return listed if isinstance(listed, list) else [listed]


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return any(key in value for key in _CALLS) or ("name" in value and any(key in value for key in _PARAMETERS))


def _from_calls(value: Any, form: Form, depth: int) -> Unwrapped | None:
    """The answer of one call, or those of several joined; of several flat ones the first."""
    if depth == 0:
        return None
    if isinstance(value, list):
        parts = [part for item in value if (part := _from_calls(item, form, depth - 1)) is not None]
        if len(parts) < 2 or (form.flat and form.is_answer(parts[0].value)):
            return parts[0] if parts else None
        events = [event for part in parts for event in _events(part.value, form)]
        return Unwrapped(events, frozenset({Step.JOINED_OBJECTS}).union(*(part.steps for part in parts)))
    if not _is_call(value):
        return None
    for key in (*_CALLS, *_PARAMETERS):
        inner = value.get(key)
        if key in _CALLS:
            found = _from_calls(inner, form, depth - 1)
        elif isinstance(inner, str):
            found = unwrapped_string(inner)
            found = None if found is None else Unwrapped(found.value, found.steps | {Step.UNWRAPPED_STRING})
        else:
            found = Unwrapped(inner, frozenset())
        if found is not None and (form.is_answer(found.value) or form.is_event(found.value)):
            return Unwrapped(found.value, found.steps | {Step.UNWRAPPED_CALL})
    return None
