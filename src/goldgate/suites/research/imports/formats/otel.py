"""OpenTelemetry spans: OTLP JSON, as the Collector's file exporter and SDKs write it, and the console form of SDKs.

The names are those of the OTLP protocol's JSON encoding and of the GenAI semantic conventions. Attributes, a list of
keys and typed values, are an object here: `attributes.gen_ai.operation.name`. So are those of a span's events, and the
resource's under `resource`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.suites.research.imports.traces import InvalidSpan, TraceFormat, TraceSpan, id_text, parse_nanoseconds

_DEEPEST = 32
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")


def _recognizes(record: dict[str, Any]) -> bool:
    if "resourceSpans" in record or "resource_spans" in record:
        return True
    return ("traceId" in record and "spanId" in record) or (
        isinstance(record.get("context"), dict) and "span_id" in record["context"]
    )


def _spans(record: dict[str, Any]) -> Iterator[TraceSpan | InvalidSpan]:
    groups = record.get("resourceSpans", record.get("resource_spans"))
    if groups is None:
        yield _span(record, {})
        return
    for group in _objects(groups):
        if isinstance(group, InvalidSpan):
            yield group
            continue
        stated = group.get("resource")
        resource = _attributes(stated.get("attributes")) if isinstance(stated, dict) else {}
        scopes: Any = next((group[name] for name in _SCOPES if name in group), [])
        for scope in _objects(scopes):
            if isinstance(scope, InvalidSpan):
                yield scope
                continue
            for span in _objects(scope.get("spans", [])):
                yield span if isinstance(span, InvalidSpan) else _span(span, resource)


def _objects(value: Any) -> Iterator[dict[str, Any] | InvalidSpan]:
    for item in value if isinstance(value, list) else [value]:
        yield item if isinstance(item, dict) else InvalidSpan("an object is expected here")


def _span(record: dict[str, Any], resource: dict[str, Any]) -> TraceSpan | InvalidSpan:
    value = record.get("context")
    context = value if isinstance(value, dict) else {}
    trace = id_text(record.get("traceId", record.get("trace_id", context.get("trace_id"))))
    identity = id_text(record.get("spanId", record.get("span_id", context.get("span_id"))))
    if trace is None or identity is None:
        return InvalidSpan("a span needs a traceId and a spanId")
    parent = id_text(record.get("parentSpanId", record.get("parent_span_id", record.get("parent_id"))))
    fields = {**record, "attributes": _attributes(record.get("attributes"))}
    if isinstance(record.get("events"), list):
        events = [event for event in record["events"] if isinstance(event, dict)]
        fields["events"] = [{**event, "attributes": _attributes(event.get("attributes"))} for event in events]
    if resource:
        fields["resource"] = resource
    start = parse_nanoseconds(record.get("startTimeUnixNano", record.get("start_time")))
    end = parse_nanoseconds(record.get("endTimeUnixNano", record.get("end_time")))
    name = record.get("name")
    return TraceSpan(identity, trace, parent, name if isinstance(name, str) else "", start, end is not None, fields)


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes as an object; of a key that stands twice the last, as collectors do."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return {}
    pairs = [item for item in value if isinstance(item, dict) and isinstance(item.get("key"), str)]
    return {item["key"]: _value(item.get("value"), 0) for item in pairs}


def _value(value: Any, depth: int) -> Any:
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None
    for kind, content in value.items():
        match kind:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
                return content
            case "intValue":  # 64 bits, so JSON has it as text
                whole = isinstance(content, str) and content.lstrip("-").isdecimal() and len(content) < 20
                return int(content) if whole else content
            case "arrayValue":
                inner = content.get("values") if isinstance(content, dict) else None
                return [_value(item, depth + 1) for item in inner] if isinstance(inner, list) else []
            case "kvlistValue":
                inner = content.get("values") if isinstance(content, dict) else None
                pairs = [item for item in inner if isinstance(item, dict)] if isinstance(inner, list) else []
                return {str(item.get("key")): _value(item.get("value"), depth + 1) for item in pairs}
    return None


OTEL = TraceFormat("otel", "OpenTelemetry spans with GenAI attributes (OTLP JSON)", _recognizes, _spans)
