"""Traces of the OpenAI Agents SDK: the items that exporters get, `trace` and `trace.span`, or a body with `data`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.imports.span import Broken, Format, Span, nanoseconds, text_of

_OBJECTS = ("trace", "trace.span")


def _recognizes(record: dict[str, Any]) -> bool:
    if isinstance(record.get("data"), list):
        return any(isinstance(item, dict) and item.get("object") in _OBJECTS for item in record["data"])
    return record.get("object") in _OBJECTS


def _spans(record: dict[str, Any]) -> Iterator[Span | Broken]:
    for item in record["data"] if isinstance(record.get("data"), list) else [record]:
        yield _span(item) if isinstance(item, dict) else Broken("an item is an object")


def _span(item: dict[str, Any]) -> Span | Broken:
    if item.get("object") not in _OBJECTS:
        return Broken('an item has the object "trace" or "trace.span"')
    is_trace = item["object"] == "trace"
    identity = text_of(item.get("id", item.get("span_id")))
    trace = identity if is_trace else text_of(item.get("trace_id"))
    if identity is None or trace is None:
        return Broken("a trace needs an id" if is_trace else "a span needs an id and a trace_id")
    held = item.get("span_data")
    data = held if isinstance(held, dict) else {}
    name = text_of(item.get("workflow_name") if is_trace else data.get("name")) or text_of(data.get("type")) or ""
    start, end = nanoseconds(item.get("started_at")), nanoseconds(item.get("ended_at"))
    return Span(identity, trace, text_of(item.get("parent_id")), name, start, is_trace or end is not None, item)


OPENAI_AGENTS = Format("openai-agents", "traces of the OpenAI Agents SDK", _recognizes, _spans)
