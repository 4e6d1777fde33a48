"""Runs as LangSmith exports them, and as LangGraph's tracers write them: a run has an id, a type, inputs and outputs.

Flat, with `parent_run_id` and `trace_id`, or as a tree under `child_runs`; alone, or as the `runs` or `items` of an
API's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.suites.research.imports.traces import InvalidSpan, TraceFormat, TraceSpan, id_text, parse_nanoseconds


def _recognizes(record: dict[str, Any]) -> bool:
    runs = _items(record)
    if runs is not None:
        return any(isinstance(run, dict) and "run_type" in run and "id" in run for run in runs)
    return "run_type" in record and "id" in record


def _spans(record: dict[str, Any]) -> Iterator[TraceSpan | InvalidSpan]:
    runs = _items(record)
    waiting: list[tuple[Any, str | None, str | None]] = [
        (run, None, None) for run in reversed([record] if runs is None else runs)
    ]
    while waiting:
        run, parent, trace = waiting.pop()
        if not isinstance(run, dict):
            yield InvalidSpan("a run is an object")
            continue
        identity = id_text(run.get("id"))
        if identity is None:
            yield InvalidSpan("a run needs an id")
            continue
        parent = id_text(run.get("parent_run_id")) or _parent_in(run.get("dotted_order")) or parent
        trace = id_text(run.get("trace_id")) or trace
        fields = {key: value for key, value in run.items() if key != "child_runs"}
        if isinstance(run.get("run_type"), str):
            fields["run_type"] = run["run_type"].lower()  # the second edition of the API writes LLM
        children = run.get("child_runs")
        for child in reversed(children) if isinstance(children, list) else ():
            waiting.append((child, identity, trace))
        start, end = parse_nanoseconds(run.get("start_time")), parse_nanoseconds(run.get("end_time"))
        name = run.get("name")
        yield TraceSpan(identity, trace, parent, name if isinstance(name, str) else "", start, end is not None, fields)


def _items(record: dict[str, Any]) -> list[Any] | None:
    """The runs in the answer of an API, old or new."""
    for key in ("runs", "items"):
        if isinstance(record.get(key), list) and "run_type" not in record:
            items: list[Any] = record[key]
            return items
    return None


def _parent_in(dotted_order: Any) -> str | None:
    """The parent that the order of runs names: `<time>Z<id>.<time>Z<id>`, the run itself at the end."""
    if not isinstance(dotted_order, str):
        return None
    above = dotted_order.split(".")[:-1]
    return id_text(above[-1].partition("Z")[2]) if above else None


LANGSMITH = TraceFormat("langsmith", "runs exported from LangSmith", _recognizes, _spans)
LANGGRAPH = TraceFormat("langgraph", "runs of LangGraph, as LangSmith exports them", _recognizes, _spans)
