"""Runs as LangSmith exports them, and as LangGraph's tracers write them: a run has an id, a type, inputs and outputs.

Flat, with `parent_run_id` and `trace_id`, or as a tree under `child_runs`; alone, or as the `runs` of an API's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.imports.span import Broken, Format, Span, nanoseconds, text_of


def _recognizes(record: dict[str, Any]) -> bool:
    if isinstance(record.get("runs"), list):
        return any(isinstance(run, dict) and _recognizes(run) for run in record["runs"])
    return "run_type" in record and "id" in record


def _spans(record: dict[str, Any]) -> Iterator[Span | Broken]:
    runs = record["runs"] if isinstance(record.get("runs"), list) else [record]
    waiting: list[tuple[Any, str | None, str | None]] = [(run, None, None) for run in reversed(runs)]
    while waiting:
        run, parent, trace = waiting.pop()
        if not isinstance(run, dict):
            yield Broken("a run is an object")
            continue
        identity = text_of(run.get("id"))
        if identity is None:
            yield Broken("a run needs an id")
            continue
        parent = text_of(run.get("parent_run_id")) or parent
        trace = text_of(run.get("trace_id")) or trace
        fields = {key: value for key, value in run.items() if key != "child_runs"}
        children = run.get("child_runs")
        for child in reversed(children) if isinstance(children, list) else ():
            waiting.append((child, identity, trace))
        start, end = nanoseconds(run.get("start_time")), nanoseconds(run.get("end_time"))
        name = run.get("name")
        yield Span(identity, trace, parent, name if isinstance(name, str) else "", start, end is not None, fields)


LANGSMITH = Format("langsmith", "runs exported from LangSmith", _recognizes, _spans)
LANGGRAPH = Format("langgraph", "runs of LangGraph, as LangSmith exports them", _recognizes, _spans)
