"""Traces of the OpenAI Agents SDK: the items that exporters get, `trace` and `trace.span`, or a body with `data`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.suites.research.imports.traces import InvalidSpan, TraceFormat, TraceSpan, id_text, parse_nanoseconds

_OBJECTS = ("trace", "trace.span")


def _recognizes(record: dict[str, Any]) -> bool:
    if isinstance(record.get("data"), list):
        return any(isinstance(item, dict) and item.get("object") in _OBJECTS for item in record["data"])
    return record.get("object") in _OBJECTS


def _spans(record: dict[str, Any]) -> Iterator[TraceSpan | InvalidSpan]:
    for item in record["data"] if isinstance(record.get("data"), list) else [record]:
        yield _span(item) if isinstance(item, dict) else InvalidSpan("an item is an object")


def _span(item: dict[str, Any]) -> TraceSpan | InvalidSpan:
    if item.get("object") not in _OBJECTS:
        return InvalidSpan('an item has the object "trace" or "trace.span"')
    is_trace = item["object"] == "trace"
    identity = id_text(item.get("id", item.get("span_id")))
    trace = identity if is_trace else id_text(item.get("trace_id"))
    if identity is None or trace is None:
        return InvalidSpan("a trace needs an id" if is_trace else "a span needs an id and a trace_id")
    span_data = item.get("span_data")
    data = span_data if isinstance(span_data, dict) else {}
    name = id_text(item.get("workflow_name") if is_trace else data.get("name")) or id_text(data.get("type")) or ""
    start, end = parse_nanoseconds(item.get("started_at")), parse_nanoseconds(item.get("ended_at"))
    return TraceSpan(identity, trace, id_text(item.get("parent_id")), name, start, is_trace or end is not None, item)


OPENAI_AGENTS = TraceFormat("openai-agents", "traces of the OpenAI Agents SDK", _recognizes, _spans)
